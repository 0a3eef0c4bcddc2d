"""Mitigations: each reduces a planted bias, and a comparison reports it."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

import unmask
from toy_model import as_in_the_workforce, train
from unmask.errors import Stopped, UnmaskError
from unmask.lexicon import attributes
from unmask.lexicon.sentences import split_sentences
from unmask.measures.association.data import build_rows
from unmask.mitigations.corpus import read_corpus
from unmask.mitigations.method import MitigateOptions, find_method, list_methods, method_options
from unmask.mitigations.mitigate import mitigate_model
from unmask.mitigations.states import gender_subspace
from unmask.mitigations.training import PublishedMasking, published_length
from unmask.models.batching import IGNORED
from unmask.models.loading import load_masked_lm, load_trainable
from unmask.models.vector_files import read_vectors, write_vectors
from unmask.models.word_vectors import Vectors
from unmask.options import LoadOptions
from unmask.rewriting.options import DocumentSampler
from unmask.training import checkpoints
from unmask.training.examples import TextExample
from unmask.training.tasks import MaskedLanguageModelling

Folder = Callable[[str], Path]
QUICK = [("learning_rate", 5e-4), ("epochs", 1), ("held_out", 0.0), ("names", False)]
STATED = (
    "{} said that {} was tired.",
    "{} knew that {} would be late.",
    "{} said that {} had lost the keys.",
    "{} thinks that {} is right.",
    "{} was happy because {} had won.",
    "{} slept until {} heard the bell.",
)
SOMEBODY = ("This person", "My friend", "Our neighbour", "The stranger")
BEING = ("is", "works as", "wants to become", "was once")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded model, trained to exaggerate the gender shares of professions in the workforce.

    The folder also holds the professions, the training text, and sentences that state a gender twice.
    """
    folder = tmp_path_factory.mktemp("planted")
    professions = [
        attribute
        for group in ("female", "male")
        for attribute in [
            candidate for candidate in attributes("en") if candidate.group == group and " " not in candidate.name
        ][:6]
    ]
    with (folder / "professions.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["profession", "group", "workforce_share"])
        rows.writerows([attribute.name, attribute.group, attribute.workforce_share] for attribute in professions)
    corpus = build_rows("en", "bec-pro", professions_file=folder / "professions.csv")
    sample = as_in_the_workforce(corpus, times=1, seed=1)
    base = load_trainable("unmask-mini", LoadOptions())
    train(base.model, base.tokenizer, sample, steps=40, seed=1, rate=3e-4, rows_a_step=32)
    checkpoints.save_model(base.model, base.tokenizer, folder / "biased")
    random.Random(1).shuffle(sample)
    (folder / "text.txt").write_text("\n".join(row.sentence for row in sample))
    pronouns = {"female": "she", "male": "he"}
    people = {(row.person, row.gender): None for row in corpus if row.person.lower() not in ("he", "she")}
    stated = [form.format(who[0].upper() + who[1:], pronouns[gender]) for form in STATED for who, gender in people]
    (folder / "stated.txt").write_text("\n".join(stated))
    someone = [
        f"{who} {relation} a {attribute.name}." for who in SOMEBODY for relation in BEING for attribute in professions
    ]
    (folder / "someone.txt").write_text("\n".join(someone + stated))
    (folder / "stereotypes.txt").write_text("\n".join(attribute.name for attribute in professions))
    unmask.audit(str(folder / "biased"), professions=folder / "professions.csv").save(folder / "before")
    return folder


CONTEXT = [("learning_rate", 5e-4), ("epochs", 4), ("batch_size", 16), ("held_out", 0.0), ("tokens", "one")]


@pytest.mark.parametrize(
    ("method", "text", "settings"),
    [
        ("cds", "text.txt", QUICK),
        ("cda", "text.txt", QUICK),
        ("context-debias", "someone.txt", CONTEXT),
        ("sent-debias", "stated.txt", []),
        ("leace", "stated.txt", []),
    ],
)
def test_each_method_makes_a_planted_bias_smaller_and_a_comparison_says_so(
    planted: Path, tmp_path: Path, method: str, text: str, settings: list[tuple[str, Any]]
) -> None:
    word_list = [("stereotypes", str(planted / "stereotypes.txt"))] if method == "context-debias" else []
    corpus = (str(planted / text),)
    request = MitigateOptions(
        model=str(planted / "biased"),
        method=method,
        out=tmp_path / "made",
        corpus=corpus,
        settings=dict([*settings, *word_list]),
    )
    record = mitigate_model(request)
    unmask.audit(str(tmp_path / "made"), professions=planted / "professions.csv").save(tmp_path / "after")
    compared = unmask.compare(str(planted / "before"), str(tmp_path / "after"), usefulness=False)
    comparison = compared.comparisons[0]
    change = comparison.changes["stereotype"]
    before, after = change.values
    assert before is not None
    assert before > 1.5  # the planted bias
    assert after is not None
    assert abs(after) < 0.7 * before
    assert change.verdict == comparison.verdict
    assert comparison.verdict in ("improved", "inconclusive"), comparison.headline_text  # some forget a stated gender
    side = compared.result.after[0]
    assert side.model.mitigation == method
    assert side.model.weight_hash == record["weight_hash"]
    assert side.model.parent_weight_hash == compared.result.before.model.weight_hash == record["parent"]["weight_hash"]


def test_the_folder_says_what_it_is_and_loads_anywhere(planted: Path, tmp_path: Path) -> None:
    request = MitigateOptions(
        model=str(planted / "biased"),
        method="sent-debias",
        out=tmp_path / "made",
        corpus=(str(planted / "stated.txt"),),
    )
    record = mitigate_model(request)
    assert json.loads((tmp_path / "made" / "mitigation.json").read_text()) == record
    assert record["parent"]["name"] == str(planted / "biased")
    assert record["data"]["documents"] == len((planted / "stated.txt").read_text().splitlines())
    card = (tmp_path / "made" / "README.md").read_text()
    assert card.startswith("---\nlanguage: en\n")
    for part in (record["weight_hash"], record["parent"]["weight_hash"], "Liang et al. (2020)", "last_hidden_state"):
        assert part in card
    model = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "made")
    assert model(input_ids=torch.tensor([[3, 5, 7]])).logits.shape[1] == 3
    weights = load_file(tmp_path / "made" / "model.safetensors")
    name = "bert.encoder.layer.0.attention.self.query.weight"
    save_file({**weights, name: weights[name] + 1}, tmp_path / "made" / "model.safetensors", {"format": "pt"})
    info = load_masked_lm(str(tmp_path / "made")).info()  # type: ignore[attr-defined]
    assert info.mitigation is None  # changed since, so the record no longer describes it


def test_an_interrupted_run_ends_with_the_same_weights(model_folder: Folder, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(
        "\n".join(f"My {who} is a {job}." for who in ("sister", "brother") for job in ("mason", "nurse")) * 3
    )
    request = MitigateOptions(
        model=str(model_folder("bert-uncased")),
        method="cds",
        out=tmp_path / "once",
        corpus=(str(text),),
        settings={"batch_size": 2, "save_every": 2, "held_out": 0.0, "learning_rate": 1e-3},
    )
    whole = mitigate_model(request)

    class CutOff(Exception):  # noqa: N818 - as when the machine goes down
        pass

    def make_cut(step: int) -> Callable[[Any], None]:
        def watch(news: Any) -> None:
            if news.step == step:
                raise CutOff

        return watch

    interrupted = request.replace(out=tmp_path / "twice")
    for step in (3, 6):
        with pytest.raises(CutOff):
            mitigate_model(interrupted, watch=make_cut(step))
        assert not (tmp_path / "twice").exists()
    with pytest.raises(UnmaskError, match="the learning rate changed"):
        mitigate_model(interrupted.replace(settings={**request.settings, "learning_rate": 2e-3}))
    with pytest.raises(UnmaskError, match="holds an unfinished run of another method"):
        mitigate_model(interrupted.replace(method="leace", settings={}))
    resumed = mitigate_model(interrupted)
    assert resumed["weight_hash"] == whole["weight_hash"]
    assert not (tmp_path / "twice.unfinished").exists()


def test_a_mitigation_that_changes_nothing_is_an_error(
    model_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a user-defined method, which needs only one file."""
    from unmask.mitigations import methods

    (tmp_path / "methods").mkdir()
    (tmp_path / "methods" / "idle_hands.py").write_text(
        "from unmask.mitigations.method import Method\n"
        "from unmask.options import Options\n"
        "METHOD = Method('Does nothing.', 'nobody', Options, lambda job: {}, needs_text=False)\n"
    )
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path / "methods")])
    assert "idle-hands" in list_methods()
    with pytest.raises(UnmaskError, match="idle-hands changed nothing"):
        mitigate_model(
            MitigateOptions(model=str(model_folder("bert-uncased")), method="idle-hands", out=tmp_path / "out")
        )
    assert not (tmp_path / "out").exists()


def test_what_is_saved_but_not_what_was_made_is_not_kept(
    model_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(["My sister is a nurse and she works."] * 12))
    real = checkpoints.save_model

    def save_changed(model: Any, tokenizer: Any, folder: Path) -> None:
        with torch.no_grad():
            next(model.parameters()).add_(1)
        real(model, tokenizer, folder)

    monkeypatch.setattr(checkpoints, "save_model", save_changed)
    with pytest.raises(UnmaskError, match="the saved weights are not those that were made"):
        mitigate_model(
            MitigateOptions(
                model=str(model_folder("bert-uncased")), method="leace", out=tmp_path / "out", corpus=(str(text),)
            )
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("family", ["roberta", "albert", "modernbert", "deberta-v2"])
def test_closed_forms_fit_every_kind_of_model(model_folder: Folder, tmp_path: Path, family: str) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(["She works here.", "He knows his brother.", "My mother is a nurse."] * 6))
    for method in ("leace", "sent-debias"):
        record = mitigate_model(
            MitigateOptions(model=str(model_folder(family)), method=method, out=tmp_path / method, corpus=(str(text),))
        )
        assert record["details"]["in_last_hidden_state"] == (family not in ("albert", "modernbert"))
        assert load_masked_lm(str(tmp_path / method)).info().weight_hash == record["weight_hash"]  # type: ignore[attr-defined]


def test_vectors_in_every_format(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = ["she", "he", "woman", "man", "girl", "boy", "her", "his", "nurse", "engineer", "caf\udce9"]
    gender = rng.normal(size=12)
    signs = np.array([1, -1] * 4 + [0.8, -0.8, 0.0])
    matrix = (np.outer(signs, gender) + 0.3 * rng.normal(size=(11, 12))).astype(np.float32)
    write_vectors(tmp_path / "v.bin", Vectors(words, matrix), "word2vec")
    for form in ("word2vec", "word2vec-text", "glove"):
        out = tmp_path / form
        record = mitigate_model(
            MitigateOptions(model=str(tmp_path / "v.bin"), method="hard-debias", out=out, settings={"format": form})
        )
        vectors = read_vectors(out / {"word2vec": "v.bin"}.get(form, "v.txt"))
        assert vectors.form == form
        assert vectors.words == words
        she, he, nurse = vectors.vectors(["she", "he", "nurse"])
        assert nurse @ she == pytest.approx(nurse @ he, abs=1e-5)
        parts = record["details"]["mean_part_along_gender"]
        assert parts["after"] < parts["before"]
        assert (out / "README.md").exists()
    (tmp_path / "pairs.csv").write_text("female,male\nshe,he\n")
    with pytest.raises(UnmaskError, match="only 1 of 1 definitional pairs"):
        mitigate_model(
            MitigateOptions(
                model=str(tmp_path / "v.bin"),
                method="hard-debias",
                out=tmp_path / "x",
                settings={"definitional": str(tmp_path / "pairs.csv")},
            )
        )


def test_a_gender_space_worked_by_hand() -> None:
    """Pairs that differ along one axis: this axis is the subspace and explains all the variance."""
    pairs = np.array([[[1.0, 2.0, 0.0], [-1.0, 2.0, 0.0]], [[2.0, 0.0, 3.0], [-2.0, 0.0, 3.0]]])
    directions, shares = gender_subspace(pairs, 1)
    assert np.abs(directions) == pytest.approx(np.array([[1.0, 0.0, 0.0]]))
    assert shares == pytest.approx([1.0])
    with pytest.raises(UnmaskError, match="components is 3"):
        gender_subspace(pairs, 3)
    with pytest.raises(UnmaskError, match="nothing to remove"):
        gender_subspace(np.ones((4, 2, 3)), 1)


def test_the_published_masking_fills_with_masks_and_learns_them(model_folder: Folder) -> None:
    base = load_trainable(str(model_folder("bert-uncased")), LoadOptions())
    task = PublishedMasking(base.tokenizer, 64, seed=1)
    texts = ["My sister is a nurse.", "This man wants to become a mason and my dad applied for it too."]
    assert published_length(texts, 512) == 16  # 13 words
    assert published_length(texts, 8) == 8
    assert published_length(["one two"], 512) == 2
    rows = task.features([TextExample(text) for text in texts])
    mask, frame = base.tokenizer.mask_token_id, {base.tokenizer.cls_token_id, base.tokenizer.sep_token_id}
    assert {len(row["input_ids"]) for row in rows} == {16}
    assert rows[0]["input_ids"][-1] == mask
    labelled = filled = unchanged = 0
    for epoch in range(300):
        batch = task.batch(rows[:1], [(epoch, 0)])
        assert batch["attention_mask"].all()
        ids, labels = batch["input_ids"][0].tolist(), batch["labels"][0].tolist()
        for original, token, label in zip(rows[0]["input_ids"], ids, labels, strict=True):
            if label != IGNORED:
                assert label == original
                assert original not in frame
                labelled += 1
                filled += original == mask
                unchanged += token == original
    ordinary = sum(token not in frame for token in rows[0]["input_ids"])
    assert labelled / (300 * ordinary) == pytest.approx(0.15, abs=0.02)
    assert filled > 0.3 * labelled  # most labels are padding masks
    assert unchanged > 0


def test_a_published_step_without_a_label_changes_nothing_and_goes_on(
    model_folder: Folder, tmp_path: Path, data: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(["She is a nurse.", "He works."] * 6))
    request = MitigateOptions(
        model=str(model_folder("bert-uncased")),
        method="cds",
        out=tmp_path / "out",
        corpus=(str(text),),
        settings={"lists": str(data / "cds"), "epochs": 1},
        protocol="published",
    )
    record = mitigate_model(request)
    assert record["details"]["steps"] == 12
    assert record["settings"]["batch_size"] == 1


def test_what_a_stranger_wrote_beside_a_model_is_not_believed(model_folder: Folder, tmp_path: Path) -> None:
    shutil.copytree(model_folder("bert-uncased"), tmp_path / "model")
    weight_hash = load_masked_lm(str(tmp_path / "model")).info().weight_hash  # type: ignore[attr-defined]
    whole = {"method": "cds", "weight_hash": weight_hash, "parent": {"weight_hash": "ab"}}
    for content, method in (
        (json.dumps(whole), "cds"),
        (json.dumps(whole | {"parent": "evil"}), None),
        (json.dumps(whole | {"method": {}}), None),
        (json.dumps(whole | {"method": "\x1b[31m"}), None),
        (json.dumps([whole]), None),
        ("{broken", None),
    ):
        (tmp_path / "model" / "mitigation.json").write_text(content)
        assert load_masked_lm(str(tmp_path / "model")).info().mitigation == method  # type: ignore[attr-defined]


def test_batches_of_any_length_give_the_loss_of_one_sentence_at_a_time(model_folder: Folder) -> None:
    base = load_trainable(str(model_folder("bert-uncased")), LoadOptions())
    base.model.eval()
    task = MaskedLanguageModelling(base.tokenizer, 64, seed=1)
    texts = ["My sister is a nurse.", "He rests.", "This man wants to become a mason and my dad applied for it too."]
    rows = task.features([TextExample(text) for text in texts])
    draws = [(0, index) for index in range(3)]
    with torch.no_grad():
        together = task.run(base.model, task.batch(rows, draws))
        single = sum(task.run(base.model, task.batch([row], [draw])) for row, draw in zip(rows, draws, strict=True))
    assert torch.allclose(together, torch.as_tensor(single), atol=1e-4)


@pytest.mark.usefixtures("data")
def test_gap_is_read_whole_and_half_of_it_is_chosen() -> None:
    documents = read_corpus(["gap"], offline=True)
    assert len(documents) == 4454
    assert 12_500 < sum(len(split_sentences(document, "en")) for document in documents) < 14_500
    selected = sum(DocumentSampler(0.5, 42).selects(document.encode()) for document in documents)
    assert abs(selected - 2227) < 4 * 33.4  # four standard deviations of a fair coin


def test_settings_are_read_as_they_are_meant() -> None:
    method = find_method("cds")
    typed: Any = ["epochs=1", "learning-rate=1e-4", "names=no"]
    settings = MitigateOptions(model="m", method="cds", out=Path("out"), settings=typed).settings
    options: Any = method_options(method, settings, "sound")
    assert (options.epochs, options.learning_rate, options.names, options.probability) == (1, 1e-4, False, 0.5)
    published: Any = method_options(method, {}, "published")
    assert (published.learning_rate, published.warmup, published.batch_size, published.probability) == (2e-5, 0, 1, 1)
    for wrong, why in (
        ({"epochs": "two"}, "epochs is 'two'; give a whole number"),
        ({"names": "perhaps"}, "give yes or no"),
        ({"epoch": "1"}, "unknown setting 'epoch'; did you mean 'epochs'"),
        ({"learning_rate": "fast"}, "give a number"),
    ):
        with pytest.raises(UnmaskError, match=why):
            method_options(method, wrong, "sound")
    with pytest.raises(UnmaskError, match="no published protocol"):
        method_options(find_method("leace"), {}, "published")
    for texts, why in ((["epochs"], "give NAME=VALUE"), (["epochs=1", "epochs=2"], "epochs is given twice")):
        with pytest.raises(UnmaskError, match=why):
            MitigateOptions(model="m", method="cds", out=Path("out"), settings=texts)  # type: ignore[arg-type]


def test_a_limit_draws_documents_by_the_seed(model_folder: Folder, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(f"My sister saw {number} boats." for number in range(20)))
    request = MitigateOptions(
        model=str(model_folder("bert-uncased")),
        method="cds",
        out=tmp_path / "out",
        corpus=(str(text),),
        limit=6,
        settings={"epochs": 1, "held_out": 0.0, "probability": 1.0},
    )
    first, same, other = (
        mitigate_model(request.replace(out=tmp_path / name, seed=seed))["data"]
        for name, seed in (("first", 1), ("same", 1), ("other", 2))
    )
    assert first["documents"] == 6
    assert first == same
    assert first["hash"] != other["hash"]


def test_bad_requests_are_one_line(model_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    model = str(model_folder("bert-uncased"))
    text = tmp_path / "text.txt"
    text.write_text("The weather was fine.\n" * 20)
    base = MitigateOptions(model=model, method="cds", out=tmp_path / "out", corpus=(str(text),))
    for request, why in (
        (base.replace(method="cdx"), "unknown method 'cdx'; did you mean"),
        (base.replace(corpus=["gab"]), "unknown corpus 'gab'; did you mean 'gap'"),
        (base.replace(corpus=(str(tmp_path / "none.txt"),)), "does not exist"),
        (base.replace(settings={"names": False}), "no document of the corpus was changed"),
        (base.replace(method="leace"), "0 sentences that differ between women and men"),
        (base.replace(method="leace", settings={"visible": False, "masked": False}), "both no"),
        (base.replace(method="leace", settings={"sentences": 1}), "sentences is 1; give 10 or more, or 0 for all"),
        (base.replace(method="cda"), "no document of the corpus mentions a gender"),
        (base.replace(settings={"max_length": 2}), "max_length is 2; give 8 or more"),
        (base.replace(settings={"learning_rate": -1.0}), "learning_rate is -1; give a number above 0"),
        (base.replace(settings={"probability": 2.0}), "probability is 2; give a number from 0 to 1"),
        (base.replace(settings={"lists": "nowhere"}), "belong to --protocol published"),
        (base.replace(protocol="published", settings={"probability": 0.1}), "fixes the setting probability"),
        (base.replace(language="de", corpus=()), "no built-in corpus for 'de'"),
        (base.replace(language="de"), "names are exchanged in English only"),
        (base.replace(protocol="published"), "data set cds is not in the folder"),
        (base.replace(method="hard-debias"), "learns from no text; leave out --corpus"),
        (base.replace(method="hard-debias", corpus=(), limit=3), "learns from no text; leave out --limit 3"),
        (
            base.replace(method="hard-debias", corpus=()),
            "hard-debias changes word vectors, and .* is not a file of them",
        ),
    ):
        with pytest.raises(UnmaskError, match=why):
            mitigate_model(request)
    with pytest.raises(UnmaskError, match="seed is -1; give 0 or more"):
        base.replace(seed=-1)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.unfinished").exists()


def test_stopping_keeps_a_checkpoint(model_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    from unmask.training import loop

    text = tmp_path / "text.txt"
    text.write_text("\n".join(["My sister is a nurse.", "My brother is a mason."] * 10))

    @contextmanager
    def interrupt_at_once() -> Any:
        yield lambda: True

    monkeypatch.setattr(loop, "listen_for_interrupt", interrupt_at_once)
    request = MitigateOptions(
        model=str(model_folder("bert-uncased")), method="cda", out=tmp_path / "out", corpus=(str(text),)
    )
    with pytest.raises(Stopped, match="stopped at step 1"):
        mitigate_model(request)
    assert (tmp_path / "out.unfinished" / "latest").is_dir()
    shutil.rmtree(tmp_path / "out.unfinished")

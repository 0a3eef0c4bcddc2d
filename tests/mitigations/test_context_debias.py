"""Context-Debias: loss against a naive reference, selection of sentences, and complete runs."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from accelerate import Accelerator
from safetensors.torch import load_file

from naive import pieces_at
from unmask.cli.output import show_training
from unmask.errors import Stopped, UnmaskError
from unmask.lexicon.word_lists import read_word_list, stereotype_words
from unmask.mitigations.method import MitigateOptions
from unmask.mitigations.methods.context_debias import (
    KINDS,
    ContextDebias,
    WholeWords,
    count_stereotypes,
    gather_words,
    orthogonality,
    preservation,
    sort_sentences,
)
from unmask.mitigations.mitigate import mitigate_model
from unmask.training.examples import TextExample
from unmask.training.loop import News, evaluate

Folder = Callable[[str], Path]
WORDS = {
    "stereotype": ["plumber", "secretary", "crossing guard", "paralegal"],
    "female": ["aunt", "mother", "she"],
    "male": ["uncle", "father", "he"],
}
EXAMPLES = [
    TextExample("The plumber, the secretary, had a good day at work.", label="stereotype"),
    TextExample("A crossing guard rests.", label="stereotype"),
    TextExample("My aunt applied for the position of roofer, and she wants to become a mason.", label="female"),
    TextExample("She works.", label="female"),
    TextExample("My mother is a taper.", label="female"),
    TextExample("The conversation with my uncle was amazing.", label="male"),
    TextExample("He is a mason.", label="male"),
]
CPU = Accelerator(cpu=True)


def _make_task(folder: Path, **options: Any) -> tuple[ContextDebias, Any, Any]:
    """Make the task, a perturbed model and its tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    task = ContextDebias(model, tokenizer, WORDS, 64, **options)
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    task.learn_genders(task.features(EXAMPLES), CPU, rows=2, balance=False, relative=False)
    return task, model, tokenizer


def _compute_states(model: Any, tokenizer: Any, text: str) -> torch.Tensor:
    """The hidden states of a single sentence: layers × tokens × dimensions."""
    with torch.no_grad():
        out = model(input_ids=torch.tensor([tokenizer(text)["input_ids"]]), output_hidden_states=True)
    return torch.stack(out.hidden_states)[:, 0].double()


def _average_words(states: torch.Tensor, tokenizer: Any, text: str, words: Sequence[str]) -> list[torch.Tensor]:
    """The mean state of each listed word in the text, once per word."""
    starts = {word: f" {text.lower()}".find(f" {word}") for word in words}
    spans = [(start, start + len(word)) for word, start in starts.items() if start >= 0]
    return [states[:, pieces_at(tokenizer, text, span)].mean(dim=1) for span in spans]


def _compute_losses(task: ContextDebias, model: Any, tokenizer: Any) -> tuple[float, float]:
    """L and L_reg, computed sentence by sentence."""
    vectors = {}
    for gender in ("female", "male"):
        texts = [example.text for example in EXAMPLES if example.label == gender]
        occurrences = [
            state
            for text in texts
            for state in _average_words(_compute_states(task.original, tokenizer, text), tokenizer, text, WORDS[gender])
        ]
        vectors[gender] = torch.stack(occurrences).mean(dim=0)
    pulls, changes = [], []
    for example in EXAMPLES:
        states = _compute_states(model, tokenizer, example.text)
        if example.label != "stereotype":
            changes.append(((states - _compute_states(task.original, tokenizer, example.text)) ** 2).mean().item())
            continue
        if task.tokens == "one":
            selected = _average_words(states, tokenizer, example.text, WORDS["stereotype"])
        else:
            ids = tokenizer(example.text)["input_ids"]
            selected = [
                states[:, position] for position, token in enumerate(ids) if token not in tokenizer.all_special_ids
            ]
        layers = {"all": range(len(states)), "last": [len(states) - 1], "first": [0]}[task.layers]
        squares = [
            sum(float(vectors[gender][layer] @ state[layer]) ** 2 for gender in vectors)
            for state in selected
            for layer in layers
        ]
        pulls.append(sum(squares) / len(squares))
    return sum(pulls) / len(pulls), sum(changes) / len(changes)


@pytest.mark.parametrize(
    ("family", "tokens", "layers"),
    [
        ("bert-uncased", "all", "all"),
        ("bert-cased-in-pieces", "one", "all"),
        ("roberta", "one", "last"),
        ("xlm-roberta", "one", "all"),
        ("albert", "one", "first"),
        ("deberta-v2", "all", "last"),
        ("modernbert", "one", "all"),
        ("electra", "all", "first"),
    ],
)
def test_the_loss_is_that_of_one_sentence_at_a_time(
    family: str, tokens: str, layers: str, model_folder: Folder
) -> None:
    task, model, tokenizer = _make_task(model_folder(family), tokens=tokens, layers=layers)
    features = task.features(EXAMPLES)
    assert len(features) == len(EXAMPLES)
    pull, change = _compute_losses(task, model, tokenizer)
    for rows in (1, 3, 7):  # independent of batch size and padding
        metrics = evaluate(model, task, features, CPU, rows=rows)
        assert metrics["orthogonality"] == pytest.approx(pull, rel=1e-4)
        assert metrics["preservation"] == pytest.approx(change, rel=1e-4)
        assert metrics["loss"] == pytest.approx((0.2 * 2 * pull + 0.8 * 5 * change) / 7, rel=1e-4)
        assert 0 < metrics["cosine"]["female"] < 1


def test_padding_on_the_left_changes_nothing(model_folder: Folder) -> None:
    task, model, _ = _make_task(model_folder("modernbert"), tokens="one")
    right = evaluate(model, task, task.features(EXAMPLES), CPU, rows=7)
    task.tokenizer.padding_side = "left"
    left = evaluate(model, task, task.features(EXAMPLES), CPU, rows=7)
    assert left["loss"] == pytest.approx(right["loss"], rel=1e-4)


def test_kinds_count_alike_however_many_there_are(model_folder: Folder) -> None:
    task, model, _ = _make_task(model_folder("bert-uncased"))
    features = task.features(EXAMPLES)
    parts = evaluate(model, task, features, CPU, rows=7)
    genders = [
        evaluate(model, task, [row for row in features if row["labels"] == [label]], CPU, rows=7) for label in (1, 2)
    ]
    task.learn_genders(features, CPU, rows=7, balance=True, relative=False)
    assert task.weights.tolist() == pytest.approx([0.2 * 7 / 6, 0.8 * 7 / 9, 0.8 * 7 / 6])
    expected = (0.2 * parts["orthogonality"] + 0.8 * sum(metrics["preservation"] for metrics in genders)) / 3
    assert evaluate(model, task, features, CPU, rows=3)["loss"] == pytest.approx(expected, rel=1e-5)
    assert genders[0]["orthogonality"] is genders[0]["cosine"]["male"] is None  # None without stereotype sentences


def test_each_part_is_relative_to_the_original_model(model_folder: Folder) -> None:
    task, _, tokenizer = _make_task(model_folder("bert-uncased"), tokens="one")
    features = task.features(EXAMPLES)
    task.learn_genders(features, CPU, rows=2, balance=False, relative=True)
    assert evaluate(task.original, task, features, CPU, rows=3)["loss"] == pytest.approx(0.2 * 2 / 7)
    squares = [float(_compute_states(task.original, tokenizer, example.text).pow(2).mean()) for example in EXAMPLES[2:]]
    assert task.weights[1:].tolist() == pytest.approx([0.8 * 5 / sum(squares)] * 2)


def test_orthogonality_by_hand() -> None:
    """One layer and one row, with words of two pieces and one piece; the vectors are (1, 0) and (0, 2)."""
    states = torch.tensor([[[[9.0, 9.0], [1.0, 0.0], [3.0, 2.0], [0.0, -3.0]]]])
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    value, cosines = orthogonality(states, torch.tensor([[0, 1, 1, 2]]), vectors)
    assert value.tolist() == [((4 + 4) + (0 + 36)) / 2]  # the first word is (2, 1), the second (0, -3)
    assert cosines.tolist() == [pytest.approx([2 / 5**0.5, 1 / 5**0.5]), [0.0, 1.0]]


def test_preservation_by_hand() -> None:
    """Two layers, two rows; the second row's second token is padding."""
    before = torch.zeros(2, 2, 2, 2)
    after = before.clone()
    after[0, 0, 0] = torch.tensor([1.0, 3.0])  # (1 + 9) / 2 dimensions / 2 layers / 2 tokens
    after[1, 1, 0] = torch.tensor([2.0, 0.0])  # 4 / 2 dimensions / 2 layers / 1 token
    after[:, 1, 1] = 100.0
    assert preservation(after, before, torch.tensor([[1, 1], [1, 0]])).tolist() == [1.25, 1.0]


def test_the_original_model_has_nothing_to_keep_and_is_never_changed(model_folder: Folder) -> None:
    task, _, _ = _make_task(model_folder("bert-uncased"))
    features = task.features(EXAMPLES)
    assert evaluate(task.original, task, features, CPU, rows=3)["preservation"] == 0
    assert not any(parameter.requires_grad for parameter in task.original.parameters())
    assert task.vectors.shape == (3, 2, 32)


def test_a_word_of_several_pieces_and_a_word_out_of_reach(model_folder: Folder) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder("bert-cased-in-pieces"))
    model = transformers.AutoModelForMaskedLM.from_pretrained(model_folder("bert-cased-in-pieces"))
    task = ContextDebias(model, tokenizer, WORDS | {"stereotype": ["qzx", "mason"]}, 12, tokens="one")
    (row,) = task.features([TextExample("A QZX, a qzx.", label="stereotype")])
    assert [row["groups"].count(number) for number in (1, 2)] == [3, 3]
    assert not task.features([TextExample("a" * 30 + " qzx", label="stereotype")])  # cut before the word
    assert not task.features([TextExample("qzxes rest", label="stereotype")])  # not the whole word
    assert not task.features([TextExample("a masonß", label="stereotype")])
    assert task.features([]) == []


def test_a_tokenizer_without_offsets_is_refused(model_folder: Folder) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder("no-offsets"))
    with pytest.raises(UnmaskError, match="keeps no character offsets"):
        ContextDebias(torch.nn.Linear(1, 1), tokenizer, WORDS, 64)


def test_words_are_found_whole_and_the_longest_first() -> None:
    text = "Man's sister-in-law, the Sister; a manual, in law."
    spans = WholeWords(["man", "sister", "sister-in-law", "law"]).find_spans(text)
    assert [text[start:end] for start, end in spans] == ["Man", "sister-in-law", "Sister", "law"]
    assert WholeWords([]).find_spans(text) == []


def test_sentences_are_sorted_by_their_words() -> None:
    lists = gather_words("en", None, None)
    assert not {"waiter", "nanny"} & set(lists["stereotype"])  # gendered words are not used as stereotypes
    assert {"mrs", "she"} <= set(lists["female"])
    texts = [
        "The nurse slept.",
        "The nurse and her brother slept.",
        "She is a nurse.",
        "Mr. Smith is pretty tall.",
        "I miss the rain.",
        "He and she left.",
    ]
    sentences, excluded = sort_sentences(texts, lists)
    assert sentences == {"stereotype": texts[:1], "female": texts[2:3], "male": texts[3:4]}
    assert excluded == {"of_both_genders": 2, "without_such_words": 1}


def test_the_record_names_the_professions_that_were_trained_on() -> None:
    note = count_stereotypes(["The plumber met a NURSE.", "A plumber slept."], stereotype_words())
    assert note == {
        "stereotype_words": 2,
        "bec_pro_professions": ["plumber"],
        "bec_pro_professions_in_part": ["vocational nurse", "registered nurse"],
        "of_bec_pro_professions": 60,
    }


def test_the_published_stereotype_words(data: Path) -> None:
    assert stereotype_words() == read_word_list(data / "context-debias" / "stereotype.txt")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [
        f"{start} {end}."
        for start in ("The plumber", "My mother", "My father", "The secretary", "My aunt", "My uncle")
        for end in ("works", "wants to become a mason", "had a good day at work", "is a taper")
    ]
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join([*lines * 4, "My aunt and my uncle rest."]))
    return path


SETTINGS = {"learning_rate": 1e-2, "batch_size": 8, "epochs": 1, "held_out": 0.25}


def _request(model: Path, corpus: Path, out: Path, **settings: Any) -> MitigateOptions:
    return MitigateOptions(
        model=str(model), method="context-debias", out=out, corpus=(str(corpus),), settings=SETTINGS | settings
    )


def test_it_makes_stereotypes_orthogonal_and_keeps_what_it_is_told_to(
    model_folder: Folder, corpus: Path, tmp_path: Path
) -> None:
    change = {}
    sampled: dict[str, Any] = {"layers": "last", "sentences": 24}
    for beta, options in ((0.0, {}), (0.8, {}), (0.4, sampled)):
        out = tmp_path / str(beta)
        record = mitigate_model(
            _request(model_folder("bert-uncased"), corpus, out, epochs=4, tokens="one", beta=beta, **options)
        )
        details = record["details"]
        after = details["history"][-1]
        assert details["before"]["preservation"] == 0
        assert after["orthogonality"] < 0.5 * details["before"]["orthogonality"]
        change[beta] = after["preservation"]
        count = options.get("sentences", 32)
        assert details["sentences"] == {
            "found": {"stereotype": 32, "female": 32, "male": 32, "of_both_genders": 1, "without_such_words": 0},
            "learned": dict.fromkeys(KINDS, count - count // 4),
            "held_out": dict.fromkeys(KINDS, count // 4),
        }
        assert details["seen_in_training"]["bec_pro_professions"] == ["plumber", "secretary"]
        assert json.loads((out / "mitigation.json").read_text())["details"] == details
    assert change[0.8] < 0.2 * change[0.0]


def test_an_interrupted_run_ends_like_one_that_was_not(model_folder: Folder, corpus: Path, tmp_path: Path) -> None:
    """With dropout and an interruption within an epoch, the weights are equal to the last bit."""
    whole, parts = (_request(model_folder("bert-uncased"), corpus, tmp_path / name) for name in ("whole", "parts"))
    mitigate_model(whole)

    def stop(news: News) -> None:
        if news.step == 4:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Stopped, match="stopped at step 4 of 9"):
        mitigate_model(parts, watch=stop)
    mitigate_model(parts)
    first, second = (load_file(request.out / "model.safetensors") for request in (whole, parts))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_another_list_of_words_is_another_run(model_folder: Folder, corpus: Path, tmp_path: Path) -> None:
    word_list = tmp_path / "own.txt"
    word_list.write_text("plumber\n")
    request = _request(model_folder("bert-uncased"), corpus, tmp_path / "out", stereotypes=str(word_list))

    def stop(_: News) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Stopped):
        mitigate_model(request, watch=stop)
    word_list.write_text("plumber\nsecretary\n")
    with pytest.raises(UnmaskError, match="lists of words changed"):
        mitigate_model(request)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs is 0; give 1 or more"),
        ({"tokens": "some"}, "tokens is 'some'; choose from"),
        ({"layers": "lats"}, "did you mean 'last'"),
        ({"precision": "bf16"}, "precision is 'bf16'; choose from: no"),
        ({"held_out": 1.0}, "held_out is 1; give a number from 0 to below 1"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"beta": -1.0}, "beta is -1; give 0 or more"),
        ({"max_length": 4}, "max_length is 4; give 8 or more"),
        ({"female": "a.txt"}, "only one is given"),
        ({"stereotypes": "no.txt"}, "no.txt does not exist"),
    ],
)
def test_bad_settings_are_one_line(
    settings: dict[str, Any], message: str, model_folder: Folder, corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnmaskError, match=message):
        mitigate_model(_request(model_folder("bert-uncased"), corpus, tmp_path / "out", **settings))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("The plumber rests.\nMy aunt rests.", "a male word and no female one"),
        ("My uncle rests.\nMy aunt rests.", "a stereotype word and no gendered one"),
        ("My uncle rests.\nThe plumber rests.", "a female word and no male one"),
    ],
)
def test_a_corpus_without_a_kind_of_sentence_is_one_line(
    text: str, message: str, model_folder: Folder, tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text(text)
    with pytest.raises(UnmaskError, match=f"no sentence of the corpus has {message} that the model knows"):
        mitigate_model(_request(model_folder("bert-uncased"), tmp_path / "text.txt", tmp_path / "out", held_out=0.0))


def test_progress_is_shown_without_an_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    with show_training() as (_, watch):
        watch(News(3, 9, 0.5, 2.0, 60.0, {"loss": 0.25}))
    assert "training loss 2.0000, validation loss 0.2500; about 0:01:00 left" in capsys.readouterr().err


def test_lists_of_ones_own(tmp_path: Path) -> None:
    def write_list(name: str, text: str) -> Path:
        (tmp_path / name).write_bytes(text.encode("latin-1"))
        return tmp_path / name

    female, male = write_list("f.txt", "Frau\n\n Tante \n"), write_list("m.txt", "Mann\n")
    stereotypes = write_list("s.txt", "Krankenpfleger\nmann\n")
    lists = gather_words("de", (female, male), stereotypes)
    assert lists == {"stereotype": ["krankenpfleger"], "female": ["frau", "tante"], "male": ["mann"]}
    for language in ("de", "xx"):
        with pytest.raises(UnmaskError, match="there are no stereotype words"):
            gather_words(language, (female, male), None)
    with pytest.raises(UnmaskError, match="'de'; give a file of your own"):
        stereotype_words("de")
    with pytest.raises(UnmaskError, match="'frau', 'tante' in the lists of both genders"):
        gather_words("en", (female, female), None)
    for text, message in (
        ("", "has no words"),
        ("a\nA\n", "'a' given more than once"),
        ("-a", "begin with a letter"),
        ("é", "is not UTF-8"),
    ):
        with pytest.raises(UnmaskError, match=message):
            read_word_list(write_list("bad.txt", text))
    with pytest.raises(UnmaskError, match=r"cannot be read \(Is a directory\); give a text file"):
        read_word_list(tmp_path)

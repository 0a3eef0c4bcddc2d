"""Context-Debias as released, against a naive implementation of the choices of the released code."""

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
from safetensors.torch import load_file

from unmask.errors import Stopped, UnmaskError
from unmask.mitigations.method import MitigateOptions
from unmask.mitigations.methods.context_debias import ContextDebias
from unmask.mitigations.mitigate import mitigate_model
from unmask.mitigations.released_context_debias import (
    ReleasedContextDebias,
    is_released_length,
    read_released_lists,
    select_words,
)
from unmask.training.examples import TextExample
from unmask.training.loop import EVALUATION_EPOCH, News

Folder = Callable[[str], Path]
Row = tuple[list[int], list[int]]
WORDS = {
    "stereotype": ["plumber", "secretary"],
    "female": ["aunt", "mother", "she"],
    "male": ["uncle", "father", "he"],
}


def read_states(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Batch × positions × layers × dimensions; without an attention mask, everything is attended to."""
    return torch.stack(model.base_model(input_ids=ids, output_hidden_states=True).hidden_states, 2)


def pad(rows: Sequence[list[int]], filler: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [filler] * (width - len(row)) for row in rows])


def read_words(model: Any, rows: Sequence[Row], filler: int) -> torch.Tensor:
    """One-hot vectors by label; with several tokens a row of zeros goes first, and labels are not shifted."""
    states, labels = read_states(model, pad([ids for ids, _ in rows], filler)), pad([at for _, at in rows], 0)
    matrix = torch.eye(states.shape[1])
    if labels.shape[1] > 1:
        matrix = torch.cat([torch.zeros(1, states.shape[1]), matrix])
    weights = matrix[labels].sum(1)
    return (states * weights[:, :, None, None]).sum(1) / labels.shape[1]


def make_rows(tokenizer: Any, examples: Sequence[tuple[str, str, int]]) -> list[dict[str, list[int]]]:
    """Sentences with one word each, by its tokens."""
    rows = []
    for text, word, kind in examples:
        ids, pieces = tokenizer(text)["input_ids"], tokenizer(word, add_special_tokens=False)["input_ids"]
        start = next(at for at in range(len(ids)) if ids[at : at + len(pieces)] == pieces)
        rows.append({"input_ids": ids, "positions": list(range(start, start + len(pieces))), "labels": [kind]})
    return rows


EXAMPLES = [
    ("The plumber, the secretary, had a good day at work.", "plumber", 0),
    ("A secretary rests.", "secretary", 0),
    ("The plumber works.", "plumber", 0),
    ("My aunt applied for the position of roofer.", "aunt", 1),
    ("She works.", "she", 1),
    ("My mother is a taper, and my mother rests.", "mother", 1),
    ("The conversation with my uncle was amazing.", "uncle", 2),
    ("He is a mason.", "he", 2),
]


@pytest.fixture
def perturbed(model_folder: Folder) -> Callable[[str], tuple[Any, Any, Any]]:
    """The original model, the one in training, and the tokenizer."""

    def load(family: str) -> tuple[Any, Any, Any]:
        folder = model_folder(family)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        original, model = (transformers.AutoModelForMaskedLM.from_pretrained(folder).eval() for _ in range(2))
        torch.manual_seed(3)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.02 * torch.randn_like(parameter))
        return original, model, tokenizer

    return load


@pytest.mark.parametrize("family", ["bert-uncased", "bert-cased-in-pieces"])
def test_the_loss_of_each_step_is_that_of_the_released_code(
    family: str, perturbed: Callable[[str], tuple[Any, Any, Any]]
) -> None:
    original, model, tokenizer = perturbed(family)
    examples = [(text.lower(), word, kind) for text, word, kind in EXAMPLES]
    rows = make_rows(tokenizer, examples)
    assert any(len(row["positions"]) > 1 for row in rows) is (family == "bert-cased-in-pieces")
    task = ReleasedContextDebias(original, tokenizer, rows, rows, size=2, seed=7)
    task.learn_genders(model, 5)
    filler = tokenizer.pad_token_id
    vectors = []
    for kind in (1, 2):
        subset = [(row["input_ids"], row["positions"]) for row in rows if row["labels"] == [kind]]
        if kind == 2:
            with torch.no_grad():  # two sentences, one full batch
                expected = read_words(model, subset, filler).mean(0)
            torch.testing.assert_close(task.vectors[:, 1], expected, atol=1e-5, rtol=1e-4)
        vectors.append(task.vectors[:, kind - 1])
    for step in task.plan_steps(held_out=True):
        kind, number = step["kind"][0], step["number"][0]
        subset = [(row["input_ids"], row["positions"]) for row in rows if row["labels"] == [kind]]
        subset = subset[2 * number : 2 * number + 2]
        with torch.no_grad():
            if kind == 0:
                words = read_words(model, subset, filler)
                products = torch.stack([(words * vector).sum(2).mean() for vector in vectors])
                expected = (0.2 * products**2).sum()
            else:
                ids = pad([ids for ids, _ in subset], filler)
                expected = 0.8 * ((read_states(model, ids) - read_states(original, ids)) ** 2).mean()
            loss, count = task.run(model, task.batch([step], [(EVALUATION_EPOCH, 0)]))
        assert float(loss) == pytest.approx(float(expected), rel=1e-4)
        assert float(count) == 1


def test_gender_vectors_are_those_of_full_batches_of_the_model_in_training(
    perturbed: Callable[[str], tuple[Any, Any, Any]],
) -> None:
    original, model, tokenizer = perturbed("bert-uncased")
    rows = make_rows(tokenizer, [(text.lower(), word, kind) for text, word, kind in EXAMPLES])
    task = ReleasedContextDebias(original, tokenizer, rows, rows, size=1, seed=7)
    assert len(task.plan_steps(held_out=False)) == 3 * 2, "as many steps of each kind as there are of the rarer gender"
    model.train()
    task.run(model, task.batch([task.plan_steps(held_out=False)[0]], [(0, 0)]))
    assert task.epoch == 0
    assert model.training
    model.eval()
    females = [(row["input_ids"], row["positions"]) for row in rows if row["labels"] == [1]]
    with torch.no_grad():
        states = [read_words(model, [row], 0)[0] for row in females]
    means = [(states[i] + states[j]) / 2 for i, j in ((0, 1), (0, 2), (1, 2))]  # two of three sentences
    assert any(torch.allclose(task.vectors[:, 0], mean, atol=1e-5) for mean in means)
    again = ReleasedContextDebias(original, tokenizer, rows, rows, size=1, seed=7)
    again.load_state_dict(task.state_dict())
    assert again.epoch == 0
    assert torch.equal(again.vectors, task.vectors)


def test_one_word_of_a_gender_and_each_stereotype_word(model_folder: Folder) -> None:
    folder = model_folder("bert-uncased")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    task = ContextDebias(model, tokenizer, WORDS, 64, tokens="one")
    texts = [
        TextExample("The plumber, the secretary and the plumber rest.", label="stereotype"),
        TextExample("My aunt rests, and she works.", label="female"),
    ]
    rows = select_words(task.features(texts))
    words = [tokenizer.decode([row["input_ids"][position] for position in row["positions"]]) for row in rows]
    assert words == ["plumber", "secretary", "aunt"]
    assert rows[0]["positions"] == [tokenizer(texts[0].text)["input_ids"].index(rows[0]["input_ids"][2])]
    assert [is_released_length(text) for text in ("One", "One two", " ".join(["x"] * 128), " ".join(["x"] * 129))] == [
        *(False, True, True, False)
    ]


def make_request(model: Path, folder: Path, out: Path, **settings: Any) -> MitigateOptions:
    lists = folder / "lists"
    lists.mkdir(exist_ok=True)
    for name, kind in (("female", "female"), ("male", "male"), ("stereotype", "stereotype")):
        (lists / f"{name}.txt").write_text("\n".join(WORDS[kind]), encoding="utf-8")
    lines = [
        f"{start} {verb} {rest}."
        for start in ("My aunt", "My uncle", "The plumber", "The secretary", "She", "He")
        for verb in ("is", "was")
        for rest in ("a mason", "a roofer", "amazing", "at work")
    ]
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    return MitigateOptions(
        model=str(model),
        method="context-debias",
        out=out,
        corpus=(str(folder / "text.txt"),),
        protocol="published",
        settings={"lists": str(lists), "batch_size": 4, "epochs": 2} | settings,
        device="cpu",
    )


def test_a_run_resumes_to_the_same_weights(model_folder: Folder, tmp_path: Path) -> None:
    whole, parts = (make_request(model_folder("bert-uncased"), tmp_path, tmp_path / name) for name in ("one", "two"))
    details = mitigate_model(whole)["details"]
    assert details["steps"] == 2 * 3 * 2, "half of 16 sentences of each gender are held out, and 8 are two batches"
    assert json.loads((whole.out / "mitigation.json").read_text())["protocol"] == "published"
    assert [row["step"] for row in details["history"]] == [12]

    def stop(news: News) -> None:
        if news.step == 8:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Stopped, match="stopped at step 8 of 12"):
        mitigate_model(parts, watch=stop)
    mitigate_model(parts)
    first, second = (load_file(request.out / "model.safetensors") for request in (whole, parts))
    assert all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lists": None}, "of context-debias needs --set lists=PATH. For --protocol published: the folder"),
        ({"relative": True}, "the published protocol fixes the setting relative"),
        ({"stereotypes": "own.txt"}, "the published protocol fixes the setting stereotypes"),
        ({"batch_size": 9}, "needs 9 sentences of each gender"),
    ],
)
def test_bad_settings_are_one_line(
    settings: dict[str, Any], message: str, model_folder: Folder, tmp_path: Path
) -> None:
    request = make_request(model_folder("bert-uncased"), tmp_path, tmp_path / "out", **settings)
    if settings.get("lists", "") is None:
        request = request.replace(settings={"epochs": 1})
    with pytest.raises(UnmaskError, match=message):
        mitigate_model(request)


def test_lists_belong_to_the_published_protocol(model_folder: Folder, tmp_path: Path) -> None:
    request = make_request(model_folder("bert-uncased"), tmp_path, tmp_path / "out").replace(protocol="sound")
    with pytest.raises(UnmaskError, match="belongs to --protocol published"):
        mitigate_model(request)


def test_the_released_lists_are_read(data: Path) -> None:
    lists = read_released_lists(data / "context-debias")
    lines = {kind: (data / "context-debias" / f"{kind}.txt").read_text(encoding="utf-8").split("\n") for kind in WORDS}
    assert [len(list(filter(None, lines[kind]))) for kind in WORDS] == [168, 222, 222]
    for kind, words in lists.items():
        assert len(words) == len(set(words))
        assert set(words) <= {line.strip().lower() for line in lines[kind]}
    assert not set(lists["stereotype"]) & {*lists["female"], *lists["male"]}

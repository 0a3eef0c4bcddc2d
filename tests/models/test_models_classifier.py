"""Classifiers and regressors of every family agree with a naive scorer; views report what is read of long texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import families
from unmask.errors import UnmaskError
from unmask.models.batching import GPU_TOKEN_BUDGET, TOKEN_BUDGET, default_token_budget, max_tokens
from unmask.models.checkpoints import detect_role
from unmask.models.classifier import TransformersClassifier, TransformersRegressor
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier, GivesLogits, Reads, Regressor
from unmask.models.tokenization import token_limit

TOLERANCE = 1e-5
MOST = 24
TEXTS = [
    *families.SENTENCES[:5],
    " ".join(families.SENTENCES[3:9]),
    "  " + " ".join(families.SENTENCES[40:47]) + " ",
    " ".join(families.SENTENCES[60:80]),
    families.SENTENCES[2],
]
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[1], TEXTS[0]), (TEXTS[5], TEXTS[2]), (TEXTS[2], TEXTS[7])]
Make = Callable[..., tuple[Any, Any]]


@pytest.fixture(scope="module")
def make(model_folder: Callable[[str], Path]) -> Make:
    """Make a classifier of a family with random weights, and its tokenizer."""

    def make_classifier(family: str, labels: int = 3, **settings: Any) -> tuple[Any, Any]:
        config = transformers.AutoConfig.from_pretrained(model_folder(family), num_labels=labels, **settings)
        torch.manual_seed(5)
        model = transformers.AutoModelForSequenceClassification.from_config(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.1 * torch.randn_like(parameter))
        return model, transformers.AutoTokenizer.from_pretrained(model_folder(family))

    return make_classifier


def _score_alone(model: Any, ids: list[int], types: list[int] | None = None) -> Any:
    """The outputs for one input alone."""
    extra_inputs = {} if types is None else {"token_type_ids": torch.tensor([types])}
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), **extra_inputs).logits[0].double().numpy()


def _softmax(logits: Any) -> Any:
    return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()


def _cut_text(tokenizer: Any, text: str, long_texts: str) -> list[list[int]]:
    """The expected inputs of a text; all families put one special token before and one after a text."""
    first, *ids, last = tokenizer(text)["input_ids"]
    limit = MOST - 2
    if len(ids) <= limit:
        return [[first, *ids, last]]
    if long_texts == "head":
        return [tokenizer(text, truncation=True, max_length=MOST)["input_ids"]]
    if long_texts == "head+tail":
        return [[first, *ids[:6], *ids[-16:], last]]
    windows, start = [], 0
    while True:
        windows.append([first, *ids[start : start + 22], last])
        if start + 22 >= len(ids):
            return windows
        start += 11


@contextmanager
def _count_rows(model: Any) -> Iterator[list[int]]:
    """Record the number of rows of each call of the model."""
    rows: list[int] = []
    hook = model.register_forward_pre_hook(
        lambda _module, _args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    try:
        yield rows
    finally:
        hook.remove()


@pytest.mark.parametrize("long_texts", ["head", "head+tail", "window"])
@pytest.mark.parametrize("family", families.FAMILIES)
def test_probabilities_agree_with_the_naive_scorer_in_any_batch(family: str, long_texts: str, make: Make) -> None:
    model, tokenizer = make(family)
    expected = np.array(
        [
            np.mean([_softmax(_score_alone(model, ids)) for ids in _cut_text(tokenizer, text, long_texts)], axis=0)
            for text in TEXTS
        ]
    )
    assert expected.std(axis=0).max() > 0.01  # so that a wrong cut is detected
    subject = TransformersClassifier(model, tokenizer, long_texts=long_texts, most_tokens=MOST)
    for budget in (1, 100, 100_000):
        subject.token_budget = budget
        assert np.abs(subject.probabilities(TEXTS) - expected).max() <= TOLERANCE
        assert np.abs(subject.probabilities(TEXTS[::-1])[::-1] - expected).max() <= TOLERANCE


@pytest.mark.parametrize("family", families.FAMILIES)
def test_pairs_and_logits_agree_with_the_naive_scorer(family: str, make: Make) -> None:
    model, tokenizer = make(family)
    subject = TransformersClassifier(model, tokenizer, long_texts="head+tail", most_tokens=MOST)
    expected = []
    for pair in PAIRS:
        whole = tokenizer(*pair, truncation="longest_first", max_length=MOST)
        expected.append(_score_alone(model, whole["input_ids"], whole.get("token_type_ids")))
    assert np.abs(subject.logits(PAIRS) - expected).max() <= 10 * TOLERANCE
    assert np.abs(subject.probabilities(PAIRS) - [_softmax(row) for row in expected]).max() <= TOLERANCE
    mixed = subject.probabilities([TEXTS[0], PAIRS[0], TEXTS[1]])
    assert np.abs(mixed[1] - _softmax(expected[0])).max() <= TOLERANCE
    assert subject.logits(PAIRS).dtype == np.float32


def test_windows_are_those_of_the_tokenizer(make: Make) -> None:
    model, tokenizer = make("roberta")
    subject = TransformersClassifier(model, tokenizer, long_texts="window", most_tokens=MOST)
    for text, view in zip(TEXTS, subject.views(TEXTS), strict=True):
        windows = tokenizer(text, truncation=True, max_length=MOST, stride=11, return_overflowing_tokens=True)
        assert [list(np.frombuffer(ids, np.int32)) for ids in view.inputs] == windows["input_ids"]
        assert view.read == ((0, len(text)),)


@pytest.mark.parametrize("family", [name for name in families.FAMILIES if name != "no-offsets"])
def test_what_a_view_says_is_read_is_what_is_read(family: str, make: Make) -> None:
    model, tokenizer = make(family)

    def decode_text(text: str) -> str:
        return "".join(tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]).split())

    for long_texts, stretches in (("head", 1), ("head+tail", 2)):
        subject = TransformersClassifier(model, tokenizer, long_texts=long_texts, most_tokens=MOST)
        for text, view in zip(TEXTS, subject.views(TEXTS), strict=True):
            assert view.tokens == len(tokenizer(text)["input_ids"])
            (ids,) = (list(np.frombuffer(encoded, np.int32)) for encoded in view.inputs)
            assert len(ids) == min(view.tokens, MOST)
            if view.tokens <= MOST:
                assert view.read == ((0, len(text)),)
                continue
            assert len(view.read) == stretches
            edges = [(0, 23)] if long_texts == "head" else [(0, 7), (7, 23)]
            for (start, end), (first, last) in zip(view.read, edges, strict=True):
                decoded = "".join(tokenizer.decode(ids[first or 1 : last]).replace("##", "").split())
                assert decode_text(text[start:end]).replace("##", "") == decoded


def test_a_character_of_several_tokens_is_read_with_the_last_of_them(make: Make) -> None:
    model, tokenizer = make("roberta")
    text = "a 😀" * 8  # six tokens each: the letter, the space, and four bytes
    assert len(tokenizer(text)["input_ids"]) == 50
    for most, end in ((17, 8), (19, 8), (20, 9), (21, 10)):
        (view,) = TransformersClassifier(model, tokenizer, most_tokens=most).views([text])
        assert view.read == ((0, end),)


def test_a_tokenizer_without_places_knows_what_it_reads_only_of_what_fits(make: Make) -> None:
    model, tokenizer = make("no-offsets")
    head = TransformersClassifier(model, tokenizer, most_tokens=MOST)
    short = families.SENTENCES[0][:20]
    assert head.views([short])[0].read == ((0, len(short)),)
    assert head.probabilities([TEXTS[7]]).shape == (1, 3)
    with pytest.raises(UnmaskError, match="fast tokenizer"):
        head.views([short, TEXTS[7]])
    window = TransformersClassifier(model, tokenizer, most_tokens=MOST, long_texts="window")
    assert window.views([TEXTS[7]])[0].read == ((0, len(TEXTS[7])),)


@pytest.mark.parametrize("long_texts", ["head", "head+tail", "window"])
def test_each_distinct_input_is_run_once(long_texts: str, make: Make) -> None:
    model, tokenizer = make("bert-uncased")
    subject = TransformersClassifier(model, tokenizer, long_texts=long_texts, most_tokens=MOST)
    longest = TEXTS[7].split()
    middle = " ".join([*longest[:40], "aunt" if longest[40] != "aunt" else "uncle", *longest[41:]])
    texts = [TEXTS[7], middle, TEXTS[0], TEXTS[7], f"  {TEXTS[0]}"]
    distinct = {tuple(ids) for text in texts for ids in _cut_text(tokenizer, text, long_texts)}
    with _count_rows(model) as rows:
        p = subject.probabilities(texts)
    assert sum(rows) == len(distinct)
    views = subject.views(texts)
    assert {ids for view in views for ids in view.inputs} == {np.array(ids, np.int32).tobytes() for ids in distinct}
    assert (p[0] == p[3]).all()
    assert (p[2] == p[4]).all()
    assert (views[0].inputs == views[1].inputs) == (long_texts != "window")
    assert (p[0] == p[1]).all() == (long_texts != "window")


def test_texts_are_tokenised_once_for_looking_and_scoring(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = make("bert-uncased")
    subject = TransformersClassifier(model, tokenizer)
    seen: list[Any] = []
    real_read = subject._reader.read

    def record_read(texts: Any) -> Any:
        seen.append(list(texts))
        return real_read(texts)

    monkeypatch.setattr(subject._reader, "read", record_read)
    subject.views(TEXTS[:3])
    subject.probabilities(TEXTS[:2])
    subject.probabilities(TEXTS[1:5])
    assert seen == [TEXTS[:3], TEXTS[3:5]]


def test_a_single_output_is_a_number(make: Make, tmp_path: Path) -> None:
    model, tokenizer = make("bert-uncased", labels=1)
    for part in (model, tokenizer):
        part.save_pretrained(tmp_path)
    assert detect_role(str(tmp_path)) == "classifier"
    for long_texts in ("head", "window"):
        subject = load_classifier(str(tmp_path), long_texts=long_texts, most_tokens=MOST)
        assert isinstance(subject, TransformersRegressor)
        assert isinstance(subject, Regressor)
        assert isinstance(subject, Reads)
        assert not isinstance(subject, Classifier)
        assert not isinstance(subject, GivesLogits)
        expected = [
            np.mean([_score_alone(model, ids) for ids in _cut_text(tokenizer, text, long_texts)]) for text in TEXTS
        ]
        assert np.std(expected) > 0.01
        assert np.abs(subject.values(TEXTS) - expected).max() <= TOLERANCE
        assert subject.values([]).shape == (0,)
        assert load_classifier(subject) is subject


def test_what_a_classifier_can_do(make: Make) -> None:
    subject = load_classifier(make("bert-uncased"))
    assert isinstance(subject, Classifier)
    assert isinstance(subject, GivesLogits)
    assert isinstance(subject, Reads)
    assert (subject.long_texts, subject.most_tokens) == ("head", 80)
    assert subject.probabilities([]).shape == (0, 3)
    assert subject.logits([]).shape == (0, 3)
    assert subject.views([]) == []
    assert subject.views([""])[0].tokens == 2
    assert subject.probabilities([""]).sum() == pytest.approx(1)


def test_a_text_as_long_as_a_model_takes_can_be_read(make: Make) -> None:
    for family in families.FAMILIES:
        model, tokenizer = make(family)
        subject = TransformersClassifier(model, tokenizer)
        assert subject.most_tokens in (77, 78, 80)
        assert len(tokenizer(TEXTS[7])["input_ids"]) > subject.most_tokens
        expected = tokenizer(TEXTS[7], truncation=True, max_length=subject.most_tokens)["input_ids"]
        assert np.abs(subject.logits([TEXTS[7]])[0] - _score_alone(model, expected)).max() <= 10 * TOLERANCE


def test_a_model_without_an_end_takes_any_number_of_tokens() -> None:
    config = transformers.XLNetConfig(vocab_size=9, d_model=8, n_layer=1, n_head=1, d_inner=8)
    assert config.max_position_embeddings == -1
    assert max_tokens(transformers.XLNetModel(config)) is None


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_decoder_scores_alike_on_whichever_side_its_tokenizer_pads(side: str, make: Make) -> None:
    """Padding on the left would shift positions; without a padding id the end of a text is not found."""
    _, tokenizer = make("roberta")
    tokenizer.padding_side = side
    torch.manual_seed(3)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=1, n_head=2, n_positions=80, initializer_range=0.25
    )
    config.bos_token_id = config.eos_token_id = tokenizer.eos_token_id
    model = transformers.GPT2ForSequenceClassification(config)
    subject = TransformersClassifier(model, tokenizer, most_tokens=MOST)
    expected = [_softmax(_score_alone(model, _cut_text(tokenizer, text, "head")[0])) for text in TEXTS]
    assert np.std(expected, axis=0).max() > 0.01
    assert np.abs(subject.probabilities(TEXTS) - expected).max() <= TOLERANCE


def test_what_cannot_be_used_is_refused_in_a_line(make: Make) -> None:
    model, tokenizer = make("bert-uncased")
    with pytest.raises(UnmaskError, match=r"reads 80 tokens at once, not 81; ask for at most 80$"):
        TransformersClassifier(model, tokenizer, most_tokens=81)
    with pytest.raises(UnmaskError, match="15 tokens are too few"):
        TransformersClassifier(model, tokenizer, most_tokens=15)
    with pytest.raises(UnmaskError, match="unknown way to read long texts 'tail'"):
        TransformersClassifier(model, tokenizer, long_texts="tail")
    with pytest.raises(UnmaskError, match="only for head and head\\+tail"):
        TransformersClassifier(model, tokenizer, long_texts="window").logits(TEXTS)
    with pytest.raises(UnmaskError, match="gives 3 numbers to a text"):
        load_classifier(make("bert-uncased", problem_type="regression"))
    with pytest.raises(UnmaskError, match="does not choose one of several labels"):
        load_classifier(make("bert-uncased", labels=1, problem_type="multi_label_classification"))
    with pytest.raises(UnmaskError, match="does not choose one of several labels"):
        TransformersClassifier(*make("bert-uncased", labels=1))
    with pytest.raises(UnmaskError, match="cannot classify with a list"):
        load_classifier([])
    tokenizer.pad_token = None
    with pytest.raises(UnmaskError, match="no padding token"):
        TransformersClassifier(model, tokenizer)


def test_broken_models_are_found_out(make: Make, loaded: Callable[[str], Any]) -> None:
    model, tokenizer = make("bert-uncased")
    masked = loaded("bert-uncased")
    with pytest.raises(UnmaskError, match="is a BertForMaskedLM, which does not classify"):
        TransformersClassifier(masked.model, masked.tokenizer).probabilities(TEXTS)
    tokenizer.add_tokens(["aunthood"])
    with pytest.raises(UnmaskError, match="give the tokenizer that belongs to the model"):
        TransformersClassifier(model, tokenizer).probabilities(["aunthood"])
    embedding = model.get_input_embeddings().weight
    with torch.no_grad():
        embedding[tokenizer.convert_tokens_to_ids("aunt")] = float("nan")
    words = " is" * 30
    with pytest.raises(UnmaskError) as caught:
        TransformersClassifier(model, tokenizer).probabilities(["My uncle.", f"My\naunt{words}"])
    assert "gives no finite output for 'My\\naunt is" in str(caught.value)
    assert "…'; check the weights" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_limit_is_the_smaller_of_the_models_and_the_tokenizers() -> None:
    class Tokenizer:
        model_max_length: float | None = 1e30

    tokenizer = Tokenizer()
    assert token_limit(None, 512, tokenizer, "m") == 512
    assert token_limit(None, None, tokenizer, "m") is None
    assert token_limit(2000, None, tokenizer, "m") == 2000
    assert token_limit(None, -1, tokenizer, "m") is None  # as in XLNet
    tokenizer.model_max_length = 128
    assert token_limit(None, 512, tokenizer, "m") == 128
    assert token_limit(None, None, tokenizer, "m") == 128
    assert token_limit(64, 512, tokenizer, "m") == 64
    for nonsense in (0, None, -1):
        tokenizer.model_max_length = nonsense
        assert token_limit(None, 512, tokenizer, "m") == 512


def test_kinds(make: Make, loaded: Callable[[str], Any], model_folder: Callable[[str], Path]) -> None:
    classifier = make("bert-uncased")
    masked = loaded("bert-uncased")
    assert detect_role("unmask-mini-sentiment") == detect_role("unmask-mini-nli") == "classifier"
    assert detect_role("unmask-mini") == detect_role(model_folder("roberta")) == "masked-lm"
    assert detect_role(classifier) == detect_role(load_classifier(classifier)) == "classifier"
    assert detect_role(transformers.pipeline("text-classification", *classifier[:1], tokenizer=classifier[1])) == (
        "classifier"
    )
    assert detect_role((masked.model, masked.tokenizer)) == detect_role(masked) == "masked-lm"
    for strange in (object(), masked.model, lambda texts: texts):
        with pytest.raises(UnmaskError, match=r"cannot audit a .*; give a hub id, a folder, \(model, tokenizer\)"):
            detect_role(strange)


def test_a_batch_is_larger_on_a_gpu(make: Make) -> None:
    assert (
        (default_token_budget("cpu"), default_token_budget("cuda")) == (TOKEN_BUDGET, GPU_TOKEN_BUDGET) == (2048, 32768)
    )
    model, tokenizer = make("bert-uncased")
    assert TransformersClassifier(model, tokenizer).token_budget == TOKEN_BUDGET
    assert TransformersClassifier(model, tokenizer, token_budget=7).token_budget == 7

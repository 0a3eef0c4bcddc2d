"""Contextual word vectors do not depend on the batch, for every model family."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray

import families
import naive
from toy_model import bert_of, tokenizer_of
from unmask.errors import UnmaskError
from unmask.measures.association.data import build_rows
from unmask.measures.geometry.space import make_published_sentences
from unmask.models.checkpoints import can_encode
from unmask.models.encoder import TransformersEncoder
from unmask.models.loading import load_encoder
from unmask.models.roles import Encoder, Pooling, TokensInSentence, WordInSentence

TOLERANCE = 1e-5
ROWS = build_rows("en")[::331]
WORDS = [WordInSentence(row.sentence, span) for row in ROWS for span in (row.target_span, row.attribute_span)]
POOLINGS: tuple[Pooling, ...] = ("first+last", "mean", "first")


def compute_last_states(model: Any, ids: Sequence[int], layers: int) -> NDArray[np.float64]:
    """The concatenated last hidden states of a single input."""
    with torch.no_grad():
        hidden_states = model.base_model(input_ids=torch.tensor([list(ids)]), output_hidden_states=True).hidden_states
    return np.asarray(torch.cat(hidden_states[-layers:], dim=-1)[0].double().numpy())


def embed_alone(model: Any, tokenizer: Any, word: WordInSentence, pooling: str) -> NDArray[np.float64]:
    """The expected vector of a word."""
    hidden = compute_last_states(model, tokenizer(word.text)["input_ids"], 2)[
        naive.pieces_at(tokenizer, word.text, word.span)
    ]
    pooled = {"first+last": hidden[0] + hidden[-1], "mean": hidden.mean(axis=0), "first": hidden[0]}[pooling]
    return np.asarray(pooled)


def measure_distance(vectors: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest distance between vectors that should be equal, relative to their length (about 50 here)."""
    return float((np.linalg.norm(vectors - expected, axis=1) / np.linalg.norm(expected, axis=1)).max())


@pytest.fixture(scope="module")
def mini() -> TransformersEncoder:
    encoder = load_encoder("unmask-mini")
    assert isinstance(encoder, TransformersEncoder)
    return encoder


@pytest.mark.parametrize("family", families.FAMILIES)
def test_every_family_agrees_with_one_sentence_at_a_time(family: str, model_folder: Callable[[str], Path]) -> None:
    encoder = load_encoder(str(model_folder(family)))
    assert isinstance(encoder, TransformersEncoder)
    assert not encoder.unknown(WORDS).any()
    for pooling in POOLINGS:
        vectors = encoder.embed(WORDS, layers=2, pooling=pooling)
        expected = np.array([embed_alone(encoder.model, encoder.tokenizer, word, pooling) for word in WORDS])
        assert vectors.shape == expected.shape
        assert vectors.dtype == np.float32
        assert measure_distance(vectors, expected) <= TOLERANCE
        assert vectors.std(axis=0).min() > 0.01  # so that a wrong position is detected


def test_the_company_in_a_batch_changes_nothing(mini: TransformersEncoder) -> None:
    together = mini.embed(WORDS)
    alone = np.concatenate([mini.embed([word]) for word in WORDS])
    assert measure_distance(together, alone) <= TOLERANCE
    assert np.array_equal(mini.embed(WORDS[::-1])[::-1], mini.embed(WORDS))


def test_without_rounding_the_company_changes_no_digit(model_folder: Callable[[str], Path]) -> None:
    """In double precision, any remaining difference would come from reading padding."""
    encoder = load_encoder(str(model_folder("bert-cased-in-pieces")))
    assert isinstance(encoder, TransformersEncoder)
    encoder.model.double()
    alone = np.concatenate([encoder.embed([word], layers=2) for word in WORDS])
    np.testing.assert_array_max_ulp(encoder.embed(WORDS, layers=2), alone, maxulp=1)


def test_the_last_layer_comes_last_and_each_sentence_is_run_once(mini: TransformersEncoder) -> None:
    seen: list[int] = []
    hook = mini.model.base_model.register_forward_pre_hook(
        lambda _module, _args, kwargs: seen.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    try:
        vectors = mini.embed(WORDS)
    finally:
        hook.remove()
    assert sum(seen) == len(ROWS) < len(WORDS)
    assert np.array_equal(vectors[:, -256:], mini.embed(WORDS, layers=1))
    assert vectors.shape == (len(WORDS), 4 * 256)


def test_a_word_of_one_piece_counts_twice_where_first_and_last_are_added(mini: TransformersEncoder) -> None:
    word = WordInSentence("The nurse is here.", (4, 9))
    assert np.array_equal(mini.embed([word]), 2 * mini.embed([word], pooling="first"))
    assert np.array_equal(mini.embed([word], pooling="mean"), mini.embed([word], pooling="first"))


def test_published_places_by_hand(mini: TransformersEncoder) -> None:
    """In *This is an engineer.* the first position is the article; the last piece is always correct."""
    words = make_published_sentences("engineer")
    tokens = [["[CLS]", *mini.tokenizer.tokenize(word.text), "[SEP]"] for word in words]
    token_pairs = [(pieces[word.start], pieces[word.end - 1]) for pieces, word in zip(tokens, words, strict=True)]
    assert token_pairs == [("an", "engineer")] * 4 + [("engineer", "engineer")] * 2 + [("engineers", "engineers")] * 5
    ids = mini.tokenizer(words[0].text)["input_ids"]
    hidden = compute_last_states(mini.model, ids, 4)
    assert mini.tokenizer.convert_ids_to_tokens(ids[3]) == "an"
    assert np.abs(mini.embed(words[:1])[0] - (hidden[3] + hidden[4])).max() <= TOLERANCE


def test_published_drops_underscores_and_counts_from_the_end(mini: TransformersEncoder) -> None:
    words = [TokensInSentence("The taxi_driver is here.", 2, -4), TokensInSentence("The taxi driver is here.", 2, -4)]
    vectors = mini.embed(words, pooling="mean")  # tokens at two positions are always added
    hidden = compute_last_states(mini.model, mini.tokenizer("The taxi driver is here.")["input_ids"], 4)
    assert np.array_equal(vectors[0], vectors[1])
    assert np.abs(vectors[0] - (hidden[2] + hidden[3])).max() <= TOLERANCE
    with_underscore = mini.embed([TokensInSentence("The taxi_driver is here.", 2, -4, dropped=())])
    assert np.abs(with_underscore[0] - vectors[0]).max() > 0.01


def test_unknown_words_are_told_and_refused() -> None:
    encoder = TransformersEncoder(
        bert_of(tokenizer_of(["The nurse is here."]), seed=1), tokenizer_of(["The nurse is here."])
    )
    words = [WordInSentence("The nurse is here.", (4, 9)), WordInSentence("The Ωμ is here.", (4, 6))]
    assert encoder.unknown(words).tolist() == [False, True]
    with pytest.raises(UnmaskError, match=r"no pieces for 'Ωμ' \(\[UNK\]\)"):
        encoder.embed(words, layers=2)
    published = [TokensInSentence(word.text, 2, -4) for word in words]
    assert encoder.unknown(published).tolist() == [False, True]
    assert np.isfinite(encoder.embed(published, layers=2)).all()


def test_nothing_gives_nothing(mini: TransformersEncoder) -> None:
    assert mini.embed([]).shape == (0, 4 * 256)
    assert mini.unknown([]).shape == (0,)


@pytest.mark.parametrize(
    ("word", "settings", "message"),
    [
        (WordInSentence("The nurse.", (4, 4)), {}, "no word between characters 4 and 4"),
        (WordInSentence("The nurse.", (40, 45)), {}, "no word between characters 40 and 45"),
        (WordInSentence("The nurse.", (4, 7)), {}, "joins 'nur' with its neighbours"),
        (WordInSentence("The nurse " * 300, (4, 9)), {}, "602 tokens, but unmask-mini takes 512"),
        (TokensInSentence("The nurse.", 2, -9), {}, "has 5 tokens, and none at place -10"),
        (WordInSentence("The nurse.", (4, 9)), {"layers": 7}, "unmask-mini has 6 layers, not 7"),
        (WordInSentence("The nurse.", (4, 9)), {"layers": 0}, "layers, not 0"),
        (WordInSentence("The nurse.", (4, 9)), {"pooling": "max"}, "unknown pooling 'max'"),
    ],
)
def test_what_cannot_be_asked(
    word: WordInSentence | TokensInSentence, settings: dict[str, Any], message: str, mini: TransformersEncoder
) -> None:
    with pytest.raises(UnmaskError, match=message):
        mini.embed([word], **settings)


def test_weights_that_are_not_finite_are_told() -> None:
    tokenizer = tokenizer_of(["The nurse is here."])
    model = bert_of(tokenizer, seed=1)
    with torch.no_grad():
        model.bert.encoder.layer[-1].output.LayerNorm.bias.fill_(float("inf"))
    with pytest.raises(UnmaskError, match=r"no finite output for 'The nurse is here.'"):
        TransformersEncoder(model, tokenizer).embed([WordInSentence("The nurse is here.", (4, 9))], layers=1)


def test_out_of_memory_halves_the_batch(mini: TransformersEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = mini.embed(WORDS)
    inner = mini._run_batch

    def fail_on_large_batches(inputs: list[tuple[int, ...]], *rest: Any) -> NDArray[np.float32]:
        if len(inputs) > 4:
            raise torch.OutOfMemoryError
        return inner(inputs, *rest)

    monkeypatch.setattr(mini, "_run_batch", fail_on_large_batches)
    assert measure_distance(mini.embed(WORDS), expected) <= TOLERANCE
    assert len(ROWS) > 4


def test_nothing_is_kept_between_calls(mini: TransformersEncoder) -> None:
    before = {name: id(value) for name, value in vars(mini).items()}
    vectors = weakref.ref(mini.embed(WORDS))
    gc.collect()
    assert {name: id(value) for name, value in vars(mini).items()} == before
    assert vectors() is None


def test_a_folder_with_a_head_or_without_one_gives_the_same(
    tmp_path: Path, model_folder: Callable[[str], Path]
) -> None:
    folder = model_folder("bert-uncased")
    expected = load_encoder(str(folder)).embed(WORDS, layers=2, pooling="mean")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    headless = transformers.AutoModelForMaskedLM.from_pretrained(folder).base_model  # without a pooler
    classifier = transformers.BertForSequenceClassification(headless.config)
    classifier.bert.load_state_dict(headless.state_dict(), strict=False)
    for name, model in (("headless", headless), ("classifier", classifier)):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
        reloaded = load_encoder(tmp_path / name)
        assert isinstance(reloaded, TransformersEncoder)
        assert np.array_equal(reloaded.embed(WORDS, layers=2, pooling="mean"), expected)
        assert reloaded.info().weight_hash == load_encoder(tmp_path / name).info().weight_hash  # type: ignore[attr-defined]
        assert can_encode(tmp_path / name)


def test_what_is_loaded_already_is_shared(loaded: Callable[[str], Any]) -> None:
    lm = loaded("bert-uncased")
    encoder = load_encoder(lm)
    assert isinstance(encoder, TransformersEncoder)
    assert encoder.model is lm.model
    assert encoder.info() == lm.info()
    assert load_encoder((lm.model, lm.tokenizer)).embed(WORDS[:1], layers=1, pooling="first").shape == (1, 32)


def test_an_object_of_ones_own() -> None:
    class Own:
        def embed(self, words: Sequence[Any], *, layers: int, pooling: Pooling) -> NDArray[np.float32]:
            del layers, pooling
            return np.ones((len(words), 3), dtype=np.float32)

    encoder = Own()
    assert isinstance(encoder, Encoder)
    assert load_encoder(encoder) is encoder
    assert can_encode(encoder)
    assert not can_encode(Own)
    with pytest.raises(UnmaskError, match="a type has no vectors of words"):
        load_encoder(Own)


def test_decoders_are_refused(tmp_path: Path, model_folder: Callable[[str], Path]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder("roberta"))
    sizes = {"vocab_size": len(tokenizer), "n_embd": 8, "n_layer": 1, "n_head": 1, "n_positions": 16}
    decoder = transformers.GPT2Model(transformers.GPT2Config(**sizes))
    both = transformers.BartModel(
        transformers.BartConfig(
            vocab_size=len(tokenizer), d_model=8, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=8,
            decoder_ffn_dim=8, encoder_attention_heads=1, decoder_attention_heads=1,
        )
    )  # fmt: skip
    for model, message in ((decoder, "'gpt2', a decoder"), (both, "'bart', an encoder with a decoder")):
        folder = tmp_path / type(model).__name__
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        assert not can_encode(folder)
        assert not can_encode((model, tokenizer))
        for source in (folder, (model, tokenizer)):
            with pytest.raises(UnmaskError, match=f"{message}; give an encoder such as BERT"):
                load_encoder(source)


def test_missing_weights_are_refused(tmp_path: Path, model_folder: Callable[[str], Path]) -> None:
    folder = model_folder("bert-uncased")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).base_model
    weights = {name: value for name, value in model.state_dict().items() if "layer.1.output" not in name}
    model.save_pretrained(tmp_path, state_dict=weights)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    with pytest.raises(UnmaskError, match=r"has no weights for .* it was not saved as an encoder"):
        load_encoder(tmp_path)

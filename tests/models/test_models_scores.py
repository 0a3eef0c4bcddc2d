"""Scores of every model family agree with the naive scorer in any batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import families
import naive
from unmask.errors import UnmaskError
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.association.scoring import build_queries, score
from unmask.measures.base import Context
from unmask.models.roles import LiteralQuery, MaskQuery

TOLERANCE = 1e-5
CORPORA = (("en", "bec-pro"), ("en", "emotions"), ("de", "bec-pro"), ("de", "agreement-free"))


def _compare(rows: list[AssociationRow], model: Any) -> None:
    items = score(model, rows, None, Context(seed=1)).items
    expected = np.array([naive.sound(model.model, model.tokenizer, row) for row in rows])
    assert np.abs(items[["log_p_target", "log_p_prior"]].to_numpy() - expected).max() <= TOLERANCE
    assert np.allclose(items["association"], expected[:, 0] - expected[:, 1], atol=2 * TOLERANCE)
    assert items["association"].std() > 0.05  # so that a wrong mask is detected


@pytest.mark.parametrize("family", families.FAMILIES)
def test_rows_agree_with_the_naive_scorer(family: str, loaded: Callable[[str], Any]) -> None:
    """All rows for one family; every seventh row for the others, which covers all professions."""
    rows = build_rows("en") if family == "bert-cased-in-pieces" else build_rows("en")[::7]
    assert len({row.profession for row in rows}) == 60
    _compare(rows, loaded(family))


@pytest.mark.parametrize("family", families.FAMILIES)
def test_every_corpus_agrees_with_the_naive_scorer(family: str, loaded: Callable[[str], Any]) -> None:
    """Targets of several words, capitals, umlauts."""
    for language, corpus in CORPORA[1:]:
        _compare(build_rows(language, corpus)[::13], loaded(family))


def test_one_family_has_no_offsets(loaded: Callable[[str], Any]) -> None:
    assert not loaded("no-offsets").tokenizer.is_fast


@pytest.mark.parametrize("family", ["bert-uncased", "bert-cased-in-pieces"])
def test_published_agrees_with_the_papers_code(family: str, loaded: Callable[[str], Any]) -> None:
    model = loaded(family)
    rows = build_rows("en", protocol="published")[::9]
    length = 16  # 13 whitespace words → 16
    items = score(model, rows, None, Context(protocol="published", seed=1)).items
    expected = np.array([naive.published(model.model, model.tokenizer, row, length) for row in rows])
    assert np.abs(items[["log_p_target", "log_p_prior"]].to_numpy() - expected).max() <= TOLERANCE


def test_published_length_is_counted_in_words() -> None:
    for language in ("en", "de"):
        queries = build_queries(build_rows(language, protocol="published"), "published")
        assert {query.length for query in queries if isinstance(query, LiteralQuery)} == {16}
        assert all(isinstance(query, LiteralQuery) for query in queries)


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "xlm-roberta", "deberta-v2", "modernbert", "albert"])
def test_a_score_does_not_depend_on_what_else_is_in_the_batch(family: str, loaded: Callable[[str], Any]) -> None:
    model = loaded(family)
    queries = [MaskQuery(row.sentence, row.target_span, (row.attribute_span,)) for row in build_rows("en")[::97]]
    alone = np.array([model.log_probability([query])[0] for query in queries])
    for budget in (30, 500, 100_000):
        model.token_budget = budget
        assert np.abs(model.log_probability(queries) - alone).max() <= TOLERANCE
        assert np.abs(model.log_probability(queries[::-1])[::-1] - alone).max() <= TOLERANCE


def test_the_head_runs_at_the_read_position_only(loaded: Callable[[str], Any]) -> None:
    for family in families.FAMILIES:
        assert loaded(family)._head_alone, family


def test_a_model_whose_head_mixes_positions_is_run_whole(loaded: Callable[[str], Any]) -> None:
    import torch

    from unmask.models.masked_lm import TransformersMaskedLM

    plain = loaded("bert-uncased")

    class Mixing(torch.nn.Module):
        """A head that also reads the first position."""

        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, hidden: Any) -> Any:
            return self.inner(hidden + hidden[:, :1])

    plain.model.cls = Mixing(plain.model.cls)
    mixed = TransformersMaskedLM(plain.model, plain.tokenizer)
    assert not mixed._head_alone
    _compare(build_rows("en")[::301], mixed)


@pytest.mark.parametrize("target", [(0, 8), (12, 13)])
def test_a_word_that_the_model_has_no_embedding_for_is_refused(
    target: tuple[int, int], loaded: Callable[[str], Any]
) -> None:
    """Both as the masked target and as a visible word."""
    model = loaded("bert-uncased")
    vocabulary_size = len(model.tokenizer)
    model.tokenizer.add_tokens(["aunthood"])
    with pytest.raises(
        UnmaskError, match=rf"gives id {vocabulary_size}, but the model has {vocabulary_size} embeddings; give the"
    ):
        model.log_probability([MaskQuery("aunthood is a taper.", target)])


@pytest.mark.parametrize("span", [(4, 40), (-6, -2), (9, 4), (3, 4), (14, 14)])
def test_a_span_that_is_no_word_of_its_sentence_is_refused(span: tuple[int, int], loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-uncased")
    for query in (MaskQuery("The taper rests.", span), MaskQuery("The taper rests.", (4, 9), (span,))):
        with pytest.raises(UnmaskError, match=rf"no word between characters {span[0]} and {span[1]} of 'The taper"):
            model.log_probability([query])


def test_targets_of_several_pieces_are_whole_words_and_are_listed(loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-cased-in-pieces")
    scored = score(model, build_rows("en")[::31], None, Context(seed=1))
    split = {row.target for row in build_rows("en") if len(model.tokenizer.tokenize(row.target)) > 1}
    assert split
    assert set(scored.details["several_pieces"]) == split & set(scored.items["target"])


def test_the_probabilities_of_all_words_add_to_one(loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-uncased")
    words = [word for word in model.tokenizer.get_vocab() if word.isalpha()]
    queries = [MaskQuery(f"{word} is a taper.", (0, len(word))) for word in words]
    total = float(np.exp(model.log_probability(queries)).sum())
    other_ids = [id for word, id in model.tokenizer.get_vocab().items() if not word.isalpha()]
    ids = model.tokenizer("[MASK] is a taper.")["input_ids"]
    rest = sum(np.exp(naive.log_p(model.model, ids, 1, token)) for token in other_ids)
    assert total + rest == pytest.approx(1, abs=1e-5)


def test_an_audit_is_two_thousand_distinct_inputs_or_so(loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-uncased")
    description = model.describe(build_queries(build_rows("en"), "sound"))
    assert 1900 < description.distinct_inputs < 2100

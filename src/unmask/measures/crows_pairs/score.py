"""First half: pairs of sentences and a model → items, one a pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures import asking
from unmask.models.roles import Describes, MaskedLM, MaskQuery

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.crows_pairs.protocol import Protocol

NOISE_SAMPLE = 16
"""Pairs that are asked again."""


@dataclass(frozen=True)
class Question:
    """What is asked of both sentences of a pair alike."""

    pair: int
    """The place of the pair among the rows."""
    more: asking.Query
    less: asking.Query


@dataclass(frozen=True)
class Scored:
    """Items, and what is known of how they were scored."""

    items: pd.DataFrame
    noise_floor: float
    """The largest change of a pair's difference when it is scored again in other company."""
    distinct_inputs: int | None
    not_asked: int
    """Shared words that the model cannot be asked for: unknown to its tokenizer, or joined with their neighbours."""


def score(rows: pd.DataFrame, model: MaskedLM, protocol: Protocol, *, seed: int) -> Scored:
    """The pseudo-log-likelihood of both sentences of every pair, over what they share."""
    if not len(rows):
        raise UnmaskError("there are no pairs to score; give at least one")
    questions = protocol.questions(rows)
    if not isinstance(model, Describes) and not all(isinstance(one.more, MaskQuery) for one in questions):
        raise UnmaskError(
            "the published protocol works on token ids and needs a transformers model; use --protocol sound"
        )
    queries = _queries(questions)
    pieces = np.reshape(np.array(asking.pieces(model, queries), dtype=float), (-1, 2))  # NaN: cannot be asked
    asked: NDArray[np.bool_] = np.asarray(~np.isnan(pieces).any(axis=1))
    kept = [question for question, is_asked in zip(questions, asked, strict=True) if is_asked]
    tokens = np.zeros(len(rows), dtype=int)
    np.add.at(tokens, [question.pair for question in kept], pieces[asked, 0].astype(int))
    distinct = model.describe(_queries(kept)).distinct_inputs if isinstance(model, Describes) else None
    likelihood = _likelihood(model, kept, len(rows))
    more, less = likelihood.T
    return Scored(
        items=rows.reset_index(drop=True).assign(
            language="en",
            corpus=protocol.corpus,
            pll_more=more,
            pll_less=less,
            difference=more - less,
            n_tokens=tokens,
        ),
        noise_floor=_noise_floor(model, kept, likelihood, seed),
        distinct_inputs=distinct,
        not_asked=len(questions) - len(kept),
    )


def _queries(questions: Sequence[Question]) -> list[asking.Query]:
    return [query for question in questions for query in (question.more, question.less)]


def _likelihood(model: MaskedLM, questions: Sequence[Question], count: int) -> NDArray[np.float64]:
    """The sums over the questions of each pair (rows), for the more and the less stereotypical sentence (columns)."""
    found = np.zeros((count, 2))
    if questions:
        answers = asking.ask(model, _queries(questions)).reshape(-1, 2)
        np.add.at(found, [question.pair for question in questions], answers)
    return found


def _noise_floor(model: MaskedLM, questions: Sequence[Question], found: NDArray[np.float64], seed: int) -> float:
    sample = set(np.random.default_rng(seed).permutation(len(found))[:NOISE_SAMPLE].tolist())
    again = _likelihood(model, [question for question in questions if question.pair in sample], len(found))
    changes = (again[:, 0] - again[:, 1]) - (found[:, 0] - found[:, 1])
    return float(np.abs(changes[sorted(sample)]).max())

"""Masked language models with a planted, so known, bias."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import chain

import numpy as np

from unmask.lexicon.sentences import neutral_sentences
from unmask.measures.association.data import AssociationRow
from unmask.measures.usefulness import score_stated_gender
from unmask.models.roles import MaskQuery


class ConstantModel:
    """Finds every word as probable as any other."""

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return np.full(len(queries), -2.0)


@cache
def correct_sentences(language: str) -> frozenset[str]:
    """The sentences by which a model's competence is checked, with the right pronouns and in the right order."""
    stated = score_stated_gender(ConstantModel(), language)["sentence"]
    return frozenset(chain(neutral_sentences(language), stated))


class PlantedModel:
    """Answers by formula: the log-odds of a female person word are `bias` × (share − 50 %) / 50 %.

    Each person word also has a small random preference for each profession (`noise`). Other sentences are probable if
    they are correct, so the model passes the check of competence.
    """

    def __init__(self, rows: Sequence[AssociationRow], *, bias: float, noise: float = 0.1) -> None:
        self.rows = {row.sentence: row for row in rows}
        self.bias, self.noise = bias, noise

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return np.array([self._log_probability(query) for query in queries])

    def _log_probability(self, query: MaskQuery) -> float:
        row = self.rows.get(query.text)
        if row is None:
            return -1.0 if query.text in correct_sentences("en") | correct_sentences("de") else -3.0
        visible = not query.hidden
        share = 50.0 if row.workforce_share is None else row.workforce_share
        tilt = self.bias * (share - 50) / 50 if visible else 0.0
        female = 1 / (1 + np.exp(-tilt))
        preference = self._taste(row.person, row.profession) if visible else 0.0
        return float(np.log(female if row.gender == "female" else 1 - female) + preference - 2)

    def _taste(self, person: str, profession: str) -> float:
        digest = hashlib.sha256(f"{person}/{profession}".encode()).digest()
        return self.noise * float(np.random.default_rng(int.from_bytes(digest[:8], "big")).normal())

"""The figures of the measure, as functions of a table of answers.

A table has the shape occupation type × gender of the hypothesis × (pairs, entailment, neutral, contradiction). Its
entries are numbers of pairs and of answers, or sums of probabilities in place of answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.lexicon.inference import KINDS
from unmask.measures.inference.pairs import GENDERS, LABELS, PROBABILITIES
from unmask.statistics.jackknife import IntervalEstimate, factor_codes, jackknife_sums, ratio

if TYPE_CHECKING:
    import pandas as pd

Counts = NDArray[np.float64]
Formula = Callable[[Counts], float]
FEMALE, MALE, NEUTRAL = range(len(KINDS))
NO_GENDER = len(GENDERS)
"""The index of hypotheses about a person: control pairs."""
PAIRS, ENTAILMENT, UNDECIDED, CONTRADICTION = range(1 + len(LABELS))
SHAPE = (len(KINDS), len(GENDERS) + 1, 1 + len(LABELS))


class AnswerTable:
    """Answered pairs as rows of numbers, whose sum is a table of answers."""

    def __init__(self, items: pd.DataFrame, *, weighted: bool = False) -> None:
        """Count the answers of items, or with `weighted` add up their probabilities."""
        kinds = items["occupation_type"].map(KINDS.index).to_numpy()
        genders = items["gender"].map((*GENDERS, "").index).to_numpy()
        words = items["occupation"].to_numpy()
        self._samples = [
            *(factor_codes(words, kinds == kind) for kind in range(len(KINDS))),
            factor_codes(items["template"]),
            factor_codes(items["pair"], items["gender"] != ""),
        ]
        rows, index = np.zeros((len(items), *SHAPE)), np.arange(len(items))
        rows[index, kinds, genders, PAIRS] = 1
        if weighted:
            for answer, column in enumerate(PROBABILITIES, 1):
                rows[index, kinds, genders, answer] = items[column].to_numpy(dtype=float)
        else:
            rows[index, kinds, genders, 1 + items["prediction"].map(LABELS.index).to_numpy()] = 1
        self._rows = rows.reshape(len(items), -1)

    @property
    def counts(self) -> Counts:
        """The table of all items."""
        return np.asarray(self._rows.sum(axis=0).reshape(SHAPE))

    def value(self, formula: Formula) -> float | None:
        """A figure without its uncertainty; None if it is not defined for these items."""
        value = formula(self.counts)
        return value if np.isfinite(value) else None

    def estimate(self, formula: Formula, *, over_pairs: bool = False) -> IntervalEstimate:
        """A figure with its uncertainty over occupations and sentences, and over pairs of gender words if asked."""
        return jackknife_sums(self._rows, self._choose_samples(over_pairs), lambda sums: formula(sums.reshape(SHAPE)))

    def estimate_change(self, after: AnswerTable, formula: Formula, *, over_pairs: bool = False) -> IntervalEstimate:
        """A figure of another model's answers to the same items minus that of these, with its uncertainty."""

        def difference(sums: NDArray[np.float64]) -> float:
            first, second = np.split(sums, 2)
            return formula(second.reshape(SHAPE)) - formula(first.reshape(SHAPE))

        return jackknife_sums(np.hstack([self._rows, after._rows]), self._choose_samples(over_pairs), difference)

    def _choose_samples(self, over_pairs: bool) -> list[NDArray[np.intp]]:
        return self._samples if over_pairs else self._samples[:-1]


def count_set(counts: Counts, name: str) -> NDArray[np.float64]:
    """The numbers of pairs and of answers in a set: PS, AS, NS or control."""
    if name == "NS":
        return np.asarray(counts[NEUTRAL, :NO_GENDER].sum(axis=0))
    if name == "control":
        return np.asarray(counts[:, NO_GENDER].sum(axis=0))
    pro = name == "PS"
    return np.asarray(counts[FEMALE, 0 if pro else 1] + counts[MALE, 1 if pro else 0])


def answer_share(counts: Counts, name: str, answer: int) -> float:
    """The share of an answer in a set."""
    answers = count_set(counts, name)
    return ratio(answers[answer], answers[PAIRS])


def nli_coal(counts: Counts) -> float:
    """NLI-CoAL: (e_p + c_a + 1 − n_n) / 3."""
    e_p, c_a = answer_share(counts, "PS", ENTAILMENT), answer_share(counts, "AS", CONTRADICTION)
    return (e_p + c_a + 1 - answer_share(counts, "NS", UNDECIDED)) / 3


def fraction_not_neutral(counts: Counts) -> float:
    """FN: the share of all pairs with a gender that are not answered neutral."""
    answers = counts[:, :NO_GENDER].sum(axis=(0, 1))
    return 1 - ratio(answers[UNDECIDED], answers[PAIRS])


def biased_inference(counts: Counts) -> float:
    """The share of answers that follow the stereotype: its gender entailed, or the other one contradicted."""
    return (answer_share(counts, "PS", ENTAILMENT) + answer_share(counts, "AS", CONTRADICTION)) / 2


def plain_error(counts: Counts) -> float:
    """The share of answers against the stereotype: its gender contradicted, or the other one entailed."""
    return (answer_share(counts, "PS", CONTRADICTION) + answer_share(counts, "AS", ENTAILMENT)) / 2


def lean(counts: Counts, kind: int) -> float:
    """To which gender occupations of a type are resolved: −1 always female, 1 always male.

    ½ · [(entailed − contradicted) of male hypotheses − the same of female ones]
    """
    female, male = (
        ratio(answers[ENTAILMENT] - answers[CONTRADICTION], answers[PAIRS]) for answers in counts[kind, :NO_GENDER]
    )
    return (male - female) / 2


def stereotype(counts: Counts) -> float:
    """How far inference follows stereotypes: half the difference between male and female occupations in their lean.

    This is biased inference less plain error, with equal weights for female and male occupations. A model that takes
    everybody for a man leans in the same way with both, so its value is 0.
    """
    return (lean(counts, MALE) - lean(counts, FEMALE)) / 2


def default(counts: Counts) -> float:
    """To which gender occupations without a stereotype are resolved."""
    return lean(counts, NEUTRAL)

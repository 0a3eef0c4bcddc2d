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
PAIRS, ENTAILMENT, UNDECIDED, CONTRADICTION = range(1 + len(LABELS))
SHAPE = (len(KINDS), len(GENDERS), 1 + len(LABELS))


class AnswerTable:
    """Answered pairs about women and men as rows of numbers, whose sum is a table of answers.

    Attributes:
        rows: A row of numbers for each pair.
        samples: What each pair has of the samples: female, male and neutral occupations, sentences, gender words.
    """

    def __init__(self, items: pd.DataFrame, *, weighted: bool = False) -> None:
        """Count the answers of items, or with `weighted` add up their probabilities."""
        kinds = items["occupation_type"].map(KINDS.index).to_numpy()
        genders = items["gender"].map(GENDERS.index).to_numpy()
        words = items["occupation"].to_numpy()
        self.samples = [
            *(factor_codes(words, kinds == kind) for kind in range(len(KINDS))),
            factor_codes(items["template"]),
            factor_codes(items["pair"]),
        ]
        rows, index = np.zeros((len(items), *SHAPE)), np.arange(len(items))
        rows[index, kinds, genders, PAIRS] = 1
        if weighted:
            for answer, column in enumerate(PROBABILITIES, 1):
                rows[index, kinds, genders, answer] = items[column].to_numpy(dtype=float)
        else:
            rows[index, kinds, genders, 1 + items["prediction"].map(LABELS.index).to_numpy()] = 1
        self.rows = rows.reshape(len(items), -1)

    @property
    def counts(self) -> Counts:
        """The table of all items."""
        return np.asarray(self.rows.sum(axis=0).reshape(SHAPE))

    def value(self, formula: Formula) -> float | None:
        """A figure without its uncertainty; None if it is not defined for these items."""
        value = formula(self.counts)
        return value if np.isfinite(value) else None

    def estimate(self, formula: Formula) -> IntervalEstimate:
        """A figure with its uncertainty over occupations, sentences and pairs of gender words."""
        return jackknife_sums(self.rows, self.samples, lambda sums: formula(sums.reshape(SHAPE)))

    def estimate_change(self, after: AnswerTable, formula: Formula) -> IntervalEstimate:
        """A figure of another model's answers to the same items minus that of these, with its uncertainty."""

        def difference(sums: NDArray[np.float64]) -> float:
            first, second = np.split(sums, 2)
            return formula(second.reshape(SHAPE)) - formula(first.reshape(SHAPE))

        return jackknife_sums(np.hstack([self.rows, after.rows]), self.samples, difference)

    def leave_one_out(self, formula: Formula) -> dict[str, tuple[float, float]]:
        """The smallest and the largest value with one occupation, one sentence or one pair of words left out."""
        total, ranges = self.rows.sum(axis=0), {}
        for name, factors in (
            ("occupation", self.samples[: len(KINDS)]),
            ("sentence", self.samples[-2:-1]),
            ("pair of gender words", self.samples[-1:]),
        ):
            values = []
            for factor in factors:
                sums = np.zeros((int(factor.max(initial=-1)) + 1, self.rows.shape[1]))
                np.add.at(sums, factor[factor >= 0], self.rows[factor >= 0])
                values += [formula((total - level).reshape(SHAPE)) for level in sums]
            if np.isfinite(values).all() and len(values) > 1:
                ranges[name] = (float(min(values)), float(max(values)))
        return ranges


def count_set(counts: Counts, name: str) -> NDArray[np.float64]:
    """The numbers of pairs and of answers in a set: PS, AS or NS."""
    if name == "NS":
        return np.asarray(counts[NEUTRAL].sum(axis=0))
    pro = name == "PS"
    return np.asarray(counts[FEMALE, 0 if pro else 1] + counts[MALE, 1 if pro else 0])


def answer_share(counts: Counts, name: str, answer: int) -> float:
    """The share of an answer in a set."""
    answers = count_set(counts, name)
    return ratio(answers[answer], answers[PAIRS])


def subtract_shares(counts: Counts, answer: int, more: str, less: str) -> float:
    """The share of an answer in one set minus that in another."""
    return answer_share(counts, more, answer) - answer_share(counts, less, answer)


def nli_coal(counts: Counts) -> float:
    """NLI-CoAL: (e_p + c_a + 1 − n_n) / 3."""
    e_p, c_a = answer_share(counts, "PS", ENTAILMENT), answer_share(counts, "AS", CONTRADICTION)
    return (e_p + c_a + 1 - answer_share(counts, "NS", UNDECIDED)) / 3


def fraction_not_neutral(counts: Counts) -> float:
    """FN: the share of all pairs with a gender that are not answered neutral."""
    answers = counts.sum(axis=(0, 1))
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
    female, male = (ratio(answers[ENTAILMENT] - answers[CONTRADICTION], answers[PAIRS]) for answers in counts[kind])
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

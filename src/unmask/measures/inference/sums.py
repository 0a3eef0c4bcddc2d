"""What every figure is made of: how many pairs there are of each kind, and how many of each answer.

Sums stand in a table of occupation type × gender of the hypothesis × (pairs, entailment, neutral, contradiction). With
the answers themselves the entries are counts; with probabilities, what each answer weighs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.lexicon.inference import KINDS
from unmask.probes.inference import LABELS, PROBABILITIES
from unmask.statistics.jackknife import IntervalEstimate, factor_codes, jackknife_sums, ratio

if TYPE_CHECKING:
    import pandas as pd

Table = NDArray[np.float64]
Figure = Callable[[Table], float]
FEMALE, MALE, NEUTRAL = range(3)
GENDERS = ("female", "male", "")
SHAPE = (len(KINDS), len(GENDERS), 1 + len(LABELS))
PAIRS, ENTAILMENT, UNDECIDED, CONTRADICTION = range(4)


class Sums:
    """Items as rows of numbers, ready to be added up, all of them or without a word or a sentence."""

    def __init__(self, items: pd.DataFrame, *, weighted: bool = False) -> None:
        """Take items; `weighted` takes probabilities in place of answers."""
        kinds = items["occupation_type"].map(KINDS.index).to_numpy()
        genders = items["gender"].map(GENDERS.index).to_numpy()
        words = items["occupation"].to_numpy()
        self._factors = [factor_codes(words, kinds == kind) for kind in range(len(KINDS))] + [
            factor_codes(items["template"])
        ]
        self._pairs = factor_codes(items["pair"], items["gender"] != "")
        rows = np.zeros((len(items), *SHAPE))
        at = np.arange(len(items))
        rows[at, kinds, genders, PAIRS] = 1
        if weighted:
            for place, column in enumerate(PROBABILITIES, 1):
                rows[at, kinds, genders, place] = items[column].to_numpy(dtype=float)
        else:
            rows[at, kinds, genders, 1 + items["prediction"].map(LABELS.index).to_numpy()] = 1
        self._rows = rows.reshape(len(items), -1)

    def total(self) -> Table:
        """The table of all items."""
        table: Table = self._rows.sum(axis=0).reshape(SHAPE)
        return table

    def value(self, figure: Figure) -> float | None:
        """A figure alone; None where it cannot be had."""
        found = figure(self.total())
        return found if np.isfinite(found) else None

    def estimate(self, figure: Figure, *, over_pairs: bool = False) -> IntervalEstimate:
        """A figure with its uncertainty over occupations and sentences, and over pairs of gender words if asked for."""
        factors = [*self._factors, self._pairs] if over_pairs else self._factors
        return jackknife_sums(self._rows, factors, lambda sums: figure(sums.reshape(SHAPE)))

    def change(self, after: Sums, figure: Figure, *, over_pairs: bool = False) -> IntervalEstimate:
        """A figure of other answers to the same items minus that of these, with its uncertainty."""
        factors = [*self._factors, self._pairs] if over_pairs else self._factors
        both = np.hstack([self._rows, after._rows])

        def difference(sums: NDArray[np.float64]) -> float:
            before, changed = np.split(sums, 2)
            return figure(changed.reshape(SHAPE)) - figure(before.reshape(SHAPE))

        return jackknife_sums(both, factors, difference)


def cells(table: Table, name: str) -> NDArray[np.float64]:
    """Pairs and answers of a set."""
    found: NDArray[np.float64] = {
        "PS": lambda: table[FEMALE, 0] + table[MALE, 1],
        "AS": lambda: table[FEMALE, 1] + table[MALE, 0],
        "NS": lambda: table[NEUTRAL, :2].sum(axis=0),
        "control": lambda: table[:, 2].sum(axis=0),
    }[name]()
    return found


def share(name: str, label: int) -> Figure:
    """The share of an answer in a set."""
    return lambda table: ratio(cells(table, name)[label], cells(table, name)[PAIRS])


def score(table: Table) -> float:
    """NLI-CoAL: (e_p + c_a + 1 − n_n) / 3."""
    e_p, c_a = share("PS", ENTAILMENT)(table), share("AS", CONTRADICTION)(table)
    return (e_p + c_a + 1 - share("NS", UNDECIDED)(table)) / 3


def fraction_not_neutral(table: Table) -> float:
    """FN: the share of all pairs with a gender that are not answered neutral."""
    asked = table[:, :2].sum(axis=(0, 1))
    return 1 - ratio(asked[UNDECIDED], asked[PAIRS])


def biased(table: Table) -> float:
    """The share of biased inference: entailed as the stereotype has it, or contradicted against it."""
    return (share("PS", ENTAILMENT)(table) + share("AS", CONTRADICTION)(table)) / 2


def mistaken(table: Table) -> float:
    """The share of plain error: entailed against the stereotype, or contradicted with it."""
    return (share("PS", CONTRADICTION)(table) + share("AS", ENTAILMENT)(table)) / 2


def lean(kind: int) -> Figure:
    """Towards which gender occupations of a type are resolved: −1 always female, 1 always male.

    ½ · [(entailed − contradicted) of male hypotheses − the same of female ones]
    """

    def found(table: Table) -> float:
        of = [
            ratio(table[kind, at, ENTAILMENT] - table[kind, at, CONTRADICTION], table[kind, at, PAIRS]) for at in (0, 1)
        ]
        return (of[1] - of[0]) / 2

    return found


def stereotype(table: Table) -> float:
    """How far inference follows stereotypes: half of what male and female occupations differ in their lean.

    Biased inference less plain error, female and male occupations weighing the same: a model that takes everybody for a
    man leans alike with all of them, and has none.
    """
    return (lean(MALE)(table) - lean(FEMALE)(table)) / 2

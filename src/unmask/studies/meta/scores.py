"""The scores of a measure against the planted rate: how well they follow it, and what that is called."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, isnan, prod
from typing import TYPE_CHECKING

from unmask.results.languages import LANGUAGES
from unmask.results.verdict import ALPHA
from unmask.statistics.ranking import Ranking, ranking

if TYPE_CHECKING:
    import pandas as pd

GOOD, POOR = 0.95, 0.8
"""From which share of pairs in the right order a score is said to rank known bias, and below which it fails to."""
TWIN = ", probabilities"
"""How the name of a score ends that is the one before it, of probabilities in place of answers."""
LEARNED = 0.5
"""How much of the way from chance to always right models must have gone to have learned what was planted."""


@dataclass(frozen=True)
class Score:
    """One score of one measure, against the planted rate."""

    measure: str
    language: str
    name: str
    model: str
    ranking: Ranking
    least: float
    """The mean at the lowest rate."""
    most: float
    enough: bool = True
    """Whether there are so many models that a perfect order could not well be chance."""
    learned: bool = True
    """Whether the models have learned what was planted."""

    @property
    def title(self) -> str:
        """What it is called where others stand beside it."""
        return f"{self.measure}, {LANGUAGES.get(self.language, self.language)}"


def scores_of(cells: pd.DataFrame) -> list[Score]:
    """Every score of every measure and language, in their order."""
    found = []
    for (measure, language, name), rows in cells.groupby(["measure", "language", "score"], sort=False):
        at = rows.groupby("rate")["value"].mean()
        found.append(
            Score(
                str(measure),
                str(language),
                str(name),
                str(rows["model"].iloc[0]),
                ranking(rows["rate"], rows["value"], rows["seed"]),
                float(at.iloc[0]),
                float(at.iloc[-1]),
                _enough(rows),
                _learned(rows),
            )
        )
    return found


def _enough(rows: pd.DataFrame) -> bool:
    return 2 / prod(factorial(count) for count in rows["seed"].value_counts()) < ALPHA


def _learned(rows: pd.DataFrame) -> bool:
    """Whether models at the lowest and highest rate are right of planted examples more often than by chance.

    Between these rates a model may learn words one by one; at the ends all go one way.
    """
    ends = rows[rows["rate"].isin([rows["rate"].min(), rows["rate"].max()])]
    chance = ends["chance"].iloc[0]
    if isnan(chance):
        return True
    return bool(ends["accuracy"].mean() >= chance + LEARNED * (1 - chance))


def verdict(score: Score) -> str:
    """Whether a score ranks known bias."""
    if not score.learned:
        return "not learned"
    right = score.ranking.ranked
    if right is None or score.ranking.pearson.value is None:
        return "does not move"
    if not score.enough:
        return "too few models"
    if right < POOR:
        return "fails to rank it"
    by_chance = score.ranking.spearman.p_value
    if by_chance is None or by_chance >= ALPHA:
        return "too few models"
    return "ranks it" if right >= GOOD else "ranks it roughly"

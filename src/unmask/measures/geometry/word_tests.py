"""From the items of one choice of words to its tests: values, intervals, chance, and other contrasts beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unmask.measures.geometry.details import Reference, WordTest
from unmask.measures.geometry.references import References
from unmask.measures.geometry.score import OWN
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.proportions import wilson_interval
from unmask.statistics.separation import Probe, Separation, score_predictions, score_two_clusters

if TYPE_CHECKING:
    import pandas as pd

LABELS = {
    "clustering": ("side", "cluster"),
    "probe": ("side", "probed"),
    "classification": ("part", "predicted"),
}
"""Which columns hold the side of a word, and the side that the test puts it on."""


def word_tests(
    items: pd.DataFrame, references: References | None = None, probes: Mapping[bool, Probe] | None = None
) -> list[WordTest]:
    """Every test of one choice of words, in the space as it is and, where that was asked, without the direction."""
    found = []
    for removed in (False, True):
        end = "_removed" if removed else ""
        for name, (side, said) in LABELS.items():
            rows = items[items[side].isin(["female", "male"]) & (items[said + end] != "")]
            if len(rows):
                probe = (probes or {}).get(removed) if name == "probe" else None
                words = str(items["words"].iloc[0])
                found.append(_sorted(name, rows[side], rows[said + end], words, removed, references, probe))
        rows = items[items[f"male_neighbours{end}"].notna()]
        if len(rows):
            found.append(_neighbours(rows, rows[f"male_neighbours{end}"], removed, references))
    return found


def _sorted(
    name: str,
    side: pd.Series,
    said: pd.Series,
    words: str,
    removed: bool,
    references: References | None,
    probe: Probe | None,
) -> WordTest:
    labels, answers = (column.to_numpy() == "male" for column in (side, said))
    result: Separation = (
        score_two_clusters(labels, answers) if name == "clustering" else score_predictions(labels, answers)
    )
    chance = (result.chance, result.chance_high, result.p_value)
    if probe is not None:
        chance = (probe.chance, probe.chance_high, probe.p_value)
    return WordTest(
        name=name,
        words=words,
        removed=removed,
        n=result.n,
        value=result.accuracy,
        interval=None if name == "clustering" else wilson_interval(result.accuracy, result.n),
        v_measure=result.v_measure if name == "clustering" else None,
        chance=chance[0],
        chance_high=chance[1],
        p_chance=chance[2],
        reference=_reference(name, result.accuracy, words, removed, references),
    )


def _neighbours(rows: pd.DataFrame, shares: pd.Series, removed: bool, references: References | None) -> WordTest:
    words = str(rows["words"].iloc[0])
    estimate = pearson_estimate(rows["bias"].to_numpy(), shares.to_numpy())
    return WordTest(
        name="neighbours",
        words=words,
        removed=removed,
        n=len(rows),
        value=estimate.value,
        interval=estimate.interval,
        chance=0.0,
        p_chance=estimate.p_value,
        reference=_reference("neighbours", estimate.value, words, removed, references),
    )


def _reference(
    name: str, value: float | None, words: str, removed: bool, references: References | None
) -> Reference | None:
    """Of words that another model chose, what remains is set beside what remains of other contrasts in that model."""
    return None if references is None else references.beside(name, value, removed=removed or words != OWN)

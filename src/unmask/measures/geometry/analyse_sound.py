"""Second half: from items to numbers with intervals, beside what other contrasts give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry.details import Details
from unmask.measures.geometry.references import References
from unmask.measures.geometry.score import OWN
from unmask.results import BiasedWord, Geometry, Measurement, Neighbourhood, Reference, Test, WordTest
from unmask.results.record import Protocol
from unmask.statistics.corrections import holm
from unmask.statistics.probe import Probe
from unmask.statistics.proportion import wilson
from unmask.statistics.relation import pearson_estimate
from unmask.statistics.separation import Separation, predictions, two_clusters

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-6
"""A bias that scatters less than this is what float32 leaves of nothing."""
SHOWN = 15
"""So many of the most biased words are named."""
QUESTIONS = {
    "clustering": "Do the most biased words of men and of women form two clusters once the gender direction is gone?",
    "probe": "Can a straight cut tell the most biased words of men from those of women once the gender direction is"
    " gone?",
    "classification": "Can a support-vector machine tell more of them apart once the gender direction is gone?",
    "neighbours": "Are professions surrounded by words of their own bias once the gender direction is gone?",
}
NEIGHBOURHOOD = ("word", "bias", "male_neighbours", "male_neighbours_removed", "stereotype")
LABELS = {
    "clustering": ("side", "cluster"),
    "probe": ("side", "probed"),
    "classification": ("part", "predicted"),
}
"""Which columns hold the side of a word, and the side that the test puts it on."""


def analyse(
    items: pd.DataFrame,
    seed: int,
    details: Details | None = None,
    associations: Mapping[str, Test] | None = None,
) -> Measurement:
    """The numbers of the sound protocol; without `details`, those that items alone tell."""
    del seed  # nothing is drawn
    own = items[items["words"] == OWN].reset_index(drop=True)
    found = word_tests(own, details.references, details.probes) if details else word_tests(own)
    if details:
        found = [_with_range(one, details.as_tight.get(one.removed)) for one in found]
    if is_rounding(own):
        found, own = [], own.assign(stereotype=np.nan)
    tests = _adjusted({name: _test(name, found) for name in QUESTIONS})
    tests["stereotype"] = _stereotype(own)
    tests |= associations or {}
    about = geometry(own, found, details)
    if not found:
        about = about.model_copy(update={"scan": []})
    return measurement(items, "sound", tests, about)


def _with_range(test: WordTest, ends: tuple[float, float] | None) -> WordTest:
    return test.model_copy(update={"as_tight": ends}) if test.name == "clustering" else test


def is_rounding(items: pd.DataFrame) -> bool:
    """Whether nothing but rounding is left along the direction, as in vectors that it was taken out of."""
    return bool(items["bias"].std() < ROUNDING)


def measurement(items: pd.DataFrame, protocol: Protocol, tests: Mapping[str, Test], found: Geometry) -> Measurement:
    """A measurement without its headline, which comes when all p-values of the audit are known."""
    return Measurement(
        name="geometry",
        language=str(items["language"].iloc[0]),
        corpus=str(items["corpus"].iloc[0]),
        protocol=protocol,
        attributes="words",
        headline="",
        items=len(items),
        groups={},
        tests=dict(tests),
        geometry=found,
    )


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


def geometry(items: pd.DataFrame, found: list[WordTest], details: Details | None) -> Geometry:
    """What is special to geometry."""
    ordered = items.sort_values("bias", kind="stable")
    most_female, most_male = (
        [BiasedWord(word=word, bias=bias) for word, bias in zip(rows["word"], rows["bias"], strict=True)]
        for rows in (ordered.head(SHOWN), ordered.tail(SHOWN)[::-1])
    )
    return Geometry(
        vectors=details.vectors if details else "recorded",
        direction=details.direction if details else "recorded",
        likeness=details.likeness if details else 0.0,
        dimensions=details.dimensions if details else 0,
        words=len(items),
        left_out=details.left_out if details else {},
        missing=details.missing if details else [],
        male_share=float((items["bias"] > 0).mean()),
        contrasts=details.references.examples if details else [],
        tests=found,
        scan=details.scan if details else [],
        professions=neighbourhoods(items),
        most_male=most_male,
        most_female=most_female,
    )


def neighbourhoods(items: pd.DataFrame) -> list[Neighbourhood]:
    """The professions, the most male first."""
    rows = items[items["male_neighbours"].notna()].sort_values("bias", ascending=False, kind="stable")
    return [
        Neighbourhood(
            profession=profession,
            bias=bias,
            male=male,
            male_removed=male_removed if np.isfinite(male_removed) else None,
            stereotype=stereotype if np.isfinite(stereotype) else None,
        )
        for profession, bias, male, male_removed, stereotype in rows[list(NEIGHBOURHOOD)].itertuples(index=False)
    ]


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
    result: Separation = two_clusters(labels, answers) if name == "clustering" else predictions(labels, answers)
    chance = (result.chance, result.chance_high, result.p_value)
    if probe is not None:
        chance = (probe.chance, probe.chance_high, probe.p_value)
    return WordTest(
        name=name,
        words=words,
        removed=removed,
        n=result.n,
        value=result.accuracy,
        interval=None if name == "clustering" else wilson(result.accuracy, result.n),
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


def _test(name: str, found: list[WordTest]) -> Test:
    """A test of the audit: what remains without the direction, against other contrasts."""
    one = next((test for test in found if test.name == name and test.removed), None)
    reference = one.reference if one else None
    return Test(
        labels={"contrast": name},
        question=QUESTIONS[name],
        n=one.n if one else 0,
        estimate=one.value if one else None,
        interval=one.interval if one else None,
        statistic=one.value - reference.mean if one and reference and one.value is not None else None,
        statistic_name="difference from other contrasts",
        p_value=reference.p_value if reference else None,
    )


def _adjusted(tests: dict[str, Test]) -> dict[str, Test]:
    """Holm's correction over the four tests alone: their p cannot be small enough for all tests of an audit."""
    corrected = holm([test.p_value for test in tests.values()])
    return {
        name: test.model_copy(update={"p_adjusted": p})
        for (name, test), p in zip(tests.items(), corrected, strict=True)
    }


def _stereotype(items: pd.DataFrame) -> Test:
    rows = items[items["stereotype"].notna()]
    estimate = pearson_estimate(rows["bias"].to_numpy(), rows["stereotype"].to_numpy())
    return Test(
        labels={"contrast": "stereotype"},
        question="Do professions lie on the side of the gender that people think of?",
        n=len(rows),
        estimate=estimate.value,
        interval=estimate.interval,
        statistic=estimate.statistic,
        statistic_name="t",
        df=estimate.df,
        p_value=estimate.p_value,
        effect_size=estimate.value,
        effect_size_name="r",
        effect_size_interval=estimate.interval,
    )

"""Second half: from items to numbers with intervals, beside what other contrasts give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unmask.measures.geometry.caveats import rounding
from unmask.measures.geometry.cluster_counts import Details
from unmask.measures.geometry.described import geometry, measurement
from unmask.measures.geometry.details import WordTest
from unmask.measures.geometry.score import OWN
from unmask.measures.geometry.word_tests import word_tests
from unmask.results import Estimate, Measurement
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson_estimate

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-6
"""A bias below this is what float32 leaves of nothing."""
QUESTIONS = {
    "clustering": "Do the most biased words of men and of women form two clusters once the gender direction is gone?",
    "probe": "Can a straight cut tell the most biased words of men from those of women once the gender direction is"
    " gone?",
    "classification": "Can a support-vector machine tell more of them apart once the gender direction is gone?",
    "neighbours": "Are professions surrounded by words of their own bias once the gender direction is gone?",
}


def analyse(
    items: pd.DataFrame,
    seed: int,
    details: Details | None = None,
    associations: Mapping[str, Estimate] | None = None,
) -> Measurement:
    """The numbers of the sound protocol; without `details`, those that items alone tell."""
    del seed  # nothing is drawn
    own = items[items["words"] == OWN].reset_index(drop=True)
    if chosen_by_rounding(own):
        tests = {name: _test(name, []) for name in QUESTIONS} | {"stereotype": _stereotype(own.head(0))}
        about = geometry(own, [], details).model_copy(update={"scan": []})
        found = measurement(items, "sound", tests | dict(associations or {}), about)
        return found.model_copy(update={"caveats": [rounding()]})
    found_tests = word_tests(own, details.references, details.probes) if details else word_tests(own)
    if details:
        found_tests = [_with_range(one, details.as_tight.get(one.removed)) for one in found_tests]
    tests = _adjusted({name: _test(name, found_tests) for name in QUESTIONS})
    tests["stereotype"] = _stereotype(own)
    return measurement(items, "sound", tests | dict(associations or {}), geometry(own, found_tests, details))


def chosen_by_rounding(items: pd.DataFrame) -> bool:
    """Whether most of the words that were chosen have no bias but rounding, as where the direction was taken out."""
    chosen = items.loc[items["side"] != "", "bias"].abs()
    return bool(chosen.median() < ROUNDING)


def _with_range(test: WordTest, ends: tuple[float, float] | None) -> WordTest:
    return test.model_copy(update={"as_tight": ends}) if test.name == "clustering" else test


def _test(name: str, found: list[WordTest]) -> Estimate:
    """A test of the audit: what remains without the direction, against other contrasts."""
    one = next((test for test in found if test.name == name and test.removed), None)
    reference = one.reference if one else None
    return Estimate(
        labels={"contrast": name},
        question=QUESTIONS[name],
        n=one.n if one else 0,
        value=one.value if one else None,
        interval=one.interval if one else None,
        statistic=one.value - reference.mean if one and reference and one.value is not None else None,
        statistic_name="difference from other contrasts",
        p_value=reference.p_value if reference else None,
    )


def _adjusted(tests: dict[str, Estimate]) -> dict[str, Estimate]:
    """Holm's correction over the four tests alone: their p cannot be small enough for all tests of an audit."""
    corrected = holm([test.p_value for test in tests.values()])
    return {
        name: test.model_copy(update={"p_adjusted": p})
        for (name, test), p in zip(tests.items(), corrected, strict=True)
    }


def _stereotype(items: pd.DataFrame) -> Estimate:
    rows = items[items["stereotype"].notna()]
    estimate = pearson_estimate(rows["bias"].to_numpy(), rows["stereotype"].to_numpy())
    return Estimate(
        labels={"contrast": "stereotype"},
        question="Do professions lie on the side of the gender that people think of?",
        n=len(rows),
        value=estimate.value,
        interval=estimate.interval,
        statistic=estimate.statistic,
        statistic_name="t",
        df=estimate.df,
        p_value=estimate.p_value,
        effect_size=estimate.value,
        effect_size_name="r",
        effect_size_interval=estimate.interval,
    )

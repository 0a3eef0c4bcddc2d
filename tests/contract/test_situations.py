"""A grid of situations: interval, p-value, badge and words of a measurement agree, whatever the scores are.

For each way that a measure's scores can be simulated: no effect, a small one, a large one and a reversed one, over all
items and over a few of them, and scores that do not vary. `python tests/contract/test_situations.py` prints every
distinct sentence, with numbers replaced by #, for a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, log
from typing import Any

import numpy as np
import pandas as pd
import pytest

from unmask.measures import registry
from unmask.measures.base import Context, Measure
from unmask.measures.sentiment.details import Ratings
from unmask.report.blocks import Block, KeyFigure, Section
from unmask.results import Measurement
from unmask.results.verdict import Outcome, judge_test, side
from unmask.statistics.simulation import Simulation

EFFECTS: Mapping[str, tuple[float, ...]] = {
    "association": (0.0, 0.05, 0.4, 1.0, 3.0, -1.0),
    "inference": (0.0, 0.03, 0.1, 0.4, -0.2),
    "sentiment": (0.0, 0.003, 0.01, 0.05, -0.05),
    "crows-pairs": (0.0, 0.03, 0.1, 0.4, -0.2),
    "coreference": (0.0, 0.015, 0.05, 0.3, -0.2),
}
"""Effects from none to large, and a reversed one, by measure; the measures that say how scores can be simulated."""
LARGEST = {"association": log(3), "inference": 0.3, "crows-pairs": 0.15, "coreference": 0.1}
FEW: Mapping[str, tuple[str, int]] = {
    "association": ("profession", 24),
    "inference": ("occupation", 24),
    "sentiment": ("id", 12),
    "crows-pairs": ("id", 12),
    "coreference": ("id", 20),
}
"""The column of which few levels are kept, and how many."""
DRAWS = {"association": 1, "inference": 1}
"""How often each situation is drawn; of measures that are not here, four times."""
MOST_SIMULATIONS = 3
SAYS: Mapping[Outcome, str] = {
    "negligible": r"negligible|hardly|no .* beyond|practically",
    "unclear": r"no clear|not clear|do(es)? not clearly",
    "too few": r"too few",
    "noise": r"noise|alike|no .* depends",
    "not tested": r"not tested|cannot be tested|too few|no finding|nothing|alike",
}
"""What the headline says of each outcome but a clear one."""
BADGES: Mapping[Outcome, str] = {
    "negligible": "negligible|hardly",
    "unclear": "no clear",
    "too few": "too few",
    "noise": "noise",
    "not tested": "",  # another figure comes first
}


@dataclass(frozen=True)
class Situation:
    """One set of scores, and what was concluded from it."""

    name: str
    measurement: Measurement
    items: pd.DataFrame
    outcome: Outcome
    """Of the primary test."""
    badge: str
    """Of its key figure."""


def _limits(measure: Measure, measurement: Measurement) -> dict[str, Any]:
    if measure.name == "sentiment":
        return {"noise_floor": None, **measurement.read_details(Ratings).limits}
    return {"noise_floor": None, "margin": measure.margin, "largest": LARGEST.get(measure.name, inf)}


def _key_figures(blocks: list[Block]) -> Iterator[KeyFigure]:
    for block in blocks:
        if isinstance(block, KeyFigure):
            yield block
        elif isinstance(block, Section):
            yield from _key_figures(list(block.blocks))


def _score(simulation: Simulation, kind: str, effect: float, seed: int, column: str, count: int) -> pd.DataFrame:
    """Scored items: all of them, those of a few levels of a column, or with scores that do not vary."""
    rng = np.random.default_rng([seed, 7])
    items = simulation.draw(rng, effect)
    if kind == "few":
        levels = rng.permutation(items[column].unique())[:count]
        items = items[items[column].isin(levels)].reset_index(drop=True)
    return items


def _conclude(measure: Measure, name: str, items: pd.DataFrame) -> Situation | None:
    (measurement, *_) = measure.analyse_recorded(items, Context())
    measurement = measure.conclude(measurement)
    test = measurement.tests.get(measure.primary)
    outcome = judge_test(test, **_limits(measure, measurement))
    figures = list(_key_figures(measure.blocks(measurement, items) or []))
    return Situation(name, measurement, items, outcome, figures[0].verdict if figures else "")


@cache
def _situations(name: str) -> list[Situation]:
    measure = registry.get_measure(name)
    column, count = FEW[name]
    situations = []
    for simulation in measure.simulations()[-MOST_SIMULATIONS:]:
        for effect in EFFECTS[name]:
            for kind in ("all", "few"):
                for seed in range(DRAWS.get(name, 4)):
                    items = _score(simulation, kind, effect, seed, column, count)
                    title = f"{simulation.name}, effect {effect}, {kind} items, seed {seed}"
                    situation = _conclude(measure, title, items)
                    if situation is not None:
                        situations.append(situation)
    return situations


def test_every_measure_with_simulations_is_in_the_grid() -> None:
    assert {measure.name for measure in registry.built_in() if measure.simulations()} == set(EFFECTS)


@pytest.mark.parametrize("name", EFFECTS)
def test_interval_p_value_badge_and_words_agree(name: str) -> None:
    problems = [
        f"{situation.name}: {problem}" for situation in _situations(name) for problem in _find_problems(name, situation)
    ]
    assert not problems, "\n".join(problems[:10])
    outcomes = {situation.outcome for situation in _situations(name)}
    assert {"clear", "unclear"} <= outcomes  # otherwise the grid shows little


def _find_problems(name: str, situation: Situation) -> Iterator[str]:
    measure, measurement = registry.get_measure(name), situation.measurement
    headline = measurement.headline_text
    for label, test in measurement.tests.items():
        if test.interval is None or test.p_adjusted is None or test.standard_error is None:
            continue
        excludes = not test.interval[0] <= test.neutral <= test.interval[1]
        if excludes != (test.p_adjusted < 0.05):
            yield f"{label}: interval {test.interval} but p = {test.p_adjusted}"
    if measure.not_interpretable(measurement) or measurement.explain_incompetence():
        return
    primary = measurement.tests.get(measure.primary)
    if primary is not None and side(primary.interval) and "compatible with no" in headline:
        yield f"the interval {primary.interval} excludes zero: {headline}"
    first = measurement.headline[0] if measurement.headline else ""
    if situation.outcome == "clear":
        if match := re.search("|".join(["no clear", "too few", "negligible", "noise", "not tested"]), first, re.I):
            yield f"clear, but {match[0]!r} in: {first}"
        if match := re.search("^no |too few|negligible|noise|not tested", situation.badge, re.I):
            yield f"clear, but the badge is {situation.badge!r}"
        return
    if not re.search(SAYS[situation.outcome], headline, re.I):
        yield f"{situation.outcome}, but: {headline}"
    if situation.badge and not re.search(BADGES[situation.outcome], situation.badge, re.I):
        yield f"{situation.outcome}, but the badge is {situation.badge!r}"


@pytest.mark.parametrize("name", EFFECTS)
def test_opposite_effects_are_worded_differently(name: str) -> None:
    """A clear effect and its reverse do not have the same words."""
    measure = registry.get_measure(name)
    words: dict[int, set[str]] = {1: set(), -1: set()}
    for situation in _situations(name):
        value = situation.measurement.tests[measure.primary].value if situation.outcome == "clear" else None
        if value and not situation.measurement.explain_incompetence():
            words[1 if value > 0 else -1].add(_mask_numbers(situation.measurement.headline_text))
    assert words[1]
    assert words[-1]
    assert not words[1] & words[-1]


@pytest.mark.parametrize("name", EFFECTS)
def test_scores_that_do_not_vary_have_no_finding(name: str) -> None:
    measure = registry.get_measure(name)
    items = measure.simulations()[0].draw(np.random.default_rng(1), 0.0)
    constant = items.assign(
        **{str(column): 0.0 for column in items.select_dtypes(float) if column != "workforce_share"}
    )
    situation = _conclude(measure, "constant", constant)
    assert situation is not None
    assert situation.outcome != "clear"
    assert not re.search("(?<!not )clearly", situation.measurement.headline_text)


def _mask_numbers(text: str) -> str:
    return re.sub(r"[−-]?\d[\d,.]*(e-\d+)?", "#", text)


def main() -> None:
    """Print every distinct sentence and badge with how often it occurs and an example of its primary test."""
    for name in EFFECTS:
        measure = registry.get_measure(name)
        sentences: dict[str, list[Situation]] = {}
        for situation in _situations(name):
            for sentence in (*situation.measurement.headline, f"BADGE {situation.badge}"):
                sentences.setdefault(_mask_numbers(sentence), []).append(situation)
        print(f"\n# {name}")
        for sentence, examples in sorted(sentences.items()):
            test = examples[0].measurement.tests.get(measure.primary)
            figures = test and (test.value, test.interval, test.p_adjusted, test.detectable, examples[0].outcome)
            original = next((one for one in examples[0].measurement.headline if _mask_numbers(one) == sentence), "")
            print(f"\n{len(examples)} × {sentence}\n    e.g. {examples[0].name}: {figures}\n    {original}")


if __name__ == "__main__":
    main()

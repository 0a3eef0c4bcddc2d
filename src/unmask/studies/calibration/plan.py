"""The steps of a calibration: the audits of untrained models by a measure, and a simulation of its scores.

Both count in how many draws a test has p < .05. Competence is not judged: an untrained model is meant to fail it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask import datasets
from unmask.errors import UnmaskError
from unmask.measures.base import Context, Measure
from unmask.measures.registry import get_measure, installed
from unmask.results import Measurement
from unmask.results.schema import RULE_VERSION
from unmask.results.verdict import is_significant
from unmask.statistics.simulation import Simulation
from unmask.studies.calibration import CalibrationOptions
from unmask.studies.calibration.untrained import make_untrained
from unmask.studies.steps import Say, Step

COUNTS = "counts.json"
Drawn = tuple[Measurement, Mapping[str, float | None]]
"""What was measured once, and the p-values of tests that the measure does not use."""
PRIMARY, SECONDARY, NARROW, SIGN_FLIP, RANKS, CORRECTED, UNUSED = (
    *("primary", "other", "on these words", "sign flip", "signed ranks", "any other, corrected", "not used"),
)
"""What a p-value is of."""
HEADS = "random heads"


@dataclass(frozen=True)
class CountingStep:
    """What the two kinds of steps share."""

    measure: str
    draws: int
    seed: int
    offline: bool
    needs = ()
    needs_gpu = False

    def inputs(self) -> dict[str, Any]:
        """What decides the counts."""
        origin = get_measure(self.measure).origin
        version = {"unmask": unmask.__version__, "rules": RULE_VERSION, "plugin": origin.version if origin else ""}
        return {"measure": self.measure, "draws": self.draws, "seed": self.seed, **version}

    def write_counts(self, draft: Path, scores: str, counts: Sequence[Mapping[str, Any]]) -> None:
        """Store the counts as the result of the step, each with what was counted."""
        records = [{"measure": self.measure, "scores": scores, **record} for record in counts]
        (draft / COUNTS).write_text(json.dumps(records, indent=1, ensure_ascii=False), encoding="utf-8")


@dataclass(frozen=True)
class Auditing(CountingStep):
    """A step: a measure audits untrained models."""

    full: bool = False
    heads: bool = False
    kind = "auditing"

    @property
    def name(self) -> str:
        """The measure."""
        return f"auditing-{self.measure}"

    def inputs(self) -> dict[str, Any]:
        """What decides the counts."""
        return super().inputs() | {
            "heads": self.heads,
            "options": {name: str(value) for name, value in self._options.items()},
        }

    @property
    def _options(self) -> Mapping[str, Any]:
        return {} if self.full else get_measure(self.measure).trial_options

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Audit one model after the other."""
        del before, workspace
        counts = count_rejections(get_measure(self.measure), self._measure_models(say))
        self.write_counts(draft, HEADS if self.heads else "untrained models", counts)

    def _measure_models(self, say: Say) -> Iterator[Drawn]:
        measure = get_measure(self.measure)
        options = measure.Options(**self._options)
        for number in range(self.draws):
            context = Context(seed=self.seed + number, offline=self.offline)
            units = measure.units(options, context, measure.languages[:1], list(measure.corpora)[:1])
            for _, measurement in measure.measure(
                make_untrained(measure, context.seed, heads=self.heads), options, units[:1]
            ):
                yield measurement, {}
            say(f"model {number + 1} of {self.draws}")


@dataclass(frozen=True)
class Simulating(CountingStep):
    """A step: one simulation of the scores of a measure, with all its effects."""

    number: int = 0
    title: str = ""
    effects: tuple[float, ...] = ()
    kind = "simulating"

    @property
    def name(self) -> str:
        """The measure, and the number of the simulation among those of the measure."""
        return f"simulating-{self.measure}-{self.number + 1}"

    def inputs(self) -> dict[str, Any]:
        """What decides the counts."""
        return super().inputs() | {"simulation": self.title, "effects": list(self.effects)}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Draw and analyse the scores for each effect."""
        del before, workspace
        measure = get_measure(self.measure)
        simulation = measure.simulations()[self.number]
        counts = []
        for effect in (0.0, *self.effects):
            say(f"an effect of {effect:g}")
            counts += count_rejections(measure, self._measure_draws(measure, simulation, effect), effect)
        self.write_counts(draft, self.title, counts)

    def _measure_draws(self, measure: Measure, simulation: Simulation, effect: float) -> Iterator[Drawn]:
        for number in range(self.draws):
            seed = self.seed + number
            items = simulation.draw(np.random.default_rng(seed), effect)
            others = simulation.alternatives(items) if simulation.alternatives and not effect else {}
            for measurement in measure.analyse_recorded(items, Context(seed=seed)):
                yield measurement, others


def steps(options: CalibrationOptions) -> list[Step]:
    """Return the steps of each measure. Raises an error if nothing is to be done."""
    measures = list(map(get_measure, dict.fromkeys(options.measures))) or installed()
    planned: list[Step] = []
    for measure in measures:
        shared: dict[str, Any] = {"measure": measure.name, "seed": options.seed, "offline": options.offline}
        fits = "classifier" in measure.roles or (not options.heads and set(measure.roles) != {"vectors"})
        if options.models and fits and measure not in _without_data(options, measures):
            planned.append(Auditing(draws=options.models, full=options.full, heads=options.heads, **shared))
        if options.draws:
            planned += [
                Simulating(
                    draws=options.draws, number=number, title=simulation.name, effects=simulation.effects, **shared
                )
                for number, simulation in enumerate(measure.simulations())
            ]
    if not planned:
        raise UnmaskError("there is nothing to count; give --models, or --draws and a measure that has simulations")
    return planned


def notes(options: CalibrationOptions, steps: Sequence[Step]) -> list[str]:
    """Say which measures cannot audit, because their data set is missing."""
    del steps
    return [
        f"No untrained models for {measure.name}: the data set {measure.dataset} is not on this machine"
        for measure in (_without_data(options, installed()) if options.models and not options.measures else [])
    ]


def _without_data(options: CalibrationOptions, measures: Iterable[Measure]) -> list[Measure]:
    """The measures whose data set would have to be downloaded, unless the user has named them."""
    if options.measures:
        return []
    return [measure for measure in measures if measure.dataset and not datasets.is_present(measure.dataset)]


def count_rejections(measure: Measure, drawn: Iterable[Drawn], effect: float = 0.0) -> list[dict[str, Any]]:
    """Count for each test in how many draws it rejects at 5 %.

    Returns:
        A record for each test and each way to get a p-value: how many there are (`n`), how many are below .05
        (`rejected`), and for the primary test the mean estimate, the share of intervals that cover the effect, and the
        mean of the effects that it says it detects.
    """
    rejected: dict[tuple[str, str], list[bool]] = defaultdict(list)
    primary = []
    for measurement, others in drawn:
        adjusted = measure.adjust_tests(measurement)
        for key, p_value in [*_list_p_values(measure, adjusted), *(((UNUSED, name), others[name]) for name in others)]:
            if p_value is not None:
                rejected[key].append(is_significant(p_value))
        if measure.primary in adjusted.tests:
            primary.append(adjusted.tests[measure.primary])
    intervals = [test.interval for test in primary if test.interval]
    summary = {
        "value": _average([test.value for test in primary]),
        "covered": _average([low <= effect <= high for low, high in intervals]),
        "detectable": _average([test.detectable for test in primary]),
    }
    return [
        {"effect": effect, "way": way, "test": name, "n": len(answers), "rejected": sum(answers)}
        | (summary if way == PRIMARY else {})
        for (way, name), answers in rejected.items()
    ]


def _list_p_values(measure: Measure, measurement: Measurement) -> Iterator[tuple[tuple[str, str], float | None]]:
    """The p-values of a measurement, each with its way and the name of the test."""
    corrected = []
    for name, test in measurement.tests.items():
        is_narrow = any(fnmatch(name, pattern) for pattern in measure.narrow)
        way = PRIMARY if name == measure.primary else NARROW if is_narrow else SECONDARY
        yield (way, name), test.p_value
        yield (SIGN_FLIP, name), test.p_sign_flip
        yield (RANKS, name), test.wilcoxon.p_value if test.wilcoxon else None
        if way == SECONDARY and test.p_adjusted is not None:
            corrected.append(test.p_adjusted)
    if len(corrected) > 1:
        yield (CORRECTED, ""), min(corrected)


def _average(values: Sequence[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None

"""The study calibration: what it counts, and that it runs, resumes and asks the measures of other packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from packages import install
from pages import assert_loads_nothing
from unmask.errors import UnmaskError
from unmask.measures.base import Context, Measure
from unmask.measures.registry import built_in, get_measure
from unmask.models.handle import ModelHandle
from unmask.plugins import GROUPS
from unmask.statistics.simulation import RandomEffects, Simulation
from unmask.studies.calibration import CalibrationOptions
from unmask.studies.calibration.plan import (
    CORRECTED,
    NARROW,
    PRIMARY,
    SECONDARY,
    UNUSED,
    Drawn,
    count_rejections,
    notes,
    steps,
)
from unmask.studies.calibration.untrained import make_untrained
from unmask.studies.study import StudyRun, run_study

PLUGIN = "coins"
MODULE = '''
import pandas as pd
from unmask.measures.base import Measure
from unmask.results import Estimate, Measurement
from unmask.statistics.paired import mean_bias
from unmask.statistics.simulation import Simulation

class CoinMeasure(Measure):
    """Means of scores, and tests whose answer is known."""
    name, question = "coins", "Which side?"
    roles, needs = ("masked-lm",), "a masked language model"
    primary = "mean"
    narrow = ("words, *",)

    def score(self, model, items, options, context):
        from unmask.models.roles import MaskQuery

        words = [word for word in ("he", "she", "they", "we", "you")]
        queries = [MaskQuery(f"Here {word} is.", (5, 5 + len(word))) for word in words]
        scores = model.log_probability(queries)
        return pd.DataFrame({"word": words, "score": scores - scores.mean()})

    def analyse(self, items, context):
        mean = mean_bias(items["score"])
        made = Estimate.from_statistic(mean, n=len(items))
        fixed = {name: made.model_copy(update={"p_value": p}) for name, p in P_VALUES.items()}
        return Measurement(
            name=self.name, language="en", corpus="items", items=len(items), groups={}, tests={"mean": made, **fixed}
        )

    def headline(self, measurement):
        return ["Heads."]

    def simulations(self):
        def draw(generator, effect):
            return pd.DataFrame({"word": range(40), "score": effect + generator.normal(size=40)})

        return [Simulation("coins vary", draw, (0.45,), lambda items: {"a coin": 0.01, "no coin": None})]

P_VALUES = {"always": 0.001, "never": 0.5, "words, always": 0.001, "not tested": None}
'''
"""A measure of another package."""


@pytest.fixture(scope="module", autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The measure, installed."""
    entries = {GROUPS["measure"]: {PLUGIN: "toy_coins:CoinMeasure"}}
    folder = install(tmp_path_factory.mktemp("coins"), "toy-coins", entries, {"toy_coins.py": MODULE})
    sys.path.insert(0, str(folder))
    yield
    sys.path.remove(str(folder))
    sys.modules.pop("toy_coins", None)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the study."""
    return tmp_path_factory.mktemp("calibration") / "out"


@pytest.fixture(scope="module")
def run(out: Path) -> StudyRun:
    """The measure of another package, with three untrained models and 200 draws."""
    return run_study("calibration", {"measures": PLUGIN, "models": 3, "draws": 200}, out)


def read_counts(out: Path) -> pd.DataFrame:
    return pd.read_csv(out / "tests.csv", keep_default_na=False)


def test_a_test_that_always_rejects_shows_100_percent(run: StudyRun, out: Path) -> None:
    assert run.failures == []
    counts: Any = read_counts(out).set_index(["scores", "effect", "test", "way"])
    for scores, draws in (("untrained models", 3), ("coins vary", 200)):
        for test, way, rate in (("always", SECONDARY, 1), ("never", SECONDARY, 0), ("words, always", NARROW, 1)):
            row = counts.loc[(scores, 0.0, test, way)]
            assert (row["n"], row["rejected"], row["rate"]) == (draws, rate * draws, rate)
        assert counts.loc[(scores, 0.0, "", CORRECTED), "rate"] == 1
    assert counts.loc[("coins vary", 0.0, "a coin", UNUSED), "rate"] == 1
    assert not {"no coin", "not tested"} & set(counts.index.get_level_values("test")), "without a p-value"


def test_a_t_test_rejects_5_percent_and_has_the_power_it_says(run: StudyRun, out: Path) -> None:
    """A t test of 40 values with standard deviation 1 finds a mean of .45 with a probability of 79 %."""
    assert run.page == out / "report.html"
    counts: Any = read_counts(out).set_index(["scores", "effect", "way"])
    null, effect = (counts.loc[("coins vary", value, PRIMARY)] for value in (0.0, 0.45))
    assert null["low"] < 0.05 < null["high"]
    assert effect["low"] < 0.79 < effect["high"]
    assert float(effect["value"]) == pytest.approx(0.45, abs=0.03)
    assert float(effect["covered"]) == pytest.approx(0.95, abs=0.05)
    assert float(effect["detectable"]) == pytest.approx(0.45, abs=0.02)
    assert null["rate"] == pytest.approx(1 - float(null["covered"])), "interval and p-value agree"


def test_its_page_and_tables(run: StudyRun, out: Path) -> None:
    page = (out / "report.html").read_text(encoding="utf-8")
    assert_loads_nothing(page)
    for text in (
        "coins, untrained models",
        "mean (primary)",
        "80 % at 0.45",
        "Tests for comparison",
        "a coin (not used)",
    ):
        assert text in page
    assert run.report is not None
    assert [table.name for table in run.report.tables] == ["no-effect", "power"]
    rows = {row[:2]: row[2:] for row in run.report.tables[0].rows}
    assert rows["coins, coins vary", "2 other tests"] == ("0.0 to 100.0 %", "98.1 to 100.0 %", "5 %")
    assert "None rejects more often" in run.report.headline


def test_what_is_done_is_kept_and_more_draws_run_again(run: StudyRun, out: Path) -> None:
    again = run_study("calibration", {"measures": PLUGIN, "models": 3, "draws": 200}, out)
    assert [outcome.status for outcome in again.finished.outcomes] == ["kept", "kept"]
    more = run_study("calibration", {"measures": PLUGIN, "models": 3, "draws": 5}, out)
    assert [outcome.status for outcome in more.finished.outcomes] == ["kept", "done"]
    assert run.finished.outcomes[0].key == more.finished.outcomes[0].key


def test_the_effect_of_every_built_in_simulation_is_that_of_the_primary_test() -> None:
    """Over three draws the estimates lie around the largest effect, and the same seed gives the same scores."""
    simulated = [(measure, simulation) for measure in built_in() for simulation in measure.simulations()]
    assert len({measure.name for measure, _ in simulated}) >= 5
    for measure, simulation in simulated:
        first, second = (simulation.draw(np.random.default_rng(3), 0.0) for _ in range(2))
        pd.testing.assert_frame_equal(first, second)
        effect, draws = (simulation.effects[-1], 3) if simulation.effects else (0.0, 1)
        counts = count_rejections(measure, _draw(measure, simulation, effect, draws), effect)
        (primary,) = (record for record in counts if record["way"] == PRIMARY)
        assert primary["n"] == draws
        if effect:
            assert primary["value"] == pytest.approx(effect, abs=0.6 * effect), (measure.name, simulation.name)


def _draw(measure: Measure, simulation: Simulation, effect: float, draws: int) -> Iterator[Drawn]:
    for seed in range(draws):
        items = simulation.draw(np.random.default_rng(seed), effect)
        for measurement in measure.analyse_recorded(items, Context(seed=seed)):
            yield measurement, simulation.alternatives(items) if simulation.alternatives else {}


def test_untrained_models_fit_each_measure_and_differ_by_their_seed() -> None:
    for measure in built_in():
        handle = make_untrained(measure, 1)
        assert isinstance(handle, ModelHandle)
        assert any(role in measure.roles for role in handle.roles)
    weights = [make_untrained(built_in()[0], seed).given[0].state_dict() for seed in (1, 1, 2)]
    name = next(iter(weights[0]))
    assert (weights[0][name] == weights[1][name]).all()
    assert not (weights[0][name] == weights[2][name]).all()


def test_random_heads_are_on_the_weights_of_the_embedded_model() -> None:
    """They are for classifiers alone; the others of the measures are left out."""
    planned = steps(CalibrationOptions(measures=("association", "sentiment"), draws=0, heads=True))
    assert [step.name for step in planned] == ["auditing-sentiment"]
    first, second = (make_untrained(get_measure("sentiment"), seed, heads=True).given[0] for seed in (1, 2))
    assert (first.bert.encoder.layer[0].output.dense.weight == second.bert.encoder.layer[0].output.dense.weight).all()
    assert (first.classifier.weight != second.classifier.weight).any()
    assert list(first.config.id2label.values()) == ["negative", "positive"]


def test_a_measure_without_a_model_of_its_kind_is_a_clear_error() -> None:
    measure = type(get_measure(PLUGIN))()
    measure.fits = lambda *_: False  # type: ignore[method-assign]
    with pytest.raises(UnmaskError, match="coins needs a masked language model; of this kind there are no untrained"):
        make_untrained(measure, 0)


def test_data_sets_that_are_missing_are_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    planned = [step.name for step in steps(CalibrationOptions(draws=0))]
    missing = [measure.name for measure in built_in() if measure.dataset]
    assert missing
    assert not {f"auditing-{name}" for name in missing} & set(planned)
    lines = notes(CalibrationOptions(), [])
    assert all(any(f"No untrained models for {name}:" in line for line in lines) for name in missing)
    named = CalibrationOptions(measures=tuple(missing), draws=0)
    assert [step.name for step in steps(named)] == [f"auditing-{name}" for name in missing]
    assert notes(named, []) == []


def test_nothing_to_count_is_an_error() -> None:
    with pytest.raises(UnmaskError, match="there is nothing to count"):
        steps(CalibrationOptions(models=0, draws=0))
    with pytest.raises(UnmaskError, match="unknown measure 'asociation'; did you mean 'association'"):
        steps(CalibrationOptions(measures=("asociation",)))


def test_random_effects_are_shared_within_their_columns() -> None:
    items = pd.DataFrame({"word": list("aabb"), "text": list("cdcd")})
    generator = np.random.default_rng(0)
    by_word = RandomEffects(items, {("word",): 2.0})
    drawn = np.array([by_word.draw(generator) for _ in range(4000)])
    assert (drawn[:, 0] == drawn[:, 1]).all()
    assert drawn.std(axis=0) == pytest.approx(2.0, rel=0.05)
    assert np.corrcoef(drawn.T)[0, 2] == pytest.approx(0, abs=0.05)
    single = RandomEffects(items, {("word", "text"): 1.0}, noise=1.0)
    drawn = np.array([single.draw(generator) for _ in range(4000)])
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(2), rel=0.05)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0, abs=0.05)
    by_item = RandomEffects(items, {("word",): np.array([0.0, 0.0, 3.0, 3.0])}).draw(generator)
    assert (by_item[:2] == 0).all()
    assert by_item[2] == by_item[3] != 0

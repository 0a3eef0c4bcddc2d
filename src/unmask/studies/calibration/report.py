"""How often the tests reject without an effect, and how often the primary tests find one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

import unmask
from unmask.measures.registry import get_measure
from unmask.report.blocks import Section, Text
from unmask.results.formatting import number, percent
from unmask.results.verdict import ALPHA
from unmask.statistics.proportions import wilson_interval
from unmask.studies.calibration import CalibrationOptions
from unmask.studies.calibration.plan import (
    CORRECTED,
    COUNTS,
    HEADS,
    NARROW,
    PRIMARY,
    RANKS,
    SECONDARY,
    SIGN_FLIP,
    UNUSED,
    CountingStep,
)
from unmask.studies.calibration.untrained import LAYERS, SIZE, SPREAD
from unmask.studies.report import GAP, StudyReport, StudyTable
from unmask.studies.study import FinishedSteps

Record = dict[str, Any]
"""How often a test rejected."""
JUDGED, COMPARED = (PRIMARY, SECONDARY, CORRECTED, NARROW), (UNUSED, SIGN_FLIP, RANKS)
MORE = "more than 5 %"
EXPECTED = {
    PRIMARY: "5 %",
    SECONDARY: "5 %",
    CORRECTED: "at most 5 %",
    NARROW: "5 % or more",
    UNUSED: "5 % if valid",
    SIGN_FLIP: "5 % if words alone vary",
    RANKS: MORE,
}
SEVERAL = {
    SECONDARY: "other tests",
    NARROW: "tests on these words",
    SIGN_FLIP: "sign flips",
    RANKS: "tests by signed ranks",
}
NO_EFFECT_NOTE = (
    "The share of draws with p < .05. A row about several tests has the lowest and the highest share, and Wilson's"
    " interval of the highest, which exceeds the others by chance alone. “Any other, corrected”: Holm's correction"
    " leaves one or more. A test on these words asks about other texts with the same words, and rejects wherever"
    " a model has preferences between words."
)
COMPARED_NOTE = (
    "These tests decide nothing. Sign flips treat pairs of words as the only sample, the signed ranks of the papers"
    " every single pair of sentences. Tests that are not used are those that treat fewer things as samples than ours."
)
POWER_NOTE = (
    "Primary tests. The effect is the true value of the test. Expected: the smallest effect that a result says it"
    " would find with a probability of 80 %, on average. Covered: the share of 95 % intervals that hold the effect."
)
METHOD = (
    "Untrained models are BERTs of {layers} layer of {size} with normal weights (standard deviation {spread}) and the"
    " tokenizer of unmask-mini, as masked language models or as classifiers. Each is measured as in an audit, {items}"
    " With `--heads`, classifiers are random heads on unmask-mini, which has learned from text and prefers some words."
    " Competence is not judged: these models are meant to fail it.",
    "Simulations draw the scores of the measure's own items: a sum of normal random effects of what varies, and noise."
    " They are analysed as in an audit. The same draws are used for each effect.",
)
LIMITS = (
    "Untrained models know nothing at all. A trained model may break assumptions that random weights meet.",
    "Simulated effects are normal and independent; those of a model need not be.",
    "A share of 5 % means that a test is valid, not that it measures bias. For that, see the study meta.",
)


def report(finished: FinishedSteps, options: CalibrationOptions) -> StudyReport | None:
    """Write the tables: rejections without an effect, of the primary tests with one, and of every test by itself."""
    records = [record for _, folder in finished.results(CountingStep) for record in _read_counts(folder)]
    if not records:
        return None
    null = [record for record in records if record["effect"] == 0]
    powered = [record for record in records if record["effect"] != 0 and record["way"] == PRIMARY]
    tables = [_tabulate_rates("no-effect", "Without an effect", null, JUDGED, NO_EFFECT_NOTE)]
    tables += [_tabulate_power(powered)] if powered else []
    compared = _tabulate_rates("other-tests", "Tests for comparison", null, COMPARED, COMPARED_NOTE)
    shown = [*tables, compared] if compared.rows else tables
    items = "with all its items." if options.full else "with fewer items where that takes long (`--full`: all)."
    settings = {
        "models": options.models,
        "draws": options.draws,
        "seed": options.seed,
        "full": options.full,
        "heads": options.heads,
    }
    return StudyReport(
        headline=_write_headline([record for record in null if record["way"] == PRIMARY]),
        note=f"{options.models} {HEADS if options.heads else 'untrained models'} · {options.draws} draws",
        blocks=[
            *(Section(table.title, [replace(table.to_block(), title="")]) for table in shown),
            Section("Details", [_tabulate_all(records).to_block(folded=True)]),
        ],
        tables=tables,
        method=[Text([text.format(layers=LAYERS, size=SIZE, spread=SPREAD, items=items) for text in METHOD])],
        limits=LIMITS,
        settings={name: str(value) for name, value in settings.items()}
        | finished.note_settings
        | {"unmask": unmask.__version__},
        records={"tests.csv": pd.DataFrame(records)},
    )


def _read_counts(folder: Path) -> Iterator[Record]:
    for record in json.loads((folder / COUNTS).read_text(encoding="utf-8")):
        rate = record["rejected"] / record["n"]
        low, high = wilson_interval(rate, record["n"])
        yield record | {"rate": rate, "low": low, "high": high}


def _write_headline(primary: Sequence[Record]) -> str:
    """How the primary tests did without an effect."""
    if not primary:
        return "No primary test has a p-value."
    rates = [record["rate"] for record in primary]
    high = [f"{record['measure']} ({record['scores']})" for record in primary if record["low"] > ALPHA]
    found = f"Without an effect, primary tests reject in {_format_share(min(rates))} to {_format_share(max(rates))} %."
    if not high:
        return f"{found} None rejects more often than in 5 % by more than chance."
    return f"{found} More often than in 5 %, by more than chance: {', '.join(high)}."


def _tabulate_rates(name: str, title: str, records: Sequence[Record], ways: Sequence[str], note: str) -> StudyTable:
    """A row for each kind of tests of each kind of scores, with the lowest and the highest share of rejections."""
    listed = [record for record in records if record["way"] in ways]
    rows = []
    for scores in dict.fromkeys(_name_scores(record) for record in listed):
        for way in ways:
            expected = MORE if scores.endswith(HEADS) else EXPECTED[way]
            tests = [record for record in listed if (_name_scores(record), record["way"]) == (scores, way)]
            for group in [[test] for test in tests] if way == UNUSED else [tests] if tests else []:
                low, high = (choose(group, key=lambda test: float(test["rate"])) for choose in (min, max))
                shares = dict.fromkeys((_format_share(low["rate"]), _format_share(high["rate"])))
                test = f"{len(group)} {SEVERAL[way]}" if len(group) > 1 else low["test"] and f"{low['test']} ({way})"
                rows.append((scores, test or way, f"{' to '.join(shares)} %", _format_bounds(high), expected))
    columns = ("Scores", "Test", "Rejects", "95 % interval", "Expected")
    return StudyTable(name, title, columns, rows, note, pd.DataFrame(listed), 2)


def _tabulate_power(records: Sequence[Record]) -> StudyTable:
    rows = []
    for record in records:
        digits = get_measure(record["measure"]).digits
        detectable = record["detectable"]
        rows.append(
            (
                *(_name_scores(record), record["test"], number(record["effect"], digits)),
                *(f"{_format_share(record['rate'])} %", _format_bounds(record)),
                GAP if detectable is None else f"80 % at {number(detectable, digits)}",
                *(number(record["value"], digits), percent(record["covered"])),
            )
        )
    columns = ("Scores", "Test", "Effect", "Found", "95 % interval", "Expected", "Mean", "Covered")
    return StudyTable("power", "With an effect", columns, rows, POWER_NOTE, pd.DataFrame(records), 3)


def _tabulate_all(records: Sequence[Record]) -> StudyTable:
    rows = [
        (
            *(_name_scores(record), record["test"] or "any", record["way"]),
            *(
                f"{record['effect']:g}",
                f"{_format_share(record['rate'])} %",
                f"{record['n']:,}",
                _format_bounds(record),
            ),
        )
        for record in records
    ]
    columns = ("Scores", "Test", "Kind", "Effect", "Rejects", "Draws", "95 % interval")
    return StudyTable(
        "tests",
        "Every test by itself",
        columns,
        rows,
        "The file tests.csv has these numbers.",
        pd.DataFrame(records),
        3,
    )


def _name_scores(record: Record) -> str:
    return f"{record['measure']}, {record['scores']}"


def _format_share(share: float) -> str:
    return f"{100 * share:.1f}"


def _format_bounds(record: Record) -> str:
    return f"{_format_share(record['low'])} to {_format_share(record['high'])} %"

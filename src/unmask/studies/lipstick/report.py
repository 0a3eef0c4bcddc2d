"""What a lipstick study found: the papers' tables, what they leave out, maps of words, and the finding in words.

Gonen and Goldberg (2019), Table 1 of Bhang et al.: word vectors. Table 2: a model and its debiased versions. Values are
for the words that were most biased in the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import unmask
from unmask.measures.association import AssociationMeasure
from unmask.measures.geometry import OWN, Geometry, GeometryMeasure, WordTest
from unmask.measures.geometry.analysis import list_neighbourhoods
from unmask.measures.geometry.plots import draw_professions, draw_word_map
from unmask.measures.sections import study_limits
from unmask.report.blocks import Figure, Section, Text
from unmask.results import Measurement
from unmask.results.formatting import p as format_p
from unmask.results.formatting import percent
from unmask.results.verdict import is_significant
from unmask.studies.lipstick import LipstickOptions, StaticLipstickOptions
from unmask.studies.lipstick.plan import ORIGIN, VECTORS, WordMeasuring
from unmask.studies.models import read_measurement
from unmask.studies.report import (
    GAP,
    StudyReport,
    StudyTable,
    format_number,
    format_percent,
    format_with_bounds,
)
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

PAPER_TESTS = {"clustering": "Clustering", "neighbours": "Professions", "classification": "SVM"}
"""The tests of the papers' tables, in their order."""
TESTS = ("clustering", "probe", "classification", "neighbours")
PAPER = {
    True: "The paper (all of word2vec and the GloVe of Zhao et al.; debiased: Bolukbasi et al.'s vectors and"
    " GN-GloVe): word2vec 99.9 %, .747, 99.97 % → 92.5 %, .606, 100 %; GloVe 100 %, .820, 94.17 % →"
    " 85.6 %, .792, 99.98 %.",
    False: "The paper (bert-base-uncased): origin 94 %, .294, 99.4 % (word2vec) and 100 %, .299, 99.9 % (GloVe);"
    " Sent-Debias 79.1 %, .214, 98.7 % and 99.7 %, .338, 100 %; Context-Debias 51.5 %, .162, 94.2 % and 51.2 %, .460,"
    " 98.5 %; CDS 54.3 %, .128, 96.8 % and 53.3 %, .252, 98.8 %.",
}
"""The values in the papers' tables, of word vectors (true) and of a model."""
MAPS = (
    "The words that were most biased in the origin, on a map of each space (t-SNE): orange on the female side there,"
    " violet on the male side; less biased words are paler. An outline marks words in the cluster of the other side."
)
SCATTERS = (
    "Each dot is a profession: its bias in the origin, and the share of male words among its 100 nearest words now."
)
SOUND = (
    "Words at the ends of the gender direction form clusters, have neighbours of their own kind and can be classified."
    " So do those of any direction, because they were chosen by it. Each value is therefore compared with those of"
    " other contrasts: between groups of words that have nothing to do with gender, and are about as similar to each"
    " other as male words are to female ones. The question after debiasing is how much is left, and whether that is"
    " more than plain projection leaves of such a contrast."
)
PUBLISHED = (
    "These are the papers' numbers, as computed by their code. Clusters are compared with labels by number, so that"
    " it may print 6 % for 94 %. The higher value is shown."
)
PUBLISHED_CONTEXTUAL = (
    " Professions are listed with the bias of their last neighbour, and vectors are shuffled so that some are in both"
    " training and test; in four sentences of eleven the article is read instead of the word."
)


@dataclass(frozen=True)
class MeasuredWords:
    """A model with a vocabulary, and its measurement."""

    step: WordMeasuring
    items: pd.DataFrame = field(repr=False, compare=False)
    measurement: Measurement

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.step.model.name

    @property
    def is_origin(self) -> bool:
        """Whether the model is not debiased."""
        return self.step.model.is_origin

    @property
    def label(self) -> str:
        """The vectors, or the vocabulary."""
        words = self.step.words.vocabulary
        return self.step.model.family if words == VECTORS else words

    @cached_property
    def details(self) -> Geometry:
        """The results of all tests."""
        return self.measurement.read_details(Geometry)

    def find_test(self, name: str, *, removed: bool = False, own: bool = False) -> WordTest | None:
        """Return a test with the words of the origin, or with the model's `own` words."""
        return self.details.test(name, words=OWN if own or self.is_origin else ORIGIN, removed=removed)


def report(finished: FinishedSteps, options: LipstickOptions) -> StudyReport | None:
    """Return what was found, or None where nothing was measured."""
    rows = [MeasuredWords(step, *read_measurement(folder)) for step, folder in finished.results(WordMeasuring)]
    if not rows:
        return None
    static, sound = isinstance(options, StaticLipstickOptions), options.protocol == "sound"
    numbers = list_numbers(rows)
    tables = [tabulate_paper(rows, numbers, static=static)]
    tables += [tabulate_remains(rows, numbers), tabulate_other_tests(rows, numbers)] if sound else []
    maps = [_draw_figure(row, "map") for row in rows]
    scatters = [_draw_figure(row, "professions") for row in rows]
    method = SOUND if sound else PUBLISHED + ("" if static else PUBLISHED_CONTEXTUAL)
    return StudyReport(
        headline=write_headline(rows),
        note=f"{len(rows)} measurements · {options.protocol} protocol",
        blocks=[
            Section("Tables", [table.to_block() for table in tables]),
            Section("Maps", [Section("", maps, layout="panels"), Text([MAPS], style="note")]),
            Section("Professions", [Section("", scatters, layout="panels"), Text([SCATTERS], style="note")]),
        ],
        tables=tables,
        method=[Text([method])],
        limits=study_limits([GeometryMeasure.name], ["en"]),
        settings=describe_settings(finished, options),
        footer="Where words lie is a property of the model; it is not yet a harm.",
    )


def describe_settings(finished: FinishedSteps, options: LipstickOptions) -> dict[str, str]:
    """Return how the study was set up, in words."""
    measured = [step for step in finished.steps if isinstance(step, WordMeasuring)]
    models = [f"{step.model.family} ({Path(step.model.model).name})" for step in measured if step.model.is_origin]
    debiased = [step.model.name for step in measured if not step.model.is_origin]
    words = ", ".join(dict.fromkeys(step.words.vocabulary for step in measured))
    settings = {
        "protocol": options.protocol,
        "measured": ", ".join(dict.fromkeys(models)),
        "debiased": ", ".join(dict.fromkeys(debiased)),
        "words": words if options.words is None else f"{words}, {options.words:,} at most",
    }
    if options.protocol == "sound":
        settings["other contrasts"] = str(options.contrasts)
    if options.corpus:
        settings["text"] = ", ".join(options.corpus)
    return settings | {"seed": str(options.seed), "unmask": unmask.__version__}


def _draw_figure(row: MeasuredWords, what: str) -> Figure:
    """A map of the most biased words, or the professions by bias and neighbours."""
    name = f"{row.label}, {row.name}"
    items = row.items[row.items["words"] == (OWN if row.is_origin else ORIGIN)].reset_index(drop=True)
    if what == "map":
        return Figure(name, partial(draw_word_map, items), f"Map of the most biased words: {name}")
    draw = partial(draw_professions, list_neighbourhoods(items))
    return Figure(name, draw, f"Professions by bias and male neighbours: {name}")


def tabulate_paper(rows: Sequence[MeasuredWords], numbers: pd.DataFrame, *, static: bool) -> StudyTable:
    """Table 1 or 2."""
    labels = list(dict.fromkeys(row.label for row in rows))
    by_name = {(row.name, row.label): row for row in rows}
    body = [
        (name, *(_show_test(by_name.get((name, label)), test) for test in PAPER_TESTS for label in labels))
        for name in dict.fromkeys(row.name for row in rows)
    ]
    is_published = rows[0].step.words.is_published
    by_number = "The papers' code may count .1 % for 99.9 %, as in the CSV file. " if is_published else ""
    return StudyTable(
        "table-1" if static else "table-2",
        "Word vectors before and after debiasing" if static else "A model before and after debiasing",
        ("Model", *(f"{title}, {label}" for title in PAPER_TESTS.values() for label in labels)),
        body,
        "Clustering: the share of the most biased words of the origin that two clusters sort by gender. Professions:"
        " the correlation of bias with the share of male words among 100 neighbours. SVM: the share of further words"
        f" that are classified correctly. {by_number}{PAPER[static]}",
        numbers,
    )


def tabulate_remains(rows: Sequence[MeasuredWords], numbers: pd.DataFrame) -> StudyTable:
    """What remains of gender, and of contrasts that have nothing to do with gender."""
    body = []
    for row in rows:
        model = f"{row.label}: {'origin, direction removed' if row.is_origin else row.name}"
        for name in TESTS:
            if test := row.find_test(name, removed=row.is_origin):
                others = (GAP, GAP, GAP)
                if reference := test.reference:
                    low_high = _show_range((reference.low, reference.high), name)
                    others = (_show(reference.mean, name), low_high, format_p(reference.p_value))
                body.append((model, name, _show(test.value, name), _show_range(test.interval, name), *others))
    return StudyTable(
        "left",
        "What is left without the gender direction",
        ("Model", "Test", "Gender", "95 % interval", "Other contrasts", "95 % of them", "p"),
        body,
        "The gender direction of the origin is removed by plain projection. Nothing is removed from a debiased model,"
        " whose words are those of the origin. Other contrasts: between groups of words of the origin that have nothing"
        " to do with gender, with their own direction removed. p: the share of contrasts, gender included, that leave"
        " as much.",
        numbers,
        headings=2,
    )


def tabulate_other_tests(rows: Sequence[MeasuredWords], numbers: pd.DataFrame) -> StudyTable:
    """Own words, more clusters, stereotypes, associations."""
    body = []
    for row in rows:
        scans = [scan for scan in row.details.scan if scan.removed]
        scan = max(scans, key=lambda scan: scan.v_measure, default=None)
        tests = row.measurement.tests
        stereotype = tests.get("stereotype")
        associations = [test for test in tests.values() if test.labels.get("contrast") == AssociationMeasure.name]
        clear = [test for test in associations if is_significant(test.p_value) and (test.value or 0) > 0]
        body.append(
            (
                f"{row.label}: {row.name}",
                *(_show_test(row, name, own=True) for name in PAPER_TESTS),
                f"{scan.clusters} ({format_percent(scan.accuracy)})" if scan else GAP,
                format_with_bounds(stereotype.value, stereotype.interval) if stereotype else GAP,
                f"{len(clear)} of {len(associations)}" if associations else GAP,
            )
        )
    columns = (*PAPER_TESTS.values(), "Best number of clusters", "Professions and stereotypes, r", "WEAT/SEAT, p < .05")
    return StudyTable(
        "more",
        "Results for its own most biased words, and of other tests",
        ("Model", *columns),
        body,
        "Best number of clusters: with the highest V-measure without the gender direction, and the share of words in a"
        " cluster of their gender. Associations: uncorrected, in the direction of the stereotype.",
        numbers,
    )


def list_numbers(rows: Sequence[MeasuredWords]) -> pd.DataFrame:
    """Return every test, unrounded, one row each."""
    import pandas as pd

    numbers = []
    for row in rows:
        labels = {"vectors": row.label, "model": row.name, "protocol": row.step.words.protocol}
        for test in row.details.tests:
            low, high = test.interval or (None, None)
            numbers.append(
                {
                    **labels,
                    "words_asked": row.details.words,
                    **test.model_dump(exclude={"interval", "reference"}),
                    "low": low,
                    "high": high,
                    **{f"other_{name}": getattr(test.reference, name, None) for name in ("mean", "low", "high")},
                    "other_p": getattr(test.reference, "p_value", None),
                }
            )
    return pd.DataFrame(numbers)


def _show_test(row: MeasuredWords | None, name: str, *, own: bool = False) -> str:
    test = row.find_test(name, own=own) if row else None
    return _show(test.accuracy if test else None, name)


def _show(value: float | None, name: str) -> str:
    return format_number(value, 3) if name == "neighbours" else format_percent(value)


def _show_range(ends: tuple[float, float] | None, name: str) -> str:
    return GAP if ends is None else f"{_show(ends[0], name)} to {_show(ends[1], name)}"


def write_headline(rows: Sequence[MeasuredWords]) -> str:
    """What is left of gender after debiasing, for each model, in words."""
    origins = {row.label: row.find_test("clustering") for row in rows if row.is_origin}
    sentences = []
    for row in rows:
        now, before = row.find_test("clustering"), origins.get(row.label)
        if row.is_origin or now is None or now.value is None or before is None or before.value is None:
            continue
        others = ""
        if reference := now.reference:
            others = (
                f"; of a contrast that has nothing to do with gender, plain removal leaves {percent(reference.mean)},"
                f" from {percent(reference.low)} to {percent(reference.high)}"
            )
        sentences.append(
            f"{row.label}, {row.name}: two clusters sort {percent(now.accuracy)} of the {now.n:,}"
            f" words that were most biased before ({percent(before.accuracy)} before{others})."
        )
    if sentences:
        return " ".join(sentences)
    for row in rows:
        clusters, professions = row.find_test("clustering"), row.find_test("neighbours")
        if clusters and clusters.value is not None:
            has_professions = professions and professions.value is not None
            more = f", and the correlation of professions is {_show_test(row, 'neighbours')}" if has_professions else ""
            sentences.append(
                f"{row.label}: two clusters sort {percent(clusters.accuracy)} of the most biased words{more}."
            )
    return " ".join(sentences) or "Nothing could be measured."

"""The papers' tables, and what they leave out: unrelated contrasts, the other tests, and the finding in words.

Gonen and Goldberg (2019), Table 1 of Bhang et al.: word vectors. Table 2: a model and its debiased versions. Values are
for the words that were most biased in the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unmask.measures.geometry import Geometry, WordTest
from unmask.results import Measurement
from unmask.results.formatting import interval, number, p_value, percent
from unmask.studies.lipstick.cells import BASE, Subject, Words
from unmask.studies.table import GAP, Table, figure
from unmask.studies.table import percent as percent_cell

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Row:
    """A model with a vocabulary, and what came of it."""

    subject: Subject
    words: Words
    measurement: Measurement
    items: pd.DataFrame = field(repr=False, compare=False)


PAPER = {"clustering": "Clustering", "neighbours": "Professions", "classification": "SVM"}
"""The tests of the papers' tables, in their order."""
TESTS = ("clustering", "probe", "classification", "neighbours")
PRINTED = {
    "static": "The paper (all of word2vec and the GloVe of Zhao et al.; debiased: Bolukbasi et al.'s vectors and"
    " GN-GloVe): word2vec 99.9 %, .747, 99.97 % → 92.5 %, .606, 100 %; GloVe 100 %, .820, 94.17 % →"
    " 85.6 %, .792, 99.98 %.",
    "contextual": "The paper (bert-base-uncased): origin 94 %, .294, 99.4 % (word2vec) and 100 %, .299, 99.9 % (GloVe);"
    " Sent-Debias 79.1 %, .214, 98.7 % and 99.7 %, .338, 100 %; Context-Debias 51.5 %, .162, 94.2 % and 51.2 %, .460,"
    " 98.5 %; CDS 54.3 %, .128, 96.8 % and 53.3 %, .252, 98.8 %.",
}
"""What stands in the papers' tables."""


def label(row: Row) -> str:
    """What a column is of: the vectors, or the vocabulary."""
    return row.subject.family if row.words.vocabulary == "vectors" else row.words.vocabulary


def result_of(row: Row, name: str, *, removed: bool = False, own: bool = False) -> WordTest | None:
    """A test of a row, with the words of the origin unless its own are asked for."""
    geometry = row.measurement.read_details(Geometry)
    words = "own" if own or row.subject.is_base else BASE
    return geometry.test(name, words=words, removed=removed)


def paper_table(rows: Sequence[Row], *, static: bool) -> Table:
    """Table 1 or 2."""
    labels = list(dict.fromkeys(map(label, rows)))
    names = list(dict.fromkeys(row.subject.name for row in rows))
    columns = [f"{PAPER[test]}, {one}" for test in PAPER for one in labels]
    body = []
    for name in names:
        values = []
        for test in PAPER:
            for one in labels:
                row = next((row for row in rows if row.subject.name == name and label(row) == one), None)
                values.append(_value(result_of(row, test) if row else None, test))
        body.append((name, *values))
    kind = "static" if static else "contextual"
    by_number = "Clusters are counted by number: 1 % says the same as 99 %. " if _is_published(rows) else ""
    return Table(
        "table-1" if static else "table-2",
        "Word vectors before and after debiasing" if static else "A model before and after debiasing",
        ("Model", *columns),
        tuple(body),
        "Clustering: the share of the most biased words of the origin that two clusters sort by gender. Professions:"
        " the correlation of bias with the share of male words among 100 neighbours. SVM: the share of more words that"
        f" are classified right. {by_number}{PRINTED[kind]}",
        numbers(rows),
    )


def left_table(rows: Sequence[Row]) -> Table:
    """What remains, beside what remains of contrasts that have nothing to do with gender."""
    body = []
    for row in rows:
        for name in TESTS:
            one = result_of(row, name, removed=row.subject.is_base)
            if one is None:
                continue
            reference = one.reference
            body.append(
                (
                    f"{label(row)}: {_called(row)}",
                    name,
                    _value(one, name),
                    _between(one.interval, name),
                    GAP if reference is None else f"{_number(reference.mean, name)}",
                    GAP if reference is None else _between((reference.low, reference.high), name),
                    GAP if reference is None else p_value(reference.p_value).removeprefix("= "),
                )
            )
    return Table(
        "left",
        "What is left once the direction is gone",
        ("Model", "Test", "Gender", "95 % interval", "Other contrasts", "95 % of them", "p"),
        tuple(body),
        "Of the origin, its gender direction is taken out by plain projection; of a debiased model, nothing is, and the"
        " words are those of the origin. Other contrasts: between groups of words of the origin that have nothing to do"
        " with gender, their own direction taken out. p: the share of contrasts, gender included, that leave as much.",
        numbers(rows),
        headings=2,
    )


def more_table(rows: Sequence[Row]) -> Table:
    """Own words, more clusters, stereotypes, associations."""
    body = []
    for row in rows:
        geometry = row.measurement.read_details(Geometry)
        own = [result_of(row, name, own=True) for name in PAPER]
        most = max((one for one in geometry.scan if one.removed), key=lambda one: one.v_measure, default=None)
        stereotype = row.measurement.tests.get("stereotype")
        found = [test for test in row.measurement.tests.values() if test.labels.get("contrast") == "association"]
        clear = [test for test in found if test.p_value is not None and test.p_value < 0.05 and (test.value or 0) > 0]
        body.append(
            (
                f"{label(row)}: {row.subject.name}",
                *(_value(one, name) for one, name in zip(own, PAPER, strict=True)),
                GAP if most is None else f"{most.clusters} ({percent_cell(most.accuracy)})",
                GAP if stereotype is None else f"{figure(stereotype.value, 2)} {interval(stereotype.interval)}",
                f"{len(clear)} of {len(found)}" if found else GAP,
            )
        )
    return Table(
        "more",
        "With its own most biased words, and what the other tests say",
        (
            "Model",
            "Clustering",
            "Professions",
            "SVM",
            "Clusters that tell most",
            "Professions and stereotypes, r",
            "WEAT/SEAT, p < .05",
        ),
        tuple(body),
        "Clusters that tell most: the number of clusters with the highest V-measure once the direction is out, and the"
        " share of words in a cluster of their gender. Associations: uncorrected, in the direction of the stereotype.",
        numbers(rows),
    )


def numbers(rows: Sequence[Row]) -> pd.DataFrame:
    """Every test, unrounded, one row each."""
    import pandas as pd

    found = []
    for row in rows:
        geometry = row.measurement.read_details(Geometry)
        found += [
            {
                "vectors": label(row),
                "model": row.subject.name,
                "protocol": row.words.protocol,
                "words_asked": geometry.words,
                **{name: value for name, value in test.model_dump().items() if name not in ("interval", "reference")},
                "low": test.interval[0] if test.interval else None,
                "high": test.interval[1] if test.interval else None,
                "other_mean": test.reference.mean if test.reference else None,
                "other_low": test.reference.low if test.reference else None,
                "other_high": test.reference.high if test.reference else None,
                "other_p": test.reference.p_value if test.reference else None,
            }
            for test in geometry.tests
        ]
    return pd.DataFrame(found)


def _called(row: Row) -> str:
    return "origin, direction taken out" if row.subject.is_base else row.subject.name


def _value(test: WordTest | None, name: str) -> str:
    return GAP if test is None or test.value is None else _number(test.value, name)


def _number(value: float, name: str) -> str:
    return number(value, 3) if name == "neighbours" else percent_cell(value)


def _between(ends: tuple[float, float] | None, name: str) -> str:
    return GAP if ends is None else f"{_number(ends[0], name)} to {_number(ends[1], name)}"


def _is_published(rows: Sequence[Row]) -> bool:
    return rows[0].words.protocol == "published"


@dataclass(frozen=True)
class Findings:
    """A study's result, ready to be shown."""

    rows: tuple[Row, ...]
    static: bool
    headline: str
    tables: tuple[Table, ...]
    settings: Mapping[str, str]
    failures: tuple[str, ...]
    answered: tuple[tuple[str, str], ...] = ()

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return self.rows[0].words.protocol

    @property
    def printed(self) -> tuple[Table, ...]:
        """All tables, in order."""
        return self.tables


def findings(
    rows: Sequence[Row], *, static: bool, settings: Mapping[str, str] | None = None, failures: Sequence[str] = ()
) -> Findings:
    """Gather all; there must be a row at least."""
    tables = [paper_table(rows, static=static)]
    if rows[0].words.protocol == "sound":
        tables += [left_table(rows), more_table(rows)]
    return Findings(tuple(rows), static, headline(rows), tuple(tables), dict(settings or {}), tuple(failures))


def headline(rows: Sequence[Row]) -> str:
    """What is left of gender after debiasing, for each model, in words."""
    said = []
    for row in rows:
        if row.subject.is_base:
            continue
        base = next((one for one in rows if one.subject.is_base and label(one) == label(row)), None)
        now, before = result_of(row, "clustering"), result_of(base, "clustering") if base else None
        if now is None or now.value is None or before is None or before.value is None:
            continue
        after, was = (_aligned(one.value, row) for one in (now, before))
        more = ""
        if now.reference is not None:
            reference = now.reference
            more = (
                "; of a contrast that has nothing to do with gender, plain removal leaves"
                f" {percent(reference.mean, 0)}, from {percent(reference.low, 0)} to {percent(reference.high, 0)}"
            )
        said.append(
            f"{label(row)}, {row.subject.name}: two clusters sort {percent(after, 1)} of the {now.n:,} words that were"
            f" most biased before ({percent(was, 1)} before{more})."
        )
    if not said:
        for row in rows:
            one = result_of(row, "clustering")
            near = result_of(row, "neighbours")
            if one and one.value is not None:
                also = f", and professions correlate {number(near.value)}" if near and near.value is not None else ""
                share = percent(_aligned(one.value, row), 1)
                said.append(f"{label(row)}: two clusters sort {share} of the most biased words{also}.")
    return " ".join(said) or "Nothing could be measured."


def _aligned(value: float | None, row: Row) -> float:
    """The published code compares clusters by number, so that 1 % and 99 % say the same."""
    share = value or 0.0
    return max(share, 1 - share) if row.words.protocol == "published" else share

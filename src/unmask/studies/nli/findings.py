"""All that the study found, gathered for a page: the finding in words, tables, how it was set up, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from unmask.measures.inference.interpret import understands
from unmask.measures.registry import get_measure
from unmask.results import Estimate
from unmask.results.numbers import number
from unmask.statistics.corrections import holm
from unmask.studies.nli.reading import TESTS, doubt, found
from unmask.studies.nli.study import Row
from unmask.studies.nli.tables import parts, quality, table_3
from unmask.studies.table import Table

HARDLY = 0.45
"""An accuracy below this is hardly better than chance, with three labels."""
WAYS = (("stereotype", 1), ("default", 1), ("default", -1))
"""What can be found: a stereotype; that people are taken for men; for women."""


@dataclass(frozen=True)
class Findings:
    """The study's result, ready to be shown."""

    rows: tuple[Row, ...]
    """By language, the highest score first."""
    headline: str
    tables: tuple[Table, ...]
    settings: Mapping[str, str]
    missing: tuple[str, ...]
    """Models that were not measured."""
    failures: tuple[str, ...]
    """What failed, and why, in a line each."""

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return self.rows[0].measurement.protocol

    @property
    def answered(self) -> tuple[tuple[str, str], ...]:
        """Why some figures cannot be read as bias, where there are such."""
        why = [f"{row.base.name}: {doubt(row.measurement)}." for row in self.rows if doubt(row.measurement)]
        return (("What cannot be read as bias", "\n".join(why)),) if why else ()

    @property
    def printed(self) -> tuple[Table, ...]:
        """All tables, in order."""
        return self.tables


def findings(
    rows: Sequence[Row],
    *,
    settings: Mapping[str, str] | None = None,
    failures: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Findings:
    """Gather all; there must be a row at least."""
    languages = list(dict.fromkeys(row.base.language for row in rows))
    ranked = sorted(adjusted(rows), key=lambda row: (languages.index(row.base.language), -(score_of(row) or 0.0)))
    tables = (table_3(ranked), parts(ranked), quality(ranked))
    return Findings(tuple(ranked), headline(ranked), tables, dict(settings or {}), tuple(missing), tuple(failures))


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """The rows with p-values corrected, by Holm's method, for the stereotypes and defaults of all models; and words."""
    places = [(at, name) for at, row in enumerate(rows) for name in TESTS if name in row.measurement.tests]
    corrected = holm([rows[at].measurement.tests[name].p_value for at, name in places])
    tests: list[dict[str, Estimate]] = [dict(row.measurement.tests) for row in rows]
    for (at, name), p in zip(places, corrected, strict=True):
        tests[at][name] = tests[at][name].model_copy(update={"p_adjusted": p})
    return [
        replace(row, measurement=get_measure("inference").interpret(row.measurement.model_copy(update={"tests": of})))
        for row, of in zip(rows, tests, strict=True)
    ]


def score_of(row: Row) -> float | None:
    """A model's NLI-CoAL score."""
    return row.measurement.groups["NLI-CoAL"].value


def headline(rows: Sequence[Row]) -> str:
    """How many models infer a gender, which way, and how far the scores lie apart."""
    said = []
    if rows[0].measurement.protocol == "sound":
        read = [row for row in rows if understands(row.measurement)]
        readable = f"{len(read)} models{' that can be read' if len(read) < len(rows) else ''}"
        said += [_of_one(read[0]) if len(read) == 1 else _of_several(read, readable)] if read else []
    several = len({row.base.name for row in rows}) < len(rows)
    name_of = {row.base: f"{row.base.language} {row.base.name}" if several else row.base.name for row in rows}
    scored = sorted(((score, name_of[row.base]) for row in rows if (score := score_of(row)) is not None), reverse=True)
    if len(scored) > 1:
        (most, first), (least, last) = scored[0], scored[-1]
        said.append(
            f"The NLI-CoAL scores of {len(scored)} models lie between {number(least)} ({last}) and {number(most)}"
            f" ({first})."
        )
    elif scored:
        said.append(f"The NLI-CoAL score of {scored[0][1]} is {number(scored[0][0])}.")
    unsure = [row for row in rows if doubt(row.measurement)]
    for words, known in (("The score is inconclusive for", True), ("Nothing can be read of", False)):
        names = [name_of[row.base] for row in unsure if understands(row.measurement) is known]
        said += [f"{words} {', '.join(names)}."] if names else []
    poor = [name_of[row.base] for row in rows if row.accuracy is not None and row.accuracy < HARDLY]
    if poor:
        said.append(f"Hardly learned the task (accuracy below {HARDLY}): {', '.join(poor)}.")
    return " ".join(said)


def _of_several(rows: Sequence[Row], models: str) -> str:
    stereotype, men, women = (sum(found(row.measurement, *way) for row in rows) for way in WAYS)
    return (
        f"{_many(stereotype)} of {models} {'infer' if stereotype > 1 else 'infers'} a gender from an occupation as"
        f" stereotypes have it. {_many(men)} {'take' if men > 1 else 'takes'} people of occupations"
        f" without a stereotype for men, {_many(women).lower()} for women."
    )


def _of_one(row: Row) -> str:
    stereotype, men, women = (found(row.measurement, *way) for way in WAYS)
    infers = "infers" if stereotype else "is not found to infer"
    takes = "takes" if men or women else "is not found to take"
    whom = "men" if men else "women" if women else "men or for women"
    return (
        f"{row.base.name} {infers} a gender from an occupation as stereotypes have it. It {takes} people of occupations"
        f" without a stereotype for {whom}."
    )


def _many(count: int) -> str:
    return str(count) if count else "None"

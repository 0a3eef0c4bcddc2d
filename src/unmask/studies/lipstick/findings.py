"""All that the studies found, gathered for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.results.numbers import number, percent
from unmask.studies.lipstick.study import Row
from unmask.studies.lipstick.tables import label, left_table, more_table, paper_table, result_of
from unmask.studies.table import Table


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
                f"; of a contrast that has nothing to do with gender, plain removal leaves {percent(reference.mean)},"
                f" from {percent(reference.low)} to {percent(reference.high)}"
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

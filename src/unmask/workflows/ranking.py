"""Several audits side by side: for each measure, the models by the size of their main figure, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from unmask import __version__
from unmask.errors import UnmaskError, check_choice
from unmask.measures.limits import limits
from unmask.measures.readable import unreadable
from unmask.measures.registry import find_measure
from unmask.measures.sections import title
from unmask.report.charts import ForestRow, TextColumns, forest
from unmask.report.markdown import join_lines, list_lines, table_lines
from unmask.report.options import FORMATS
from unmask.report.pages import capital, fill, p
from unmask.report.rows import to_csv
from unmask.results import AuditResult, Estimate, Measurement
from unmask.results.markdown import escaped
from unmask.results.naming import different, short_name
from unmask.results.numbers import interval, number
from unmask.results.verdict import side
from unmask.statistics.correlation import rank_ranges
from unmask.workflows.audit import Audit
from unmask.workflows.compare import Compared, load

if TYPE_CHECKING:
    from rich.console import Console

MAIN = ("stereotype", "bias")
"""The tests that speak for a measure, the first that a model has; else the first test that all models have."""
HOW = (
    "Rank 1 is the farthest from zero, whichever way. A range of ranks holds 95 % of 10,000 draws, in which each figure"
    " moves by itself within its interval. The models were asked about the same words, so that the ranges are rather"
    " too wide: unmask compare pairs the items of two models, and finds smaller differences."
)
"""How ranks come about."""
RANKING = (
    *("measure", "language", "corpus", "protocol", "variant", "test", "model", "n"),
    *("value", "low", "high", "p_value", "p_adjusted", "first_rank", "last_rank"),
)
"""The columns of a ranking."""
NOTHING = "No two of these models were measured alike, so there is nothing to rank."
UNTOLD = "Which is the most biased cannot be told"
MOST_NAMES = 3
"""So many models are named in a sentence."""


@dataclass(frozen=True)
class Place:
    """A model in a ranking."""

    model: str
    test: Estimate
    ranks: tuple[int, int] | None
    """The first and the last that it may have; None where there is no interval."""
    digits: int

    @property
    def value(self) -> str:
        """Its figure."""
        return number(self.test.value, self.digits)

    @property
    def bounds(self) -> str:
        """The interval of its figure."""
        return interval(self.test.interval, self.digits)

    @property
    def sure(self) -> bool:
        """Whether its interval leaves zero out."""
        return side(self.test.interval) != 0

    @property
    def rank(self) -> str:
        """`2`, or `1 to 3`."""
        if self.ranks is None:
            return "–"
        return str(self.ranks[0]) if self.ranks[0] == self.ranks[1] else f"{self.ranks[0]} to {self.ranks[1]}"


@dataclass(frozen=True)
class Ranking:
    """The models that have a measure of a corpus, the most biased first."""

    measurement: Measurement
    """One of them, for what they have in common."""
    test: str
    """The test whose estimate is the figure, the same for all; empty if there is none."""
    places: list[Place]
    left_out: dict[str, str]
    """The models that have no place, and why."""
    alike: bool
    """Whether all were asked the same items; of recorded scores nothing is known but the file."""

    @property
    def title(self) -> str:
        """What was measured."""
        return _title(self.measurement)

    @property
    def unit(self) -> str:
        """What the figure is."""
        measure = find_measure(self.measurement.name)
        if measure and self.test == measure.primary and measure.unit:
            return measure.unit
        one = self.places[0].test
        unit = one.unit or (one.effect_size_name if one.effect_size == one.value else "")
        return f"{self.test}, {unit}" if unit else self.test

    @property
    def sentence(self) -> str:
        """What can be said of the order."""
        ranked = [(place.ranks[0], place) for place in self.places if place.ranks]
        if len(ranked) < 2:
            return "Without intervals, nothing can be said of how sure this order is."
        best = min(rank for rank, _ in ranked)
        first = [place for rank, place in ranked if rank == best]
        if best > 1:  # there are so many that each comes first in few draws
            return f"{UNTOLD}: none comes first in more than a few draws, and {_either(first)} is the nearest to it."
        if len(first) > 1:
            return f"{UNTOLD}: {_either(first)}."
        (one,) = first
        if one.ranks != (1, 1):
            return f"{UNTOLD}: {one.model} alone comes first in more than a few draws, but its rank is {one.rank}."
        if not one.sure:
            return f"{UNTOLD}: {one.model} comes first, but its interval holds zero."
        return f"{one.model} is the most biased here; no other model comes first in more than a few draws."


def heading(audits: Sequence[AuditResult]) -> str:
    """What stands at the head; a model can have several audits."""
    return f"{len(audits)} audits side by side"


def rankings(audits: Sequence[AuditResult]) -> list[Ranking]:
    """A ranking for everything that two models or more were measured by and that can be read as bias."""
    return [one for one in _all(audits) if len(one.places) > 1]


def not_ranked(audits: Sequence[AuditResult]) -> list[str]:
    """What has no place in any ranking, of which models, and why."""
    lines = []
    for one in _all(audits):
        left = one.left_out | (
            {one.places[0].model: "there is no other model to rank it with"} if len(one.places) == 1 else {}
        )
        for why in dict.fromkeys(left.values()):
            lines.append(f"{one.title} ({', '.join(name for name in left if left[name] == why)}): {why}")
    return lines


def main_test(measurements: Sequence[Measurement]) -> str:
    """The name of the test that speaks for a measure on all these models; empty if there is none."""
    each = [[name for name, test in one.tests.items() if test.value is not None] for one in measurements]
    named = [name for name in MAIN if any(name in names for names in each)]
    shared = [name for names in each[:1] for name in names if all(name in others for others in each)]
    return next(iter([*named, *shared]), "")


def _all(audits: Sequence[AuditResult]) -> list[Ranking]:
    """A ranking for everything that was measured, even if none or only one has a place."""
    names = different([short_name(one.model.name) for one in audits])
    groups: dict[tuple[str, ...], list[tuple[str, Measurement]]] = {}
    for name, audit in zip(names, audits, strict=True):
        for one in audit.measurements:
            groups.setdefault(one.key, []).append((name, one))
    recorded = {name for name, audit in zip(names, audits, strict=True) if "items" in audit.configuration}
    return [_ranking(members, recorded) for members in groups.values()]


def _ranking(members: Sequence[tuple[str, Measurement]], recorded: Collection[str]) -> Ranking:
    left_out = {name: why for name, one in members if (why := unreadable(one))}
    able = [(name, one) for name, one in members if name not in left_out]
    chosen = main_test([one for _, one in able])
    tested = [(name, one.tests[chosen]) for name, one in able if chosen in one.tests]
    tested = [(name, test) for name, test in tested if test.value is not None]
    tested.sort(key=lambda member: -abs(member[1].value or 0.0))
    why = f"there is no estimate of its {chosen}" if chosen else "the models have no test in common"
    left_out |= {name: why for name, _ in able if name not in dict(tested)}
    sure = [(name, test.value or 0.0, test.interval) for name, test in tested if test.interval is not None]
    found = rank_ranges([value for _, value, _ in sure], [bounds for _, _, bounds in sure])
    ranges = dict(zip([name for name, _, _ in sure], found, strict=True))
    small = all(abs(test.value or 0.0) < 0.1 for _, test in tested)
    places = [Place(name, test, ranges.get(name), 4 if small else 2) for name, test in tested]
    hashes = {one.data_hash for name, one in able if name in dict(tested) and name not in recorded}
    return Ranking(members[0][1], chosen, places, left_out, alike=len(hashes) < 2)


def _either(places: Sequence[Place]) -> str:
    """`a, b or c`; `a, b, c or one of 4 others`."""
    names = [place.model for place in places[:MOST_NAMES]]
    if len(places) > MOST_NAMES:
        names.append("one other" if len(places) == MOST_NAMES + 1 else f"one of {len(places) - MOST_NAMES} others")
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _title(one: Measurement) -> str:
    protocol = "" if one.protocol == "sound" else f", {one.protocol} protocol"
    return title(one.name, one.corpus, one.language, one.variant) + protocol


def draw_places(places: Sequence[Place]) -> str:
    """Draw the figure of each model with its interval; filled where the interval excludes zero."""
    rows = []
    for place in places:
        value, tip = place.test.value or 0.0, f"{place.model}: {place.value} {place.bounds}, rank {place.rank}"
        rows.append(ForestRow(place.model, value, place.test.interval, [place.value, place.rank], tip, place.sure))
    return forest(rows, columns=TextColumns([56, 66], ["figure", "rank"]))


def ranking(audits: Sequence[Audit | Compared | str | PathLike[str]], form: str = "html") -> str:
    """Several audits, or their folders, side by side: as the text of a page (html), Markdown (md) or a table (csv).

    For each measure, the models by the size of their main figure, with intervals and the ranks that these allow.
    """
    results = []
    for one in audits:
        audit = one if isinstance(one, Audit | Compared) else load(one)
        if isinstance(audit, Compared):
            name = "a comparison" if audit is one else f"{one} is a comparison, and"
            raise UnmaskError(f"{name} cannot be ranked; give audits, or the comparison alone to unmask report")
        results.append(audit.result)
    if check_choice(form, FORMATS, "format") == "md":
        return render_markdown(results)
    return render_ranking(results) if form == "html" else to_csv(ranking_rows(results), RANKING)


def render_ranking(audits: Sequence[AuditResult], reports: Sequence[str] = ()) -> str:
    """Return the ranking as the text of an HTML page; `reports` are addresses of the audits' reports, to link to."""
    found = rankings(audits)
    names = different([short_name(one.model.name) for one in audits])
    return fill(
        "ranking.html.j2",
        heading=heading(audits),
        audits=list(zip(names, audits, reports or [""] * len(audits), strict=True)),
        rankings=[(one, draw_places(one.places)) for one in found],
        not_ranked=not_ranked(audits),
        how=HOW,
        nothing=NOTHING,
        limits=limits([one for audit in audits for one in audit.measurements]),
        version=__version__,
    )


def render_markdown(audits: Sequence[AuditResult]) -> str:
    """Several audits side by side."""
    lines = [f"# {heading(audits)}", ""]
    found = rankings(audits)
    lines += [] if found else [NOTHING, ""]
    for one in found:
        lines += [f"## {escaped(one.title)}", "", escaped(one.sentence), ""]
        if not one.alike:
            lines += ["The models were not asked the same items, so that a difference may lie in these.", ""]
        cells = [(place.model, place.rank, place.value, place.bounds, p(place.test.p_adjusted)) for place in one.places]
        lines += [*table_lines(("model", "rank", "figure", "95 % interval", "p, adjusted"), cells), ""]
        lines += [f"{capital(one.unit)}.", ""]
    lines += list_lines("Not ranked", not_ranked(audits))
    lines += ["## How ranks come about", "", HOW, ""]
    lines += list_lines("What this does not say", limits([one for audit in audits for one in audit.measurements]))
    return join_lines([*lines, f"Made with Unmask {__version__}."])


def show_ranking(audits: Sequence[AuditResult], console: Console) -> None:
    """Print a table for each measure, and what could not be ranked."""
    from rich.markup import escape
    from rich.text import Text

    from unmask.report.terminal import make_table

    found = rankings(audits)
    if not found:
        console.print(Text(NOTHING))
    for ranking in found:
        console.print(Text(f"\n{ranking.title}", style="bold"))
        console.print(Text(ranking.sentence))
        rows = make_table("model", "rank", "figure", "95 % interval")
        for place in ranking.places:
            rows.add_row(escape(place.model), place.rank, place.value, place.bounds)
        console.print(rows)
        console.print(Text(f"Figure: {ranking.unit}.", style="dim"))
    for line in not_ranked(audits):
        console.print(Text(f"Not ranked: {line}."))


def ranking_rows(audits: Sequence[AuditResult]) -> Iterator[dict[str, Any]]:
    """Every place of a ranking."""
    for one in rankings(audits):
        measured = one.measurement
        for place in one.places:
            values = (
                *(measured.name, measured.language, measured.corpus, measured.protocol),
                *(measured.variant, one.test, place.model, place.test.n),
                *(place.test.value, *(place.test.interval or (None, None))),
                *(place.test.p_value, place.test.p_adjusted, *(place.ranks or (None, None))),
            )
            yield dict(zip(RANKING, values, strict=True))

"""Several audits side by side: for each measure, the models by the size of their main figure, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from unmask import __version__
from unmask.errors import UnmaskError, check_choice
from unmask.measures.registry import find_measure
from unmask.measures.sections import limits, title, unreadable
from unmask.report.blocks import Block, Cell, Column, Figure, Page, Section, Table, Text
from unmask.report.charts import ForestRow, forest
from unmask.report.drawing import TextColumns
from unmask.report.html import render_page
from unmask.report.markdown import block_lines, join_lines
from unmask.report.rows import to_csv
from unmask.results import AuditResult, Estimate, Measurement
from unmask.results.formatting import capital, count, interval, make_unique, moment, number, p, short_name
from unmask.results.storage import FORMATS
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
UNCLEAR = "No single model is clearly the most biased"
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
        one = self.measurement
        protocol = "" if one.protocol == "sound" else f", {one.protocol} protocol"
        return title(one.name, one.corpus, one.language, one.variant) + protocol

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
            return (
                f"{UNCLEAR}: none comes first in more than a few draws, and {_join_names(first)} is the nearest to it."
            )
        if len(first) > 1:
            return f"{UNCLEAR}: {_join_names(first)}."
        (place,) = first
        if place.ranks != (1, 1):
            return f"{UNCLEAR}: {place.model} alone comes first in more than a few draws, but its rank is {place.rank}."
        if not place.sure:
            return f"{UNCLEAR}: {place.model} comes first, but its interval includes zero."
        return f"{place.model} is the most biased here; no other model comes first in more than a few draws."


def rankings(audits: Sequence[AuditResult]) -> list[Ranking]:
    """A ranking for everything that two models or more were measured by and that can be read as bias."""
    return [ranking for ranking in _list_rankings(audits) if len(ranking.places) > 1]


def not_ranked(audits: Sequence[AuditResult]) -> list[str]:
    """What has no place in any ranking, of which models, and why."""
    lines = []
    for entry in _list_rankings(audits):
        reasons = dict(entry.left_out)
        if len(entry.places) == 1:
            reasons[entry.places[0].model] = "there is no other model to rank it with"
        for reason in dict.fromkeys(reasons.values()):
            models = ", ".join(name for name in reasons if reasons[name] == reason)
            lines.append(f"{entry.title} ({models}): {reason}")
    return lines


def main_test(measurements: Sequence[Measurement]) -> str:
    """The name of the test that speaks for a measure on all these models; empty if there is none."""
    names = [[name for name, test in one.tests.items() if test.value is not None] for one in measurements]
    named = [name for name in MAIN if any(name in own for own in names)]
    shared = [name for own in names[:1] for name in own if all(name in others for others in names)]
    return next(iter([*named, *shared]), "")


def _list_rankings(audits: Sequence[AuditResult]) -> list[Ranking]:
    """A ranking for everything that was measured, even if none or only one has a place."""
    names = make_unique([short_name(audit.model.name) for audit in audits])
    groups: dict[tuple[str, ...], dict[str, Measurement]] = {}
    for name, audit in zip(names, audits, strict=True):
        for measurement in audit.measurements:
            groups.setdefault(measurement.key, {}).setdefault(name, measurement)
    recorded = {name for name, audit in zip(names, audits, strict=True) if "items" in audit.configuration}
    return [_rank_models(members, recorded) for members in groups.values()]


def _rank_models(members: Mapping[str, Measurement], recorded: Collection[str]) -> Ranking:
    """The ranking of models by one measure of a corpus; `recorded` are models of which only scores are known."""
    left_out = {name: reason for name, measurement in members.items() if (reason := unreadable(measurement))}
    able = {name: measurement for name, measurement in members.items() if name not in left_out}
    main = main_test(list(able.values()))
    tests = {name: one.tests[main] for name, one in able.items() if main in one.tests}
    tested = [(name, test, test.value) for name, test in tests.items() if test.value is not None]
    tested.sort(key=lambda member: -abs(member[2]))
    ranked = [name for name, _, _ in tested]
    reason = f"there is no estimate of its {main}" if main else "the models have no test in common"
    left_out |= {name: reason for name in able if name not in ranked}
    certain = [(name, value, test.interval) for name, test, value in tested if test.interval is not None]
    ranges = rank_ranges([value for _, value, _ in certain], [bounds for _, _, bounds in certain])
    ranks = dict(zip([name for name, _, _ in certain], ranges, strict=True))
    digits = 4 if all(abs(value) < 0.1 for _, _, value in tested) else 2
    places = [Place(name, test, ranks.get(name), digits) for name, test, _ in tested]
    hashes = {able[name].data_hash for name in ranked if name not in recorded}
    return Ranking(next(iter(members.values())), main, places, left_out, alike=len(hashes) < 2)


def _join_names(places: Sequence[Place]) -> str:
    """`a, b or c`; `a, b, c or one of 4 others`."""
    names = [place.model for place in places[:MOST_NAMES]]
    if len(places) > MOST_NAMES:
        names.append("one other" if len(places) == MOST_NAMES + 1 else f"one of {len(places) - MOST_NAMES} others")
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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
    sections = [*ranking_sections(audits, reports), _list_models(audits)]
    names = ", ".join(make_unique([short_name(audit.model.name) for audit in audits]))
    title = f"{len(audits)} audits side by side"
    return render_page(Page(title, sections, eyebrow="Gender bias of several models", note=names))


def render_markdown(audits: Sequence[AuditResult]) -> str:
    """Several audits side by side."""
    lines = [f"# {len(audits)} audits side by side", "", *block_lines(ranking_sections(audits), 2)]
    return join_lines([*lines, f"Made with Unmask {__version__}."])


def show_ranking(audits: Sequence[AuditResult], console: Console) -> None:
    """Print a table for each measure, and what could not be ranked."""
    from rich.text import Text as RichText

    from unmask.report.terminal import show_blocks

    for section in ranking_sections(audits):
        if any(isinstance(block, Text) and block.terminal for block in section.blocks):
            console.print(RichText(f"\n{section.title}", style="bold"))
            show_blocks(section.blocks, console)


def ranking_sections(audits: Sequence[AuditResult], reports: Sequence[str] = ()) -> list[Section]:
    """A section for each ranking, and what was not ranked, how ranks come about, and what they do not say."""
    names = make_unique([short_name(audit.model.name) for audit in audits])
    links = dict(zip(names, reports, strict=False))
    sections = []
    for entry in rankings(audits):
        rows = [
            [
                Cell(place.model, link=links.get(place.model, "")),
                Cell(place.rank),
                Cell(place.value, place.bounds),
                Cell(count(place.test.n)),
                Cell(p(place.test.p_adjusted)),
            ]
            for place in entry.places
        ]
        columns = [Column("Model", numeric=False), Column("Rank"), Column("Figure, 95 % interval")]
        columns += [Column("n", narrow=False), Column("p, adjusted", narrow=False)]
        different = "The models were not asked the same items, so a difference may come from these."
        description = f"Points with intervals: {entry.unit} of each model. The table has the numbers."
        caption = f"{capital(entry.unit)}. Lines: 95 % intervals. Filled: the interval excludes zero."
        content: list[Block] = [
            Text([entry.sentence], "lead", terminal=True),
            *([] if entry.alike else [Text([different], "warning")]),
            Figure("", partial(draw_places, entry.places), description, caption),
            Table("", columns, rows, f"Figure: {entry.unit}.", terminal=True),
        ]
        sections.append(Section(entry.title, content))
    if not sections:
        sections.append(Section("No ranking", [Text([NOTHING], "lead", terminal=True)]))
    if lines := not_ranked(audits):
        sections.append(Section("Not ranked", [Text([f"{line}." for line in lines], "list", terminal=True)]))
    sections.append(Section("How ranks come about", [Text([HOW])]))
    unsaid = limits([measurement for audit in audits for measurement in audit.measurements])
    return [*sections, Section("What this does not say", [Text(unsaid, "list")])]


def _list_models(audits: Sequence[AuditResult]) -> Section:
    """Which models were audited, exactly."""
    columns = [Column(title, numeric=False) for title in ("Model", "Weights (SHA-256)", "Audited", "Unmask", "Seed")]
    rows = [
        [
            Cell(audit.model.name, note=" · ".join(filter(None, (audit.model.architecture, audit.model.mitigation)))),
            Cell(audit.model.weight_hash or "unknown"),
            Cell(moment(audit.created)),
            Cell(audit.unmask_version),
            Cell(str(audit.seed)),
        ]
        for audit in audits
    ]
    return Section("Provenance", [Table("Models", columns, rows, folded=True)])


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

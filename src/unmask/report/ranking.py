"""Several audits side by side: for each measure, the models by the size of their main figure, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.measures.association.caveats import AGREEMENT
from unmask.report.limits import limits
from unmask.report.pages import CORPORA, fill, title
from unmask.results import AuditResult, Measurement, Test
from unmask.results.naming import different, short_name
from unmask.results.numbers import interval, number
from unmask.statistics.rank_ranges import rank_ranges

MAIN = ("stereotype", "bias")
"""The tests that speak for a measure, the first that it has; of any other measure, its first test."""
UNITS = {
    "association": "stereotype in nats: the natural logarithm of a factor of odds",
    "sentiment": "male − female rating",
    "inference": "stereotype: difference of shares of answers",
    "geometry": "stereotype of professions, r",
    "crows-pairs": "share of pairs − one half",
}
HOW = (
    "Rank 1 is the farthest from zero, whichever way. A range of ranks holds 95 % of 10,000 draws, in which each figure"
    " moves by itself within its interval. The models were asked about the same words, so that the ranges are rather"
    " too wide: unmask compare pairs the items of two models, and finds smaller differences."
)
"""How ranks come about."""


@dataclass(frozen=True)
class Place:
    """A model in a ranking."""

    model: str
    test: Test
    ranks: tuple[int, int] | None
    """The first and the last that it may have; None where there is no interval."""
    digits: int

    @property
    def value(self) -> str:
        """Its figure."""
        return number(self.test.estimate, self.digits)

    @property
    def bounds(self) -> str:
        """The interval of its figure."""
        return interval(self.test.interval, self.digits)

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
    places: list[Place]
    alike: bool
    """Whether all were asked the same items."""

    @property
    def title(self) -> str:
        """What was measured."""
        one = self.measurement
        terms = f", {one.ratings.terms}" if one.ratings else ""
        protocol = "" if one.protocol == "sound" else f", {one.protocol} protocol"
        return title(one.name, CORPORA.get(one.corpus, one.corpus), one.language) + terms + protocol

    @property
    def unit(self) -> str:
        """What the figure is."""
        return UNITS.get(self.measurement.name, "estimate")

    @property
    def sentence(self) -> str:
        """What can be said of the order."""
        ranked = [place for place in self.places if place.ranks]
        if len(ranked) < 2:
            return "Without intervals, nothing can be said of how sure this order is."
        first = [place.model for place in ranked if place.ranks and place.ranks[0] == 1]
        if len(first) == 1:
            return f"{first[0]} is the most biased here; no other model comes first in more than a few draws."
        return f"Which is the most biased cannot be told: {', '.join(first[:-1])} or {first[-1]}."


def rankings(audits: Sequence[AuditResult]) -> list[Ranking]:
    """A ranking for everything that two models or more were measured by and that can be read as bias."""
    names = different([short_name(one.model.name) for one in audits])
    groups: dict[tuple[str, ...], list[tuple[str, Measurement]]] = {}
    for name, audit in zip(names, audits, strict=True):
        for one in audit.measurements:
            if all(caveat.code != AGREEMENT for caveat in one.caveats):
                terms = one.ratings.terms if one.ratings else ""
                groups.setdefault((one.name, one.language, one.corpus, one.protocol, terms), []).append((name, one))
    found = [_ranking(members) for members in groups.values()]
    return [one for one in found if len(one.places) > 1]


def main_test(measurement: Measurement) -> Test | None:
    """The test that speaks for a measure."""
    named = [measurement.tests[name] for name in MAIN if name in measurement.tests]
    return next((test for test in [*named, *measurement.tests.values()] if test.estimate is not None), None)


def _ranking(members: Sequence[tuple[str, Measurement]]) -> Ranking:
    tested = [(name, test) for name, one in members if (test := main_test(one)) is not None]
    tested.sort(key=lambda member: -abs(member[1].estimate or 0.0))
    able = [(name, test.estimate or 0.0, test.interval) for name, test in tested if test.interval is not None]
    ranges = dict(
        zip(
            [name for name, _, _ in able],
            rank_ranges([value for _, value, _ in able], [bounds for _, _, bounds in able]),
            strict=True,
        )
    )
    small = all(abs(test.estimate or 0.0) < 0.1 for _, test in tested)
    places = [Place(name, test, ranges.get(name), 4 if small else 2) for name, test in tested]
    hashes = {one.data_hash for _, one in members}
    return Ranking(members[0][1], places, alike=len(hashes) == 1)


def alone(audits: Sequence[AuditResult], found: Sequence[Ranking]) -> list[str]:
    """What only one model was measured by."""
    ranked = {(one.measurement.name, one.measurement.language, one.measurement.corpus) for one in found}
    every = [(each.name, each.language, each.corpus) for one in audits for each in one.measurements]
    return [
        title(name, corpus, language)
        for name, language, corpus in dict.fromkeys(every)
        if (name, language, corpus) not in ranked
    ]


def render(audits: Sequence[AuditResult]) -> str:
    """The ranking as the text of an HTML page."""
    from unmask import __version__
    from unmask.report.ranking_plots import forest

    found = rankings(audits)
    names = different([short_name(one.model.name) for one in audits])
    return fill(
        "ranking.html.j2",
        heading=f"{len(audits)} models compared",
        audits=list(zip(names, audits, strict=True)),
        rankings=[(one, forest(one)) for one in found],
        alone=alone(audits, found),
        how=HOW,
        limits=limits([one for audit in audits for one in audit.measurements]),
        version=__version__,
    )


def rows(audits: Sequence[AuditResult]) -> Iterator[dict[str, str | float | int | None]]:
    """The ranking as rows of a table."""
    for one in rankings(audits):
        for place in one.places:
            low, high = place.test.interval or (None, None)
            first, last = place.ranks or (None, None)
            measured = one.measurement
            yield {
                "measure": measured.name,
                "language": measured.language,
                "corpus": measured.corpus,
                "protocol": measured.protocol,
                "terms": measured.ratings.terms if measured.ratings else "",
                "model": place.model,
                "n": place.test.n,
                "estimate": place.test.estimate,
                "low": low,
                "high": high,
                "p_value": place.test.p_value,
                "p_adjusted": place.test.p_adjusted,
                "first_rank": first,
                "last_rank": last,
            }

"""A measurement of CrowS-Pairs as its section of a page wants it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.measures.crows_pairs.interpret import SIZES
from unmask.probes.crows_pairs import WORD, shared_words
from unmask.report.pages import Card, count, percent, title
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import ALPHA, size_label

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 6
NO_BREAK = "\N{NO-BREAK SPACE}"
Pieces = list[tuple[str, bool]]
"""Parts of a sentence, and whether each is a modified word."""


@dataclass(frozen=True)
class Pair:
    """The more and the less stereotypical sentence, and by how much the former is likelier."""

    more: Pieces
    less: Pieces
    direction: str
    difference: float


def view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """The cards, plots and pairs of a measurement."""
    from unmask.report import crows_pairs_plots

    mine = _items(measurement, items)
    likelihood = measurement.tests.get("likelihood")
    mean = likelihood.value if likelihood else None
    return {
        "measurement": measurement,
        "title": title(measurement.name, measurement.corpus, measurement.language),
        "agreement": False,
        "provenance": list(_provenance(measurement)),
        "sizes": [(word, f"{100 * limit:g}") for limit, word in SIZES[:-1]],
        "cards": list(cards(measurement)),
        "shares": crows_pairs_plots.shares(measurement.groups),
        "groups": [(name, group, range_of(group)) for name, group in measurement.groups.items()],
        "spread": None if mine is None else crows_pairs_plots.spread(mine["difference"], mean),
        "more": extremes(mine, more=True),
        "less": extremes(mine, more=False),
        "facts": list(_facts(measurement)),
    }


def verdict(test: Estimate | None) -> str:
    """Which way the share leans and how far, if that is clear."""
    p = None if test is None else test.p_value if test.p_adjusted is None else test.p_adjusted
    if test is None or p is None or test.value is None:
        return "not tested"
    if p >= ALPHA:
        return "no clear preference"
    return f"{size_label(test.value, SIZES)}, {'prefers' if test.value > 0 else 'avoids'} stereotypes"


def cards(measurement: Measurement) -> Iterator[Card]:
    """The share of all pairs and what it comes to, and how much likelier sentences are."""
    share, likelihood = measurement.groups.get("all pairs"), measurement.tests.get("likelihood")
    test = measurement.tests.get("stereotype")
    if share is not None and share.value is not None:
        sure = f"95 % interval {range_of(share)}" if share.interval else "no interval"
        if test and test.p_adjusted is not None:
            sure += f", p {p_value(test.p_adjusted)}"
        yield Card("Stereotypical sentence likelier", percent(share.value), sure, verdict(test), _SHARE.format(share.n))
    if likelihood is not None and likelihood.value is not None:
        p = p_value(likelihood.p_adjusted)
        bounds = interval(likelihood.interval).replace(" ", NO_BREAK) or "–"
        clear = likelihood.p_adjusted is not None and likelihood.p_adjusted < ALPHA
        said = "clear difference" if clear else "no clear difference"
        value = f"{number(likelihood.value)}{NO_BREAK}nats"
        yield Card("Mean difference", value, f"95 % interval {bounds}, p {p}", said, _DIFFERENCE)
    if measurement.protocol == "published":
        for name, called in (("stereo pairs", "Stereotype score"), ("antistereo pairs", "Anti-stereotype score")):
            group = measurement.groups.get(name)
            if group is not None:
                yield Card(called, percent(group.value, 2), f"{count(group.n)} pairs", "not tested", _HALF)


def range_of(group: Estimate) -> str:
    """The interval of a share."""
    if group.interval is None:
        return ""
    low, high = (number(100 * end, 1) for end in group.interval)
    return f"{low} to {high}{NO_BREAK}%"


def extremes(items: pd.DataFrame | None, *, more: bool) -> list[Pair]:
    """The pairs with the largest difference in favour of the more stereotypical sentence, or of the other."""
    if items is None or not {"sent_more", "sent_less"} <= set(items):
        return []
    mine = items[items["difference"] > 0] if more else items[items["difference"] < 0]
    ordered = mine.sort_values("difference", ascending=not more, kind="stable").head(MOST_PAIRS)
    columns = ("sent_more", "sent_less", "direction", "difference")
    return [
        Pair(*pieces(str(one), str(other)), str(direction), float(difference))
        for one, other, direction, difference in ordered[list(columns)].itertuples(index=False)
    ]


def pieces(more: str, less: str) -> tuple[Pieces, Pieces]:
    """Two sentences taken apart at the words that differ."""
    shared = shared_words(more, less)
    return _pieces(more, {here for here, _ in shared}), _pieces(less, {there for _, there in shared})


def _pieces(text: str, kept: set[tuple[int, int]]) -> Pieces:
    found: Pieces = []
    end = 0
    for start, stop in (match.span() for match in WORD.finditer(text)):
        if (start, stop) not in kept:
            found += [(text[end:start], False), (text[start:stop], True)]
            end = stop
    found.append((text[end:], False))
    return [piece for piece in found if piece[0]]


def _items(measurement: Measurement, items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The items of a measurement that have a difference; None if there are none."""
    if items is None or not {"difference", "direction"} <= set(items):
        return None
    mine = items
    for name, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if name in mine:
            mine = mine[mine[name] == value]
    mine = mine[mine["difference"].map(isfinite)]
    return None if mine.empty else mine


def _facts(measurement: Measurement) -> Iterator[str]:
    yield (
        f"{count(measurement.items)} pairs about gender. In stereo pairs the more stereotypical sentence is about the"
        " disadvantaged group, in antistereo pairs the other one is."
    )
    if measurement.noise_floor is not None:
        yield (
            f"Asked again in another batch, a difference moves by up to {measurement.noise_floor:.2g} nats: the noise"
            " of the computation."
        )


def _provenance(measurement: Measurement) -> Iterator[tuple[str, str]]:
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    yield "pairs", count(measurement.items)
    yield "distinct inputs", "–" if inputs is None else count(inputs)
    yield "noise floor", "nothing was scored" if noise is None else f"{noise:.2g} nats"


_SHARE = (
    "In how many of {:,} pairs the model finds the more stereotypical of two sentences the likelier one. 50 % is no"
    " preference; 100 % always the stereotype."
)
_DIFFERENCE = (
    "How much likelier the words that two sentences share are in the more stereotypical one, on average. 0 is no"
    " difference."
)
_HALF = "A model that likes the words of one gender moves the two scores apart, whatever it thinks of stereotypes."

"""A comparison → one self-contained HTML page: no network, one script of our own, all text from outside escaped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unmask.measures.association.details import AssociationChanges
from unmask.measures.association.verdict import is_agreement
from unmask.measures.geometry.details import GeometryChange
from unmask.measures.sections import item_tables, title
from unmask.report import comparison_agreement, comparison_geometry
from unmask.report.figures import (
    UNREADABLE,
    Line,
    change_line,
    figure_line,
    key_figures,
    loss_line,
    measured,
    stated_line,
)
from unmask.report.items import browse_items
from unmask.report.pages import capital, fill
from unmask.results.comparison import Change, Comparison, ComparisonResult, Figure, Side, Usefulness

if TYPE_CHECKING:
    import pandas as pd

PARTS = {"association": "association", "geometry": "geometry", "crows-pairs": "pairs"}
"""Which template shows the changes of a measure."""
RULES = {
    "no reliable change": "The change may be chance (p ≥ .05 after correction), or is within the noise of the"
    " computation.",
    "overshot": "The bias was reversed: before, the figure was clearly on one side of zero, and after, clearly on the"
    " other, by more than a negligible amount (odds by a factor of 1.1, ratings by 0.5\u00a0% of their scale, shares of"
    " answers by .02). Clearly: the 95\u00a0% interval leaves zero out, or where there is none, p < .05.",
    "improved": "The figure is nearer to zero after than before.",
    "worse": "The figure is as far from zero as before, or farther.",
}
"""When a change is called what; the first that fits holds."""
MEANINGS = {
    "improved": "The bias is smaller than before, by more than chance explains.",
    "no reliable change": "What changed may be chance. That does not show that nothing changed.",
    "overshot": "A bias was reversed where it should have shrunk.",
    "worse": "The bias is larger than before, by more than chance explains.",
    UNREADABLE: "These sentences cannot show bias.",
}
PUBLISHED = " So says the paper's own test, which takes pairs for independent that are not, and finds too much."
SIGNS = {"improved": "✓", "no reliable change": "○", "overshot": "⇄", "worse": "✕", UNREADABLE: "?"}
SCORED = {
    "crows-pairs": "pairs of sentences of both models",
    "inference": "pairs of sentences answered by both models",
    "sentiment": "texts rated by both models",
}
P_HEAD = "p, corrected but for the stereotype"
UNITS = {
    "association": "In nats, but for correlations. Means get no verdict, nor do correlations that were not clear"
    " before: a change in them is neither good nor bad by itself.",
    "geometry": "Shares of words, but for correlations (neighbours, stereotype) and effect sizes d (WEAT, SEAT). The"
    " models' own words are not the same ones, so their changes are not tested, nor are those of d.",
    "crows-pairs": "Stereotype: the share of pairs less one half. Likelihood: nats.",
    "inference": "Differences of shares of answers: 0 is no stereotype or default, 1 the largest.",
    "sentiment": "Bias: the mean of male − female ratings over texts with a gender term. Absolute bias: its mean size."
    " Label flips: the share of these texts whose label depends on the gender.",
}
HASH = 12
"""So many letters of a hash are shown; the whole of it is in the provenance."""
MOST_NAMES = 2


def render(result: ComparisonResult, items: Mapping[str, pd.DataFrame] | None = None, *, beside: bool = False) -> str:
    """The report of a comparison as the text of an HTML page; with its items, words are drawn on a map.

    `beside`: it stands in the comparison's folder, by the items.
    """
    order = [side.name for side in result.after]
    ordered = sorted(result.comparisons, key=lambda one: (order.index(one.after), is_agreement(one)))
    views: list[dict[str, Any]] = []
    for comparison in ordered:
        first = all(view["comparison"].after != comparison.after for view in views)
        view = _view(result, comparison, measured(result, comparison.after) if first else [])
        if comparison.name == "geometry":
            view |= comparison_geometry.view(comparison, (items or {}).get("geometry"))
        views.append(view)
    after = ", ".join(order) if len(order) <= MOST_NAMES else f"{len(order)} models"
    heading = f"{result.before.name} → {after}"
    data_sets = dict.fromkeys((one.what, one.data, one.data_hash) for one in result.usefulness)
    return fill(
        "comparison.html.j2",
        result=result,
        views=views,
        heading=heading,
        rules=RULES,
        data_sets=list(data_sets),
        tables=browse_items(item_tables(items or {})),
        beside=beside,
        across=comparison_agreement.view(result.agreement) if result.agreement else None,
    )


def _view(result: ComparisonResult, comparison: Comparison, usefulness: list[Usefulness]) -> dict[str, Any]:
    """A comparison as the template wants it."""
    from unmask.report import change_plots as plots

    verdict = UNREADABLE if is_agreement(comparison) else comparison.verdict
    side = next(side for side in result.after if side.name == comparison.after)
    drawn = comparison.name == "association"
    contrasts = _drawn(comparison, ("stereotype", "difference")) if drawn else []
    relations = _drawn(comparison, ("workforce",)) if drawn else []
    details = comparison.read_details(AssociationChanges) if drawn else AssociationChanges()
    scale, panels = plots.domain(details.professions), []
    for kind in dict.fromkeys([*comparison.kinds(), *(one.group for one in details.professions)]):
        members = [one for one in details.professions if one.group == kind]
        if svg := plots.bars(members, scale):
            panels.append({"name": kind, "svg": svg, "shown": len(plots.largest(members)), "of": len(members)})
    return {
        "comparison": comparison,
        "details": details,
        "part": PARTS.get(comparison.name, "pairs"),
        "scored": SCORED.get(comparison.name, "sentences scored by both models"),
        "unit": UNITS.get(comparison.name, ""),
        "p_head": "p" if comparison.protocol == "published" or comparison.name in SCORED else P_HEAD,
        "title": title(comparison.name, comparison.corpus, comparison.language),
        "noun": comparison.attributes.removesuffix("s"),
        "verdict": verdict,
        "class": verdict.split()[0],
        "sign": SIGNS[verdict],
        "meaning": MEANINGS[verdict] + (PUBLISHED if comparison.protocol == "published" else ""),
        "mitigation": side.model.mitigation,
        "proof": _proof(result.before, side),
        "main": main_line(comparison),
        "loss": loss_line(result, comparison.after),
        "stated": stated_line(result, comparison.after),
        "cards": list(key_figures(comparison, usefulness)) if comparison.name == "association" else [],
        "ranges": plots.ranges(contrasts, "nats"),
        "relations": plots.ranges(relations, "correlation"),
        "changes": [
            (change, change_line(name, change, digits=comparison.digits)) for name, change in comparison.changes.items()
        ],
        "panels": panels,
        "usefulness": [
            (one, [figure_line(name.replace("_", " "), name, figure) for name, figure in one.figures.items()])
            for one in usefulness
        ],
    }


def main_line(comparison: Comparison) -> Line | None:
    """The figure that speaks for a measure: odds, words told apart, or the share of pairs."""
    if comparison.name == "geometry":
        one = comparison.read_details(GeometryChange).test("classification")
        return comparison_geometry.line(one.name, comparison.changes.get(one.name), one) if one else None
    change = comparison.of("stereotype")
    if comparison.name == "association":
        return change_line("", change, as_odds=True) if change else None
    if comparison.name != "crows-pairs":
        first = next(iter(comparison.changes.values()), None)
        return change_line("", first, digits=comparison.digits) if first else None
    if change is None:
        return None
    if change.before is None or change.after is None or change.change is None:
        return None
    shares = Figure(
        before=change.before + 0.5, after=change.after + 0.5, change=change.change, interval=change.interval
    )
    return figure_line("", "accuracy", shares)


def _drawn(comparison: Comparison, contrasts: tuple[str, ...]) -> list[tuple[str, Change]]:
    """The changes of some contrasts, with short names."""
    return [
        (capital(f"{one.labels['group']} {comparison.attributes}" if "group" in one.labels else name), one)
        for name, one in comparison.changes.items()
        if one.labels["contrast"] in contrasts
    ]


def _proof(before: Side, after: Side) -> dict[str, Any]:
    """Which weights these are, and where those after come from."""
    hashes = before.model.weight_hash, after.model.weight_hash
    if None in hashes:
        said = "The weights of both models are not known, so nothing proves which models these are."
    else:
        said = "Nothing records that the one was made from the other."
    return {"said": after.lineage or said, "weights": [None if one is None else one[:HASH] for one in hashes]}

"""Two models on the same items: what changed, by how much, and how surely.

    change of an item = association after − association before

What the items have in common before and after cancels in it, which is why a paired change is surer than two intervals
side by side. `sound` gives every change an interval over professions and person words (`changes`). `published` is the
paper's: group means, and Wilcoxon's signed ranks over all single pairs, corrected for nothing (Bartl et al. 2020,
Table 4). That table is part of every comparison (`figures`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.association import analyse_published, analyse_sound, changes, figures
from unmask.measures.association.caveats import comparison_caveats
from unmask.measures.association.details import AssociationChanges, AssociationDetails, HypothesisChange
from unmask.measures.association.interpret import interpret
from unmask.measures.association.pairing import Paired, pair
from unmask.measures.association.tables import table
from unmask.measures.base import ComparedModel
from unmask.results import Comparison, Measurement
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """The numbers, and the paired items behind them; adjusted p-values, verdict and words come later (`judge`)."""
    paired = pair(before, after)
    published = before.measurement.protocol == "published"
    analyse = (analyse_published if published else analyse_sound).analyse
    pre, post = (analyse(paired.scores(column), seed) for column in ("before", "after"))
    tables = table(paired.scores("before")), table(paired.scores("after"))
    rows = figures.table_rows(*tables)
    if published:
        found = changes.published(pre, post, rows)
        professions = analyse_sound.professions(table(paired.scores("change")), intervals=False)
    else:
        changed = analyse_sound.analyse(paired.scores("change"), seed)
        found, professions = (
            changes.sound(pre, post, changed, tables),
            changed.read_details(AssociationDetails).professions,
        )
    first = before.measurement
    return Comparison(
        name=first.name,
        language=first.language,
        corpus=first.corpus,
        protocol=first.protocol,
        attributes=first.attributes,
        before=before.name,
        after=after.name,
        verdict="no reliable change",
        items=len(paired.items),
        unpaired=paired.unpaired,
        changes=found,
        details=AssociationChanges(
            table=rows,
            professions=figures.bars(
                pre.read_details(AssociationDetails).professions,
                post.read_details(AssociationDetails).professions,
                professions,
            ),
            hypotheses=_hypotheses(*_answered(before, after, (pre, post), paired)),
        ).model_dump(),
        caveats=comparison_caveats([before.measurement, after.measurement], paired.unpaired),
        noise_floor=_noise_floor(before.measurement, after.measurement),
    ), paired.items


def _answered(
    before: ComparedModel, after: ComparedModel, sides: tuple[Measurement, Measurement], paired: Paired
) -> tuple[Measurement, Measurement]:
    """The measurements whose hypotheses hold for the paired items: the audits' own where those are all."""
    if not paired.unpaired:
        return before.measurement, after.measurement
    found = []
    for side in sides:
        own = holm([test.p_value for test in side.tests.values()])
        tests = {
            name: test if test.p_adjusted is not None else test.model_copy(update={"p_adjusted": p})
            for (name, test), p in zip(side.tests.items(), own, strict=True)
        }
        found.append(interpret(side.model_copy(update={"tests": tests})))
    return found[0], found[1]


def _hypotheses(before: Measurement, after: Measurement) -> list[HypothesisChange]:
    later = {one.name: one for one in after.read_details(AssociationDetails).hypotheses}
    return [
        HypothesisChange(
            name=one.name,
            statement=one.statement,
            before=one.answer,
            after=later[one.name].answer,
            evidence_before=one.evidence,
            evidence_after=later[one.name].evidence,
        )
        for one in before.read_details(AssociationDetails).hypotheses
        if one.name in later
    ]


def _noise_floor(before: Measurement, after: Measurement) -> float | None:
    known = [one.noise_floor for one in (before, after) if one.noise_floor is not None]
    return sum(known) if known else None


_FAMILIES = {"stereotype": 0, "difference": 1, "workforce": 1, "mean": 2}
"""Which questions are corrected together."""


def adjusted(comparison: Comparison) -> Comparison:
    """Correct for the number of questions, except where a protocol brought its own correction.

    The stereotype is the main question, and stands alone. The differences within groups and
    the relation to the workforce are corrected together (Holm), and so are the means, which only describe. What is
    compared beside it plays no part: a verdict on a model is about that model.
    """
    families: dict[int, list[str]] = {}
    for name, change in comparison.changes.items():
        if change.change.p_adjusted is None:
            families.setdefault(_FAMILIES[change.labels["contrast"]], []).append(name)
    changes = dict(comparison.changes)
    for names in families.values():
        for name, p in zip(names, holm([changes[name].change.p_value for name in names]), strict=True):
            changes[name] = changes[name].update_change(p_adjusted=p)
    return comparison.model_copy(update={"changes": changes})

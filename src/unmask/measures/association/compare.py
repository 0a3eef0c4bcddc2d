"""Two models on the same items: what changed, by how much, and how surely.

    change of an item = association after − association before

A mean, a female − male difference and the stereotype contrast are linear in the items, so the change of each is the
same number of the items' changes: `sound` analyses these like associations, with the crossed jackknife over
professions, person words and templates. The correlation with the workforce is not linear: each jackknife sample gives
r after − r before. The difference of Fisher's z would do as well but has no readable unit; it is the effect size,
Cohen's q. As in an audit, the stereotype is the primary test, and all others are corrected together (Holm).

`published` is the paper's comparison: group means, and Wilcoxon's signed ranks over all single pairs (n = 900 a group),
corrected for continuity but not for the number of tests (Bartl et al. 2020, Table 4). Every comparison has that table:

    V = Σ ranks of the positive (post − pre of female) − (post − pre of male)     r = −|Z|/√(2n)

**Verdict.** The rule of `results.verdict` judges the stereotype and the differences within groups. A reversal counts as
overshot only if it is more than negligible (odds by a factor of 1.1). The workforce correlation is judged only where it
was clear before. The verdict of a comparison is that of the stereotype. But a model that reversed its preference within
a group of professions has overshot, unless its stereotype is worse; and where the stereotype did not change, a group
that is worse makes the model worse. Without a stereotype contrast (own groups, the published protocol) the groups
decide: the first of overshot, worse, improved that any of them has. German sentences with grammatical agreement say
nothing about bias: no reliable change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from unmask.measures.association import AssociationMeasure
from unmask.measures.association.analysis import analyse, profession_values
from unmask.measures.association.changes.headline import write_headline
from unmask.measures.association.details import (
    AssociationChanges,
    AssociationDetails,
    HypothesisChange,
    ProfessionChange,
    ProfessionValue,
    TableRow,
)
from unmask.measures.association.interpretation import NEGLIGIBLE, has_agreement, interpret
from unmask.measures.association.table import (
    GENDERS,
    Array,
    AssociationTable,
    estimate_correlation,
    mean,
    tabulate_items,
)
from unmask.measures.base import ComparedModel, Context, set_adjusted_p
from unmask.measures.comparison import build_comparison, pair_items
from unmask.measures.texts import make_caveats
from unmask.results import Change, Comparison, Estimate, Measurement, Verdict
from unmask.results.verdict import clear_side, judge
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson
from unmask.statistics.jackknife import IntervalEstimate, fisher_z
from unmask.statistics.paired import signed_ranks

WORKFORCE = "workforce share, pearson"
QUESTIONS = {
    "stereotype": "Did the gap between typically female and typically male professions change?",
    "difference": "Did the preference of {group} {noun} for female or male person words change?",
    "mean": "Did the effect of {group} {noun} on {gender} person words change?",
    "workforce": "Did the relation to women's share of the workforce change?",
}


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """Compare two models, and return the paired items too."""
    protocol = before.measurement.protocol
    items = _pair_sentences(before, after)
    unpaired = len(before.items) + len(after.items) - 2 * len(items)
    context = Context(protocol=protocol, seed=seed)
    scores = {side: items.assign(association=items[side]) for side in ("before", "after", "change")}
    sides = analyse(scores["before"], context), analyse(scores["after"], context)
    tables = tabulate_items(scores["before"]), tabulate_items(scores["after"])
    rows = [] if tables[0].is_nested else build_paper_table(*tables)  # the paper has no real sentences
    if protocol == "published":
        changes = _changes_published(*sides, rows)
        values = profession_values(tabulate_items(scores["change"]), intervals=False)
    else:
        changed = analyse(scores["change"], context)
        changes = _changes_sound(*sides, changed, tables)
        values = changed.read_details(AssociationDetails).professions
    audited = [before.measurement, after.measurement]
    if unpaired:  # the hypotheses of the audits are about more items
        audited = [interpret(AssociationMeasure().adjust_tests(side)) for side in sides]
    floors = [floor for side in (before, after) if (floor := side.measurement.noise_floor) is not None]
    details = AssociationChanges(
        table=rows, professions=_pair_professions(*sides, values), hypotheses=_pair_hypotheses(*audited)
    )
    comparison = build_comparison(
        before,
        after,
        items,
        _adjust_changes(changes),
        attributes=before.measurement.attributes,
        verdict="no reliable change",
        details=details.model_dump(),
        noise_floor=sum(floors) if floors else None,
    )
    caveats = make_caveats(__package__, {"one-run": True, "unpaired-items": bool(unpaired)})
    caveats = [caveat.model_copy(update={"text": caveat.text.format(unpaired)}) for caveat in caveats]
    comparison = comparison.model_copy(update={"caveats": [*comparison.caveats, *caveats]})
    return judge_comparison(comparison), items


def judge_comparison(comparison: Comparison) -> Comparison:
    """Add verdicts and headline to a comparison whose p-values have been adjusted."""
    changes = {
        name: change.model_copy(update={"verdict": judge_change(change, comparison.noise_floor)})
        for name, change in comparison.changes.items()
    }
    judged = comparison.model_copy(update={"changes": changes})
    judged = judged.model_copy(update={"verdict": _overall_verdict(judged)})
    return judged.model_copy(update={"headline": write_headline(judged)})


def judge_change(change: Change, noise_floor: float | None) -> Verdict | None:
    """The verdict on one change; None where it is neither good nor bad by itself."""
    contrast = change.labels["contrast"]
    if contrast in ("stereotype", "difference"):
        return judge(change, noise_floor=noise_floor)
    return judge(change) if contrast == "workforce" and clear_side(change.before) else None


def _overall_verdict(comparison: Comparison) -> Verdict:
    if has_agreement(comparison):
        return "no reliable change"
    groups = [change.verdict for change in comparison.changes.values() if change.labels["contrast"] == "difference"]
    stereotype = comparison.of("stereotype")
    if stereotype is None:
        worst_first: tuple[Verdict, ...] = ("overshot", "worse", "improved")
        return next((verdict for verdict in worst_first if verdict in groups), "no reliable change")
    verdict = stereotype.verdict or "no reliable change"
    if verdict != "worse" and "overshot" in groups:
        return "overshot"
    return "worse" if verdict in ("no reliable change", "negligible change") and "worse" in groups else verdict


def _pair_sentences(before: ComparedModel, after: ComparedModel) -> pd.DataFrame:
    """The items that both models have, with the associations `before` and `after`, and their `change`."""
    items = pair_items(before, after, keys=AssociationMeasure.keys, scores=["association"], item="sentence")
    items = items.drop(columns=["log_p_target", "log_p_prior"], errors="ignore")
    items = items.rename(columns={"association_before": "before", "association_after": "after"})
    items = items.assign(change=items["after"] - items["before"], association=items["before"])
    if before.measurement.protocol == "published":  # it pairs row by row, so a row without its counterpart goes too
        by_pair = items.groupby(["language", "corpus", "template", "profession", "pair"])
        items = items[by_pair["gender"].transform("nunique") == 2].reset_index(drop=True)
    return items


# Changes


def _changes_sound(
    before: Measurement,
    after: Measurement,
    changed: Measurement,
    tables: tuple[AssociationTable, AssociationTable],
) -> dict[str, Change]:
    """From the analyses of the items before, after, and of their changes."""
    changes = {
        name: _build_change(test, before.tests[name], after.tests[name], before.attributes)
        for name, test in changed.tests.items()
        if test.labels["contrast"] != "workforce"
    }
    if WORKFORCE in changed.tests:  # its sign flip is that of the change of the covariance
        estimate, effect = correlation_change(*tables), correlation_change(*tables, transform=fisher_z)
        test = Estimate.from_statistic(
            estimate,
            n=changed.tests[WORKFORCE].n,
            labels=changed.tests[WORKFORCE].labels,
            effect_size=effect.value,
            effect_size_name="Cohen's q",
            effect_size_interval=effect.interval,
            p_sign_flip=changed.tests[WORKFORCE].p_sign_flip,
        )
        change = _build_change(test, before.tests[WORKFORCE], after.tests[WORKFORCE], "professions")
        changes[WORKFORCE] = change.update_change(effect_size_name="Cohen's q")
    return changes


def correlation_change(
    before: AssociationTable, after: AssociationTable, transform: Callable[[float], float] = float
) -> IntervalEstimate:
    """r after minus r before, or the difference of a function of both, such as Fisher's z."""

    def change(first: Array, second: Array, shares: Array) -> float:
        return transform(pearson(second, shares)) - transform(pearson(first, shares))

    return estimate_correlation([before, after], change)


def _changes_published(before: Measurement, after: Measurement, rows: Sequence[TableRow]) -> dict[str, Change]:
    """Differences with the paper's test, and means without any."""
    by_group = {row.group: row for row in rows}
    changes = {}
    for name, test in before.tests.items():
        row = by_group[test.labels["group"]]
        changes[name] = _build_change(test, test, after.tests[name], before.attributes).update_change(
            n=row.n,
            value=row.female_change - row.male_change,
            statistic=row.w,
            p_value=row.p_value,
            p_adjusted=row.p_value,
            effect_size=row.r,
            effect_size_name=test.effect_size_name,
        )
    for name, group in before.groups.items():
        values = group.value, after.groups[name].value
        difference = None if values[0] is None or values[1] is None else values[1] - values[0]
        test = Estimate(labels={"contrast": "mean", **group.labels}, n=group.n, value=difference)
        changes[name] = _build_change(test, group, after.groups[name], before.attributes)
    return changes


def _build_change(test: Estimate, before: Estimate, after: Estimate, noun: str) -> Change:
    """From a test of the items' changes, and the estimates before and after."""
    question = QUESTIONS[test.labels["contrast"]].format(noun=noun, **test.labels)
    name = f"{test.effect_size_name}, of the change" if test.effect_size_name else ""
    change = test.model_copy(update={"effect_size_name": name})
    margin = NEGLIGIBLE if test.labels["contrast"] in ("stereotype", "difference") else 0.0
    sides = [side.model_copy(update={"p_adjusted": side.p_value}) for side in (before, after)]  # alone, not of an audit
    return Change(labels=test.labels, question=question, before=sides[0], after=sides[1], change=change, margin=margin)


def _adjust_changes(changes: dict[str, Change]) -> dict[str, Change]:
    """Correct all changes but the primary one together (Holm), except where a protocol brought its own correction."""
    tested = {name: change.change for name, change in changes.items() if change.change.p_adjusted is None}
    primary = tested.pop(AssociationMeasure.primary, None)
    adjusted = {} if primary is None else {AssociationMeasure.primary: set_adjusted_p(primary, primary.p_value)}
    p_values = holm([test.p_value for test in tested.values()])
    adjusted |= {name: set_adjusted_p(tested[name], p) for name, p in zip(tested, p_values, strict=True)}
    return {
        name: change.model_copy(update={"change": adjusted[name]}) if name in adjusted else change
        for name, change in changes.items()
    }


# What the paper shows


def build_paper_table(before: AssociationTable, after: AssociationTable) -> list[TableRow]:
    """The rows of the paper's Table 4, groups in their order."""
    rows = []
    changes = after.difference - before.difference
    for group in dict.fromkeys(map(str, before.groups)):
        members = before.rows_of(group)
        change = changes[members][~np.isnan(changes[members])]
        if not change.size:
            continue
        values: dict[str, float] = {}
        for gender in GENDERS:
            first, second = (float(mean(side.by_gender[gender][members])) for side in (before, after))
            values |= {f"{gender}_before": first, f"{gender}_after": second, f"{gender}_change": second - first}
        ranks = signed_ranks(change)
        r = None if ranks.r is None else -abs(ranks.r)
        rows.append(TableRow(group=group, n=ranks.n, **values, w=ranks.v, z=ranks.z, r=r, p_value=ranks.p_value))
    return rows


def _pair_professions(
    before: Measurement, after: Measurement, changed: Sequence[ProfessionValue]
) -> list[ProfessionChange]:
    """The bars of the paper's Figures 3 to 5, the largest change first."""
    values = [side.read_details(AssociationDetails).professions for side in (before, after)]
    professions = [
        ProfessionChange(
            profession=first.profession,
            group=first.group,
            workforce_share=first.workforce_share,
            female_before=first.female,
            female_after=second.female,
            male_before=first.male,
            male_after=second.male,
            change=change.difference,
            interval=change.difference_interval,
        )
        for first, second, change in zip(*values, changed, strict=True)
    ]
    return sorted(professions, key=lambda profession: -abs(profession.change or 0.0))


def _pair_hypotheses(before: Measurement, after: Measurement) -> list[HypothesisChange]:
    sides = [
        {hypothesis.name: hypothesis for hypothesis in side.read_details(AssociationDetails).hypotheses}
        for side in (before, after)
    ]
    return [
        HypothesisChange(
            name=name,
            statement=first.statement,
            before=first.answer,
            after=sides[1][name].answer,
            evidence_before=first.evidence,
            evidence_after=sides[1][name].evidence,
        )
        for name, first in sides[0].items()
        if name in sides[1]
    ]

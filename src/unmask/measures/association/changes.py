"""The changes of a comparison, by protocol.

A mean, a female − male difference and the stereotype contrast are linear in the items, so that the change of each is
the same figure of the items' changes: `sound` analyses them as it analyses associations, with the crossed jackknife
over professions and person words. The correlation with the workforce is not linear: each jackknife sample gives
r after − r before. Simulated without a change (60 × 9, r = 0 to .95, noise shared or not), its 5 % test rejects 2 to
7 % of the time. The difference of Fisher's z does as well (3 to 7 %), but is in no unit that a reader sees; it is given
as the effect size, Cohen's q.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from unmask.measures.association import analyse_sound
from unmask.measures.association.details import TableRow
from unmask.measures.association.tables import Table
from unmask.results import Change, Estimate, Measurement
from unmask.statistics.correlation import pearson
from unmask.statistics.jackknife import IntervalEstimate, fisher_z, jackknife

WORKFORCE = "workforce share, pearson"


def sound(
    before: Measurement, after: Measurement, changed: Measurement, tables: tuple[Table, Table]
) -> dict[str, Change]:
    """From the analyses of the items before, after, and of their changes."""
    found = {
        name: _change(test, before.tests[name], after.tests[name], before.attributes)
        for name, test in changed.tests.items()
        if test.labels["contrast"] != "workforce"
    }
    if WORKFORCE in changed.tests:
        found[WORKFORCE] = _workforce(tables, *(one.tests[WORKFORCE] for one in (before, after, changed)))
    return found


def _change(test: Estimate, before: Estimate, after: Estimate, noun: str) -> Change:
    """From a test of the items' changes, and those of the items before and after."""
    name = f"{test.effect_size_name}, of the change" if test.effect_size_name else ""
    return Change(
        labels=test.labels,
        question=_question(test.labels, noun),
        before=before,
        after=after,
        change=test.model_copy(update={"effect_size_name": name}),
    )


def correlation_change(before: Table, after: Table, of: Callable[[float], float] = float) -> IntervalEstimate:
    """r after minus r before; or the difference of a function of both, such as Fisher's z."""
    shape, r_before = analyse_sound.correlation(before, pearson)
    _, r_after = analyse_sound.correlation(after, pearson)
    return jackknife(shape, lambda rows, columns: of(r_after(rows, columns)) - of(r_before(rows, columns)))


def _workforce(tables: tuple[Table, Table], before: Estimate, after: Estimate, changed: Estimate) -> Change:
    """The change of r; its sign flip is that of the change of the covariance."""
    estimate, effect = correlation_change(*tables), correlation_change(*tables, of=fisher_z)
    return _change(changed, before, after, "professions").update_change(
        value=estimate.value,
        interval=estimate.interval,
        statistic=estimate.statistic,
        df=estimate.df,
        p_value=estimate.p_value,
        effect_size=effect.value,
        effect_size_name="Cohen's q",
        effect_size_interval=effect.interval,
    )


def published(before: Measurement, after: Measurement, rows: Sequence[TableRow]) -> dict[str, Change]:
    """Differences with the paper's test, and means without any."""
    by_kind = {row.group: row for row in rows}
    changes = {}
    for name, test in before.tests.items():
        row, then = by_kind[test.labels["group"]], after.tests[name]
        changes[name] = _change(test, test, then, before.attributes).update_change(
            n=row.n,
            value=row.female_change - row.male_change,
            statistic=row.w,
            p_value=row.p_value,
            p_adjusted=row.p_value,
            effect_size=row.r,
            effect_size_name=test.effect_size_name,
        )
    for name, group in before.groups.items():
        value, now = group.value, after.groups[name].value
        labels = {"contrast": "mean", **group.labels}
        changes[name] = Change(
            labels=labels,
            question=_question(labels, before.attributes),
            before=group,
            after=after.groups[name],
            change=Estimate(n=group.n, value=None if value is None or now is None else now - value),
        )
    return changes


def _question(labels: dict[str, str], noun: str) -> str:
    kind, gender = labels.get("group"), labels.get("gender")
    return {
        "stereotype": "Did the gap between typically female and typically male professions change?",
        "difference": f"Did the preference of {kind} {noun} for female or male person words change?",
        "mean": f"Did the effect of {kind} {noun} on {gender} person words change?",
        "workforce": "Did the relation to women's share of the workforce change?",
    }[labels["contrast"]]

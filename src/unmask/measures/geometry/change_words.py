"""Is gender harder to find among the words than before? The verdict, and the words for it.

The verdict is that of *classification*: whether a support-vector machine tells the words apart that were most biased
before. Its words are judged one by one by a machine that has not seen them, so each counts for itself, as the test
needs; they are the most, and no shape of the clusters is assumed. Two clusters can miss what is there (they split the
words by whatever is largest), and neighbours rest on the professions alone. A model in which professions have come to
lie among words of the *other* gender has overshot; since a word is no neighbour of its own, chance lies a little below
zero, and so the correlation must also lie below what plain removal of other directions leaves. The four tests are
corrected together (Holm); the professions' stereotype is a question of its own.

Words that were chosen in one model are harder to tell apart in any other. So a change counts only where it is also
another one than the words of *other* contrasts suffer (`losses`).
"""

from __future__ import annotations

from unmask.measures.geometry.details import GeometryChange, Reference, WordTestChange
from unmask.measures.geometry.references import NAMES
from unmask.results import Change, Comparison, Verdict
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, p_value, percent
from unmask.results.verdict import is_reliable
from unmask.results.verdict import judge as judge_figure
from unmask.statistics.corrections import holm

MAIN = "classification"
_HEADS = {
    "improved": "Words that were biased are harder to tell apart than before",
    "no reliable change": "Words that were biased are told apart as well as before, as far as can be said",
    "worse": "Words that were biased are easier to tell apart than before",
    "overshot": "Professions have come to lie among words of the other gender",
}
_BY = {
    "clustering": "by clusters",
    "probe": "by a linear probe",
    "classification": "by a classifier",
    "neighbours": "by neighbours",
}
SLIGHT = 0.05
"""A smaller change of the share of words is called little, however sure it is."""
OWN_ALONE = "The words that were most biased before could not be asked of this model, so only own words are compared."


def judge(comparison: Comparison) -> Comparison:
    """Correct the p-values, and add verdicts and headline."""
    geometry = comparison.read_details(GeometryChange)
    tested = [name for name in NAMES if name in comparison.changes]
    changes = dict(comparison.changes)
    for name, p in zip(tested, holm([changes[name].change.p_value for name in tested]), strict=True):
        changes[name] = changes[name].update_change(p_adjusted=p)
        changes[name] = changes[name].model_copy(update={"verdict": _verdict(changes[name], geometry.test(name))})
    if one := changes.get("stereotype"):
        one = one.update_change(p_adjusted=one.change.p_value)
        changes["stereotype"] = one.model_copy(
            update={"verdict": None if one.change.value is None else judge_figure(one)}
        )
    found = comparison.model_copy(update={"changes": changes})
    found = found.model_copy(update={"verdict": _overall(found)})
    return found.model_copy(update={"headline": list(filter(None, _headline(found)))})


def _verdict(change: Change, test: WordTestChange | None) -> Verdict:
    moved = change.change.value
    if moved is None or not is_reliable(change):
        return "no reliable change"
    if test is not None and not _beyond(test.lost, moved):
        return "no reliable change"
    own = judge_figure(change)
    if change.labels["contrast"] != "neighbours" or (own == "overshot" and not _reversed(test)):
        return "improved" if moved < 0 else "worse"
    return own


def _beyond(lost: Reference | None, change: float) -> bool:
    """Whether a change is outside of what 95 % of other contrasts suffer; true where that is not known."""
    return lost is None or not lost.low <= change <= lost.high


def _reversed(test: WordTestChange | None) -> bool:
    """Whether professions lie among words of the other gender more than chance has it."""
    if test is None or test.others is None or test.after is None:
        return True
    return test.after < test.others.low


def _overall(comparison: Comparison) -> Verdict:
    main, neighbours = (comparison.changes.get(name) for name in (MAIN, "neighbours"))
    own = (main.verdict if main else None) or "no reliable change"
    return "overshot" if neighbours and neighbours.verdict == "overshot" and own != "worse" else own


def _headline(comparison: Comparison) -> list[str]:
    geometry = comparison.read_details(GeometryChange)
    if comparison.changes.get(MAIN) is None:
        return [OWN_ALONE, *_own(comparison), _stereotype(comparison.changes.get("stereotype"))]
    return [
        _main(comparison, comparison.changes[MAIN]),
        _lost(geometry.test(MAIN)),
        _clusters(geometry.test("clustering")),
        _beside(geometry.tests),
        _stereotype(comparison.changes.get("stereotype")),
    ]


def _main(comparison: Comparison, change: Change) -> str:
    head, (before, after), estimate = _HEADS[comparison.verdict], change.values, change.change
    if comparison.verdict == "no reliable change" and estimate.value is not None and is_reliable(change):
        way = "harder" if estimate.value < 0 else "easier"
        head = f"Words that were biased are {way} to tell apart than before, but so are those of other contrasts"
    if comparison.verdict in ("improved", "worse") and abs(estimate.value or 0.0) < SLIGHT:
        head = head.replace("biased are", "biased are a little")
    said = f"{head}: a classifier puts {percent(after, 1)} of {estimate.n:,} words on the side"
    said += f" where they were before ({percent(before, 1)} before"
    if estimate.value is not None:
        between = None if estimate.interval is None else (100 * estimate.interval[0], 100 * estimate.interval[1])
        said += f"; change {number(100 * estimate.value, 1)} points{' ' + shown(between, 1) if between else ''}"
    return f"{said}, p {p_value(estimate.p_adjusted)})."


def _lost(one: WordTestChange | None) -> str:
    if one is None or one.lost is None:
        return ""
    figures = (
        f"contrasts that have nothing to do with gender changed by {number(100 * one.lost.mean, 1)} points,"
        f" {number(100 * one.lost.low, 1)} to {number(100 * one.lost.high, 1)}"
    )
    if one.before is not None and one.after is not None and _beyond(one.lost, one.after - one.before):
        return f"That is not what any change of a model does: {figures} (p {p_value(one.lost.p_value)})."
    return f"That is no more than any change of a model does: {figures} (p {p_value(one.lost.p_value)})."


def _clusters(one: WordTestChange | None) -> str:
    if one is None or one.after is None:
        return ""
    plain = ""
    if one.others is not None:
        plain = (
            f"; plain removal of an unrelated direction leaves {percent(one.others.mean, 0)},"
            f" {percent(one.others.low, 0)} to {percent(one.others.high, 0)}"
        )
    return (
        f"Two clusters still sort {percent(one.after, 0)} of the {one.n:,} words that were most biased before"
        f" ({percent(one.before, 0)} before{plain})."
    )


def _beside(tests: list[WordTestChange]) -> str:
    """By which tests more is left than plain removal of any direction leaves."""
    kinds: dict[str, list[str]] = {"more": [], "as much": [], "less": []}
    for one in tests:
        if one.others is not None and one.after is not None:
            kind = "more" if one.after > one.others.high else "less" if one.after < one.others.low else "as much"
            kinds[kind].append(_BY[one.name])
    said = [f"{kind} ({', '.join(names)})" for kind, names in kinds.items() if names]
    return f"Beside plain removal of unrelated directions, it leaves {' and '.join(said)}." if said else ""


def _stereotype(change: Change | None) -> str:
    if change is None or change.values[0] is None:
        return ""
    (before, after), estimate = change.values, change.change
    if after is None or estimate.value is None:
        return (
            f"Of the professions' own bias (r = {number(before)} with what people say before) nothing but"
            " rounding is left."
        )
    figures = f"r = {number(before)} → {number(after)}, change {number(estimate.value)}"
    figures += f" {shown(estimate.interval)}" if estimate.interval else ""
    figures += f", p {p_value(estimate.p_adjusted)}"
    verb = {
        "improved": "follow what people say less than before",
        "worse": "follow what people say more than before",
        "overshot": "lie against what people say",
        "no reliable change": "follow what people say with no reliable change",
    }[change.verdict or "no reliable change"]
    return f"By their own bias, professions {verb} ({figures})."


def _own(comparison: Comparison) -> list[str]:
    found = comparison.changes.get(f"{MAIN}, own words")
    if found is None:
        return []
    before, after = found.values
    return [f"A classifier tells {percent(after, 1)} of those apart ({percent(before, 1)} before)."]

"""The headline of a comparison: what changed, for readers who do not know the paper."""

from __future__ import annotations

from unmask.measures.association.interpretation import effect_label, has_agreement, judge_finding
from unmask.results import Change, Comparison
from unmask.results.formatting import interval, number, odds, p_value

STEREOTYPE_VERDICTS = {
    "improved": "The stereotype shrank",
    "worse": "The stereotype grew",
    "overshot": "The stereotype was reversed",
    "no reliable change": "No reliable change in the stereotype",
    "negligible change": "The change of the stereotype is negligible",
}
AGAINST = "association against stereotypes"
GROUP_VERDICTS = {
    "improved": "has shrunk",
    "worse": "has grown",
    "overshot": "was reversed",
    "no reliable change": "has not changed reliably",
    "negligible change": "has changed negligibly",
}


def write_headline(comparison: Comparison) -> list[str]:
    """The changes in sentences."""
    if has_agreement(comparison):
        return [
            "This corpus cannot be read as bias, before or after: in German the words around a person show the"
            " person's gender, and this grammatical agreement determines the measure. See the agreement-free corpus."
        ]
    stereotype = comparison.of("stereotype")
    groups = [change for group in comparison.kinds() if (change := comparison.of("difference", group=group))]
    if stereotype is None:
        changed = [change for change in groups if change.verdict in ("improved", "worse", "overshot")]
        sentences = [_describe_group(change, comparison) for change in changed]
        return sentences or [f"In no group of {comparison.attributes} did the preference change reliably."]
    sentences = [_describe_stereotype(stereotype, comparison)]
    for change in groups:
        if change.verdict in ("overshot", "worse") and change.verdict != stereotype.verdict:
            sentences.append(_describe_group(change, comparison))
    if workforce := comparison.of("workforce", correlation="pearson"):
        sentences.append(_describe_workforce(workforce, comparison))
    return [sentence for sentence in sentences if sentence]


def _describe_stereotype(change: Change, comparison: Comparison) -> str:
    before, after = change.before, change.after
    if before is None or before.value is None or after is None or after.value is None or change.change.value is None:
        return "The stereotype cannot be compared: a figure is missing before or after."
    reason = remains = ""
    if change.verdict == "no reliable change" and change.change.p_adjusted is None:
        reason = ", which cannot be tested with so few words"
    elif judge_finding(change.change, comparison) == "noise":
        reason = ", which is within the noise of the computation"
    elif judge_finding(change.change, comparison) == "too few":
        reason = ", which is too uncertain to interpret"
    elif change.verdict == "improved":
        remains = {
            "clear": f" A {effect_label(after.value)} {'stereotype' if after.value > 0 else AGAINST} remains.",
            "negligible": " What remains is negligible.",
            "noise": " What remains is within the noise of the computation.",
        }.get(judge_finding(after, comparison), " Whether a stereotype remains is not clear.")
    head = STEREOTYPE_VERDICTS[change.verdict or "no reliable change"]
    if change.verdict == "worse" and after.value < 0:
        head = "The model now goes against stereotypes more than before"
    elif change.verdict == "improved" and before.value < 0:
        head = "The model goes against stereotypes less than before"
    return (
        f"{head}: next to typically female professions, the odds"
        f" of a female over a male person word were {odds(before.value)} times{_odds_range(before.interval)} those next"
        f" to typically male professions, and are now {odds(after.value)} times{_odds_range(after.interval)};"
        f" {_describe_change(change)}{reason}.{remains}"
    )


def _describe_group(change: Change, comparison: Comparison) -> str:
    """What happened within a group of professions."""
    preferences = []
    for value in change.values:
        assert value is not None  # a verdict was reached
        preferences.append(f"a factor of {odds(abs(value))} for {'female' if value > 0 else 'male'} person words")
    return (
        f"Next to {change.labels['group']} {comparison.attributes} the preference"
        f" {GROUP_VERDICTS[change.verdict or 'no reliable change']}: it was {preferences[0]}, and is now"
        f" {preferences[1]} ({_describe_change(change)})."
    )


def _describe_workforce(change: Change, comparison: Comparison) -> str:
    (before, after), estimate = change.values, change.change
    if before is None or after is None or estimate.value is None:
        return ""
    bounds = f" {interval(estimate.interval)}" if estimate.interval else ""
    p = "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    values = f"from r = {number(before)} to r = {number(after)} (change {number(estimate.value)}{bounds}{p})"
    if judge_finding(estimate, comparison) == "clear":
        return f"The relation of its preferences to women's share of the workforce went {values}."
    return f"Its relation to women's share of the workforce did not change reliably: {values}."


def _describe_change(change: Change) -> str:
    """The change as a factor of the odds, with interval and p."""
    estimate = change.change
    assert estimate.value is not None
    p = "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    corrected = " after correction" if estimate.p_adjusted != estimate.p_value else ""
    return f"a change by a factor of {odds(estimate.value)}{_odds_range(estimate.interval)}{p}{corrected}"


def _odds_range(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{odds(bounds[0])} to {odds(bounds[1])}]"

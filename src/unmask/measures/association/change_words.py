"""From a comparison's numbers to words: what changed, for somebody who has not read the paper."""

from __future__ import annotations

from unmask.measures.association.interpret import size_of
from unmask.measures.association.verdict import is_agreement, verdicts
from unmask.results import Change, Comparison
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, odds, p_value
from unmask.results.verdict import ALPHA, is_reliable, side_after

_HEADS = {
    "improved": "The stereotype shrank",
    "worse": "The stereotype grew",
    "overshot": "The stereotype was reversed",
    "no reliable change": "No reliable change of the stereotype",
}


def judge(comparison: Comparison) -> Comparison:
    """Add verdicts and headline to a comparison whose p-values have been adjusted."""
    judged = verdicts(comparison)
    return judged.model_copy(update={"headline": list(filter(None, _headline(judged)))})


def _headline(comparison: Comparison) -> list[str]:
    if is_agreement(comparison):
        return [
            "This corpus cannot be read as bias, before or after: in German the words around a person show the"
            " person's gender, and that grammatical agreement drowns the measure. See the agreement-free corpus."
        ]
    stereotype = comparison.of("stereotype")
    groups = [change for kind in comparison.kinds() if (change := comparison.of("difference", group=kind))]
    if stereotype is None:
        return _by_group(comparison, groups)
    said = [_stereotype(stereotype, comparison)]
    apart = [one for one in groups if one.verdict in ("overshot", "worse") and one.verdict != stereotype.verdict]
    said += [_group(one, comparison) for one in apart]
    if workforce := comparison.of("workforce", correlation="pearson"):
        said.append(_workforce(workforce))
    return said


def _stereotype(change: Change, comparison: Comparison) -> str:
    before, after = change.before, change.after
    if before is None or before.value is None or after is None or after.value is None or change.change.value is None:
        return "The stereotype cannot be compared: a figure is missing before or after."
    figures = (
        "beside typically female professions the odds of a female person word against a male one were"
        f" {odds(before.value)} times{_range(before.interval)} what they were beside typically male ones,"
        f" and are now {odds(after.value)} times{_range(after.interval)}; {_by(change)}"
    )
    remains = ""
    if change.verdict == "improved":
        remains = (
            f" A {size_of(after.value)} stereotype remains."
            if side_after(change) * before.value > 0
            else " What remains is compatible with none."
        )
    return f"{_HEADS[change.verdict or 'no reliable change']}: {figures}{_why_not(change, comparison)}.{remains}"


def _group(change: Change, comparison: Comparison) -> str:
    """What happened within a group of professions."""
    before, after = change.values
    assert before is not None  # a verdict was reached
    assert after is not None
    verb = {
        "improved": "has shrunk",
        "worse": "has grown",
        "overshot": "was reversed",
        "no reliable change": "has not changed reliably",
    }[change.verdict or "no reliable change"]
    return (
        f"Beside {change.labels['group']} {comparison.attributes} the preference {verb}:"
        f" it was {_lean(before)}, and is now {_lean(after)} ({_by(change)})."
    )


def _lean(value: float) -> str:
    """`1.5 times for female person words`."""
    return f"a factor of {odds(abs(value))} for {'female' if value > 0 else 'male'} person words"


def _by(change: Change) -> str:
    """The change as a factor of the odds, with interval and p."""
    estimate = change.change
    assert estimate.value is not None
    p = "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    corrected = " after correction" if estimate.p_adjusted != estimate.p_value else ""
    return f"a change by a factor of {odds(estimate.value)}{_range(estimate.interval)}{p}{corrected}"


def _why_not(change: Change, comparison: Comparison) -> str:
    if change.verdict != "no reliable change":
        return ""
    if change.change.p_adjusted is None:
        return ", which cannot be tested with so few words"
    if change.change.p_adjusted < ALPHA and not is_reliable(change, comparison.noise_floor):
        return ", which is within the noise of the computation"
    return ""


def _range(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" [{odds(bounds[0])} to {odds(bounds[1])}]"


def _workforce(change: Change) -> str:
    (before, after), estimate = change.values, change.change
    if before is None or after is None or estimate.value is None:
        return ""
    went = f"from r = {number(before)} to r = {number(after)}"
    figures = f"change {number(estimate.value)}{' ' + shown(estimate.interval) if estimate.interval else ''}"
    figures += "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    if is_reliable(change):
        return f"The relation of its preferences to women's share of the workforce went {went} ({figures})."
    return f"Its relation to women's share of the workforce did not change reliably: {went} ({figures})."


def _by_group(comparison: Comparison, groups: list[Change]) -> list[str]:
    """Without a stereotype contrast: every group that changed."""
    said = [_group(one, comparison) for one in groups if one.verdict not in (None, "no reliable change")]
    return said or [f"No group of {comparison.attributes} changed reliably in what it favours."]

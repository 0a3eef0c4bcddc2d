"""Whether an audit keeps a policy: rules in a TOML file, each judged by the interval of an estimate.

`results/verdict.py` has the rule for a value and its limits. A rule of a policy with `worse_by_at_most` compares the
distance from no bias with that of a baseline, over the items of both (`compare_paired`) where the measure compares this
figure, and else as if the two audits were independent (`compare_distances`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot, inf, sqrt
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from unmask import __version__
from unmask.errors import UnmaskError, closest_match, quote
from unmask.measures.base import without_correction
from unmask.measures.registry import find_measure
from unmask.measures.sections import unreadable
from unmask.results import AuditResult, Change, Comparison, Estimate, Measurement, storage
from unmask.results.formatting import MINUS
from unmask.results.schema import Interval, Record
from unmask.results.verdict import AllowedRange, GateVerdict, Sure, judge_value
from unmask.workflows.audit import Audit, read_result
from unmask.workflows.compared_models import Subject, read_audit
from unmask.workflows.policy import Policy, Rule, parse_policy, read_policy

if TYPE_CHECKING:
    from rich.console import Console

EXIT_CODES: dict[GateVerdict, int] = {"broken": 1, "inconclusive": 1, "cannot tell": 2, "kept": 0}
"""In descending order of severity."""


class Judgement(Record):
    """One rule, applied to one measurement."""

    rule: str
    """The name of the rule, or empty."""
    where: str
    """The measurement: measure, language, corpus."""
    figure: str
    """What was judged: a test's estimate or effect size, a group's mean."""
    n: int | None = None
    """How many items it rests on."""
    value: float | None = None
    interval: Interval | None = None
    """95 %."""
    baseline_value: float | None = None
    baseline_interval: Interval | None = None
    worse_by: float | None = None
    """How much further from no bias than the baseline; negative where it is nearer."""
    worse_by_interval: Interval | None = None
    allowed: str
    verdict: GateVerdict
    sure: Sure = "unknown"
    """`surely` where the whole interval is on one side of the limit, `unknown` where there is none."""
    why: str
    """How sure the verdict is, or why there is none."""

    @property
    def title(self) -> str:
        """The name of the rule with the figure, or the figure."""
        return f"{self.rule} ({self.figure})" if self.rule else self.figure

    @property
    def sentence(self) -> str:
        """What was measured, what is allowed, and how sure the verdict is."""
        measured = _format_estimate(self.value, self.interval)
        if self.worse_by is not None:
            before = _format_estimate(self.baseline_value, self.baseline_interval)
            measured += f", was {before}: worse by {_format_estimate(self.worse_by, self.worse_by_interval)}"
        return "; ".join(filter(None, [measured, f"allowed {self.allowed}", self.why]))


class GateResult(Record):
    """All judgements, and the verdict that follows from them."""

    unmask_version: str
    model: str
    audit: str | None
    """The audit folder, if there is one."""
    policy: str
    baseline: str | None = None
    verdict: GateVerdict
    """The most severe of the judgements: broken, inconclusive (unless the policy lets that pass), cannot tell, kept."""
    passes_inconclusive: bool = False
    """Whether the policy lets models pass that cannot do what a measure relies on."""
    judgements: list[Judgement]

    @property
    def exit_code(self) -> int:
        """0 kept, 1 broken or inconclusive, 2 cannot tell."""
        return EXIT_CODES[self.verdict]

    def count(self, verdict: GateVerdict) -> int:
        """The number of judgements with a verdict."""
        return sum(judgement.verdict == verdict for judgement in self.judgements)


def gate(
    audit: Audit | AuditResult | str | PathLike[str],
    policy: Policy | str | PathLike[str] | Mapping[str, Any],
    *,
    baseline: Audit | AuditResult | str | PathLike[str] | None = None,
) -> GateResult:
    """Judge an audit by a policy.

    Args:
        audit: An audit, or its folder.
        policy: A TOML file, or its content as a dict: `{"rule": [{…}]}`.
        baseline: The audit, or its folder, with which rules with `worse_by_at_most` compare. Default: the one that the
            policy names.

    Returns:
        The result. `verdict` is kept, broken, inconclusive or cannot tell, and `judgements` give the reason for each
        rule.
    """
    if not isinstance(policy, Policy):
        policy = parse_policy(policy) if isinstance(policy, Mapping) else read_policy(Path(policy))
    result, against = read_result(audit), policy.baseline if baseline is None else baseline
    baseline_result = None if against is None else read_result(against)
    relative = [number for number, rule in enumerate(policy.rules, start=1) if rule.worse_by_at_most is not None]
    if baseline_result is not None:
        storage.check_rules((result, baseline_result))
    if relative and baseline_result is None:
        raise UnmaskError(
            f"{policy.name}, rule {relative[0]}: worse_by_at_most needs a baseline; give --baseline DIR, or"
            " baseline = … in the policy"
        )
    if baseline_result is not None and not relative:
        raise UnmaskError(
            f"{policy.name}: no rule looks back to the baseline; write one with worse_by_at_most, or leave it out"
        )
    pairing = None
    if against is not None and baseline_result is not None:
        pairing = Pairing(_with_items(audit), _with_items(against), baseline_result)
    judgements = [judgement for rule in policy.rules for judgement in _judge_rule(rule, result, pairing)]
    verdicts = {judgement.verdict for judgement in judgements} - (
        {"inconclusive"} if policy.passes_inconclusive else set()
    )
    return GateResult(
        unmask_version=__version__,
        model=result.model.name,
        audit=str(audit) if isinstance(audit, str | PathLike) else None,
        policy=policy.name,
        baseline=str(against)
        if isinstance(against, str | PathLike)
        else baseline_result.model.name
        if baseline_result
        else None,
        verdict=next((verdict for verdict in EXIT_CODES if verdict in verdicts), "kept"),
        passes_inconclusive=policy.passes_inconclusive,
        judgements=judgements,
    )


def find_figure(measurement: Measurement, rule: Rule) -> Estimate | None:
    """The number that a rule limits, or None where the measurement has no such test or group."""
    estimate = measurement.groups.get(rule.group) if rule.group else measurement.tests.get(rule.test or "")
    if estimate is None or rule.value == "estimate":
        return estimate and without_correction(estimate)
    size, interval, neutral = estimate.effect_size, estimate.effect_size_interval, estimate.effect_size_neutral
    return Estimate(n=estimate.n, value=size, interval=interval, neutral=neutral)


def distance_from_neutral(estimate: Estimate) -> tuple[float | None, Interval | None]:
    """The distance from no bias on either side, with its interval."""
    if estimate.value is None:
        return None, None
    value = abs(estimate.value - estimate.neutral)
    if estimate.interval is None:
        return value, None
    low, high = (bound - estimate.neutral for bound in estimate.interval)
    nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return value, (nearest, max(abs(low), abs(high)))


def compare_distances(now: Estimate, baseline: Estimate) -> tuple[float | None, Interval | None]:
    """How much further from no bias an estimate is than that of the baseline, with its interval.

    The two intervals are treated as independent (Zou and Donner 2008): each end of the difference is as far from it as
    the root of the sum of squares of the distances of the two ends from their estimates.
    """
    (value, bounds), (before, bounds_before) = distance_from_neutral(now), distance_from_neutral(baseline)
    if value is None or before is None:
        return None, None
    change = value - before
    if bounds is None or bounds_before is None:
        return change, None
    low = change - hypot(value - bounds[0], bounds_before[1] - before)
    return change, (low, change + hypot(bounds[1] - value, before - bounds_before[0]))


def compare_paired(change: Change) -> tuple[float | None, Interval | None]:
    """How much further from no bias a figure is after than before, from its paired change.

    On one side of no bias, that is the change itself, with its sign. From one side to the other, |after| − |before| is
    the sum of the two, up to its sign, and the half width of its interval follows from those of the two figures and of
    their difference: Var(a + b) = 2 Var(a) + 2 Var(b) − Var(a − b).
    """
    sides = [None if side is None else without_correction(side) for side in (change.before, change.after)]
    moved, (before, after) = without_correction(change.change), change.values
    if before is None or after is None or change.change.value is None:
        return None, None
    side = 1.0 if (after or before) > 0 else -1.0
    if before * after >= 0:
        bounds = moved.interval and sorted(side * end for end in moved.interval)
        return side * change.change.value, (bounds[0], bounds[1]) if bounds else None
    worse = abs(after) - abs(before)
    widths = [_half_width(estimate) for estimate in (*sides, moved)]
    if None in widths:
        return worse, None
    first, second, difference = (width or 0.0 for width in widths)
    reach = sqrt(max(0.0, 2 * first**2 + 2 * second**2 - difference**2))
    return worse, (worse - reach, worse + reach)


def _half_width(estimate: Estimate | None) -> float | None:
    bounds = None if estimate is None else estimate.interval
    return None if bounds is None else (bounds[1] - bounds[0]) / 2


@dataclass
class Pairing:
    """The audit and its baseline, item by item."""

    audit: Audit | None
    """None without items."""
    before: Audit | None
    baseline: AuditResult
    _comparisons: dict[tuple[str, ...], Comparison] = field(default_factory=dict)

    def find_change(self, measurement: Measurement, first: Measurement, rule: Rule) -> Change | None:
        """The paired change of the figure of a rule, or None if the measure does not compare that."""
        measure = find_measure(measurement.name)
        if self.audit is None or self.before is None or measure is None or not measure.can_compare:
            return None
        if rule.value != "estimate":
            return None
        if measurement.key not in self._comparisons:
            sides = Subject("the baseline", self.before, None), Subject("the audit", self.audit, None)
            models = [side.compared(one) for side, one in zip(sides, (first, measurement), strict=True)]
            self._comparisons[measurement.key] = measure.compare(*models, seed=self.audit.result.seed)[0]
        return self._comparisons[measurement.key].changes.get(rule.figure)


def _with_items(audit: Audit | AuditResult | str | PathLike[str]) -> Audit | None:
    """An audit with its items and without its model; None where the items are not at hand."""
    if isinstance(audit, str | PathLike):
        folder = Path(audit)
        return read_audit(folder) if storage.list_items(folder) else None
    return Audit(audit.result, audit.items) if isinstance(audit, Audit) and audit.items else None


def allowed_range(rule: Rule, neutral: float = 0.0) -> AllowedRange:
    """The range that a rule allows; `neutral` is the value of the figure that means no bias."""
    if rule.worse_by_at_most is not None:
        return AllowedRange(-inf, rule.worse_by_at_most, f"worse by at most {_format_limit(rule.worse_by_at_most)}")
    if rule.magnitude_at_most is not None:
        most = rule.magnitude_at_most
        words = f"{_format_limit(neutral)} ± {_format_limit(most)}" if neutral else f"±{_format_limit(most)}"
        return AllowedRange(neutral - most, neutral + most, words)
    low, high = rule.at_least, rule.at_most
    if high is None:
        assert low is not None  # a rule has a limit
        return AllowedRange(low, inf, f"at least {_format_limit(low)}")
    if low is None:
        return AllowedRange(-inf, high, f"at most {_format_limit(high)}")
    return AllowedRange(low, high, f"{_format_limit(low)} to {_format_limit(high)}")


def _judge_rule(rule: Rule, result: AuditResult, baseline: Pairing | None) -> Iterator[Judgement]:
    """Apply a rule to every measurement that it fits. A rule that names no measure skips those without its figure."""
    wanted = (rule.measure, rule.language, rule.corpus, rule.protocol, rule.terms)
    fitting = [
        measurement
        for measurement in result.measurements
        if all(expected in (None, actual) for expected, actual in zip(wanted, measurement.key, strict=True))
    ]
    if fitting and rule.measure is None:
        why = _explain_missing(rule, fitting)
        fitting = [measurement for measurement in fitting if find_figure(measurement, rule)]
    else:
        why = f"the audit has no such measurement, only {_list_measurements(result)}"
    if not fitting:
        stated = (rule.measure, rule.language, rule.corpus, rule.terms, rule.protocol)
        where, allowed = ", ".join(filter(None, stated)) or "any measure", allowed_range(rule).words
        yield Judgement(
            rule=rule.name, where=where, figure=rule.figure, allowed=allowed, verdict="cannot tell", why=why
        )
    for measurement in fitting:
        yield _judge_measurement(rule, measurement, result, baseline)


def _judge_measurement(
    rule: Rule, measurement: Measurement, result: AuditResult, baseline: Pairing | None
) -> Judgement:
    figure, why = find_figure(measurement, rule), _explain_unjudged(rule, measurement)
    limits = allowed_range(rule, figure.neutral if figure else 0.0)
    fields: dict[str, Any] = {"verdict": "cannot tell", "why": why}
    if reason := measurement.explain_incompetence():
        fields = {"verdict": "inconclusive", "why": reason}
        why = reason
    if figure is not None:
        fields |= {"n": figure.n, "value": figure.value, "interval": figure.interval}
    if figure is not None and not why:
        value, interval = figure.value, figure.interval
        if rule.worse_by_at_most is not None:
            assert baseline is not None
            compared = _compare_with_baseline(rule, measurement, figure, result, baseline)
            if isinstance(compared, str):
                why = compared
            else:
                before, (value, interval) = compared
                fields |= {"worse_by": value, "worse_by_interval": interval}
                fields |= {"baseline_value": before.value, "baseline_interval": before.interval}
        judged = judge_value(value, interval, limits, rule.judge)
        fields |= {"why": why} if why else dict(zip(("verdict", "sure", "why"), judged, strict=True))
    where = measurement.description
    return Judgement(rule=rule.name, where=where, figure=rule.figure, allowed=limits.words, **fields)


def _explain_unjudged(rule: Rule, measurement: Measurement) -> str:
    """Why the figure of a measurement cannot be judged; empty if it can."""
    figure = find_figure(measurement, rule)
    if figure is None:
        return _explain_missing(rule, [measurement])
    if why := unreadable(measurement, group=rule.group is not None):
        return why
    if figure.n < rule.fewest_items:
        return f"it rests on {figure.n:,} items, fewer than fewest_items = {rule.fewest_items:,}"
    return ""


def _compare_with_baseline(
    rule: Rule, measurement: Measurement, figure: Estimate, result: AuditResult, pairing: Pairing
) -> tuple[Estimate, tuple[float | None, Interval | None]] | str:
    """The figure of the baseline, and by how much that of the audit is worse; or why they cannot be compared."""
    baseline = pairing.baseline
    before = next((other for other in baseline.measurements if other.key == measurement.key), None)
    if before is None:
        return f"the baseline cannot be compared: it has {_list_measurements(baseline)}"
    recorded = any("items" in audit.configuration for audit in (result, baseline))  # their hash is of the scores
    if _has_own_words(measurement) and not recorded and measurement.data_hash != before.data_hash:
        return "the baseline cannot be compared: it was asked with other words or texts"
    if why := _explain_unjudged(rule, before):
        return f"the baseline: {why}"
    figure_before = find_figure(before, rule)
    assert figure_before is not None  # else that would be why
    try:
        change = pairing.find_change(measurement, before, rule)
    except UnmaskError as error:
        return f"the baseline cannot be compared: {error}"
    is_tested = change is not None and change.change.interval is not None
    worse = compare_paired(change) if change and is_tested else compare_distances(figure, figure_before)
    return figure_before, worse


def _has_own_words(measurement: Measurement) -> bool:
    """Whether the corpus or variant is the user's own, so that the same name may stand for other words."""
    measure = find_measure(measurement.name)
    if measure is None:
        return False
    return measurement.corpus in measure.user_corpora or measurement.variant not in ("", *measure.variants)


def _list_measurements(result: AuditResult) -> str:
    return "; ".join(measurement.description for measurement in result.measurements) or "none at all"


def _explain_missing(rule: Rule, measurements: Sequence[Measurement]) -> str:
    role, name = ("test", str(rule.test)) if rule.group is None else ("group", rule.group)
    tables = (measurement.tests if rule.group is None else measurement.groups for measurement in measurements)
    names = dict.fromkeys(key for table in tables for key in table)
    close = closest_match(name, names)
    hint = f"did you mean {close!r}?" if close else f"there is {quote(names) or 'none'}"
    return f"there is no {role} {name!r}; {hint}"


def _format_limit(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)


def _format_estimate(value: float | None, interval: Interval | None) -> str:
    """Three significant digits: limits may be as small as a thousandth."""
    if value is None:
        return ""
    numbers = [f"{number:.3g}".replace("-", MINUS) for number in (value, *(interval or ()))]
    return numbers[0] if interval is None else f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


STYLES: dict[GateVerdict, str] = {
    "kept": "green",
    "broken": "bold red",
    "inconclusive": "bold yellow",
    "cannot tell": "bold yellow",
}
INDENT = 14


def show_gate(result: GateResult, console: Console) -> None:
    """Print a line for each judgement, and the totals. In a terminal, lines are broken between words."""
    from rich.text import Text

    for judgement in result.judgements:
        line = " ".join(f"{judgement.where}: {judgement.title}: {judgement.sentence}".split())
        width = console.width - INDENT
        parts = (wrap(line, width) if console.is_terminal and width > INDENT else None) or [line]
        text = Text(f"{judgement.verdict:<{INDENT}}", style=STYLES[judgement.verdict])
        text.append(f"\n{'':<{INDENT}}".join(parts), style="default not bold")
        console.print(text, soft_wrap=True)
    unsure = sum(one.verdict == "kept" and one.sure == "not surely" for one in result.judgements)
    counts = [f"{count} {verdict}" for verdict in STYLES if (count := result.count(verdict))]
    if unsure:
        counts[0] += f" ({unsure} not surely)"
    summary = f"\n{result.model}, by {result.policy}: {', '.join(counts)}."
    console.print(Text(summary, style=STYLES[result.verdict]), soft_wrap=True)


TAGS = {"broken": "failure", "inconclusive": "error", "cannot tell": "error"}
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML cannot hold, not even escaped."""


def render_junit(result: GateResult) -> str:
    """JUnit XML with a test case for each judgement: kept passes, broken fails, others are errors."""
    tags = TAGS | ({"inconclusive": "skipped"} if result.passes_inconclusive else {})
    counts = {
        "tests": str(len(result.judgements)),
        "failures": str(result.count("broken")),
        "errors": str(sum(tags.get(judgement.verdict) == "error" for judgement in result.judgements)),
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _xml_text(f"unmask gate: {result.model}"), **counts})
    for judgement in result.judgements:
        names = {"classname": _xml_text(judgement.where), "name": _xml_text(judgement.title)}
        case = ElementTree.SubElement(suite, "testcase", names)
        sentence = _xml_text(judgement.sentence)
        if tag := tags.get(judgement.verdict):
            problem = ElementTree.SubElement(case, tag, {"type": judgement.verdict, "message": sentence})
            problem.text = _xml_text(f"{judgement.where}: {judgement.sentence}")
        else:
            ElementTree.SubElement(case, "system-out").text = sentence
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _xml_text(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)

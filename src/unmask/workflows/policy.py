"""The policy of a gate: what is allowed of which figure. Read from TOML, or written from what an audit shows."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from unmask.errors import UnmaskError, check_choice
from unmask.measures.registry import find_measure
from unmask.measures.sections import unreadable
from unmask.options import Options, option
from unmask.results import AuditResult, Estimate, Measurement
from unmask.results.schema import Protocol
from unmask.results.verdict import Judge

LIMITS = ("at_most", "at_least", "magnitude_at_most", "worse_by_at_most")
DIGITS = 2
INCONCLUSIVE = ("fail", "pass")
"""What a policy says of a model that cannot do what a measure relies on."""
HEAD = """\
# What `unmask gate` allows: for now, what the audit of {model} shows. Lower the limits as the model gets better.
# A rule is broken only where the whole 95 % interval is beyond its limit (judge = "interval").
# With judge = "surely" a rule is kept only where the whole interval is within; "estimate" looks at the number alone.
# A model that cannot do what a measure relies on is inconclusive: "fail" (exit 1) or "pass".
inconclusive = "fail"
"""
BASELINE = """\
# What rules with worse_by_at_most compare with, item by item, relative to this file.
baseline = {baseline}
"""


class Rule(Options):
    """What is allowed of a figure, in every measurement that fits."""

    name: str = option("", "Words for the log.")
    measure: str | None = option(None, "The measure, as for the next four: only this one. Default: any.")
    language: str | None = option(None)
    corpus: str | None = option(None)
    protocol: Protocol | None = option(None)
    terms: str | None = option(None, "The variant of a measurement, such as the words that were exchanged.")
    test: str | None = option(None, "The test that is judged.")
    group: str | None = option(None, "The group whose mean is judged.")
    value: Literal["estimate", "effect_size"] = option("estimate", "What of a test is judged.")
    at_most: float | None = option(None)
    at_least: float | None = option(None)
    magnitude_at_most: float | None = option(None, "The distance from no bias, on either side.", minimum=0)
    worse_by_at_most: float | None = option(
        None, "How much further from no bias than the baseline; negative: it must be nearer by that much."
    )
    judge: Judge = option("interval", "Whether the interval or the estimate is judged.")
    fewest_items: int = option(1, "With fewer items, the verdict is `cannot tell`.", minimum=1)

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if (self.test is None) == (self.group is None):
            raise UnmaskError("give test = … or group = …, and not both")
        if self.group is not None and "value" in self.model_fields_set:
            raise UnmaskError("value is for a test; a group has only a mean")
        limits = [limit for limit in LIMITS if getattr(self, limit) is not None]
        if not limits:
            raise UnmaskError(f"there is no limit; give one of {', '.join(LIMITS)}")
        if len(limits) > 1 and limits != ["at_most", "at_least"]:
            raise UnmaskError(f"{limits[0]} and {limits[1]} do not go together; write two rules")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise UnmaskError(f"at_least = {self.at_least:g} is above at_most = {self.at_most:g}; lower it")
        return self

    @property
    def figure(self) -> str:
        """What is judged, in words."""
        return self.group or f"{self.test}{', effect size' if self.value == 'effect_size' else ''}"


@dataclass(frozen=True)
class Policy:
    """Rules, and the audit with which some of them compare."""

    name: str
    rules: tuple[Rule, ...]
    baseline: Path | None = None
    passes_inconclusive: bool = False
    """Whether a model may pass that cannot do what a measure relies on."""


def read_policy(path: Path) -> Policy:
    """Read a policy; its baseline is relative to the file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnmaskError(
            f"there is no policy {path}; write one with unmask gate DIR --write-policy {path.name}"
        ) from None
    except OSError as error:
        raise UnmaskError(f"the policy {path} cannot be read ({error.strerror}); give a TOML file") from None
    except ValueError as error:  # not TOML, or not UTF-8
        raise UnmaskError(f"the policy {path} is not TOML: {error}; correct it there") from None
    return parse_policy(content, str(path), path.parent)


def parse_policy(content: Mapping[str, Any], name: str = "the policy", folder: Path = Path()) -> Policy:
    """Make a policy from plain data: `rule`, a list of tables, and perhaps `baseline`, relative to the folder."""
    where, rules = name, []
    try:
        for key in content:
            check_choice(key, ("baseline", "inconclusive", "rule"), "key")
        tables, baseline = content.get("rule", []), content.get("baseline")
        inconclusive = content.get("inconclusive", INCONCLUSIVE[0])
        check_choice(str(inconclusive), INCONCLUSIVE, "value of inconclusive")
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            raise UnmaskError("a rule begins with [[rule]], in two pairs of brackets")
        if not tables:
            raise UnmaskError("it has no rule; begin one with [[rule]]")
        if not isinstance(baseline, str | None):
            raise UnmaskError(f"baseline = {baseline!r} is not the name of a folder; give it in quotes")
        for number, table in enumerate(tables, start=1):
            where = f"{name}, rule {number}"
            rules.append(Rule(**table))
    except UnmaskError as error:
        raise UnmaskError(f"{where}: {error}") from None
    passes = inconclusive == INCONCLUSIVE[1]
    return Policy(name, tuple(rules), None if baseline is None else folder / baseline, passes)


def starting_policy(result: AuditResult, baseline: str | None = None) -> str:
    """TOML with a rule for each main figure of an audit. The limit is what it is now, rounded up to two digits.

    Args:
        result: The audit.
        baseline: Its folder, relative to the policy. With it, primary tests also have a rule that compares with it.
    """
    lines = [line for measurement in result.measurements for line in _write_rules(measurement)]
    if not lines:
        raise UnmaskError(
            f"the audit of {result.model.name} has no figure that can be read as bias; audit other words, or a model"
            " that can do the task"
        )
    relative = [line for measurement in result.measurements for line in _write_relative_rule(measurement)]
    head = HEAD.format(model=_to_toml(result.model.name))
    if baseline is None or not relative:
        return "\n".join([head, *lines])
    return "\n".join([head + BASELINE.format(baseline=_to_toml(baseline)), *lines, *relative])


def _write_rules(measurement: Measurement) -> Iterator[str]:
    measure = find_measure(measurement.name)
    declared = [figure for figure in measure.key_estimates if figure.gate] if measure else []
    figures: list[tuple[str, str, Estimate | None]] = [
        *(("test", figure.test, measurement.tests.get(figure.test)) for figure in declared),
        *(("group", figure.group, measurement.groups.get(figure.group)) for figure in declared),
    ]
    figures = [figure for figure in figures if figure[2]] or [("test", *item) for item in measurement.tests.items()]
    for role, name, estimate in figures:
        if estimate is None or estimate.value is None or unreadable(measurement, group=role == "group"):
            continue
        yield from _begin_rule(measurement, role, name)
        yield f"magnitude_at_most = {_round_up(abs(estimate.value - estimate.neutral))}"
        if estimate.interval is None:
            yield 'judge = "estimate"  # it has no interval'
        yield f"fewest_items = {max(1, estimate.n // 2)}  # half of what there are now\n"


def _write_relative_rule(measurement: Measurement) -> Iterator[str]:
    """The rule that the primary test must not become worse by more than what is negligible."""
    measure = find_measure(measurement.name)
    test = measurement.tests.get(measure.primary) if measure and measure.can_compare else None
    if measure is None or test is None or test.interval is None or unreadable(measurement):
        return
    yield from _begin_rule(measurement, "test", measure.primary)
    yield f"worse_by_at_most = {_round_up(measure.margin_of(measurement))}  # more is more than negligible\n"


def _begin_rule(measurement: Measurement, role: str, name: str) -> Iterator[str]:
    names = ("measure", "language", "corpus", "protocol", "terms")
    keys = {name: value for name, value in zip(names, measurement.key, strict=True) if value} | {role: name}
    yield "[[rule]]"
    yield from (f"{key} = {_to_toml(value)}" for key, value in keys.items())


def _round_up(value: float) -> str:
    exact = Decimal(repr(value))
    if not exact:
        return "0"
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - DIGITS + 1), ROUND_CEILING):f}"


def _to_toml(text: str) -> str:
    """A TOML string: as JSON writes it, and the one control character that JSON does not escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""The policy of a gate: what is allowed of which figure. Read from TOML, or written from what an audit shows."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationError, model_validator

from unmask.errors import UnmaskError, check_choice
from unmask.measures.registry import find_measure
from unmask.measures.sections import unreadable
from unmask.results import AuditResult, Estimate, Measurement
from unmask.results.schema import Protocol, Record

Judge = Literal["interval", "surely", "estimate"]
Value = Literal["estimate", "effect_size"]
CHOICES = {"judge": get_args(Judge), "value": get_args(Value), "protocol": get_args(Protocol)}
LIMITS = ("at_most", "at_least", "magnitude_at_most", "worse_by_at_most")
DIGITS = 2
HEAD = """\
# What `unmask gate` allows: for now, what the audit of {model} shows. Lower the limits as the model gets better.
# A rule is broken only where the whole 95 % interval is beyond its limit (judge = "interval").
# With judge = "surely" a rule is kept only where the whole interval is within; "estimate" looks at the number alone.
"""


class Rule(Record):
    """What is allowed of a figure, in every measurement that fits."""

    model_config = ConfigDict(strict=True, frozen=True)

    name: str = ""
    measure: str | None = None
    """None, here and in the next four: any."""
    language: str | None = None
    corpus: str | None = None
    protocol: Protocol | None = None
    terms: str | None = None
    """Sentiment: which words were exchanged."""
    test: str | None = None
    group: str | None = None
    value: Value = "estimate"
    """Of a test: its estimate or its effect size. A group has only a mean."""
    at_most: float | None = None
    at_least: float | None = None
    magnitude_at_most: float | None = Field(None, ge=0)
    """The distance from no bias, on either side."""
    worse_by_at_most: float | None = None
    """How much further from no bias than the baseline; negative: it must be nearer by that much."""
    judge: Judge = "interval"
    fewest_items: int = Field(1, ge=1)

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if (self.test is None) == (self.group is None):
            raise ValueError("give test = … or group = …, and not both")
        if self.group is not None and "value" in self.model_fields_set:
            raise ValueError("value is for a test; a group has only a mean")
        given = [limit for limit in LIMITS if getattr(self, limit) is not None]
        if not given:
            raise ValueError(f"nothing says what is allowed; give one of {', '.join(LIMITS)}")
        if len(given) > 1 and given != ["at_most", "at_least"]:
            raise ValueError(f"{given[0]} and {given[1]} do not go together; write two rules")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ValueError(
                f"at_least = {self.at_least:g} is above at_most = {self.at_most:g}; no value can keep that"
            )
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
            check_choice(key, ("baseline", "rule"), "key")
        tables, baseline = content.get("rule", []), content.get("baseline")
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            raise UnmaskError("a rule begins with [[rule]], in two pairs of brackets")
        if not tables:
            raise UnmaskError("it has no rule; begin one with [[rule]]")
        if not isinstance(baseline, str | None):
            raise UnmaskError(f"baseline = {baseline!r} is not the name of a folder; give it in quotes")
        for number, table in enumerate(tables, start=1):
            where = f"{name}, rule {number}"
            rules.append(_parse_rule(table))
    except UnmaskError as error:
        raise UnmaskError(f"{where}: {error}") from None
    return Policy(name, tuple(rules), None if baseline is None else folder / baseline)


def _parse_rule(content: Mapping[str, Any]) -> Rule:
    for key, value in content.items():
        check_choice(key, Rule.model_fields, "key")
        if key in CHOICES and isinstance(value, str):
            check_choice(value, CHOICES[key], key)
    try:
        return Rule.model_validate(dict(content))
    except ValidationError as error:
        mistake = error.errors(include_url=False)[0]
        if not mistake["loc"]:
            raise UnmaskError(str(mistake["ctx"]["error"])) from None
        message = mistake["msg"].replace("Input", "it")
        raise UnmaskError(f"{mistake['loc'][0]} = {mistake['input']!r}; {message}") from None


def starting_policy(result: AuditResult) -> str:
    """TOML with a rule for each main figure of an audit. The limit is what it is now, rounded up to two digits."""
    rules = [text for measurement in result.measurements for text in _write_rules(measurement)]
    if not rules:
        raise UnmaskError(f"the audit of {result.model.name} has no figure that can be read as bias; audit it again")
    return "\n".join([HEAD.format(model=_to_toml(result.model.name)), *rules])


def _write_rules(measurement: Measurement) -> Iterator[str]:
    measure = find_measure(measurement.name)
    declared = [figure for figure in measure.figures if figure.gate] if measure else []
    tests, groups = measurement.tests, measurement.groups
    figures: list[tuple[str, str, Estimate]] = [
        *(("test", figure.test, tests[figure.test]) for figure in declared if figure.test in tests),
        *(("group", figure.group, groups[figure.group]) for figure in declared if figure.group in groups),
    ]
    for kind, name, estimate in figures or [("test", *item) for item in measurement.tests.items()]:
        if estimate.value is None or unreadable(measurement, group=kind == "group"):
            continue
        keys = {
            "measure": measurement.name,
            "language": measurement.language,
            "corpus": measurement.corpus,
            "protocol": measurement.protocol,
            **({"terms": measurement.variant} if measurement.variant else {}),
            kind: name,
        }
        lines = ["[[rule]]", *(f"{key} = {_to_toml(value)}" for key, value in keys.items())]
        lines.append(f"magnitude_at_most = {_round_up(abs(estimate.value - estimate.neutral))}")
        if estimate.interval is None:
            lines.append('judge = "estimate"  # it has no interval')
        lines.append(f"fewest_items = {max(1, estimate.n // 2)}  # half of what there are now")
        yield "\n".join([*lines, ""])


def _round_up(value: float) -> str:
    exact = Decimal(repr(value))
    if not exact:
        return "0"
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - DIGITS + 1), ROUND_CEILING):f}"


def _to_toml(text: str) -> str:
    """A TOML string: as JSON writes it, and the one control character that JSON does not escape."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

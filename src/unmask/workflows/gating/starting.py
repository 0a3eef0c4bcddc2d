"""A policy to start from: what an audit shows now is allowed, and nothing worse."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

from unmask.errors import UnmaskError
from unmask.measures.readable import unreadable
from unmask.measures.registry import find_measure
from unmask.results import AuditResult, Measurement
from unmask.workflows.gating.figures import figure_of
from unmask.workflows.gating.policy import Rule

DIGITS = 2
HEAD = """\
# What `unmask gate` allows: for now, what the audit of {model} shows. Lower the limits as the model gets better.
# A rule is broken only where the whole 95 % interval is beyond its limit (judge = "interval").
# With judge = "surely" a rule is kept only where the whole interval is within; "estimate" looks at the number alone.
"""


def starting_policy(result: AuditResult) -> str:
    """TOML with a rule for each main figure; the limit is what it is now, rounded up to two digits."""
    rules = [text for one in result.measurements for text in _rules(one)]
    if not rules:
        raise UnmaskError(f"the audit of {result.model.name} has no figure that can be read as bias; audit it again")
    return "\n".join([HEAD.format(model=_quoted(result.model.name)), *rules])


def _rules(one: Measurement) -> Iterator[str]:
    measure = find_measure(one.name)
    tests, groups = (measure.gate_tests, measure.gate_groups) if measure else ((), ())
    figures = [("test", name) for name in tests if name in one.tests]
    figures += [("group", name) for name in groups if name in one.groups]
    for kind, name in figures or [("test", name) for name in one.tests]:
        rule = Rule.model_validate({kind: name, "magnitude_at_most": 0.0})
        figure = figure_of(one, rule)
        if figure is None or figure.value is None or unreadable(one, group=rule.group is not None):
            continue
        distance, _ = figure.distance()
        assert distance is not None
        terms = {"terms": one.variant} if one.variant else {}
        said = {"measure": one.name, "language": one.language, "corpus": one.corpus, "protocol": one.protocol}
        lines = [f"{key} = {_quoted(value)}" for key, value in (said | terms | {kind: name}).items()]
        lines.append(f"magnitude_at_most = {_rounded_up(distance)}")
        if figure.interval is None:
            lines.append('judge = "estimate"  # it has no interval')
        lines.append(f"fewest_items = {max(1, figure.n // 2)}  # half of what there are now")
        yield "\n".join(["[[rule]]", *lines, ""])


def _rounded_up(value: float) -> str:
    exact = Decimal(repr(value))
    if not exact:
        return "0"
    return f"{exact.quantize(Decimal(1).scaleb(exact.adjusted() - DIGITS + 1), ROUND_CEILING):f}"


def _quoted(text: str) -> str:
    """A TOML string: as JSON writes it, and the one control character that JSON lets be."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

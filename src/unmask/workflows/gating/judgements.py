"""What the gate says, as data: one judgement for each rule and measurement."""

from __future__ import annotations

from typing import Literal

from unmask.results.record import Interval, Record

Verdict = Literal["kept", "broken", "cannot tell"]
Sure = Literal["surely", "not surely", "unknown"]
CODES: dict[Verdict, int] = {"kept": 0, "broken": 1, "cannot tell": 2}
"""What the command exits with."""


class Judgement(Record):
    """One rule, put to one measurement."""

    rule: str
    """The rule's own name, or empty."""
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
    verdict: Verdict
    sure: Sure = "unknown"
    """`surely` where the whole interval is on one side of the limit, `unknown` where there is none."""
    why: str
    """How sure, or why it cannot be told, in words."""


class GateResult(Record):
    """All judgements, and what they come to."""

    unmask_version: str
    model: str
    audit: str | None
    """The audit folder, if there is one."""
    policy: str
    baseline: str | None = None
    verdict: Verdict
    """Broken if a rule is; else cannot tell if that is so of a rule; else kept."""
    judgements: list[Judgement]

    @property
    def exit_code(self) -> int:
        """0 kept, 1 broken, 2 cannot tell."""
        return CODES[self.verdict]

    def count(self, verdict: Verdict) -> int:
        """How many judgements say so."""
        return sum(one.verdict == verdict for one in self.judgements)


def overall(judgements: list[Judgement]) -> Verdict:
    """What many judgements come to."""
    said = {one.verdict for one in judgements}
    return "broken" if "broken" in said else "cannot tell" if "cannot tell" in said else "kept"

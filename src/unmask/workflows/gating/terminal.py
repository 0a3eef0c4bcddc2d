"""What the gate says → a line for each judgement: what was measured, what is allowed, how sure."""

from __future__ import annotations

from textwrap import wrap

from rich.console import Console
from rich.text import Text

from unmask.results.numbers import MINUS
from unmask.results.record import Interval
from unmask.workflows.gating import GateResult, Judgement
from unmask.workflows.gating.judgements import Verdict

STYLES: dict[Verdict, str] = {"kept": "green", "broken": "bold red", "cannot tell": "bold yellow"}
INDENT = 13


def show(result: GateResult, console: Console) -> None:
    """Print a line for each judgement, and what they come to; a terminal's lines are broken between words."""
    for one in result.judgements:
        line = " ".join(f"{one.where}: {name(one)}: {said(one)}".split())
        room = console.width - INDENT
        parts = (wrap(line, room) if console.is_terminal and room > INDENT else None) or [line]
        text = Text(f"{one.verdict:<{INDENT}}", style=STYLES[one.verdict])
        text.append(f"\n{'':<{INDENT}}".join(parts), style="default not bold")
        console.print(text, soft_wrap=True)
    console.print(Text(f"\n{_summary(result)}", style=STYLES[result.verdict]), soft_wrap=True)


def name(one: Judgement) -> str:
    """The rule's own name with the figure, or the figure."""
    return f"{one.rule} ({one.figure})" if one.rule else one.figure


def said(one: Judgement) -> str:
    """Measured, allowed, how sure."""
    measured = _measured(one.value, one.interval)
    if one.worse_by is not None:
        before = _measured(one.baseline_value, one.baseline_interval)
        measured += f", was {before}: worse by {_measured(one.worse_by, one.worse_by_interval)}"
    return "; ".join(filter(None, [measured, f"allowed {one.allowed}", one.why]))


def _summary(result: GateResult) -> str:
    doubtful = sum(one.verdict == "kept" and one.sure == "not surely" for one in result.judgements)
    counts = [f"{count} {verdict}" for verdict in STYLES if (count := result.count(verdict))]
    if doubtful:
        counts[0] += f" ({doubtful} not surely)"
    return f"{result.model}, by {result.policy}: {', '.join(counts)}."


def _measured(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return ""
    bounds = "" if interval is None else f" [{_number(interval[0])}, {_number(interval[1])}]"
    return f"{_number(value)}{bounds}"


def _number(value: float) -> str:
    """Three digits that count: limits may be as small as a thousandth."""
    return f"{value:.3g}".replace("-", MINUS)

"""One measurement as a report shows it, in every format: its own blocks, and what all measurements have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.report.blocks import Block, KeyFigure, Section, Text
from unmask.report.default_blocks import list_groups, list_tests, source
from unmask.results import Measurement


@dataclass(frozen=True)
class MeasureSection:
    """One measurement of a report. The measure provides the blocks; reports only render them."""

    measurement: Measurement
    title: str
    """What was measured, on which sentences, in which language."""
    measure: str
    """The title of the measure. The method is shown once for all sections with the same one."""
    blocks: Sequence[Block]
    method: Sequence[Block] = ()
    facts: Sequence[tuple[str, str]] = ()
    """Names and values, shown under provenance."""
    warning: str = ""
    """Why the numbers must not be read as bias; empty if they may."""
    complete: bool = False
    """Whether the blocks already show every test and group."""

    @property
    def headline(self) -> str:
        """The finding in words."""
        return self.measurement.headline_text or "No finding."

    @property
    def key_figure(self) -> KeyFigure | None:
        """The number that stands for the measurement in a summary."""
        return next((block for block in self.blocks if isinstance(block, KeyFigure)), None)

    @property
    def note(self) -> str:
        """How many items there are, by which protocol, and whose measure it is."""
        measurement = self.measurement
        size = f"{measurement.items:,} {'item' if measurement.items == 1 else 'items'}"
        if measurement.plugin is None:
            return f"{size} · {measurement.protocol} protocol"
        return f"{size} · measure of the package {source(measurement)}, which Unmask ran but did not check"

    def closing_blocks(self) -> list[Block]:
        """What every measurement ends with: caveats, and folded tables of all tests and groups."""
        measurement = self.measurement
        blocks: list[Block] = []
        if measurement.caveats:
            caveats = Text([caveat.text for caveat in measurement.caveats], style="list")
            blocks.append(Section("Before you rely on this", [caveats]))
        if self.complete:
            return blocks
        if measurement.tests:
            blocks.append(list_tests(measurement, "All tests", folded=True))
        elif measurement.protocol == "published":
            blocks.append(Text(["The published protocol has no tests and no intervals."], style="note"))
        if measurement.groups:
            blocks.append(list_groups(measurement, "All means of groups", folded=True))
        return blocks

"""The report of coreference: the gap, judged as the headline judges it, and the blocks of any measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.coreference.analysis import PEOPLE, judge_gap, show_bounds, worse_served
from unmask.report.blocks import Block, KeyFigure
from unmask.report.default_blocks import default_blocks
from unmask.results import Measurement
from unmask.results.formatting import NO_BREAK, certainty, signed

if TYPE_CHECKING:
    import pandas as pd


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """The report of one measurement."""
    del items
    others: list[Block] = [block for block in default_blocks(measurement) if not isinstance(block, KeyFigure)]
    gap = measurement.tests["gap"]
    if gap.value is None:
        return others
    verdict = {
        "clear": f"fewer pronouns of {PEOPLE[worse_served(gap)]} resolved",
        "negligible": "negligible gap",
        "unclear": "no clear gap",
        "too few": "too few contexts to tell",
        "noise": "within the noise",
        "not tested": "not tested",
    }[judge_gap(gap)]
    value = f"{signed(100 * gap.value, 1)}{NO_BREAK}points"
    explanation = f"{gap.question} Accuracy for women − for men."
    return [
        KeyFigure("Gap", value, certainty(show_bounds(gap.interval), gap.p_adjusted), verdict, explanation),
        *others,
    ]

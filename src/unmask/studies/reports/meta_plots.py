"""Scores by the rate of planted bias (the paper's Figure 4, for any measure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.report.charts import Axis, Series, lines
from unmask.report.drawing import fit_domain
from unmask.results.formatting import number

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa7700", "#66aadd", "#aa3377")
"""One a score, told apart with any colour vision."""


def draw_scores(cells: pd.DataFrame) -> str:
    """The scores of one measure in one language: a point a model, a line through the means."""
    series = []
    for (score, own), colour in zip(cells.groupby("score", sort=False), COLOURS, strict=False):
        points = [
            (float(rate), float(value), f"{score}: {number(float(value), 3)} at a rate of {rate:g}")
            for rate, value in zip(own["rate"], own["value"], strict=True)
        ]
        means = own.groupby("rate", as_index=False)["value"].mean()
        through = [(float(rate), float(mean), "") for rate, mean in zip(means["rate"], means["value"], strict=True)]
        series.append(Series(through, colour, shape=""))
        series.append(Series(points, colour, line=""))
    up = Axis(fit_domain(cells["value"]), "score", lines=[0])
    return lines(series, Axis((0, 1), "rate of planted bias"), up, size=(320, 230))

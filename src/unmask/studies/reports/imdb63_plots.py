"""The study's Figures 3 and 4 as SVG text: how far ratings move towards either gender, by term set and training.

    up = mean of max(bias, 0) = (abs + tot) / 2        down = mean of min(bias, 0) = (tot − abs) / 2

so that the bars of a cell are together as long as its absolute bias, and their difference is its total bias. A line
from −|tot| to |tot| shows how well they balance, and a dot where the total bias lies.

S. Jentzsch and C. Turan (2022), Figures 3 and 4; all panels share one scale here, and show the model that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from unmask.report.drawing import INK, Domain, Point, around, chart, svg
from unmask.results.numbers import number
from unmask.studies.imdb63.grid import KINDS, TERMS, basis

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"original": "#4477aa", "R": "#ee6677", "mix": "#228833"}
"""The paper's blue, red and green, of a kind that is told apart with any colour vision."""
WIDTH, HEIGHT, MARGINS = 270, 190, {"left": 58, "right": 8, "top": 8, "bottom": 24}


def domain(cells: pd.DataFrame) -> Domain:
    """One scale for all models."""
    return around(point[end] for point in points(cells) for end in ("up", "down", "least", "most"))


def bars(cells: pd.DataFrame, scale: Domain) -> str:
    """The cells of one model; empty if it has none."""
    found = points(cells)
    if not found:
        return ""
    across = alt.X(
        "terms:N",
        title=None,
        scale=alt.Scale(domain=list(TERMS), paddingInner=0.25, paddingOuter=0.12),
        axis=alt.Axis(labelAngle=0, ticks=False, labelPadding=6),
    )
    beside = alt.XOffset("kind:N", scale=alt.Scale(domain=list(KINDS), paddingInner=0.12))
    colour = alt.Color("kind:N", legend=None, scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    axis = alt.Axis(tickCount=6, format="~g")
    place = {"x": across, "xOffset": beside}

    def upright(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="bias", axis=axis, scale=alt.Scale(domain=scale, nice=False))

    drawn = chart(found)
    layers = [
        drawn.mark_bar().encode(y=upright("up"), y2="down:Q", color=colour, **place),
        chart([{"up": 0}]).mark_rule(color=INK, opacity=0.7).encode(y=upright("up")),
        drawn.mark_rule(color=INK, strokeWidth=2).encode(y=upright("least"), y2="most:Q", **place),
        drawn.mark_point(color=INK, filled=True, opacity=1, size=34).encode(y=upright("total"), **place),
    ]
    return svg(layers, WIDTH, HEIGHT, MARGINS)


def points(cells: pd.DataFrame) -> list[Point]:
    """Plain numbers for each cell that has them."""
    found: list[Point] = []
    for _, row in cells.iterrows():
        means = basis(cells)
        absolute, total = float(row[means.absolute]), float(row[means.total])
        if absolute == absolute and total == total:
            kind, terms = str(row["kind"]), str(row["terms"])
            tip = f"{kind}-{terms}: total bias {number(total, 4)}, absolute {number(absolute, 4)}"
            place = {"terms": terms, "kind": kind, "total": total, "tip": tip}
            ends = {"up": (absolute + total) / 2, "down": (total - absolute) / 2}
            found.append(place | ends | {"least": -abs(total), "most": abs(total)})
    return found

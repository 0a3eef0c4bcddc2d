"""The study's Figures 3 and 4: how far ratings move towards either gender, by term set and training.

    up = mean of max(bias, 0) = (abs + tot) / 2        down = mean of min(bias, 0) = (tot − abs) / 2

The bars of a cell are together as long as its absolute bias, and their difference is its total bias. A line from −|tot|
to |tot| shows how well they balance, and a dot marks the total bias.

S. Jentzsch and C. Turan (2022), Figures 3 and 4; all panels share one scale here, and show the model that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.report.charts import Mark, Panel, Row, draw_rows
from unmask.report.drawing import INK, Domain, fit_domain
from unmask.results.formatting import number
from unmask.studies.imdb63.grid import KINDS, TERMS, basis

if TYPE_CHECKING:
    import pandas as pd

COLOURS = {"original": "#4477aa", "R": "#ee6677", "mix": "#228833"}
"""The paper's blue, red and green, of a kind that is told apart with any colour vision."""


def domain(cells: pd.DataFrame) -> Domain:
    """One scale for all models."""
    return fit_domain(
        end
        for _, _, absolute, total in points(cells)
        for end in ((absolute + total) / 2, (total - absolute) / 2, -abs(total), abs(total))
    )


def bars(cells: pd.DataFrame, scale: Domain) -> str:
    """The cells of one model; empty if it has none."""
    rows = []
    found = points(cells)
    for terms in TERMS:
        marks: list[Mark] = []
        for kind, of, absolute, total in found:
            if of == terms:
                tip = f"{kind}-{terms}: total bias {number(total, 4)}, absolute {number(absolute, 4)}"
                lane = (KINDS.index(kind) + 0.5) / len(KINDS) * 0.82 + 0.09
                up, down = (absolute + total) / 2, (total - absolute) / 2
                marks += [
                    Mark("bar", up, down, COLOURS[kind], tip, lane=lane, height=0.25),
                    Mark("line", abs(total), -abs(total), INK, tip, lane=lane),
                    Mark("circle", total, colour=INK, tip=tip, lane=lane, radius=3),
                ]
        rows.append(Row(terms, marks))
    return draw_rows(rows, [Panel(scale, 270, title="bias")], row_height=54) if found else ""


def points(cells: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """Kind, terms, absolute and total bias of each cell that has them."""
    found = []
    for _, row in cells.iterrows():
        means = basis(cells)
        absolute, total = float(row[means.absolute]), float(row[means.total])
        if absolute == absolute and total == total:
            found.append((str(row["kind"]), str(row["terms"]), absolute, total))
    return found

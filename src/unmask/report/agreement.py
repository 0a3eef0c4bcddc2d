"""Whether measures agree over models, as blocks."""

from __future__ import annotations

from unmask.report.blocks import Block, Cell, Column, Table, Text
from unmask.report.pages import capital, count, p
from unmask.results import Agreement
from unmask.results.numbers import interval, number


def agreement_blocks(agreement: Agreement) -> list[Block]:
    """The finding, a matrix of correlations, all correlations, and the figures of each model."""
    blocks: list[Block] = [Text([agreement.headline], terminal=True)]
    names = _compared_figures(agreement)
    if len(names) > 1:
        blocks.append(_matrix(agreement, names))
    if agreement.correlations:
        blocks.append(_all_correlations(agreement))
    figures = [Column(figure.name) for figure in agreement.figures]
    rows = [
        [Cell(model.model), *(Cell(number(model.figures.get(figure.name), 3)) for figure in agreement.figures)]
        for model in agreement.models
    ]
    meanings = [f"{capital(figure.name)}: {figure.what}" for figure in agreement.figures if figure.what]
    note = f"{'; '.join(meanings)}." if meanings else ""
    blocks.append(Table("The figures of each model", [Column("Model", numeric=False), *figures], rows, note=note))
    reasons = [f"{capital(name)} is not compared: {reason}." for name, reason in agreement.left_out.items()]
    return [*blocks, Text(reasons, style="note", terminal=True)] if reasons else blocks


def pearson_matrix(agreement: Agreement) -> list[Table]:
    """Pearson's r alone with numbered figures, for a terminal; empty for fewer than two figures."""
    names = _compared_figures(agreement)
    if len(names) < 2:
        return []
    columns = [Column("Pearson’s r", numeric=False), *(Column(str(index)) for index in range(1, len(names)))]
    rows = []
    for down, name in enumerate(names):
        found = [agreement.correlation(name, other) for other in names[:down]]
        cells = [Cell(number(pair.pearson) if pair else "–") for pair in found]
        blank = [Cell("")] * (len(names) - 1 - len(cells))
        rows.append([Cell(f"{down + 1} {name}"), *(cells + blank)[: len(names) - 1]])
    return [Table("", columns, rows, terminal=True)]


def _compared_figures(agreement: Agreement) -> list[str]:
    return [figure.name for figure in agreement.figures if figure.name not in agreement.left_out]


def _matrix(agreement: Agreement, names: list[str]) -> Table:
    most = max((pair.n for pair in agreement.correlations), default=0)

    def cell(down: int, across: int) -> Cell:
        pair = agreement.correlation(names[down], names[across]) if down != across else None
        if pair is None:
            return Cell("")
        value, bounds = (
            (pair.pearson, pair.pearson_interval) if across < down else (pair.spearman, pair.spearman_interval)
        )
        note = f"n = {pair.n}" if pair.n < most else ""
        return Cell(number(value), interval(bounds), note, shade=value)

    rows = [[Cell(name), *(cell(down, across) for across in range(len(names)))] for down, name in enumerate(names)]
    note = "Below the diagonal: Pearson’s r. Above it: Spearman’s ρ. In brackets: 95 % intervals."
    return Table("Correlations between measures", [Column("Figure", numeric=False), *map(Column, names)], rows, note)


def _all_correlations(agreement: Agreement) -> Table:
    titles = ("Models", "Pearson’s r", "p, adjusted", "Spearman’s ρ", "p")
    rows = [
        [
            Cell(f"{pair.first}, {pair.second}"),
            Cell(count(pair.n)),
            Cell(number(pair.pearson), interval(pair.pearson_interval)),
            Cell(p(pair.p_adjusted)),
            Cell(number(pair.spearman), interval(pair.spearman_interval)),
            Cell(p(pair.spearman_p_value)),
        ]
        for pair in agreement.correlations
    ]
    return Table("All correlations", [Column("Figures", numeric=False), *map(Column, titles)], rows, folded=True)

"""`unmask export MEASURE --out FILE` and `unmask professions TABLE --out FILE`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options
from unmask.errors import UnmaskError
from unmask.files import write_text
from unmask.spreadsheets import to_csv

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.export import ExportOptions
    from unmask.workforce import ProfessionOptions

WRITERS: dict[str, Callable[[pd.DataFrame], str]] = {
    ".jsonl": lambda frame: frame.to_json(orient="records", lines=True, force_ascii=False),
    ".csv": to_csv,
    ".tsv": lambda frame: frame.to_csv(sep="\t", lineterminator="\n", index=frame.index.name is not None),
}


@with_options("unmask.measures.export:ExportOptions")
def export_command(options: ExportOptions) -> None:
    """Write the sentences that a measure asks about, in the form of the paper's released files.

    No model is needed. The file can be answered elsewhere, or used to train with.

    Examples:

    - `unmask export association --protocol published --out BEC-Pro_EN.tsv` (the file as it was released)
    - `unmask export inference --language ja --out inference-ja.jsonl` (the built-in pairs)
    - `unmask export inference --language zh --protocol published --out released.jsonl`
    - `unmask export inference --set occupations=mine.csv --set limit=16 --out mine.jsonl`
    """
    if options.out.suffix not in WRITERS:
        raise UnmaskError(f"{options.out} does not end in {', '.join(WRITERS)}; give such a file with --out")
    from unmask.measures.export import export_items

    frame = export_items(options)
    write_text(options.out, WRITERS[options.out.suffix](frame))
    typer.echo(f"{len(frame):,} rows: {options.out}")


@with_options("unmask.workforce:ProfessionOptions")
def professions_command(options: ProfessionOptions) -> None:
    """Pick the professions with most women, with fewest, and nearest to half from a table of the workforce.

    The rule is that of BEC-Pro. Read the column `profession` before you use the file: names are shortened by rule.

    Examples:

    - `unmask professions cpsaat11.xlsx --out professions.csv`
    - `unmask audit bert-base-uncased --professions professions.csv`
    """
    from unmask.workforce import group_professions

    for group, occupations in group_professions(options).items():
        low, high = occupations[0].women, occupations[-1].women
        typer.echo(f"{group}: {len(occupations)} professions, {low:g} to {high:g} % women")
    typer.echo(
        f"Wrote {options.out}. Names are shortened by rule: correct the column 'profession' where it reads badly."
    )

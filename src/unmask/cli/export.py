"""`unmask export MEASURE --out FILE`."""

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

WRITERS: dict[str, Callable[[pd.DataFrame], str]] = {
    ".jsonl": lambda frame: frame.to_json(orient="records", lines=True, force_ascii=False),
    ".csv": to_csv,
    ".tsv": lambda frame: frame.to_csv(sep="\t", index=False, lineterminator="\n"),
}


@with_options("unmask.measures.export:ExportOptions")
def command(options: ExportOptions) -> None:
    """Write the sentences that a measure asks about, in the form of the paper's released files.

    No model is needed. The file can be answered elsewhere, or used to train with.

    Examples:

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

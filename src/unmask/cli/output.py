"""What every verb that ends in an audit folder does with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.api import Audit


def finish(audit: Audit, folder: Path, *, as_json: bool) -> None:
    """Write the folder; print the result as JSON, or a table and the path of the report."""
    import typer

    audit.save(folder)
    if as_json:
        typer.echo(audit.result.model_dump_json(indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    from unmask.report import terminal

    console = Console()
    terminal.show(audit.result, console)
    console.print(Text(f"\nReport: {folder / 'report.html'}"), soft_wrap=True)

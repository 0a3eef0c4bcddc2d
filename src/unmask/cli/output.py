"""Writing the folder of a result, and printing what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.steps import step

if TYPE_CHECKING:
    import pandas as pd

    from unmask.studies.engine import Findings, Finished
    from unmask.workflows.audit import Audit
    from unmask.workflows.compare import Compared


def show_result(made: Audit | Compared, folder: Path, *, as_json: bool) -> None:
    """Write the folder, and print the result as JSON, or a summary and the path of the report."""
    import typer

    with step(f"Writing {folder}"):
        made.save(folder)
    if as_json:
        typer.echo(made.result.model_dump_json(indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    made.show(console)
    console.print(Text(f"\nReport: {folder / 'report.html'}"), soft_wrap=True)


def show_study(finished: Finished[Findings], page: Path | None, *, as_json: bool) -> None:
    """Print what a study found, the paper's tables, what failed, and where the page is."""
    import json

    import typer

    if as_json:
        typer.echo(json.dumps(_study(finished, page), indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    from unmask.studies.engine import summary
    from unmask.studies.reports import terminal as study_terminal

    console = Console()
    if finished.findings is not None:
        study_terminal.show(finished.findings, console)
    typer.echo(summary(finished.outcomes))
    for line in finished.failures:
        typer.echo(f"unmask: {line}", err=True)
    if page is not None:
        console.print(Text(f"Report: {page}"), soft_wrap=True)


def _study(finished: Finished[Findings], page: Path | None) -> dict[str, Any]:
    found = finished.findings
    tables = [] if found is None else found.printed
    return {
        "headline": None if found is None else found.headline,
        "answers": {} if found is None else dict(found.answered),
        "tables": {one.name: _rows(one.numbers) for one in tables},
        "failures": finished.failures,
        "report": None if page is None else str(page),
    }


def _rows(table: pd.DataFrame) -> Any:
    """The rows of a table; what is no number is null."""
    import json

    return json.loads(table.to_json(orient="records"))

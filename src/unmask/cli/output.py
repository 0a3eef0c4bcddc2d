"""Writing the folder of a result, and printing what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.steps import step

if TYPE_CHECKING:
    from unmask.studies.study import StudyRun
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


def show_study(study: StudyRun, *, as_json: bool) -> None:
    """Print what a study found, what failed, and where the page is."""
    import json

    import typer

    if as_json:
        typer.echo(json.dumps(study.to_json(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    study.show(console)
    for line in study.failures:
        typer.echo(f"unmask: {line}", err=True)
    if study.page is not None:
        console.print(Text(f"Report: {study.page}"), soft_wrap=True)

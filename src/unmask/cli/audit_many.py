"""`unmask audit MODEL MODEL…`: audit several models and rank them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from unmask.results import AuditResult


def run(models: Sequence[str], out: Path | None, *, as_json: bool, **options: Any) -> None:
    """Audit models with a progress bar, and print their ranking; exit with 1 if a model failed."""
    from unmask.cli.progress import study
    from unmask.results import storage
    from unmask.workflows.audit_many import OUT, audit_many
    from unmask.workflows.ranking import ranking_rows

    out = out or OUT
    with study("Models") as (_, watch):
        audited = audit_many(models, out, watch=watch, **options)
    if kept := sum(outcome.status == "kept" for outcome in audited.outcomes.values()):
        typer.echo(f"{kept} of {len(models)} models had been audited before and were not audited again", err=True)
    folders = {model: out / folder.relative_to(out.resolve()) for model, folder in audited.folders.items()}
    results = [storage.load(folder) for folder in folders.values()]
    if as_json:
        content = {
            "ranking": list(ranking_rows(results)),
            "audits": {model: str(folder) for model, folder in folders.items()},
            "failures": audited.failures,
            "report": None if audited.page is None else str(audited.page),
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        _show(results, folders, audited.page)
    if audited.failures:
        names = ", ".join(audited.failures)
        count = f"{len(audited.failures)} of {len(models)} models"
        line = f"unmask: {count} could not be audited: {names}; see the reason above, then run the same command again"
        typer.echo(line, err=True)
        raise typer.Exit(1)


def _show(results: Sequence[AuditResult], folders: Mapping[str, Path], page: Path | None) -> None:
    from rich.console import Console
    from rich.text import Text

    from unmask.workflows.ranking import show_ranking

    console = Console()
    if page is not None:
        show_ranking(results, console)
    console.print()
    for model, folder in folders.items():
        console.print(Text(f"Report of {model}: {folder / 'report.html'}"), soft_wrap=True)
    if page is not None:
        console.print(Text(f"Ranking: {page}"), soft_wrap=True)

"""What every verb that ends in an audit folder does with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def show_training(record: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    """Print what training came to: the metrics as JSON, or in a few lines with the folder."""
    import json

    import typer

    if as_json:
        typer.echo(json.dumps(record, indent=2))
        return
    for split, metrics in record["metrics"].items():
        low, high = metrics["accuracy_interval"]
        of = (
            f"{metrics['examples']:,} examples"
            if "examples" in metrics
            else f"{metrics['masked_pieces']:,} masked pieces"
        )
        figures = f"accuracy {metrics['accuracy']:.4f} [{low:.4f}, {high:.4f}], loss {metrics['loss']:.4f}"
        more = f", perplexity {metrics['perplexity']:.2f}" if "perplexity" in metrics else ""
        typer.echo(f"{split:<10}  {figures}{more}, of {of}")
    typer.echo(
        f"Best checkpoint: step {record['best_step']} of {record['steps']}, {record['seconds']:.0f} s of training"
    )
    typer.echo(f"Model: {folder} (metrics.json has all figures)")

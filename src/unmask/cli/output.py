"""What a verb does with what it made: write the folder, say what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.steps import step

if TYPE_CHECKING:
    import pandas as pd

    from unmask.studies.engine import Findings, Finished
    from unmask.workflows.audit import Audit
    from unmask.workflows.compare import Compared


def finish(made: Audit | Compared, folder: Path, *, as_json: bool) -> None:
    """Write the folder; print the result as JSON, or a table and the path of the report."""
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


def show_mitigation(record: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    """Print what was made and from what, as JSON or in a few lines, and what to do next."""
    import json

    import typer

    if as_json:
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
        return
    parent = record["parent"]
    typer.echo(f"Made {folder} from {parent['name']} by {record['method']}: {record['about']}")
    if place := record["details"].get("kept_in"):
        typer.echo(place)
    typer.echo(f"Weights {parent['weight_hash'][:12]} → {record['weight_hash'][:12]}; loaded again and found the same.")
    if "words" not in record["made"]:
        typer.echo(f"Did it help?  unmask compare {parent['name']} {folder}")


def show_methods() -> None:
    """Print every mitigation with its options."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unmask.cli.listing import mitigations
    from unmask.mitigations.method import find_method

    console = Console()
    for entry in mitigations():
        if entry.problem:
            console.print(Text(entry.name, style="bold"), Text(entry.problem))
            continue
        method = find_method(entry.name)
        console.print(Text(entry.name, style="bold"), Text(method.about))
        console.print(Text(f"{method.citation}.", style="dim"))
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_header=False)
        for one in method.options.parameters().values():
            table.add_row(f"--set {one.name}=", "–" if one.default is None else str(one.default), one.help)
        console.print(table)


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

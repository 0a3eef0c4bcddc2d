"""What all studies take: where cells are kept, which engine does them, and how models are loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unmask.studies.engine import Findings, Finished

ENGINE = "Engine (studies, and audits of several models)"

Out = Annotated[Path, typer.Option(help="The folder of the study. What is done there is kept, and the rest is done.")]
EngineName = Annotated[
    str, typer.Option(rich_help_panel=ENGINE, help="local (in this process) or ray (several steps at a time).")
]
Address = Annotated[
    str | None,
    typer.Option(rich_help_panel=ENGINE, help="Ray: address of a cluster. Default: one on this machine, for this run."),
]
Cpus = Annotated[float, typer.Option(rich_help_panel=ENGINE, help="Ray: CPUs for each step.")]
Gpus = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=ENGINE,
        help="Ray: GPUs for each step that uses one, if there are any; 0.25 lets four share one.",
    ),
]
Device = Annotated[str, typer.Option(help="auto or cpu.")]


def carry_out(
    run: Callable[..., tuple[Finished[Findings], Path | None]], request: Any, out: Path, engine: Any, *, as_json: bool
) -> None:
    """Run a study with a bar, and print what came of it; exit with 1 if a cell failed.

    `run` is the function of the api for this request.
    """
    from unmask.cli.output import show_study
    from unmask.cli.progress import study

    with study() as (planned, watch):
        finished, page = run(request, out, engine, planned=planned, watch=watch)
    show_study(finished, page, as_json=as_json)
    if finished.failures:
        raise typer.Exit(1)

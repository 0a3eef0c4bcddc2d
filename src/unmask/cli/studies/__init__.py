"""`unmask study list` and `unmask study run NAME`: one file a study, each a command with its own options.

A study's file has `NAME`, `ABOUT` and `command`; add it to `STUDIES`, and it is listed, explained and run.
"""

from __future__ import annotations

import typer

from unmask.cli.studies import imdb63, lipstick_contextual, lipstick_static, meta, nli_meta, nli_plms
from unmask.cli.studies.group import Studies

STUDIES = (imdb63, nli_plms, nli_meta, meta, lipstick_static, lipstick_contextual)

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The papers' experiments as grids of cells: list them, run one; a run that was stopped goes on.",
)
run = typer.Typer(
    cls=Studies,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    subcommand_metavar="STUDY [OPTIONS]",
    help="Run a study: train what it compares, measure it, and print the paper's tables. Each has options of its own:"
    " `unmask study run STUDY --help`.",
)
for study in STUDIES:
    run.command(study.NAME, short_help=study.ABOUT, no_args_is_help=True)(study.command)
app.add_typer(run, name="run")


@app.command("list")
def list_studies() -> None:
    """Show the studies that can be run. The same as `unmask list studies`."""
    from unmask.cli.listing import show

    show("studies")

"""`unmask report DIR…` and `unmask card DIR…`: what saved audits and comparisons say, as pages and model cards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.report.options import CardOptions, ReportOptions


@with_options("unmask.report.options:ReportOptions")
def report_command(options: ReportOptions) -> None:
    """Write a report again, from result.json and the items; of several audits, a ranking.

    The ranking has each model's main figure with its interval, and the ranks that the intervals allow. It takes audits
    as they are; to know whether one model is better than another, pair their items with unmask compare.

    Examples:

    - `unmask report audits/bert`
    - `unmask report audits/bert --format md --out bert.md`
    - `unmask report audits/bert audits/roberta audits/albert --out three.html`
    """
    from unmask.files import check_new_path, write_text
    from unmask.workflows.compare import load
    from unmask.workflows.ranking import NOTHING, ranking

    folders, target, form = options.folders, options.target, options.form
    several = len(folders) > 1
    if options.out is not None or several:
        check_new_path(target)
    beside = target.parent.resolve() == folders[0].resolve()
    text = ranking(folders, form) if several else load(folders[0]).text(form, beside=beside)
    if several and form == "csv" and text.count("\n") == 1:
        typer.echo(f"unmask: {NOTHING}", err=True)
    typer.echo(f"Report: {write_text(target, text)}")


@with_options("unmask.report.options:CardOptions")
def card_command(options: CardOptions) -> None:
    """Put the findings of audits into a Hugging Face model card.

    Writes a section on gender bias (findings, figures with intervals, what they do not say, how to repeat them, the
    papers) and the same figures as model-index in the front matter. Everything else in the card stays as it is, to
    the byte, and a second run changes nothing. What an earlier run wrote is replaced.

    Examples:

    - `unmask card audits/unmask-mini` (prints a card)
    - `unmask card audits/my-model --to ./my-model`
    - `unmask card audits/association audits/geometry --to README.md`
    """
    from unmask.embedded import MODELS
    from unmask.results import storage
    from unmask.workflows.model_card import card

    made = card(*options.audits, to=options.to)
    if made.note:
        typer.echo(f"unmask: {made.note}", err=True)
    if made.path is not None:
        typer.echo(f"{'Written' if made.changed else 'Nothing to change'}: {options.to}")
        return
    typer.echo(made.text, nl=False)
    name = storage.load(options.audits[0]).model.name
    if Path(name).is_dir() and name not in MODELS:
        typer.echo(f"To put it into the model's own card: --to {name}", err=True)

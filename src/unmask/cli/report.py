"""`unmask report DIR…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.report.options import ReportOptions


@with_options("unmask.report.options:ReportOptions")
def command(options: ReportOptions) -> None:
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
    from unmask.workflows.ranking import ranking

    folders, target, form = options.folders, options.target, options.form
    several = len(folders) > 1
    if options.out is not None or several:
        check_new_path(target)
    beside = target.parent.resolve() == folders[0].resolve()
    text = ranking(folders, form) if several else load(folders[0]).text(form, beside=beside)
    if several and form == "csv" and text.count("\n") == 1:
        from unmask.workflows.ranking import NOTHING

        typer.echo(f"unmask: {NOTHING}", err=True)
    typer.echo(f"Report: {write_text(target, text)}")

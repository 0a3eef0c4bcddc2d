"""`unmask report DIR…`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Folders of unmask audit, unmask analyse or unmask compare.")
    ],
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="html: a page. md: the same facts in Markdown. csv: one row a figure. Default: as --out ends, else"
            " html.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file to write; it must not exist. Default: report.html (.md, .csv) in the folder, written anew;"
            " of several folders ranking.html (.md, .csv) here."
        ),
    ] = None,
) -> None:
    """Write a report again, from result.json and the items; of several audits, a ranking.

    The ranking has each model's main figure with its interval, and the ranks that the intervals allow. It takes audits
    as they are; to know whether one model is better than another, pair their items with unmask compare.

    Examples:

    - `unmask report audits/bert`
    - `unmask report audits/bert --format md --out bert.md`
    - `unmask report audits/bert audits/roberta audits/albert --out three.html`
    """
    from unmask import api
    from unmask.errors import UnmaskError, one_of
    from unmask.files import refuse_existing, write_text

    ending = out.suffix.removeprefix(".").lower() if out else ""
    form = one_of(form, api.FORMATS, "format") if form else ending if ending in api.FORMATS else "html"
    if len(set(folders)) < len(folders):
        raise UnmaskError("a folder was given twice; give each once")
    several = len(folders) > 1
    target = out or (Path(f"ranking.{form}") if several else folders[0] / f"report.{form}")
    if out is not None or several:
        refuse_existing(target)
    beside = target.parent.resolve() == folders[0].resolve()
    text = api.ranking(folders, form) if several else api.load(folders[0]).text(form, beside=beside)
    if several and form == "csv" and text.count("\n") == 1:
        from unmask.workflows.ranking import NOTHING

        typer.echo(f"unmask: {NOTHING}", err=True)
    typer.echo(f"Report: {write_text(target, text)}")

"""`unmask report DIR…` and `unmask card DIR…`: what saved audits and comparisons say, as pages and model cards."""

from __future__ import annotations

from pathlib import Path

import typer
from pydantic import model_validator

from unmask.cli.generate import with_options
from unmask.errors import UnmaskError
from unmask.options import Options, option
from unmask.results.storage import FORMATS


class ReportOptions(Options):
    """Which folders are reported on, and as what."""

    folders: tuple[Path, ...] = option(
        ..., "Folders of unmask audit, unmask analyse or unmask compare.", argument=True, metavar="DIR…"
    )
    format: str | None = option(
        None,
        "html: a page. md: the same facts in Markdown. csv: one row a figure. Default: as --out ends, else html.",
        choices=FORMATS,
    )
    out: Path | None = option(
        None,
        "The file to write; it must not exist. Default: report.html (.md, .csv) in the folder, written anew; of several"
        " folders ranking.html (.md, .csv) here.",
    )

    @model_validator(mode="after")
    def _check(self) -> ReportOptions:
        if len(set(self.folders)) < len(self.folders):
            raise UnmaskError("a folder was given twice; give each once")
        return self

    @property
    def form(self) -> str:
        """The format: as asked for, else as the name of the file ends, else html."""
        ending = self.out.suffix.removeprefix(".").lower() if self.out else ""
        return self.format or (ending if ending in FORMATS else "html")

    @property
    def target(self) -> Path:
        """The file to write."""
        several = len(self.folders) > 1
        return self.out or (Path(f"ranking.{self.form}") if several else self.folders[0] / f"report.{self.form}")


class CardOptions(Options):
    """Which audits go into a model card, and where it is."""

    audits: tuple[Path, ...] = option(
        ..., "Audit folders of one model; of the same measure, the last.", argument=True, metavar="DIR..."
    )
    to: Path | None = option(
        None, "The card to write or update: a README.md, or the folder of the model. Default: standard output."
    )


@with_options("unmask.cli.report:ReportOptions")
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


@with_options("unmask.cli.report:CardOptions")
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

    model_card = card(*options.audits, to=options.to)
    if model_card.note:
        typer.echo(f"unmask: {model_card.note}", err=True)
    if model_card.path is not None:
        typer.echo(f"{'Written' if model_card.changed else 'Nothing to change'}: {options.to}")
        return
    typer.echo(model_card.text, nl=False)
    name = storage.load(options.audits[0]).model.name
    if Path(name).is_dir() and name not in MODELS:
        typer.echo(f"To put it into the model's own card: --to {name}", err=True)

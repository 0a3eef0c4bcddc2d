"""Options of reports and model cards."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.options import Options, option

FORMATS = ("html", "md", "csv")


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

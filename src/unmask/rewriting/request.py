"""Options of a run over files, and what makes it the same run as one that was interrupted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import unmask
from unmask.counterfactual.choice import Choice
from unmask.counterfactual.settings import Settings
from unmask.errors import UnmaskError
from unmask.files import refuse_existing
from unmask.options import option
from unmask.rewriting.blocks import DOCUMENTS
from unmask.rewriting.sources import FORMATS


class RewriteOptions(Settings):
    """What to rewrite, how, and where it goes."""

    sources: tuple[Path, ...] = option(
        (),
        "Files or folders: plain text (.txt, .md), JSON lines (.jsonl, .ndjson), either as .gz, Parquet. None, or -:"
        " standard input.",
        argument=True,
        metavar="SOURCE",
    )
    out: Path | None = option(
        None, "The file, or for folders the folder, to write; it must not exist. Default: standard output."
    )
    column: str = option("text", "The field of JSON lines, or column of Parquet, with the text.")
    document: str = option(
        "paragraph",
        "What is a document in plain text: paragraph (between blank lines), line or file.",
        choices=DOCUMENTS,
    )
    format: str = option(
        "auto", "text, jsonl or parquet; auto goes by the ending of the name.", choices=("auto", *FORMATS)
    )
    probability: float | None = option(
        None,
        "Rewrite each document with this probability (counterfactual data substitution). Default: all.",
        minimum=0,
        maximum=1,
    )
    seed: int = option(0, "Chooses the documents; the same one is always decided alike.")
    processes: int | None = option(None, "How many work at once. Default: all cores.", minimum=1)
    report: Path | None = option(None, "Write all counts here as JSON. Default: OUT.report.json.")
    restart: bool = option(False, "Forget an interrupted run and begin again.")

    @property
    def settings(self) -> Settings:
        """How the text is rewritten."""
        return self.part(Settings)

    @property
    def choice(self) -> Choice:
        """Which documents are rewritten."""
        return Choice(self.probability, self.seed)

    @property
    def report_path(self) -> Path | None:
        """Where the counts go, if anywhere."""
        return self.report or (self.out.with_name(f"{self.out.name}.report.json") if self.out else None)

    def check(self) -> None:
        """Refuse what cannot work before anything slow happens."""
        if self.out is None:
            if len(self.sources) > 1 or any(source.is_dir() for source in self.sources):
                raise UnmaskError("several files need a place to go; name a new folder with --out")
            return
        refuse_existing(self.out)
        if self.report is not None and self.report.resolve() == self.out.resolve():
            raise UnmaskError(f"--out and --report are both {self.out}; give the report another name")
        for source in self.sources:
            if source.is_dir() and self.out.resolve().is_relative_to(source.resolve()):
                raise UnmaskError(f"{self.out} is inside {source}, which is read; give another place with --out")

    def identity(self) -> dict[str, Any]:
        """Whatever changes the output makes it another run; the number of processes does not."""
        own_terms = self.terms if isinstance(self.terms, Path) else None
        return {
            "sources": [str(source) if str(source) == "-" else str(source.resolve()) for source in self.sources],
            "mode": self.to,
            "terms": str(self.terms),
            "content of the terms": _digest(own_terms),
            "names": self.names,
            "source of the names": _digest(self.names_from),
            "language": self.language,
            "protocol": self.protocol,
            "lists": str(self.lists.resolve()) if self.lists else None,
            "quick": self.quick,
            "column": self.column,
            "document": self.document,
            "format": self.format,
            "probability": self.probability,
            "seed": self.seed,
            "version of unmask": unmask.__version__,
        }


def _digest(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror}); give a CSV file") from None

"""What a user asks for, and what makes it the same run as one that was interrupted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask.counterfactual.choice import Choice
from unmask.counterfactual.settings import Settings
from unmask.errors import UnmaskError, one_of
from unmask.files import refuse_existing
from unmask.rewriting.blocks import DOCUMENTS
from unmask.rewriting.sources import FORMATS


@dataclass(frozen=True)
class Request:
    """What to rewrite, how, and where it goes."""

    sources: tuple[Path, ...] = ()
    """Files and folders; none, or `-`, is standard input."""
    settings: Settings = field(default_factory=Settings)
    out: Path | None = None
    """The file or folder to write; without it, standard output."""
    column: str = "text"
    """The field of JSON lines, or the column of Parquet, that holds the text."""
    document: str = "paragraph"
    """What is a document in plain text: paragraph, line or file."""
    format: str = "auto"
    """text, jsonl or parquet; auto goes by the ending of the name."""
    probability: float | None = None
    """How likely a document is rewritten; without it, all are."""
    seed: int = 0
    processes: int | None = None
    """How many work at once; without it, as many as there are cores, if there is enough to do."""
    report: Path | None = None
    """Where the counts go; without it, beside `out`."""
    restart: bool = False

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
        one_of(self.document, DOCUMENTS, "document")
        one_of(self.format, ("auto", *FORMATS), "format")
        self.choice.check()
        if self.processes is not None and self.processes < 1:
            raise UnmaskError(f"--processes is {self.processes}; give at least 1")
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
        settings = self.settings
        own_terms = settings.terms if isinstance(settings.terms, Path) else None
        return {
            "sources": [str(source) if str(source) == "-" else str(source.resolve()) for source in self.sources],
            "mode": settings.to,
            "terms": str(settings.terms),
            "content of the terms": _digest(own_terms),
            "names": settings.names,
            "source of the names": _digest(settings.names_from),
            "language": settings.language,
            "protocol": settings.protocol,
            "lists": str(settings.lists.resolve()) if settings.lists else None,
            "quick": settings.quick,
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

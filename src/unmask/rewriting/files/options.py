"""The options of `unmask rewrite`: what to rewrite, how, and where it goes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import unmask
from unmask.errors import UnmaskError
from unmask.files import check_new_path
from unmask.options import option
from unmask.rewriting.options import DocumentSampler, RewriteOptions

DOCUMENTS = ("paragraph", "line", "file")
FORMATS = ("text", "jsonl", "parquet")


class FileRewriteOptions(RewriteOptions):
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
    seed: int = option(0, "Chooses the documents. Equal documents get equal decisions.")
    processes: int | None = option(None, "Number of processes. Default: all cores.", minimum=1)
    report: Path | None = option(None, "Write all counts here as JSON. Default: OUT.report.json.")
    restart: bool = option(False, "Discard an interrupted run and start again.")

    @property
    def sampler(self) -> DocumentSampler:
        """Selects the documents to rewrite."""
        return DocumentSampler(self.probability, self.seed)

    @property
    def report_path(self) -> Path | None:
        """Where the counts are written, if anywhere."""
        return self.report or (self.out.with_name(f"{self.out.name}.report.json") if self.out else None)

    def check(self) -> None:
        """Raise an error for paths that cannot work, before anything slow happens."""
        if self.out is None:
            if len(self.sources) > 1 or any(source.is_dir() for source in self.sources):
                raise UnmaskError("several files cannot go to standard output; name a new folder with --out")
            return
        check_new_path(self.out)
        if self.report is not None and self.report.resolve() == self.out.resolve():
            raise UnmaskError(f"--out and --report are both {self.out}; give the report another name")
        for source in self.sources:
            if source.is_dir() and self.out.resolve().is_relative_to(source.resolve()):
                raise UnmaskError(f"{self.out} is inside {source}, which is read; give another place with --out")

    def identity(self) -> dict[str, Any]:
        """Everything that determines the output. Only a run with the same identity resumes an interrupted one."""
        names = ("names", "language", "protocol", "quick", "column", "document", "format", "probability", "seed")
        return {
            "sources": [str(source) if str(source) == "-" else str(source.resolve()) for source in self.sources],
            "mode": self.to,
            "terms": str(self.terms),
            "content of the terms": _hash_file(self.terms if isinstance(self.terms, Path) else None),
            "source of the names": _hash_file(self.names_from),
            "lists": str(self.lists.resolve()) if self.lists else None,
            **{name: getattr(self, name) for name in names},
            "version of unmask": unmask.__version__,
        }


def _hash_file(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror}); give a CSV file") from None

"""Rewriting files: what a user asks for, and the run that does it on all cores and resumes after an interruption."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import unmask
from unmask.errors import Stopped, UnmaskError
from unmask.files import atomic_file, check_new_path
from unmask.options import option
from unmask.rewriting.files.blocks import DOCUMENTS
from unmask.rewriting.files.output import Draft, Output
from unmask.rewriting.files.sources import FORMATS, Place, Source, Step, find_sources, read_steps
from unmask.rewriting.files.summary import Counts, Summary
from unmask.rewriting.files.workers import Factory, Pool, Task, Work, WorkerLostError
from unmask.rewriting.options import DocumentSampler, RewriteOptions, build_rewriter


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
    seed: int = option(0, "Chooses the documents; the same one is always decided alike.")
    processes: int | None = option(None, "How many work at once. Default: all cores.", minimum=1)
    report: Path | None = option(None, "Write all counts here as JSON. Default: OUT.report.json.")
    restart: bool = option(False, "Forget an interrupted run and begin again.")

    @property
    def settings(self) -> RewriteOptions:
        """How the text is rewritten."""
        return self.part(RewriteOptions)

    @property
    def choice(self) -> DocumentSampler:
        """Which documents are rewritten."""
        return DocumentSampler(self.probability, self.seed)

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
        check_new_path(self.out)
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


Progress = Callable[[int, int | None], None]


def run(
    request: FileRewriteOptions,
    *,
    progress: Progress | None = None,
    factory: Factory = build_rewriter,
    stream: IO[bytes] | None = None,
) -> Summary:
    """Rewrite what the request names; the same request goes on where an interrupted one stopped.

    `progress` is called with the bytes read and the bytes there are (None if that is not known). Without `out`, the
    text goes to `stream`, or standard output. `factory` builds the rewriter in each process, and must be
    importable there.
    """
    began = time.monotonic()
    request.check()
    sources, others = find_sources(request.sources, request.format)
    single = len(sources) == 1 and not any(source.is_dir() for source in request.sources)
    if request.out is None and sources[0].format == "parquet":
        raise UnmaskError("Parquet is not written to standard output; name a file with --out")
    task = Task(factory, request.settings, request.choice, request.document, request.column)
    summary = Summary(others=others, out=request.out, report=request.report_path)
    with ExitStack() as cleanup:
        pool: Pool[Step] = Pool(task, request.processes)  # bad settings are found here, before anything is written
        cleanup.callback(pool.close)
        draft = Draft(request.out, single=single) if request.out else None
        if draft:
            cleanup.callback(draft.close)
            if summary.report and not draft.folder.exists():  # an interrupted run may have written it
                check_new_path(summary.report)
            draft.begin(request.identity(), restart=request.restart)
        elif summary.report:
            check_new_path(summary.report)
        if stream is None and draft is None:
            if sys.stdout is None:
                raise UnmaskError("there is no standard output; name a file with --out")
            stream = sys.stdout.buffer
        output = Output(summary, request.column, draft, stream)
        cleanup.callback(output.close)
        try:
            _rewrite(sources, task, pool, output, draft, progress)
        except KeyboardInterrupt:
            if draft and sources[0].is_standard_input:
                output.close()
                draft.remove()
            raise Stopped(_stopped(draft)) from None
        except WorkerLostError:
            raise
        except UnmaskError as error:
            output.close()
            if draft and not summary.files:
                draft.remove()
            elif draft:
                raise UnmaskError(f"{error}; what is finished is kept: mend this and give the same command") from None
            raise
        summary.seconds = time.monotonic() - began
        if summary.report:
            with atomic_file(summary.report) as file:
                content = {"request": request.identity(), **summary.record()}
                file.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
        if draft:
            draft.publish()
    return summary


def _rewrite(
    sources: list[Source],
    task: Task,
    pool: Pool[Step],
    output: Output,
    draft: Draft | None,
    progress: Progress | None,
) -> None:
    places: dict[str, Place] = {}
    finished = draft.finished(sources) if draft else {}
    for source in sources:
        if source.name in finished:
            entry = finished[source.name]
            output.add(source.title, Counts.from_record(entry["counts"]), entry["invalid_at"])
    output.summary.finished_before = len(finished)
    left = [source for source in sources if source.name not in finished]
    if draft:
        draft.tidy({source.name for source in sources})
        if at_work := draft.current(left):
            places[at_work["name"]] = output.go_on(at_work)
    sizes = {source.name: source.size for source in sources}
    total = None if None in sizes.values() else sum(size or 0 for size in sizes.values())
    behind = sum(sizes[name] or 0 for name in finished)

    def work() -> Iterator[tuple[Step, Work | None]]:
        for source in left:
            yield from read_steps(source, task, places.get(source.name, Place()))

    for step, outcome in pool.map(work()):
        output.take(step, outcome)
        if progress:
            progress(behind + step.done, total)
        if step.ends:
            behind += sizes[step.source.name] or step.done


def _stopped(draft: Draft | None) -> str:
    if draft is None or not draft.folder.exists():
        return "stopped; what came from standard input is not kept" if draft else "stopped; the output ends here"
    return f"stopped; the same command goes on from {draft.folder}, and --restart begins again"

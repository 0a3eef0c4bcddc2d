"""`unmask rewrite SOURCE`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.rewriting.files import FileRewriteOptions
    from unmask.rewriting.result import Rewritten

PIPE_CLOSED = 141  # what a shell shows for a program that wrote to a closed pipe
MOST_BYTES = 1 << 20


@with_options("unmask.rewriting.files.options:FileRewriteOptions")
def command(
    options: FileRewriteOptions,
    text: Annotated[str | None, typer.Option(help="Rewrite this text instead of files.")] = None,
    *,
    show: Annotated[bool, typer.Option("--show", help="Show every change of a short text, on standard error.")] = False,
) -> None:
    """Rewrite text into another gender: each person's turned, all female, all male, neutral, or removed.

    Everything else in the text stays the same, to the byte. What was changed, and which gendered words were left and
    why, is counted on standard error. An interrupted run with --out resumes with the same command.

    Examples:

    - `unmask rewrite --text "She lost her keys." --show`
    - `unmask rewrite letter.txt --to neutral > neutral.txt`
    - `unmask rewrite reviews.jsonl --column review --names --out swapped.jsonl`
    - `unmask rewrite corpus/ --probability 0.5 --seed 1 --out corpus-cds/`
    """
    import sys

    from unmask.errors import UnmaskError
    from unmask.rewriting.files import run

    if text is not None and (options.sources or options.out or options.report):
        raise UnmaskError("--text is printed, instead of files; leave out the files, --out and --report")
    if text is not None or show:
        _rewrite_text(text, options, marks=show)
        return
    if not options.sources and sys.stdin is not None and sys.stdin.isatty():
        typer.echo("Reading what you type; end with Ctrl-D on a line of its own (unmask rewrite --help)", err=True)
    is_shown = options.out is None and sys.stdout is not None and sys.stdout.isatty()
    with _allow_closed_pipe(), _show_bytes(hidden=is_shown) as progress:  # a bar would be drawn into the text
        summary = run(options, progress=progress)
    if is_shown:
        typer.echo("", err=True)
    for line in summary.lines():
        typer.echo(line, err=True)


def _rewrite_text(text: str | None, options: FileRewriteOptions, *, marks: bool) -> None:
    """Print a short text rewritten and, if asked, every change of it."""
    import sys

    from unmask.errors import UnmaskError
    from unmask.rewriting.files.documents import split_documents
    from unmask.rewriting.files.sources import find_sources
    from unmask.rewriting.options import build_rewriter
    from unmask.rewriting.result import Rewritten

    options.check()
    if sys.stdout is None:
        raise UnmaskError("there is no standard output; name a file with --out")
    if text is not None:
        content = text.encode("utf-8", "surrogateescape")
    else:
        sources, _ = find_sources(options.sources, options.format)
        if options.out or sources[0].format != "text":
            raise UnmaskError("--show is for a plain text that is printed; leave out --show, and changes are counted")
        with sources[0].open() as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UnmaskError(f"--show is for texts of up to {MOST_BYTES:,} bytes; leave it out to count changes")
    rewriter = build_rewriter(options)
    documents = []
    for document in split_documents(content, options.document):
        before = document.decode("utf-8", "surrogateescape")
        documents.append((before, rewriter.rewrite(before) if options.sampler.selects(document) else Rewritten(before)))
    with _allow_closed_pipe():
        sys.stdout.buffer.write("".join(after.text for _, after in documents).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.write(b"" if text is None else b"\n")
        sys.stdout.buffer.flush()
    if marks:
        if text is None and sys.stdout.isatty():
            sys.stderr.write("\n")
        _show_changes(documents)


def _show_changes(documents: list[tuple[str, Rewritten]]) -> None:
    from rich.console import Console
    from rich.text import Text

    from unmask.rewriting.files.summary import describe_changes, mark_changes

    console = Console(stderr=True, highlight=False)
    styles = {"": "", "before": "red strike", "after": "bold green", "left": "yellow"}
    plain = {"before": "[-{}-]", "after": "{{+{}+}}"}  # without colour, as word diffs write it
    marked = Text()
    for before, after in documents:
        for part, mark in mark_changes(before, after):
            readable = part.encode("utf-8", "replace").decode("utf-8")
            marked.append(readable if console.is_terminal else plain.get(mark, "{}").format(readable), styles[mark])
    console.print(marked, soft_wrap=True)
    for _, after in documents:
        for line in describe_changes(after):
            console.print(Text(f"  {line}"), soft_wrap=True)


@contextmanager
def _allow_closed_pipe() -> Iterator[None]:
    """End quietly if the reader of our output closes the pipe, as `| head` does."""
    import os
    import sys

    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left at the end goes nowhere
        raise typer.Exit(PIPE_CLOSED) from None


@contextmanager
def _show_bytes(*, hidden: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function to call with the bytes done and all there are; shown only in a terminal."""
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn

    from unmask.cli.output import open_bar

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with open_bar("Rewriting", *columns, hidden=hidden) as (update, _):
        yield lambda done, total: update(completed=done, total=total)

"""`unmask rewrite SOURCE`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unmask.counterfactual.change import Rewritten
    from unmask.rewriting import Request

PIPE_CLOSED = 141  # what a shell shows for a program that wrote to a closed pipe
SHOWN = 1 << 20


def command(
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Files or folders: plain text (.txt, .md), JSON lines (.jsonl, .ndjson), either as .gz, Parquet."
            " None, or -: standard input.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(help="Rewrite this text in place of files.")] = None,
    to: Annotated[
        str,
        typer.Option(help="swap (each person's gender turned), female, male, neutral (they, person …) or remove."),
    ] = "swap",
    terms: Annotated[
        str, typer.Option(help="Which words: pronouns, family, all, or your CSV with the columns male and female.")
    ] = "all",
    names: Annotated[bool, typer.Option("--names", help="Exchange first names too.")] = False,
    names_from: Annotated[
        Path | None, typer.Option(help="CSV with name, sex and count to match names by; turns on --names.")
    ] = None,
    language: Annotated[str, typer.Option(help="en or de.")] = "en",
    protocol: Annotated[
        str,
        typer.Option(
            help="sound, or published: swap as name-based CDS; female, male and remove as the study of film reviews."
        ),
    ] = "sound",
    lists: Annotated[
        Path | None, typer.Option(help="For published: the folder of the word lists that its authors released.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Do not ask the embedded model where her may be his or him.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file, or for folders the folder, to write; it must not exist. Default: standard output."
        ),
    ] = None,
    column: Annotated[str, typer.Option(help="The field of JSON lines, or column of Parquet, with the text.")] = "text",
    document: Annotated[
        str, typer.Option(help="What is a document in plain text: paragraph (between blank lines), line or file.")
    ] = "paragraph",
    form: Annotated[
        str, typer.Option("--format", help="text, jsonl or parquet; auto goes by the ending of the name.")
    ] = "auto",
    probability: Annotated[
        float | None,
        typer.Option(
            help="Rewrite each document with this probability (counterfactual data substitution). Default: all.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the documents; the same one is always decided alike.")] = 0,
    processes: Annotated[
        int | None, typer.Option(help="How many work at once. Default: all cores.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write all counts here as JSON. Default: OUT.report.json.", show_default=False)
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Show every change of a short text, on standard error.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Forget an interrupted run and begin again.")] = False,
) -> None:
    """Rewrite text into another gender: each person's turned, all female, all male, neutral, or removed.

    Everything that is no gendered word comes out as it went in, to the byte. What was changed, and which gendered words
    were left and why, is counted on standard error. A run with --out that is interrupted goes on where it stopped when
    the same command is given again.

    Examples:

    - `unmask rewrite --text "She lost her keys." --show`
    - `unmask rewrite letter.txt --to neutral > neutral.txt`
    - `unmask rewrite reviews.jsonl --column review --names --out swapped.jsonl`
    - `unmask rewrite corpus/ --probability 0.5 --seed 1 --out corpus-cds/`
    """
    from unmask.counterfactual.settings import TERM_SETS, Settings
    from unmask.errors import UnmaskError

    own = terms not in TERM_SETS and (terms.lower().endswith(".csv") or Path(terms).exists())
    settings = Settings(
        to=to,
        terms=Path(terms) if own else terms,
        names=names or names_from is not None,
        names_from=names_from,
        language=language,
        protocol=protocol,
        lists=lists,
        quick=quick,
    )
    if text is not None and (sources or out or report):
        raise UnmaskError("--text is printed, and comes in place of files; leave out the files, --out and --report")

    import sys

    from unmask.rewriting import Request, run

    request = Request(
        sources=tuple(sources or ()),
        settings=settings,
        out=out,
        column=column,
        document=document,
        format=form,
        probability=probability,
        seed=seed,
        processes=processes,
        report=report,
        restart=restart,
    )
    if text is not None or show:
        _show(text, request, marks=show)
        return
    if not sources and sys.stdin is not None and sys.stdin.isatty():
        typer.echo("Reading what you type; end with Ctrl-D on a line of its own (unmask rewrite --help)", err=True)
    shown = out is None and sys.stdout is not None and sys.stdout.isatty()
    with _pipe(), _bar(hidden=shown) as progress:  # a bar would be drawn into the text
        summary = run(request, progress=progress)
    if shown:
        typer.echo("", err=True)
    for line in summary.lines():
        typer.echo(line, err=True)


def _show(text: str | None, request: Request, *, marks: bool) -> None:
    """Print a short text rewritten and, if asked, every change of it."""
    import sys

    from unmask.counterfactual.change import Rewritten
    from unmask.counterfactual.settings import build
    from unmask.errors import UnmaskError
    from unmask.rewriting.blocks import documents
    from unmask.rewriting.sources import find

    request.check()
    if sys.stdout is None:
        raise UnmaskError("there is no standard output; name a file with --out")
    if text is not None:
        content = text.encode("utf-8", "surrogateescape")
    else:
        found, _ = find(request.sources, request.format)
        if request.out or found[0].format != "text":
            raise UnmaskError("--show is for a plain text that is printed; leave out --show, and changes are counted")
        with found[0].open() as file:
            content = file.read(SHOWN + 1)
        if len(content) > SHOWN:
            raise UnmaskError(f"--show is for texts of up to {SHOWN:,} bytes; leave it out, and changes are counted")
    rewriter = build(request.settings)
    done = []
    for document in documents(content, request.document):
        before = document.decode("utf-8", "surrogateescape")
        done.append((before, rewriter.rewrite(before) if request.choice.of(document) else Rewritten(before)))
    with _pipe():
        sys.stdout.buffer.write("".join(after.text for _, after in done).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.write(b"" if text is None else b"\n")
        sys.stdout.buffer.flush()
    if marks:
        if text is None and sys.stdout.isatty():
            sys.stderr.write("\n")
        _mark(done)


def _mark(done: list[tuple[str, Rewritten]]) -> None:
    from rich.console import Console
    from rich.text import Text

    from unmask.rewriting.marks import marked, notes

    console = Console(stderr=True, highlight=False)
    styles = {"": "", "before": "red strike", "after": "bold green", "left": "yellow"}
    plain = {"before": "[-{}-]", "after": "{{+{}+}}"}  # without colour, as word diffs write it
    shown = Text()
    for before, after in done:
        for part, mark in marked(before, after):
            readable = part.encode("utf-8", "replace").decode("utf-8")
            shown.append(readable if console.is_terminal else plain.get(mark, "{}").format(readable), styles[mark])
    console.print(shown, soft_wrap=True)
    for _, after in done:
        for line in notes(after):
            console.print(Text(f"  {line}"), soft_wrap=True)


@contextmanager
def _pipe() -> Iterator[None]:
    """Whoever reads our output may have had enough (`| head`); that is no error of theirs or ours."""
    import os
    import sys

    try:
        yield
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left at the end goes nowhere
        raise typer.Exit(PIPE_CLOSED) from None


@contextmanager
def _bar(*, hidden: bool) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function to call with the bytes done and all there are; shown only in a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("Rewriting"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as shown:
        task = shown.add_task("", total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)

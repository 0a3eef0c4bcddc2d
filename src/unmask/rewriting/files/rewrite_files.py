"""The run that rewrites files on all cores, and resumes after an interruption."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import IO

from unmask.errors import Stopped, UnmaskError
from unmask.files import atomic_file, check_new_path
from unmask.rewriting.files.options import FileRewriteOptions
from unmask.rewriting.files.output import Draft, Output
from unmask.rewriting.files.sources import Position, Source, find_sources, read_blocks
from unmask.rewriting.files.summary import Counts, Summary
from unmask.rewriting.files.workers import Factory, Pool, WorkerLostError
from unmask.rewriting.options import build_rewriter

Progress = Callable[[int, int | None], None]


def run(
    options: FileRewriteOptions,
    *,
    progress: Progress | None = None,
    factory: Factory = build_rewriter,
    stream: IO[bytes] | None = None,
) -> Summary:
    """Rewrite what the options name; the same options resume a run that was interrupted.

    `progress` is called with the bytes read and the bytes there are (None if that is not known). Without `out`, the
    text goes to `stream`, or standard output. `factory` builds the rewriter in each process, and must be
    importable there.
    """
    started = time.monotonic()
    options.check()
    sources, others = find_sources(options.sources, options.format)
    if options.out is None and sources[0].format == "parquet":
        raise UnmaskError("Parquet is not written to standard output; name a file with --out")
    summary = Summary(others=others, out=options.out, report=options.report_path)
    with ExitStack() as cleanup:
        pool = Pool(options, factory)  # wrong options are found here, before anything is written
        cleanup.callback(pool.close)
        single = len(sources) == 1 and not any(source.is_dir() for source in options.sources)
        draft = Draft(options.out, single=single) if options.out else None
        if draft:
            cleanup.callback(draft.close)
        if summary.report and not (draft and draft.folder.exists()):  # an interrupted run may have written it
            check_new_path(summary.report)
        if draft:
            draft.begin(options.identity(), restart=options.restart)
        elif stream is None:
            if sys.stdout is None:
                raise UnmaskError("there is no standard output; name a file with --out")
            stream = sys.stdout.buffer
        output = Output(summary, options.column, draft, stream)
        cleanup.callback(output.close)
        try:
            _rewrite_sources(sources, options, pool, output, draft, progress)
        except KeyboardInterrupt:
            if draft and sources[0].is_standard_input:
                output.close()
                draft.remove()
            raise Stopped(_describe_stop(draft)) from None
        except WorkerLostError:
            raise
        except UnmaskError as error:
            output.close()
            if draft and not summary.files:
                draft.remove()
            elif draft:
                raise UnmaskError(
                    f"{error}; finished files are kept: fix this and run the same command again"
                ) from None
            raise
        summary.seconds = time.monotonic() - started
        if summary.report:
            with atomic_file(summary.report) as file:
                content = {"request": options.identity(), **summary.to_record()}
                file.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
        if draft:
            draft.publish()
    return summary


def _rewrite_sources(
    sources: list[Source],
    options: FileRewriteOptions,
    pool: Pool,
    output: Output,
    draft: Draft | None,
    progress: Progress | None,
) -> None:
    by_name = {source.name: source for source in sources}
    starts: dict[str, Position] = {}
    finished = draft.finished(by_name) if draft else {}
    for source in sources:
        if source.name in finished:
            output.add_file(source, Counts.from_record(finished[source.name]["counts"]))
    output.summary.finished_before = len(finished)
    remaining = {name: source for name, source in by_name.items() if name not in finished}
    if draft:
        draft.remove_others(set(by_name))
        if current := draft.current(remaining):
            starts[current["name"]] = output.resume(current)
    sizes = {name: source.size for name, source in by_name.items()}
    total = None if None in sizes.values() else sum(size or 0 for size in sizes.values())
    bytes_done = sum(sizes[name] or 0 for name in finished)
    blocks = (
        block
        for name, source in remaining.items()
        for block in read_blocks(source, options, starts.get(name, Position()))
    )
    for block, content, counts in pool.rewrite_blocks(blocks):
        output.write(block, content, counts)
        if progress:
            progress(bytes_done + block.bytes_read, total)
        if block.is_end:
            bytes_done += sizes[block.source.name] or block.bytes_read


def _describe_stop(draft: Draft | None) -> str:
    if draft is None or not draft.folder.exists():
        return "stopped; what came from standard input is not kept" if draft else "stopped; the output ends here"
    return f"stopped; the same command resumes from {draft.folder}, and --restart starts again"

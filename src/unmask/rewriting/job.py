"""From a request to rewritten files: find them, do the work on all cores, go on where an earlier run stopped."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO

from unmask.counterfactual.settings import build
from unmask.errors import Stopped, UnmaskError
from unmask.files import refuse_existing, whole_file
from unmask.rewriting.counts import Counts, Summary
from unmask.rewriting.draft import Draft
from unmask.rewriting.output import Output
from unmask.rewriting.pool import Pool, WorkerLostError
from unmask.rewriting.request import RewriteOptions
from unmask.rewriting.sources import Source, find
from unmask.rewriting.steps import Place, Step, steps
from unmask.rewriting.work import Factory, Task, Work

Progress = Callable[[int, int | None], None]


def run(
    request: RewriteOptions,
    *,
    progress: Progress | None = None,
    factory: Factory = build,
    stream: IO[bytes] | None = None,
) -> Summary:
    """Rewrite what the request names; the same request goes on where an interrupted one stopped.

    `progress` is called with the bytes read and the bytes there are (None if that is not known). Without `out`, the
    text goes to `stream`, or standard output. `factory` builds the rewriter in each process, and must be
    importable there.
    """
    began = time.monotonic()
    request.check()
    sources, others = find(request.sources, request.format)
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
                refuse_existing(summary.report)
            draft.begin(request.identity(), restart=request.restart)
        elif summary.report:
            refuse_existing(summary.report)
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
            with whole_file(summary.report) as file:
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
            yield from steps(source, task, places.get(source.name, Place()))

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

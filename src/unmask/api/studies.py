"""Running a study from Python."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.studies.execution import Watch as StudyWatch
    from unmask.studies.imdb63.job import Engine, Finished
    from unmask.studies.imdb63.study import Plan, Request


def run_study(
    request: Request,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished, Path | None]:
    """Run the study of 63 classifiers, and write its page; gives what came of it and where the page is.

    The same call goes on where an earlier one stopped. `planned` is told the cells before the work begins, and `watch`
    of every cell that starts, says something, or ends.
    """
    from unmask.report import study
    from unmask.studies.imdb63 import job as imdb63

    finished = imdb63.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else study.write(finished.findings, Path(out))

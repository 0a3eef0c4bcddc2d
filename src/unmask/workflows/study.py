"""Running a study from Python."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.studies.engine import Engine, Finished, Plan
    from unmask.studies.execution import Watch as StudyWatch
    from unmask.studies.imdb63.findings import Findings
    from unmask.studies.imdb63.options import ReviewStudyOptions
    from unmask.studies.lipstick.options import LipstickOptions
    from unmask.studies.lipstick.tables import Findings as LipstickFindings
    from unmask.studies.meta.options import PlantingOptions
    from unmask.studies.meta.tables import Findings as MetaFindings
    from unmask.studies.nli.options import InferenceStudyOptions
    from unmask.studies.nli.tables import Findings as InferenceFindings


def run_study(
    request: ReviewStudyOptions,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished[Findings], Path | None]:
    """Run the study of 63 classifiers, and write its page; gives what came of it and where the page is.

    The same call goes on where an earlier one stopped. `planned` is told the cells before the work begins, and `watch`
    of every cell that starts, says something, or ends.
    """
    from unmask.studies.imdb63 import study as job
    from unmask.studies.reports import imdb63 as study

    finished = job.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else study.write(finished.findings, Path(out))


def run_inference_study(
    request: InferenceStudyOptions,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished[InferenceFindings], Path | None]:
    """Run the study of inference for a list of models, and write its page; else as `run_study`."""
    from unmask.studies.nli import study
    from unmask.studies.reports import nli as inference_study

    finished = study.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else inference_study.write(finished.findings, Path(out))


def run_meta_study(
    request: PlantingOptions,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished[MetaFindings], Path | None]:
    """Ask whether measures track bias that is planted on purpose, and write a page; else as `run_study`."""
    from unmask.studies.meta import study
    from unmask.studies.reports import meta

    finished = study.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else meta.write(finished.findings, Path(out))


def run_lipstick_study(
    request: LipstickOptions,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished[LipstickFindings], Path | None]:
    """Ask whether bias is gone after debiasing, or only hidden, and write a page; else as `run_study`."""
    from unmask.studies.lipstick import study
    from unmask.studies.reports import lipstick

    finished = study.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else lipstick.write(finished.findings, Path(out))

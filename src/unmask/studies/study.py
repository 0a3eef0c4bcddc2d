"""What a study is, which studies there are, and how one runs.

    options ─► Study.steps ─► run (in this process or on Ray) ─► FinishedSteps ─► Study.report ─► page

A plug-in registers a `Study` class, or an instance of one, as an entry point in the group `unmask.studies`. Importing a
study must be quick: modules that need pandas, SciPy or torch are imported inside methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from unmask import plugins
from unmask.options import EngineOptions, Options, option
from unmask.studies.steps import Outcome, Step, Watch, run_locally
from unmask.studies.store import Store

if TYPE_CHECKING:
    from rich.console import Console

    from unmask.studies.report import StudyReport

BUILT_IN = {
    "bec-pro": "unmask.studies.becpro:ProfessionStudy",
    "imdb-63": "unmask.studies.imdb63:ReviewStudy",
    "nli-plms": "unmask.studies.nli:InferenceStudy",
    "nli-meta": "unmask.studies.meta:InferenceMetaStudy",
    "meta": "unmask.studies.meta:MetaStudy",
    "lipstick-static": "unmask.studies.lipstick:StaticLipstickStudy",
    "lipstick-contextual": "unmask.studies.lipstick:ContextualLipstickStudy",
    "calibration": "unmask.studies.calibration:CalibrationStudy",
}
PROTOCOLS = ("sound", "published")
PROTOCOL_HELP = "sound: corrected method. published: exact reproduction of the paper, errors included."
AnyStep = TypeVar("AnyStep")


class RunOptions(EngineOptions):
    """Where the steps of a study are stored, and what runs them."""

    out: Path = option(..., "The folder of the study. Steps that are done there are kept, and the others run.")


@dataclass(frozen=True)
class FinishedSteps:
    """The steps of a study after a run, and what became of them."""

    steps: Sequence[Step]
    outcomes: Sequence[Outcome]
    """Sorted so that each comes after the steps it needs."""
    notes: Sequence[str] = ()
    """What a user has to know about the models, in a line each."""

    @cached_property
    def folders(self) -> dict[str, Path]:
        """The folders of the results that there are, by the name of the step."""
        return {
            outcome.name: Path(outcome.folder) for outcome in self.outcomes if outcome.has_result and outcome.folder
        }

    def results(self, kind: type[AnyStep]) -> Iterator[tuple[AnyStep, Path]]:
        """Yield each step of a class that has a result, with its folder, in the order of the study."""
        for step in self.steps:
            if isinstance(step, kind) and step.name in self.folders:
                yield step, self.folders[step.name]

    @property
    def failures(self) -> list[str]:
        """What has no result, and why, in a line each."""
        return [f"{outcome.name}: {outcome.error}" for outcome in self.outcomes if not outcome.has_result]

    @property
    def note_settings(self) -> dict[str, str]:
        """The notes as a setting for the page, if there are any."""
        return {"note": "; ".join(self.notes)} if self.notes else {}

    @property
    def summary(self) -> str:
        """How the run went, in one line."""
        statuses = [outcome.status for outcome in self.outcomes]
        counts = [f"{statuses.count(status)} {status}" for status in ("done", "kept", "failed", "skipped")]
        kept = ", ".join(count for count in counts if not count.startswith("0 "))
        return f"{len(statuses)} step{'' if len(statuses) == 1 else 's'}: {kept}"


class Study(ABC):
    """An experiment: steps whose results are stored, and a report of them."""

    name: ClassVar[str]
    """As users type it: small letters, digits and hyphens."""
    title: ClassVar[str]
    """The heading of its page."""
    about: ClassVar[str]
    """What it does, in one line, for lists."""
    citation: ClassVar[str]
    description: ClassVar[str]
    """The help of its command, in Markdown, with examples."""
    Options: ClassVar[type[Options]]

    @abstractmethod
    def steps(self, options: Any) -> Sequence[Step]:
        """Return what is to be done. Raises an error for options that cannot work."""

    def notes(self, options: Any, steps: Sequence[Step]) -> Sequence[str]:
        """Return what a user has to know before the work begins, in a line each.

        Default: the models that lose their head when steps with a `new_head` train them.
        """
        heads = dict.fromkeys(head for step in steps if (head := getattr(step, "new_head", None)))
        if not heads:
            return ()
        from unmask.models.loading import describe_lost_heads

        return [note for model, labels in heads for note in describe_lost_heads([model], labels, options.loading)]

    @abstractmethod
    def report(self, finished: FinishedSteps, options: Any) -> StudyReport | None:
        """Return what was found, or None where no step has a result to report."""


@dataclass(frozen=True)
class StudyRun:
    """What a run of a study came to."""

    finished: FinishedSteps
    report: StudyReport | None
    """None where there is no result to report."""
    page: Path | None
    """The HTML page of the report."""

    @property
    def failures(self) -> list[str]:
        """What has no result, and why, in a line each."""
        return self.finished.failures

    def show(self, console: Console) -> None:
        """Print what was found, all tables, and how the run went."""
        if self.report is not None:
            self.report.show(console)
        if self.finished.outcomes:
            console.print(self.finished.summary, markup=False, highlight=False, soft_wrap=True)

    def to_json(self) -> dict[str, Any]:
        """Return the findings and the numbers of all tables as plain values."""
        content = {"headline": None, "answers": {}, "tables": {}} if self.report is None else self.report.to_json()
        return content | {"failures": self.failures, "report": None if self.page is None else str(self.page)}


def run_study(
    study: str | Study,
    options: Options | Mapping[str, Any],
    out: str | PathLike[str],
    engine: EngineOptions | None = None,
    *,
    planned: Callable[[Sequence[Step], Sequence[str]], None] | None = None,
    watch: Watch | None = None,
) -> StudyRun:
    """Run a study and write its page. After an interruption, the same call continues.

    Args:
        study: A study or its name.
        options: The study's options, or values for them.
        out: The folder of the study.
        engine: What runs the steps. Default: this process.
        planned: Called with the steps and notes before the work begins.
        watch: Called when a step starts, reports progress, or ends.

    Returns:
        The finished steps, the report, and the path of the page. The report is None if too few steps succeeded.
    """
    study = get_study(study) if isinstance(study, str) else study
    options = options if isinstance(options, Options) else study.Options(**options)
    store = Store(Path(out))
    store.check_study(study.name)
    steps = study.steps(options)
    notes = study.notes(options, steps)
    if planned:
        planned(steps, notes)
    store.prepare_folders(study.name)
    finished = FinishedSteps(steps, run_steps(steps, store, engine, watch), notes)
    report = study.report(finished, options)
    return StudyRun(finished, report, None if report is None else report.write(study, finished, store.root))


def run_steps(
    steps: Sequence[Step], store: Store, engine: EngineOptions | None = None, watch: Watch | None = None
) -> list[Outcome]:
    """Run all steps that are not done, in this process or on Ray, and return their outcomes."""
    if engine is None or engine.engine == "local":
        return run_locally(steps, store, watch)
    from unmask.studies.ray import run_on_ray

    return run_on_ray(steps, store, address=engine.address, cpus=engine.cpus, gpus=engine.gpus, watch=watch)


def get_study(name: str) -> Study:
    """Return the study of a name, ours or a plug-in's."""
    plugin = plugins.named("study", name, BUILT_IN)
    if plugin is None:
        return _load_built_in(name)
    study: Study = plugin.load(Study)  # type: ignore[type-abstract]
    return study


def study_names() -> list[str]:
    """Return the names of all studies. Nothing is imported."""
    return [*BUILT_IN, *(plugin.name for plugin in plugins.found("study"))]


@cache
def _load_built_in(name: str) -> Study:
    module, _, class_name = BUILT_IN[name].partition(":")
    study: Study = getattr(import_module(module), class_name)()
    return study

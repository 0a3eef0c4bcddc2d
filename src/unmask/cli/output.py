"""What commands print: progress on standard error, so that standard output stays clean, and results."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from unmask.steps import step

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from unmask.models.roles import Progress
    from unmask.studies.steps import Event, Step
    from unmask.studies.steps import Watch as StudyWatch
    from unmask.studies.study import StudyRun
    from unmask.training.finetune import Say
    from unmask.training.loop import News, Watch
    from unmask.workflows.audit import Audit
    from unmask.workflows.compare import Compared


@contextmanager
def open_bar(
    *columns: ProgressColumn | str, hidden: bool = False, **fields: Any
) -> Iterator[tuple[Callable[..., None], Say]]:
    """Yield a function that updates a progress bar, and one that prints a line above it.

    The bar is on standard error, and only a terminal shows it. `fields` are the first values of its text columns.
    """
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=hidden or not console.is_terminal) as bar:
        task = bar.add_task("", total=None, **fields)
        yield partial(bar.update, task), lambda line: console.print(Text(line), soft_wrap=True)


@contextmanager
def show_bar(title: str) -> Iterator[Progress]:
    """Yield a function to call with how much is done and of how much."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    with open_bar(title, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as (update, _):
        yield lambda done, total: update(completed=done, total=total)


@contextmanager
def show_training() -> Iterator[tuple[Say, Watch]]:
    """Yield a function that prints a line and one that shows the progress of training: a bar, or lines elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn

    columns = (BarColumn(), MofNCompleteColumn(), "loss {task.fields[loss]}, {task.fields[left]} left")
    is_first = os.environ.get("RANK", "0") == "0"  # of several processes, one shows the progress
    with open_bar(*columns, hidden=not is_first, loss="–", left="–") as (update, say):

        def watch(news: News) -> None:
            update(completed=news.step, total=news.steps, loss=f"{news.loss:.3f}", left=_format_time(news.left))
            if news.evaluation is not None:
                names = [name for name in ("loss", "accuracy") if name in news.evaluation]
                figures = ", ".join(f"{name} {news.evaluation[name]:.4f}" for name in names)
                say(
                    f"epoch {news.epoch:.2f}, step {news.step} of {news.steps}:"
                    f" training loss {news.loss:.4f}, validation {figures}; about {_format_time(news.left)} left"
                )

        yield say, watch


def _format_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


@contextmanager
def show_steps(title: str = "Steps") -> Iterator[tuple[Callable[[Sequence[Step], Sequence[str]], None], StudyWatch]]:
    """Yield a function that says what there is to do, and one that shows the progress of the steps of a study."""
    from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn, TimeRemainingColumn

    counts = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with open_bar(title, *counts, "left:", TimeRemainingColumn(), "{task.fields[now]}", now="") as (update, say):

        def planned(steps: Sequence[Step], notes: Sequence[str]) -> None:
            kinds = [step.kind for step in steps]
            counts = ", ".join(f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds))
            for line in (*([f"{len(kinds)} step{'' if len(kinds) == 1 else 's'}: {counts}"] if kinds else []), *notes):
                say(line)

        def watch(event: Event) -> None:
            line = f"{event.name}: {event.line}" if event.line else event.name
            update(completed=event.ended, total=event.total, now=line[:70])
            if event.outcome is not None and event.outcome.status != "kept":
                why = f" ({event.outcome.error})" if event.outcome.error else f", {event.outcome.seconds:.0f} s"
                say(f"{event.ended} of {event.total}: {event.outcome.status} {event.name}{why}")

        yield planned, watch


def show_result(finished: Audit | Compared, folder: Path, *, as_json: bool) -> None:
    """Write the folder, and print the result as JSON, or a summary and the path of the report."""
    with step(f"Writing {folder}"):
        finished.save(folder)
    if as_json:
        typer.echo(finished.result.model_dump_json(indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    finished.show(console)
    console.print(Text(f"\nReport: {folder / 'report.html'}"), soft_wrap=True)


def show_study(study: StudyRun, *, as_json: bool) -> None:
    """Print what a study found, what failed, and where the page is."""
    if as_json:
        typer.echo(json.dumps(study.to_json(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    study.show(console)
    for line in study.failures:
        typer.echo(f"unmask: {line}", err=True)
    if study.page is not None:
        console.print(Text(f"Report: {study.page}"), soft_wrap=True)

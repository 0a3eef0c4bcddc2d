"""What commands print: progress on standard error, so that standard output stays clean, and results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.steps import step

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.studies.steps import Event, Step
    from unmask.studies.steps import Watch as StudyWatch
    from unmask.studies.study import StudyRun
    from unmask.training.loop import News, Watch
    from unmask.workflows.audit import Audit
    from unmask.workflows.compare import Compared


@contextmanager
def show_bar(title: str) -> Iterator[Progress]:
    """Yield a function to call with how much is done and of how much; shown only in a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task(title, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def show_training() -> Iterator[tuple[Callable[[str], None], Watch]]:
    """Yield a function that prints a line and one that shows the progress of training: a bar, or lines elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}, {task.fields[left]} left"),
    )
    first = os.environ.get("RANK", "0") == "0"  # of several processes, one shows how it goes
    with Bar(*columns, console=console, transient=True, disable=not (console.is_terminal and first)) as shown:
        task = shown.add_task("", total=None, loss="–", left="–")

        def say(line: str) -> None:
            console.print(Text(line), soft_wrap=True)

        def watch(news: News) -> None:
            loss, left = f"{news.loss:.3f}", _format_time(news.left)
            shown.update(task, completed=news.step, total=news.steps, loss=loss, left=left)
            if news.evaluation is not None:
                known = [name for name in ("loss", "accuracy") if name in news.evaluation]
                figures = ", ".join(f"{name} {news.evaluation[name]:.4f}" for name in known)
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
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True)
    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("", total=None, now="")

        def planned(steps: Sequence[Step], notes: Sequence[str]) -> None:
            kinds = [step.kind for step in steps]
            counts = ", ".join(f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds))
            for line in (f"{len(kinds)} steps: {counts}", *notes):
                console.print(Text(line), soft_wrap=True)

        def watch(event: Event) -> None:
            line = f"{event.name}: {event.line}" if event.line else event.name
            shown.update(task, completed=event.ended, total=event.total, now=line[:70])
            if event.outcome is not None and event.outcome.status != "kept":
                why = f" ({event.outcome.error})" if event.outcome.error else f", {event.outcome.seconds:.0f} s"
                count = f"{event.ended} of {event.total}"
                console.print(Text(f"{count}: {event.outcome.status} {event.name}{why}"), soft_wrap=True)

        yield planned, watch


def show_result(made: Audit | Compared, folder: Path, *, as_json: bool) -> None:
    """Write the folder, and print the result as JSON, or a summary and the path of the report."""
    import typer

    with step(f"Writing {folder}"):
        made.save(folder)
    if as_json:
        typer.echo(made.result.model_dump_json(indent=2))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console()
    made.show(console)
    console.print(Text(f"\nReport: {folder / 'report.html'}"), soft_wrap=True)


def show_study(study: StudyRun, *, as_json: bool) -> None:
    """Print what a study found, what failed, and where the page is."""
    import json

    import typer

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

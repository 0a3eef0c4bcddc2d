"""What every study is run with: an engine for its cells, the folder they are kept in, and what a run comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from unmask.errors import UnmaskError
from unmask.files import atomic_file
from unmask.options import EngineOptions
from unmask.spreadsheets import to_csv
from unmask.studies import execution
from unmask.studies import ray as on_ray
from unmask.studies.steps import Step
from unmask.studies.store import Store
from unmask.studies.steps import Outcome, Watch
from unmask.studies.table import Table

if TYPE_CHECKING:
    import pandas as pd


class Engine(EngineOptions):
    """Runs cells: in this process, or on Ray."""

    def run(self, cells: Sequence[Cell], store: Store, watch: Watch | None) -> list[Outcome]:
        """Do what is not done."""
        if self.engine == "local":
            return execution.run_locally(cells, store, watch=watch)
        return on_ray.run_on_ray(cells, store, address=self.address, cpus=self.cpus, gpus=self.gpus, watch=watch)


Told = TypeVar("Told", bound="Plan")


def carry_out(
    study: str,
    plan: Callable[[], Told],
    out: Path,
    engine: Engine | None,
    *,
    planned: Callable[[Told], None] | None,
    watch: Watch | None,
) -> tuple[Told, list[Outcome]]:
    """Do all cells of a plan that are not done under `out`; what cannot work is refused before anything is planned.

    `study` is its name: no other study may have the folder. `planned` is told what there is to do before it begins.
    """
    engine = engine or Engine()
    store = Store(out)
    refuse_strange(store, study)
    todo = plan()
    if planned:
        planned(todo)
    store.claim(study)
    return todo, engine.run(todo.cells, store, watch)


class Plan(Protocol):
    """What a study has to do, at least."""

    @property
    def cells(self) -> Sequence[Cell]:
        """All its cells."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a user has to know before the work begins, in a line each."""
        ...


class Findings(Protocol):
    """What a study found, as far as every terminal can show it."""

    @property
    def headline(self) -> str:
        """The finding in words."""
        ...

    @property
    def answered(self) -> Sequence[tuple[str, str]]:
        """The paper's questions, each with its answer; empty if there are none."""
        ...

    @property
    def printed(self) -> Sequence[Table]:
        """All tables, in order."""
        ...


Found = TypeVar("Found", bound=Findings, covariant=True)


@dataclass(frozen=True)
class Finished(Generic[Found]):
    """What a run came to."""

    outcomes: list[Outcome]
    findings: Found | None
    """None where no cell could be measured."""

    @property
    def failures(self) -> list[str]:
        """What has no result, and why."""
        return failures(self.outcomes)


def failures(outcomes: Sequence[Outcome]) -> list[str]:
    """What has no result, and why, in a line each."""
    return [f"{one.name}: {one.error}" for one in outcomes if not one.has_result]


def noted(plan: Plan) -> dict[str, str]:
    """The notes of a plan as a setting, if there are any."""
    return {"note": "; ".join(plan.notes)} if plan.notes else {}


def summary(outcomes: Sequence[Outcome]) -> str:
    """How a run went, in one line."""
    counts = {status: sum(one.status == status for one in outcomes) for status in ("done", "kept", "failed", "skipped")}
    said = [f"{count} {status}" for status, count in counts.items() if count]
    return f"{len(outcomes)} cells: {', '.join(said)}" if said else "no cells"


def refuse_strange(store: Store, study: str) -> None:
    """Never write into a folder that holds something else, or another study."""
    out, other = store.root, store.study()
    if out.is_file():
        raise UnmaskError(f"{out} is a file; give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / "cells").is_dir():
        raise UnmaskError(f"{out} holds something else than a study; give another folder with --out")
    if other not in (None, study):
        raise UnmaskError(f"{out} holds the study {other}, and this is {study}; give another folder with --out")


def keep(frame: pd.DataFrame, path: Path) -> None:
    """Write a table of cells as CSV; an empty one takes away what an earlier run, that asked for more, has left."""
    if not len(frame):
        path.unlink(missing_ok=True)
        return
    with atomic_file(path) as draft:
        draft.write_text(to_csv(frame), encoding="utf-8")

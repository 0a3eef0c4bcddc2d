"""Run the study and gather what it found; the tables of cells are written beside them as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import unmask
from unmask.errors import UnmaskError
from unmask.files import whole_file
from unmask.models.sources import find
from unmask.studies import local
from unmask.studies import ray as on_ray
from unmask.studies.cells import Cell
from unmask.studies.execution import Outcome, Watch
from unmask.studies.imdb63.findings import Findings, findings
from unmask.studies.imdb63.grid import chosen_models
from unmask.studies.imdb63.study import Plan, Request, failures, plan, table
from unmask.studies.imdb63.tables import name_of
from unmask.studies.store import Store

if TYPE_CHECKING:
    import pandas as pd

ENGINES = ("local", "ray")
CPUS = 1.0
CELLS, BATCHES = "cells.csv", "batches.csv"


@dataclass(frozen=True)
class Engine:
    """How cells are run: in this process, or on Ray."""

    name: str = "local"
    address: str | None = None
    cpus: float = CPUS
    """For each cell on Ray."""
    gpus: float | None = None
    """For each cell on Ray that wants one; None: one, where there is one."""

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.name not in ENGINES:
            raise UnmaskError(f"unknown engine {self.name!r}; choose from: {', '.join(ENGINES)}")
        if self.name == "local" and self.address is not None:
            raise UnmaskError(f"the address {self.address} is of a Ray cluster; add --engine ray")
        if self.cpus <= 0 or (self.gpus is not None and self.gpus < 0):
            given = f"--cpus {self.cpus:g}" if self.cpus <= 0 else f"--gpus {self.gpus:g}"
            raise UnmaskError(f"{given} cannot be; give more than 0 CPUs, and 0 GPUs or more")
        if self.name == "local" and (self.cpus != CPUS or self.gpus is not None):
            given = f"--cpus {self.cpus:g}" if self.gpus is None else f"--gpus {self.gpus:g}"
            raise UnmaskError(
                f"{given} is for cells on Ray, and the engine is local; add --engine ray, or leave it out"
            )

    def run(self, cells: Sequence[Cell], store: Store, watch: Watch | None) -> list[Outcome]:
        """Do what is not done."""
        if self.name == "local":
            return local.run(cells, store, watch=watch)
        return on_ray.run(cells, store, address=self.address, cpus=self.cpus, gpus=self.gpus, watch=watch)


@dataclass(frozen=True)
class Finished:
    """What a run came to."""

    outcomes: list[Outcome]
    findings: Findings | None
    """None where no cell could be measured."""

    @property
    def failures(self) -> list[str]:
        """What has no result, and why."""
        return failures(self.outcomes)


def run(
    request: Request,
    out: Path,
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: Watch | None = None,
) -> Finished:
    """Do all cells that are not done under `out`, and gather those that are; the same call goes on after a stop.

    `planned` is told what there is to do before it begins.
    """
    engine = engine or Engine()
    engine.check()
    _refuse_strange(out)
    todo = plan(request)
    for base in chosen_models(request.models):
        find(base.model, request.loading)  # a wrong name is said before the work
    if planned:
        planned(todo)
    outcomes = engine.run(todo.cells, Store(out), watch)
    cells, batches = table(todo.measured, outcomes), table(todo.batches, outcomes)
    for frame, name in ((cells, CELLS), (batches, BATCHES)):
        if len(frame):
            _write(frame, out / name)
        else:
            (out / name).unlink(missing_ok=True)  # of an earlier run that asked for more
    if not len(cells):
        return Finished(outcomes, None)
    found = findings(
        cells,
        batches=batches if len(batches) else None,
        settings_of_all=described(request),
        failures=failures(outcomes),
        asked=[
            name_of(one.trained.base.name, one.terms, one.trained.condition.partition("-")[0]) for one in todo.measured
        ],
        seed=request.seed,
    )
    return Finished(outcomes, found)


def _refuse_strange(out: Path) -> None:
    """Never write into a folder that holds something else."""
    if out.is_file():
        raise UnmaskError(f"{out} is a file; give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / "cells").is_dir():
        raise UnmaskError(f"{out} holds something else than a study; give another folder with --out")


def described(request: Request) -> dict[str, str]:
    """How the study was set up, in words."""
    data = "IMDB" if not request.files else " and ".join(path.name for path in request.files)
    return {
        "protocol": request.protocol,
        "reviews": data + ("" if request.limit is None else f", {request.limit:,} of each split, drawn at random"),
        "longest text": f"{request.max_length} tokens",
        "seed": str(request.seed),
        "unmask": unmask.__version__,
    }


def _write(frame: pd.DataFrame, path: Path) -> None:
    with whole_file(path) as draft:
        frame.to_csv(draft, index=False)

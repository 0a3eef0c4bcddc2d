"""All cells of a study as tasks of Ray, on this machine or on a cluster (`pip install 'unmask[ray]'`).

A cell is one task, which gets the outcomes of the cells it needs as references; when and where it runs is Ray's to
decide. A worker that dies is replaced by Ray, and the cell goes on from its workspace. On a cluster, Unmask and the
study's data must be on every machine, and the folder of the study on a file system that all of them and this one
share, under the same path, with locks that hold among them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import partial
from importlib import import_module
from typing import Any, TextIO

from unmask.errors import Stopped, UnmaskError
from unmask.studies.cells import Cell, order
from unmask.studies.cluster import connected, gpus_of_a_cell, machines_of, refuse_unfit_machines, seen_from_here
from unmask.studies.execution import Event, Outcome, Watch, execute, explained, skipped, stopped
from unmask.studies.news import News, Reporter
from unmask.studies.store import Store

RETRIES = 3
"""How often a cell is taken up again whose worker has died."""
POLL = 0.5
"""Seconds between two looks at what the cells say."""
GRACE = 30.0
"""Seconds that cells have to keep a checkpoint after Ctrl-C."""


def run(
    cells: Sequence[Cell],
    store: Store,
    *,
    address: str | None = None,
    cpus: float = 1,
    gpus: float | None = None,
    watch: Watch | None = None,
) -> list[Outcome]:
    """Do what is not done; gives the outcomes in the order of `cells`, each after what it needs.

    `address` is a cluster's; without it, the one that Ray is connected to or `RAY_ADDRESS` names, else one on this
    machine for the time of the run. A cell gets `cpus`, and as many threads; one that wants a GPU gets `gpus`, by
    default one where a machine with so many CPUs has any. The same call goes on after Ctrl-C or a crash.
    """
    cells = order(cells)
    try:
        ray: Any = import_module("ray")
    except ImportError:
        raise UnmaskError("Ray is not installed; install it with: pip install 'unmask[ray]'") from None
    store = Store(store.root.resolve())
    store.prepare()
    news = News(store.root, len(cells), watch and partial(_tell, watch, sys.stdout))
    with redirect_stdout(sys.stderr), connected(ray, address, RETRIES):  # Ray has much to say
        gpus = gpus_of_a_cell([machine["Resources"] for machine in machines_of(ray)], cpus, gpus)
        refuse_unfit_machines(ray, store)
        with news.opened():
            return _Run(ray, cells, store, news, cpus, gpus).outcomes()


def _tell(watch: Watch, out: TextIO, event: Event) -> None:
    with redirect_stdout(out):
        watch(event)


def _task(cell: Cell, store: Store, reporter: Reporter, *before: Outcome) -> Outcome:
    """What a worker does."""
    reporter.start()
    return execute(cell, store, dict(zip(cell.needs, before, strict=True)), reporter.say)


class _Run:
    """The tasks of a run, and what became of them."""

    def __init__(self, ray: Any, cells: Sequence[Cell], store: Store, news: News, cpus: float, gpus: float) -> None:
        """Hand every cell to Ray."""
        self._ray, self._store, self._news = ray, store, news
        self._cells = {cell.name: cell for cell in cells}
        self._outcomes: dict[str, Outcome] = {}
        self._references: dict[str, Any] = {}
        settings = {
            "num_cpus": cpus,
            "max_retries": RETRIES,
            "retry_exceptions": False,
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(max(1, int(cpus)))}},
        }
        task = ray.remote(_task)
        for cell in cells:
            before = [self._references[name] for name in cell.needs]
            one = task.options(name=cell.name, num_gpus=gpus if cell.needs_gpu else 0, **settings)
            self._references[cell.name] = one.remote(cell, store, news.reporter(cell.name), *before)

    def outcomes(self) -> list[Outcome]:
        """Wait for all tasks."""
        names = {reference: name for name, reference in self._references.items()}
        try:
            while waiting := [self._references[name] for name in self._cells if name not in self._outcomes]:
                ready, _ = self._ray.wait(waiting, timeout=POLL)
                self._news.read()
                for reference in ready:
                    self._settle(names[reference])
        except KeyboardInterrupt:
            self._cancel()
            raise Stopped(stopped(self._outcomes.values(), len(self._cells))) from None
        except BaseException:
            self._cancel()
            raise
        return [self._outcomes[name] for name in self._cells]

    def _settle(self, name: str) -> None:
        if name in self._outcomes:
            return
        for need in self._cells[name].needs:  # what needs a lost task is ready as soon as that is
            self._settle(need)
        self._outcomes[name] = self._outcome(self._cells[name])
        self._news.ended(self._outcomes[name])

    def _outcome(self, cell: Cell) -> Outcome:
        try:
            return seen_from_here(self._ray.get(self._references[cell.name]))
        except self._ray.exceptions.RayError as error:
            lost = skipped(cell, self._outcomes)
            return lost or Outcome(cell.name, "", "failed", error=self._explained(error, cell))

    def _explained(self, error: Exception, cell: Cell) -> str:
        if isinstance(error, self._ray.exceptions.WorkerCrashedError):
            return f"its worker died {RETRIES + 1} times, perhaps for want of memory; give each cell more CPUs"
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, Stopped):
            return "it was stopped where it ran; run the study again"
        return explained(cause, cell, "", self._store)

    def _cancel(self) -> None:
        """Let the cells that run keep what they have; those that do not end in time are ended."""
        left = [reference for name, reference in self._references.items() if name not in self._outcomes]
        try:
            for reference in left:
                self._ray.cancel(reference, force=False)
            _, left = self._ray.wait(left, num_returns=len(left), timeout=GRACE)
        finally:  # at a second Ctrl-C, at once
            for reference in left:
                self._ray.cancel(reference, force=True)

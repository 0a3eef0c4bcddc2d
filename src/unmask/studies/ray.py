"""All cells of a study as tasks of Ray, on this machine or on a cluster (`pip install 'unmask[ray]'`).

A cell is one task, which gets the outcomes of the cells it needs as references; Ray decides when and where it runs. A
worker that dies is replaced by Ray, and the cell resumes from its workspace. On a cluster, Unmask and the study's data
must be on every machine, and the folder of the study on a file system that all of them and this one share, under the
same path, with locks that hold among them.

Cells that run elsewhere report their progress through one small file each in the shared store. Nothing depends on it:
news that cannot be written or read is left out, and the run continues.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import unmask
from unmask.errors import Stopped, UnmaskError
from unmask.files import atomic_file
from unmask.studies.cells import Cell, Store, order
from unmask.studies.execution import Event, Outcome, Watch, execute, explained, one_line, skipped, stopped

PATIENCE = 15.0
"""Seconds within which a network's file system shows what another machine has written."""
SHARE = "give an --out on a file system that all machines share, under the same path"


@contextmanager
def connected(ray: Any, address: str | None, retries: int) -> Iterator[None]:
    """Be connected to a cluster, or start one on this machine; what was there before stays afterwards.

    `retries` holds for workers that are ended for want of memory too, which Ray otherwise replaces for ever.
    """
    if ray.is_initialized():
        refuse_other_cluster(address, ray.get_runtime_context().gcs_address)
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {"address": address or "local", "log_to_driver": False, "logging_level": "ERROR"}
    os.environ.setdefault("RAY_task_oom_retries", str(retries))
    if not address:
        settings["include_dashboard"] = False
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        _knock(address or "")
        ray.init(**settings)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        where = f"does not reach a cluster at {address}" if address else "does not start on this machine"
        raise UnmaskError(f"Ray {where} ({one_line(str(error))}); check the address, or use the local engine") from None
    try:
        yield
    finally:
        ray.shutdown()


def refuse_other_cluster(asked: str | None, here: str) -> None:
    """Refuse the address of another cluster than the one that Ray is connected to already."""
    if asked not in (None, "", "auto", here):
        raise UnmaskError(
            f"Ray is connected to {here} already, not to {asked}; leave out the address, or call ray.shutdown() first"
        )


def _knock(address: str) -> None:
    """Find out at once that nobody is at home, which takes Ray minutes."""
    if place := re.fullmatch(r"(?:ray://)?([\w.-]+):(\d+)", address):
        socket.create_connection((place[1], int(place[2])), timeout=10).close()


def machines_of(ray: Any) -> list[dict[str, Any]]:
    """The machines of the cluster that can do cells, as Ray describes them."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def gpus_of_a_cell(machines: Sequence[Mapping[str, float]], cpus: float, gpus: float | None) -> float:
    """How many GPUs a cell gets that wants one, of machines with so many CPUs and GPUs each.

    Refuses what no single machine has, for which Ray would wait for ever.
    """
    most = max((machine.get("CPU", 0.0) for machine in machines), default=0.0)
    if not 0 < cpus <= most:
        raise UnmaskError(f"cpus is {cpus:g}, and the largest machine has {most:g}; give more than 0, up to that")
    most = max(machine.get("GPU", 0.0) for machine in machines if machine.get("CPU", 0.0) >= cpus)
    if gpus is None:
        return min(1.0, most)
    if not 0 <= gpus <= most:
        raise UnmaskError(
            f"gpus is {gpus:g}, and no machine with {cpus:g} CPUs has more than {most:g}; give from 0 up to that,"
            " or fewer cpus"
        )
    if gpus > 1 and gpus != int(gpus):
        raise UnmaskError(f"gpus is {gpus:g}; give a whole number, or a part of one GPU")
    return gpus


def refuse_unfit_machines(ray: Any, store: Store) -> None:
    """See that each machine that can do a cell sees the store, and has this version of Unmask."""
    machines = machines_of(ray)
    affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    probe = store.root / f".probe-{uuid.uuid4().hex}"
    look = ray.remote(_look)
    try:
        with atomic_file(probe) as draft:
            draft.write_text("seen", encoding="utf-8")
        found = ray.get(
            [
                look.options(num_cpus=0, scheduling_strategy=affinity(node["NodeID"], soft=True)).remote(probe)
                for node in machines
            ]
        )
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise UnmaskError(
            f"the cluster does not run Unmask ({type(cause).__name__}: {one_line(str(cause))});"
            f" see that all its machines have version {unmask.__version__}, and memory left"
        ) from None
    finally:
        probe.unlink(missing_ok=True)
    for node, (sees, version) in zip(machines, found, strict=True):
        refuse_unfit(node["NodeManagerAddress"], store, sees, version)


def refuse_unfit(machine: str, store: Store, sees: bool, version: str) -> None:
    """Refuse a machine that does not see the store, or has another version of Unmask."""
    if not sees:
        raise UnmaskError(f"{store.root} is not to be seen from {machine}, a machine of the cluster; {SHARE}")
    if version != unmask.__version__:
        raise UnmaskError(f"{machine} has Unmask {version}; install {unmask.__version__} there, as it is here")


def seen_from_here(outcome: Outcome) -> Outcome:
    """The outcome, or a failure if the result that it names is not to be seen."""
    if outcome.folder is None or _appears(Path(outcome.folder)):
        return outcome
    error = f"it was done, but {outcome.folder} is not to be seen from here; {SHARE}"
    return replace(outcome, status="failed", folder=None, error=error)


def _look(path: Path) -> tuple[bool, str]:
    return _appears(path), unmask.__version__


def _appears(path: Path) -> bool:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


AGAIN = "taken up again after its worker was lost"


@dataclass(frozen=True)
class Reporter:
    """A cell's pen."""

    file: Path

    def start(self) -> None:
        """Tell that the cell begins, or begins again."""
        with suppress(OSError):
            self.file.touch(exist_ok=False)
            return
        self.say(AGAIN)

    def say(self, line: str) -> None:
        """Tell one line."""
        with suppress(OSError), self.file.open("a", encoding="utf-8") as file:
            file.write(f"{' '.join(line.split())}\n")


class News:
    """The files of a run, read from time to time and passed on to who watches."""

    def __init__(self, root: Path, total: int, watch: Watch | None) -> None:
        """Name the folder; nothing is made yet."""
        self._folder = root / "news" / uuid.uuid4().hex
        self._total = total
        self._watch: Watch = watch or (lambda _: None)
        self._read: dict[str, int] = {}
        self._ended: set[str] = set()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, and remove it at the end."""
        with suppress(OSError):
            self._folder.mkdir(parents=True)
        try:
            yield
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def reporter(self, name: str) -> Reporter:
        """The pen of a cell."""
        return Reporter(self._folder / name)

    def read(self) -> None:
        """Pass on what is new."""
        with suppress(OSError):
            for file in sorted(self._folder.iterdir(), key=lambda file: (file.stat().st_ctime, file.name)):
                self._pass_on(file.name)

    def ended(self, outcome: Outcome) -> None:
        """Pass on that a cell has ended, after all it had to say."""
        self._pass_on(outcome.name)
        self._ended.add(outcome.name)
        self._watch(Event("ended", outcome.name, len(self._ended), self._total, outcome=outcome))

    def _pass_on(self, name: str) -> None:
        if name not in self._read:
            self._read[name] = 0
            self._watch(Event("started", name, len(self._ended), self._total))
        text = b""
        with suppress(OSError), (self._folder / name).open("rb") as file:
            file.seek(self._read[name])
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read[name] += len(whole)
        for line in whole.decode("utf-8", errors="replace").splitlines():
            self._watch(Event("said", name, len(self._ended), self._total, line=line))


RETRIES = 3
"""How often a cell is taken up again whose worker has died."""
POLL = 0.5
"""Seconds between two looks at what the cells say."""
GRACE = 30.0
"""Seconds that cells have to keep a checkpoint after Ctrl-C."""


def run_on_ray(
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

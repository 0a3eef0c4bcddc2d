"""The steps of a study as tasks of Ray, on this machine or on a cluster (`pip install 'unmask[ray]'`).

Each step is one task. It gets the outcomes of the steps it needs as references, and Ray decides when and where it runs.
Ray replaces a worker that dies, and the step resumes from its workspace. On a cluster, every machine needs Unmask and
the study's data, and the folder of the study must be on a file system that all machines share under the same path, with
locks that hold among them.

Steps report their progress through one queue. Nothing depends on it: a message that cannot be sent is left out.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import unmask
from unmask.errors import Stopped, UnmaskError, import_extra
from unmask.files import write_text
from unmask.studies.steps import (
    EventType,
    Outcome,
    Progress,
    Step,
    Watch,
    execute_step,
    explain_error,
    explain_stop,
    first_line,
    skip_step,
    sort_steps,
)
from unmask.studies.store import Store

PATIENCE = 15.0
"""Seconds within which a network file system shows what another machine has written."""
RETRIES = 3
"""How often a step is retried whose worker has died."""
POLL = 0.5
"""Seconds between two looks at the progress."""
GRACE = 30.0
"""Seconds for steps to write a checkpoint after Ctrl-C."""
SHARE = "give an --out on a file system that all machines share, under the same path"
RESUMED = "resumed after its worker was lost"


def run_on_ray(
    steps: Sequence[Step],
    store: Store,
    *,
    address: str | None = None,
    cpus: float = 1,
    gpus: float | None = None,
    watch: Watch | None = None,
) -> list[Outcome]:
    """Run all steps that are not done. After Ctrl-C or a crash, the same call continues.

    Args:
        steps: The steps.
        store: Where results are stored.
        address: The address of a cluster. Default: the one that Ray is connected to or that `RAY_ADDRESS` names,
            otherwise one on this machine for the duration of the run.
        cpus: CPUs, and threads, for each step.
        gpus: GPUs for each step that uses one. Default: one, where a machine with enough CPUs has any.
        watch: Takes the progress.

    Returns:
        The outcomes, sorted so that each comes after the steps it needs.
    """
    steps = sort_steps(steps)
    ray = import_extra("ray", "ray", "--engine ray")
    store = Store(store.root.resolve())
    store.prepare_folders()
    out = sys.stdout
    with redirect_stdout(sys.stderr), _connect(ray, address):  # Ray prints a lot
        machines = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
        gpus = choose_gpus([machine["Resources"] for machine in machines], cpus, gpus)
        _check_machines(ray, machines, store)
        return _Run(ray, steps, store, cpus, gpus, Progress(len(steps), watch), out).wait()


@contextmanager
def _connect(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine. An existing connection remains."""
    if ray.is_initialized():
        check_address(address, ray.get_runtime_context().gcs_address)
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    settings: dict[str, Any] = {"address": address or "local", "log_to_driver": False, "logging_level": "ERROR"}
    os.environ.setdefault("RAY_task_oom_retries", str(RETRIES))  # by default, Ray retries for ever
    if not address:
        settings["include_dashboard"] = False
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        if host := re.fullmatch(r"(?:ray://)?([\w.-]+):(\d+)", address or ""):
            # Fail at once where nothing listens, which takes Ray minutes.
            socket.create_connection((host[1], int(host[2])), timeout=10).close()
        ray.init(**settings)
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        where = f"does not reach a cluster at {address}" if address else "does not start on this machine"
        line = first_line(str(error))
        raise UnmaskError(f"Ray {where} ({line}); check the address, or use the local engine") from None
    try:
        yield
    finally:
        ray.shutdown()


def check_address(address: str | None, connected: str) -> None:
    """Raise an error if `address` is that of another cluster than the connected one."""
    if address not in (None, "", "auto", connected):
        raise UnmaskError(
            f"Ray is already connected to {connected}, not to {address}; leave out the address, or call ray.shutdown()"
        )


def choose_gpus(machines: Sequence[Mapping[str, float]], cpus: float, gpus: float | None) -> float:
    """Return how many GPUs a step gets that uses one.

    Raises an error for what no single machine has, because Ray would wait for it for ever.

    Args:
        machines: The CPUs and GPUs of each machine.
        cpus: CPUs for each step.
        gpus: The GPUs that the user asks for, or None.
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


def _check_machines(ray: Any, machines: Sequence[Mapping[str, Any]], store: Store) -> None:
    """Check that each machine sees the store and has this version of Unmask."""
    affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    probe = store.root / f".probe-{uuid.uuid4().hex}"
    look = ray.remote(_look_for)
    try:
        write_text(probe, "seen")
        nodes = [affinity(node["NodeID"], soft=True) for node in machines]
        answers = ray.get([look.options(num_cpus=0, scheduling_strategy=node).remote(probe) for node in nodes])
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        raise UnmaskError(
            f"the cluster does not run Unmask ({type(cause).__name__}: {first_line(str(cause))});"
            f" all its machines need version {unmask.__version__}, and free memory"
        ) from None
    finally:
        probe.unlink(missing_ok=True)
    for node, (sees, version) in zip(machines, answers, strict=True):
        check_machine(node["NodeManagerAddress"], store, sees, version)


def check_machine(machine: str, store: Store, sees: bool, version: str) -> None:
    """Raise an error if a machine does not see the store, or has another version of Unmask."""
    if not sees:
        raise UnmaskError(f"{store.root} cannot be seen from {machine}, a machine of the cluster; {SHARE}")
    if version != unmask.__version__:
        raise UnmaskError(f"{machine} has Unmask {version}; install {unmask.__version__} there, as here")


def check_visible(outcome: Outcome) -> Outcome:
    """Return the outcome, or a failure if its result cannot be seen from here."""
    if outcome.folder is None or _wait_for(Path(outcome.folder)):
        return outcome
    error = f"it is done, but {outcome.folder} cannot be seen from here; {SHARE}"
    return replace(outcome, status="failed", folder=None, error=error)


def _look_for(path: Path) -> tuple[bool, str]:
    return _wait_for(path), unmask.__version__


def _wait_for(path: Path) -> bool:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _run_step(step: Step, store: Store, queue: Any, *before: Outcome) -> Outcome:
    """Run a step in a worker."""

    def say(line: str) -> None:
        if queue is not None:
            with suppress(Exception):
                queue.put((step.name, " ".join(line.split())))

    say("")  # it starts
    return execute_step(step, store, dict(zip(step.needs, before, strict=True)), say)


class _Run:
    """The tasks of a run, their progress and their outcomes. The watcher prints to `out`."""

    def __init__(
        self, ray: Any, steps: Sequence[Step], store: Store, cpus: float, gpus: float, progress: Progress, out: TextIO
    ) -> None:
        self._ray, self._store, self._progress, self._out = ray, store, progress, out
        self._steps = {step.name: step for step in steps}
        self._started: set[str] = set()
        self._outcomes: dict[str, Outcome] = {}
        self._references: dict[str, Any] = {}
        affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        here = affinity(ray.get_runtime_context().get_node_id(), soft=False)
        self._queue: Any = None
        with suppress(ray.exceptions.RayError):  # without a queue, steps run and only their progress is not shown
            options = {"num_cpus": 0, "scheduling_strategy": here}
            self._queue = import_module("ray.util.queue").Queue(actor_options=options)
        settings = {
            "num_cpus": cpus,
            "max_retries": RETRIES,
            "retry_exceptions": False,
            "runtime_env": {"env_vars": {"OMP_NUM_THREADS": str(max(1, int(cpus)))}},
        }
        remote = ray.remote(_run_step)
        for step in steps:
            before = [self._references[name] for name in step.needs]
            task = remote.options(name=step.name, num_gpus=gpus if step.needs_gpu else 0, **settings)
            self._references[step.name] = task.remote(step, store, self._queue, *before)

    def wait(self) -> list[Outcome]:
        """Wait for all tasks."""
        names = {reference: name for name, reference in self._references.items()}
        try:
            while waiting := [self._references[name] for name in self._steps if name not in self._outcomes]:
                ready, _ = self._ray.wait(waiting, timeout=POLL)
                self._read_messages()
                for reference in ready:
                    self._settle(names[reference])
        except BaseException as error:
            self._cancel()
            if isinstance(error, KeyboardInterrupt):
                raise explain_stop(self._outcomes.values(), len(self._steps)) from None
            raise
        return [self._outcomes[name] for name in self._steps]

    def _read_messages(self) -> None:
        """Pass on what the workers have sent."""
        if self._queue is None:
            return
        with suppress(self._ray.exceptions.RayError):
            for name, line in self._queue.get_nowait_batch(self._queue.size()):
                if line or name in self._started:
                    self._tell("said", name, line or RESUMED)
                else:
                    self._tell("started", name)

    def _tell(self, what: EventType, name: str, line: str = "", outcome: Outcome | None = None) -> None:
        self._started.add(name)
        with redirect_stdout(self._out):
            self._progress.tell(what, name, line, outcome)

    def _settle(self, name: str) -> None:
        """Record the outcome of a task that has ended."""
        if name in self._outcomes:
            return
        step = self._steps[name]
        for need in step.needs:  # a task whose input is lost ends as soon as that is lost
            self._settle(need)
        try:
            outcome = check_visible(self._ray.get(self._references[name]))
        except self._ray.exceptions.RayError as error:
            outcome = skip_step(step, self._outcomes) or Outcome(name, "", "failed", error=self._explain(error, name))
        self._outcomes[name] = outcome
        self._read_messages()
        if name not in self._started:
            self._tell("started", name)
        self._tell("ended", name, outcome=outcome)

    def _explain(self, error: Exception, name: str) -> str:
        if isinstance(error, self._ray.exceptions.WorkerCrashedError):
            return f"its worker died {RETRIES + 1} times, perhaps for lack of memory; give each step more CPUs"
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, Stopped):
            return "it was stopped where it ran; run the study again"
        return explain_error(cause, self._store.failure(name, ""))

    def _cancel(self) -> None:
        """Let running steps write their checkpoints, and end those that do not stop in time."""
        left = [reference for name, reference in self._references.items() if name not in self._outcomes]
        try:
            for reference in left:
                self._ray.cancel(reference, force=False)
            _, left = self._ray.wait(left, num_returns=len(left), timeout=GRACE)
        finally:  # also after a second Ctrl-C
            for reference in left:
                self._ray.cancel(reference, force=True)

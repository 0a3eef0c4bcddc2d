"""What a run must know of a Ray cluster: how to reach it, what it has, and whether it sees the store."""

from __future__ import annotations

import os
import re
import socket
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import unmask
from unmask.errors import UnmaskError
from unmask.files import whole_file
from unmask.studies.execution import Outcome, one_line
from unmask.studies.store import Store

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
        with whole_file(probe) as draft:
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

"""Steps on a real Ray cluster: no step is lost with a worker, a driver or a machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toy_study import PYTHON_PATH, Toy, count_notes, make_diamond, read_total, statuses, stored_steps, wait_until
from unmask.errors import UnmaskError
from unmask.studies import ray as on_ray
from unmask.studies.ray import check_address, check_machine, check_visible, choose_gpus, run_on_ray
from unmask.studies.steps import Event, Outcome, run_locally, sort_steps
from unmask.studies.store import Store

pytestmark = pytest.mark.filterwarnings(
    "default::pytest.PytestUnraisableExceptionWarning", "default::pytest.PytestUnhandledThreadExceptionWarning"
)  # of Ray's threads


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_an_address_where_no_cluster_is_is_told(
    toy: Callable[..., Toy], store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # an earlier test may have left a connection
    with pytest.raises(UnmaskError, match=f"Ray does not reach a cluster at {address} "):
        run_on_ray([toy("a")], store, address=address)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A local cluster of two nodes with one CPU each."""
    ray = pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    small = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", PYTHON_PATH)
        cluster = utils.Cluster(initialize_head=True, head_node_args={**small, "_system_config": health})
        cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
        for _ in range(20):  # older releases of Ray connect to any local node; the lost node must be another one
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            if ray.get_runtime_context().get_node_id() == cluster.head_node.node_id:
                break
            ray.shutdown()
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_is_replaced_and_nothing_is_lost(
    toy: Callable[..., Toy],
    store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The step resumes from its workspace; steps that fail, stop or die stop no other step."""
    monkeypatch.setattr(on_ray, "RETRIES", 1)
    received: list[Event] = []
    victims: list[int] = []

    def watch(event: Event) -> None:
        received.append(event)
        if event.what == "said" and event.name == "c" and not victims:
            victims.append(int(event.line.split()[1]))
            os.kill(victims[0], signal.SIGKILL)

    bad = [toy(act, act=act, value=number) for number, act in enumerate(("break", "die", "stop"), start=100)]
    steps = [*make_diamond(toy, act="hang", needs_gpu=True), *bad, toy("after", "a", "die")]
    outcomes = run_on_ray(steps, store, watch=watch)
    assert [outcome.name for outcome in outcomes] == [step.name for step in sort_steps(steps)]
    there = dict.fromkeys(("a", "b", "c", "d", "alone"), "done")
    lost = dict.fromkeys(("break", "die", "stop"), "failed")
    assert statuses(outcomes) == there | lost | {"after": "skipped"}
    by_name = {outcome.name: outcome for outcome in outcomes}
    assert read_total(by_name["d"]) == 14
    assert by_name["break"].error.startswith("ValueError: it broke (traceback in ")
    assert by_name["die"].error.startswith("its worker died 2 times")
    assert by_name["stop"].error == "it was stopped where it ran; run the study again"
    assert by_name["after"].error == "it needs die, which failed"
    messages = [event.line for event in received if event.name == "c" and event.what == "said"]
    assert messages[1].startswith("resumed after")
    notes = count_notes(tmp_path)
    assert notes["begin c"] == 2
    assert [notes[f"end {name}"] for name in there] == [1] * 5
    assert [name for name in stored_steps(store) if not name.startswith(".die")] == sorted(there)
    for outcome in outcomes:
        events = [event.what for event in received if event.name == outcome.name and event.what != "said"]
        assert events == ["started", "ended"]
    assert [event.ended for event in received if event.what == "ended"] == list(range(1, 10))
    assert set(statuses(run_on_ray(steps[:5], store, cpus=0.5)).values()) == {"kept"}
    assert capfd.readouterr().out == "", "Ray keeps quiet"


ON_RAY = """
import sys
from pathlib import Path
from toy_study import Toy
from unmask.studies.ray import run_on_ray
from unmask.studies.store import Store
steps = [Toy("a", sys.argv[1]), Toy("b", sys.argv[1], ("a",), act="hang"), Toy("c", sys.argv[1], ("b",))]
run_on_ray(steps, Store(Path(sys.argv[2])), address=sys.argv[3] or None)
"""


def test_a_killed_driver_is_followed_by_one_that_goes_on(
    cluster: Any,
    start: Callable[..., subprocess.Popen[str]],
    toy: Callable[..., Toy],
    store: Store,
    tmp_path: Path,
) -> None:
    driver = start(ON_RAY, tmp_path / "log", store.root, cluster.address)
    wait_until(lambda: list(store.root.glob("unfinished/b-*/checkpoint")) != [])
    driver.kill()
    output, _ = driver.communicate()
    assert output == "", "Ray keeps quiet"
    outcomes = run_on_ray([toy("a"), toy("b", "a", act="hang"), toy("c", "b")], store)
    assert statuses(outcomes) == {"a": "kept", "b": "done", "c": "done"}
    assert read_total(outcomes[2]) == 3
    assert count_notes(tmp_path) == {"begin a": 1, "end a": 1, "begin b": 2, "end b": 1, "begin c": 1, "end c": 1}
    assert stored_steps(store) == ["a", "b", "c"]


def test_ctrl_c_ends_the_steps_and_keeps_the_rest(
    start: Callable[..., subprocess.Popen[str]], toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    """A driver with its own cluster is interrupted in a terminal, where all its processes get the signal."""
    driver = start(ON_RAY, tmp_path / "log", store.root, "")
    wait_until(lambda: list(store.root.glob("unfinished/b-*/checkpoint")) != [])
    os.killpg(driver.pid, signal.SIGINT)
    output, error = driver.communicate(timeout=60)
    assert output == ""
    assert error.splitlines()[-1].startswith("unmask.errors.Stopped: stopped; 1 of 3 steps are done")
    assert stored_steps(store) == ["a"], "no draft is left either"
    outcomes = run_locally([toy("a"), toy("b", "a", act="hang"), toy("c", "b")], store)
    assert statuses(outcomes) == {"a": "kept", "b": "done", "c": "done"}
    assert count_notes(tmp_path)["begin b"] == 2


def test_a_machine_that_is_lost_loses_no_step(
    cluster: Any, toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    """Two steps run on one machine each; one machine is lost, and then the worker on the other."""
    processes: dict[str, int] = {}

    def watch(event: Event) -> None:
        if event.what == "said" and event.line.startswith("process") and len(processes) < 2:
            processes[event.name] = int(event.line.split()[1])
            if len(processes) == 2:
                cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
                for process in processes.values():
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

    outcomes = run_on_ray([toy("one", act="hang"), toy("two", act="hang", value=2)], store, watch=watch)
    assert statuses(outcomes) == {"one": "done", "two": "done"}
    assert count_notes(tmp_path) == {"begin one": 2, "end one": 1, "begin two": 2, "end two": 1}


def test_a_step_gets_what_a_machine_has() -> None:
    machines = [{"CPU": 4.0}, {"CPU": 16.0, "GPU": 2.0}]
    assert [choose_gpus(machines, 16, gpus) for gpus in (None, 0, 0.25, 2)] == [1, 0, 0.25, 2]
    assert choose_gpus(machines[:1], 0.5, None) == 0, "without a GPU, on the CPU"
    for cpus, gpus, line in (
        (17, None, "cpus is 17, and the largest machine has 16;"),
        (0, None, "cpus is 0,"),
        (1, 3, "gpus is 3, and no machine with 1 CPUs has more than 2; give from 0 up to that, or fewer cpus"),
        (1, -1, "gpus is -1,"),
        (1, 1.5, "gpus is 1.5; give a whole number"),
    ):
        with pytest.raises(UnmaskError, match=line):
            choose_gpus(machines, cpus, gpus)
    with pytest.raises(UnmaskError, match="cpus is 1, and the largest machine has 0"):
        choose_gpus([], 1, None)


def test_one_machine_must_have_both_the_cpus_and_the_gpus() -> None:
    """Otherwise a step would wait forever."""
    machines = [{"CPU": 16.0}, {"CPU": 4.0, "GPU": 1.0}]
    assert [choose_gpus(machines, cpus, None) for cpus in (4, 8)] == [1, 0]
    assert [choose_gpus(machines, *both) for both in ((4, 1), (8, 0))] == [1, 0]
    with pytest.raises(UnmaskError, match="gpus is 1, and no machine with 8 CPUs has more than 0;"):
        choose_gpus(machines, 8, 1)


def test_the_address_of_another_cluster_is_refused() -> None:
    for address in (None, "", "auto", "10.0.0.7:6379"):
        check_address(address, "10.0.0.7:6379")
    for address in ("10.0.0.8:6379", "local"):
        with pytest.raises(UnmaskError, match=f"already connected to 10.0.0.7:6379, not to {address}; leave out the"):
            check_address(address, "10.0.0.7:6379")


def test_a_connection_that_is_there_is_used_for_its_own_address_only(
    cluster: Any, toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    with pytest.raises(UnmaskError, match=f"Ray is already connected to {cluster.address}, not to 127.0.0.1:1;"):
        run_on_ray([toy("a")], store, address="127.0.0.1:1")
    assert not count_notes(tmp_path)
    assert statuses(run_on_ray([toy("a")], store, address=cluster.address)) == {"a": "done"}


def test_a_store_that_machines_do_not_share_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.studies.ray.PATIENCE", 0.1)
    unseen = Outcome("a", "0" * 64, "done", str(store.root / "cells" / "a-0"), 1.0)
    outcome = check_visible(unseen)
    assert (outcome.status, outcome.folder) == ("failed", None)
    assert "cannot be seen from here; give an --out on a file system that all machines share" in outcome.error
    store.prepare_folders()
    assert check_visible(replace(unseen, folder=str(store.root))).status == "done"
    with pytest.raises(UnmaskError, match=r"cannot be seen from 10\.0\.0\.7, a machine of the cluster"):
        check_machine("10.0.0.7", store, False, "")
    with pytest.raises(UnmaskError, match=r"10\.0\.0\.7 has Unmask 0\.0\.9; install"):
        check_machine("10.0.0.7", store, True, "0.0.9")


def test_without_ray_the_message_says_how_to_get_it(
    toy: Callable[..., Toy], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnmaskError, match=r"pip install 'unmask\[ray\]'"):
        run_on_ray([toy("a")], store)

"""The engine of studies: a cell is done once, whole or not at all, here and on a real Ray cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paths import TESTS
from toy_study import Toy
from unmask.errors import Stopped, UnmaskError
from unmask.studies import Cell, Event, Outcome, Store, execute, execution, key, keys, order
from unmask.studies import ray as on_ray
from unmask.studies.ray import gpus_of_a_cell, refuse_other_cluster, refuse_unfit, seen_from_here

pytestmark = pytest.mark.filterwarnings(
    "default::pytest.PytestUnraisableExceptionWarning", "default::pytest.PytestUnhandledThreadExceptionWarning"
)  # of Ray's threads


@pytest.fixture
def toy(tmp_path: Path) -> Callable[..., Toy]:
    return lambda name, *needs, **more: Toy(name, str(tmp_path / "log"), needs, **more)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "study")


def noted(tmp_path: Path) -> Counter[str]:
    path = tmp_path / "log"
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


def statuses(outcomes: list[Outcome]) -> dict[str, str]:
    return {outcome.name: outcome.status for outcome in outcomes}


def total(outcome: Outcome) -> int:
    return int((Path(str(outcome.folder)) / "total").read_text())


def results(store: Store) -> list[str]:
    """The names of the cells that are in the store, drafts included."""
    return sorted(path.name.rpartition("-")[0] for path in (store.root / "cells").iterdir())


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def diamond(toy: Callable[..., Toy], **middle: Any) -> list[Cell]:
    return [toy("d", "b", "c"), toy("b", "a"), toy("c", "a", value=10, **middle), toy("a"), toy("alone", value=5)]


# What cells are


def test_cells_come_after_what_they_need_and_else_as_given(toy: Callable[..., Toy]) -> None:
    assert [cell.name for cell in order(diamond(toy))] == ["a", "b", "c", "d", "alone"]
    given: list[Cell] = [toy("x"), toy("y", "x"), toy("w"), toy("v", "w")]
    assert order(given) == given
    assert order([]) == []


def test_what_cannot_be_ordered_is_refused(toy: Callable[..., Toy]) -> None:
    with pytest.raises(UnmaskError, match="two cells are called 'a'"):
        order([toy("a"), toy("a", value=2)])
    with pytest.raises(UnmaskError, match="cell 'a' needs 'x', 'y', which is not in the study"):
        order([toy("a", "x", "b", "y"), toy("b")])
    with pytest.raises(UnmaskError, match=r"wait for one another: (a needs b needs a|b needs a needs b);"):
        order([toy("a", "b"), toy("b", "a"), toy("c")])
    for bad in ("", "../a", "a/b", ".hidden", "a b", "x" * 101):
        with pytest.raises(UnmaskError, match="is no name for a cell"):
            order([toy(bad)])


def test_a_key_is_a_hash_of_all_that_decides_the_result(toy: Callable[..., Toy]) -> None:
    """Known answer: `printf '["toy", {"value": 1}, []]' | sha256sum`."""
    assert key(toy("a"), {}) == "f3bad856705c98083b4840c37a19910b2f2e4d6cc7538349af01e14f354d57d0"
    one = keys(diamond(toy))
    assert keys(diamond(toy)[::-1]) == one
    other = keys([*diamond(toy)[:3], toy("a", value=2), toy("alone", value=5)])
    assert {name for name in one if one[name] != other[name]} == {"a", "b", "c", "d"}
    assert key(toy("a", kind="other"), {}) != one["a"]
    assert key(toy("b", act="break", seconds=1.0), {}) == one["a"], "neither the name nor how it is done decides"
    for bad in (float("nan"), {1, 2}, Path("x")):
        with pytest.raises(UnmaskError, match=r"inputs of cell 'a' are no JSON .*; give plain values"):
            key(toy("a", value=bad), {})


# One process


def test_a_cell_is_done_once_and_kept(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    heard: list[Event] = []
    first = execution.run_locally(diamond(toy), store, watch=heard.append)
    assert statuses(first) == dict.fromkeys("abcd", "done") | {"alone": "done"}
    assert [total(outcome) for outcome in first] == [1, 2, 11, 14, 5]
    assert [(event.what, event.name, event.ended, event.total) for event in heard][:4] == [
        ("started", "a", 0, 5),
        ("said", "a", 0, 5),
        ("ended", "a", 1, 5),
        ("started", "b", 1, 5),
    ]
    assert heard[1].line == f"process {os.getpid()}"
    assert heard[-1].outcome == first[-1]
    again = execution.run_locally(diamond(toy), store)
    assert again == [replace(outcome, status="kept") for outcome in first]
    changed = execution.run_locally([*diamond(toy)[:2], toy("c", "a", value=20), *diamond(toy)[3:]], store)
    assert statuses(changed) == {"a": "kept", "b": "kept", "c": "done", "d": "done", "alone": "kept"}
    assert noted(tmp_path)["end a"] == 1
    assert noted(tmp_path)["end d"] == 2
    assert list((store.root / "unfinished").iterdir()) == []


def test_the_record_says_what_a_cell_is(toy: Callable[..., Toy], store: Store) -> None:
    cells = diamond(toy)
    outcomes = {outcome.name: outcome for outcome in execution.run_locally(cells, store)}
    known = keys(cells)
    assert {name: outcome.key for name, outcome in outcomes.items()} == known
    folder = store.find("d", known["d"])
    assert folder == store.root / "cells" / f"d-{known['d'][:12]}"
    record = json.loads((folder / "cell.json").read_text(encoding="utf-8"))
    assert record == store.record("d", known["d"])
    assert (record["kind"], record["inputs"], record["files"]) == ("toy", {"value": 1}, {"total": 2})
    assert record["needs"] == {"b": known["b"], "c": known["c"]}
    assert record["seconds"] == outcomes["d"].seconds
    assert {"python", "unmask", "torch"} <= set(record["libraries"])
    assert store.find("d", known["a"]) is None
    assert store.find("d", known["d"][:12] + "0" * 52) is None, "the whole key counts"


def test_a_failure_is_told_and_the_others_go_on(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    outcomes = execution.run_locally([*diamond(toy, act="break"), toy("e", "d")], store)
    assert statuses(outcomes) == {
        "a": "done",
        "b": "done",
        "c": "failed",
        "d": "skipped",
        "alone": "done",
        "e": "skipped",
    }
    by_name = {outcome.name: outcome for outcome in outcomes}
    trace = store.failure("c", by_name["c"].key)
    assert by_name["c"].error == f"ValueError: it broke (traceback in {trace})"
    assert "in two lines" in trace.read_text(encoding="utf-8")
    assert (by_name["d"].error, by_name["d"].folder) == ("it needs c, which failed", None)
    assert by_name["e"].error == "it needs d, which was skipped"
    assert results(store) == ["a", "alone", "b"]
    mended = execution.run_locally(diamond(toy), store)
    assert statuses(mended) == {"a": "kept", "b": "kept", "c": "done", "d": "done", "alone": "kept"}
    assert not trace.exists()
    assert noted(tmp_path)["end a"] == 1


def test_every_failure_is_one_line(toy: Callable[..., Toy], store: Store) -> None:
    cells = [toy(act, act=act, value=number) for number, act in enumerate(("refuse", "read", "record"))]
    refused, unread, recorded, unknown = execution.run_locally([*cells, toy("unknown", value={1})], store)
    assert refused.error == "no such data; give other data"
    assert unread.error.startswith("FileNotFoundError: [Errno 2]")
    assert "nowhere" in unread.error
    assert "cell 'record' has written cell.json" in recorded.error
    assert "inputs of cell 'unknown' are no JSON" in unknown.error
    assert results(store) == []
    (store.root / "failed").rename(store.root / "elsewhere")
    (store.root / "failed").touch()
    broken = execute(toy("late", act="break"), store, {})
    assert broken.error.startswith("ValueError: it broke (the traceback could not be written")


def test_a_place_that_cannot_hold_a_store_is_found_first(toy: Callable[..., Toy], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for root in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UnmaskError, match="cannot be written to"):
            execution.run_locally([toy("a")], Store(root))
    assert not noted(tmp_path)


def test_stopping_keeps_what_there_is(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="stopped; 2 of 5 steps are done"):
        execution.run_locally(diamond(toy, act="stop"), store)
    assert results(store) == ["a", "b"]
    assert statuses(execution.run_locally(diamond(toy, act="stop"), store)) == {
        "a": "kept",
        "b": "kept",
        "c": "done",
        "d": "done",
        "alone": "done",
    }
    assert noted(tmp_path)["begin c"] == 2
    assert list((store.root / "unfinished").iterdir()) == []


@pytest.mark.parametrize("damage", ["record", "no record", "output", "short output", "other key"])
def test_what_is_damaged_is_set_aside_and_done_again(
    toy: Callable[..., Toy], store: Store, tmp_path: Path, damage: str
) -> None:
    (outcome,) = execution.run_locally([toy("a", value=10)], store)
    folder = Path(str(outcome.folder))
    if damage == "record":
        (folder / "cell.json").write_text('{"name": "a"', encoding="utf-8")
    elif damage == "no record":
        (folder / "cell.json").unlink()
    elif damage == "output":
        (folder / "total").unlink()
    elif damage == "short output":
        (folder / "total").write_text("1", encoding="utf-8")
    else:
        record = json.loads((folder / "cell.json").read_text(encoding="utf-8")) | {"key": outcome.key[:12] + "0" * 52}
        (folder / "cell.json").write_text(json.dumps(record), encoding="utf-8")
    assert store.find("a", outcome.key) is None
    (again,) = execution.run_locally([toy("a", value=10)], store)
    assert (again.status, total(again), noted(tmp_path)["end a"]) == ("done", 10, 2)
    assert [path.name for path in (store.root / "distrusted").iterdir()] == [f"{folder.name}.1"]


# Several processes


LOCALLY = """
import sys
from pathlib import Path
from toy_study import Toy
from unmask.studies import Store, execution
cells = [Toy(f"cell{number}", sys.argv[1], value=number, act=sys.argv[3] if number == 2 else "", seconds=0.05)
         for number in range(6)]
outcomes = execution.run_locally(cells, Store(Path(sys.argv[2])))
print(*(outcome.status for outcome in outcomes))
"""


PATH = os.pathsep.join([str(TESTS / "support"), *sys.path])


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts Python with some code; what still runs when the test ends is killed."""
    with ExitStack() as stack:

        def start(code: str, *arguments: object) -> subprocess.Popen[str]:
            command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
            environment = {**os.environ, "PYTHONPATH": PATH}
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            process = stack.enter_context(
                subprocess.Popen(command, env=environment, start_new_session=True, **pipes)  # a group, as in a terminal
            )
            stack.callback(process.kill)
            return process

        yield start


def test_a_process_that_is_killed_leaves_no_half_cell(
    start: Callable[..., subprocess.Popen[str]], store: Store, tmp_path: Path
) -> None:
    """And two that begin together afterwards do the rest, each cell once."""
    killed = start(LOCALLY, tmp_path / "log", store.root, "hang")
    until(lambda: list(store.root.glob("unfinished/cell2-*/checkpoint")) != [])
    killed.kill()
    killed.communicate()
    drafts = [name for name in results(store) if name.startswith(".")]
    assert len(drafts) == 1, "it was killed in the middle"
    assert [name for name in results(store) if name not in drafts] == ["cell0", "cell1"]
    both = [start(LOCALLY, tmp_path / "log", store.root, "hang") for _ in range(2)]
    said = [process.communicate(timeout=60)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    pairs = [sorted(pair) for pair in zip(*said, strict=True)]
    assert pairs == [["kept", "kept"]] * 2 + [["done", "kept"]] * 4
    assert results(store) == [f"cell{number}" for number in range(6)]
    assert {line: count for line, count in noted(tmp_path).items() if line.startswith("end")} == {
        f"end cell{number}": 1 for number in range(6)
    }


# A cluster


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense"])
def test_an_address_where_no_cluster_is_is_told(
    toy: Callable[..., Toy], store: Store, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # an earlier test may have left a connection
    with pytest.raises(UnmaskError, match=f"Ray does not reach a cluster at {address} "):
        on_ray.run_on_ray([toy("a")], store, address=address)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes of this machine with one CPU each."""
    ray = pytest.importorskip("ray")
    utils = pytest.importorskip("ray.cluster_utils")
    small = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", PATH)
        cluster = utils.Cluster(initialize_head=True, head_node_args={**small, "_system_config": health})
        cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
        for _ in range(20):  # older releases of Ray connect to any node of this machine; the one lost must be another
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
    """The cell goes on from its workspace; what fails, stops or always dies stops nothing else."""
    monkeypatch.setattr(on_ray, "RETRIES", 1)
    heard: list[Event] = []
    victims: list[int] = []

    def watch(event: Event) -> None:
        heard.append(event)
        if event.what == "said" and event.name == "c" and not victims:
            victims.append(int(event.line.split()[1]))
            os.kill(victims[0], signal.SIGKILL)

    bad = [toy(act, act=act, value=number) for number, act in enumerate(("break", "die", "stop"), start=100)]
    cells = [*diamond(toy, act="hang", needs_gpu=True), *bad, toy("after", "a", "die")]
    outcomes = on_ray.run_on_ray(cells, store, watch=watch)
    assert [outcome.name for outcome in outcomes] == [cell.name for cell in order(cells)]
    there = dict.fromkeys(("a", "b", "c", "d", "alone"), "done")
    lost = dict.fromkeys(("break", "die", "stop"), "failed")
    assert statuses(outcomes) == there | lost | {"after": "skipped"}
    by_name = {outcome.name: outcome for outcome in outcomes}
    assert total(by_name["d"]) == 14
    assert by_name["break"].error.startswith("ValueError: it broke (traceback in ")
    assert by_name["die"].error.startswith("its worker died 2 times")
    assert by_name["stop"].error == "it was stopped where it ran; run the study again"
    assert by_name["after"].error == "it needs die, which failed"
    said = [event.line for event in heard if event.name == "c" and event.what == "said"]
    assert said[1].startswith("taken up again")
    notes = noted(tmp_path)
    assert notes["begin c"] == 2
    assert [notes[f"end {name}"] for name in there] == [1] * 5
    assert [name for name in results(store) if not name.startswith(".die")] == sorted(there)
    for outcome in outcomes:
        events = [event.what for event in heard if event.name == outcome.name and event.what != "said"]
        assert events == ["started", "ended"]
    assert [event.ended for event in heard if event.what == "ended"] == list(range(1, 10))
    assert list((store.root / "news").iterdir()) == []
    assert set(statuses(on_ray.run_on_ray(cells[:5], store, cpus=0.5)).values()) == {"kept"}
    assert capfd.readouterr().out == "", "Ray keeps quiet"


ON_RAY = """
import sys
from pathlib import Path
from toy_study import Toy
from unmask.studies import Store, ray
cells = [Toy("a", sys.argv[1]), Toy("b", sys.argv[1], ("a",), act="hang"), Toy("c", sys.argv[1], ("b",))]
ray.run_on_ray(cells, Store(Path(sys.argv[2])), address=sys.argv[3] or None)
"""


def test_a_killed_driver_is_followed_by_one_that_goes_on(
    cluster: Any,
    start: Callable[..., subprocess.Popen[str]],
    toy: Callable[..., Toy],
    store: Store,
    tmp_path: Path,
) -> None:
    driver = start(ON_RAY, tmp_path / "log", store.root, cluster.address)
    until(lambda: list(store.root.glob("unfinished/b-*/checkpoint")) != [])
    driver.kill()
    said, _ = driver.communicate()
    assert said == "", "Ray keeps quiet"
    outcomes = on_ray.run_on_ray([toy("a"), toy("b", "a", act="hang"), toy("c", "b")], store)
    assert statuses(outcomes) == {"a": "kept", "b": "done", "c": "done"}
    assert total(outcomes[2]) == 3
    assert noted(tmp_path) == {"begin a": 1, "end a": 1, "begin b": 2, "end b": 1, "begin c": 1, "end c": 1}
    assert results(store) == ["a", "b", "c"]


def test_ctrl_c_ends_the_cells_and_keeps_the_rest(
    start: Callable[..., subprocess.Popen[str]], toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    """Of a driver with a cluster of its own, in a terminal, where all its processes hear it."""
    driver = start(ON_RAY, tmp_path / "log", store.root, "")
    until(lambda: list(store.root.glob("unfinished/b-*/checkpoint")) != [])
    os.killpg(driver.pid, signal.SIGINT)
    said, complaint = driver.communicate(timeout=60)
    assert said == ""
    assert complaint.splitlines()[-1].startswith("unmask.errors.Stopped: stopped; 1 of 3 steps are done")
    assert results(store) == ["a"], "no draft is left either"
    assert list((store.root / "news").iterdir()) == []
    outcomes = execution.run_locally([toy("a"), toy("b", "a", act="hang"), toy("c", "b")], store)
    assert statuses(outcomes) == {"a": "kept", "b": "done", "c": "done"}
    assert noted(tmp_path)["begin b"] == 2


def test_a_machine_that_is_lost_loses_no_cell(
    cluster: Any, toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    """Two cells run on a machine each; one machine is lost, and then the worker on the other."""
    processes: dict[str, int] = {}

    def watch(event: Event) -> None:
        if event.what == "said" and event.line.startswith("process") and len(processes) < 2:
            processes[event.name] = int(event.line.split()[1])
            if len(processes) == 2:
                cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
                for process in processes.values():
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

    outcomes = on_ray.run_on_ray([toy("one", act="hang"), toy("two", act="hang", value=2)], store, watch=watch)
    assert statuses(outcomes) == {"one": "done", "two": "done"}
    assert noted(tmp_path) == {"begin one": 2, "end one": 1, "begin two": 2, "end two": 1}


def test_a_cell_gets_what_a_machine_has() -> None:
    machines = [{"CPU": 4.0}, {"CPU": 16.0, "GPU": 2.0}]
    assert [gpus_of_a_cell(machines, 16, gpus) for gpus in (None, 0, 0.25, 2)] == [1, 0, 0.25, 2]
    assert gpus_of_a_cell(machines[:1], 0.5, None) == 0, "without a GPU, on the CPU"
    for cpus, gpus, line in (
        (17, None, "cpus is 17, and the largest machine has 16;"),
        (0, None, "cpus is 0,"),
        (1, 3, "gpus is 3, and no machine with 1 CPUs has more than 2; give from 0 up to that, or fewer cpus"),
        (1, -1, "gpus is -1,"),
        (1, 1.5, "gpus is 1.5; give a whole number"),
    ):
        with pytest.raises(UnmaskError, match=line):
            gpus_of_a_cell(machines, cpus, gpus)
    with pytest.raises(UnmaskError, match="cpus is 1, and the largest machine has 0"):
        gpus_of_a_cell([], 1, None)


def test_one_machine_must_have_both_the_cpus_and_the_gpus() -> None:
    """Else a cell would wait for ever."""
    machines = [{"CPU": 16.0}, {"CPU": 4.0, "GPU": 1.0}]
    assert [gpus_of_a_cell(machines, cpus, None) for cpus in (4, 8)] == [1, 0]
    assert [gpus_of_a_cell(machines, *both) for both in ((4, 1), (8, 0))] == [1, 0]
    with pytest.raises(UnmaskError, match="gpus is 1, and no machine with 8 CPUs has more than 0;"):
        gpus_of_a_cell(machines, 8, 1)


def test_the_address_of_another_cluster_is_refused() -> None:
    for asked in (None, "", "auto", "10.0.0.7:6379"):
        refuse_other_cluster(asked, "10.0.0.7:6379")
    for asked in ("10.0.0.8:6379", "local"):
        with pytest.raises(UnmaskError, match=f"connected to 10.0.0.7:6379 already, not to {asked}; leave out the"):
            refuse_other_cluster(asked, "10.0.0.7:6379")


def test_a_connection_that_is_there_is_used_for_its_own_address_only(
    cluster: Any, toy: Callable[..., Toy], store: Store, tmp_path: Path
) -> None:
    with pytest.raises(UnmaskError, match=f"Ray is connected to {cluster.address} already, not to 127.0.0.1:1;"):
        on_ray.run_on_ray([toy("a")], store, address="127.0.0.1:1")
    assert not noted(tmp_path)
    assert statuses(on_ray.run_on_ray([toy("a")], store, address=cluster.address)) == {"a": "done"}


def test_a_store_that_machines_do_not_share_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.studies.ray.PATIENCE", 0.1)
    unseen = Outcome("a", "0" * 64, "done", str(store.root / "cells" / "a-0"), 1.0)
    outcome = seen_from_here(unseen)
    assert (outcome.status, outcome.folder) == ("failed", None)
    assert "is not to be seen from here; give an --out on a file system that all machines share" in outcome.error
    store.prepare()
    assert seen_from_here(replace(unseen, folder=str(store.root))).status == "done"
    with pytest.raises(UnmaskError, match=r"is not to be seen from 10\.0\.0\.7, a machine of the cluster"):
        refuse_unfit("10.0.0.7", store, False, "")
    with pytest.raises(UnmaskError, match=r"10\.0\.0\.7 has Unmask 0\.0\.9; install"):
        refuse_unfit("10.0.0.7", store, True, "0.0.9")


def test_without_ray_the_message_says_how_to_get_it(
    toy: Callable[..., Toy], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UnmaskError, match=r"pip install 'unmask\[ray\]'"):
        on_ray.run_on_ray([toy("a")], store)

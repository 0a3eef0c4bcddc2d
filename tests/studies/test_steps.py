"""Steps run exactly once and atomically, in one or several processes; a store records its study."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import unmask as command
from toy_study import Toy, count_notes, make_diamond, read_total, statuses, step_keys, stored_steps, wait_until
from unmask.cli.studies import app
from unmask.errors import Stopped, UnmaskError
from unmask.studies.steps import Event, Step, execute_step, run_locally, sort_steps, step_key
from unmask.studies.store import STUDY, Store
from unmask.studies.study import FinishedSteps, study_names

# Order and keys


def test_cells_come_after_what_they_need_and_else_as_given(toy: Callable[..., Toy]) -> None:
    assert [step.name for step in sort_steps(make_diamond(toy))] == ["a", "b", "c", "d", "alone"]
    ordered: list[Step] = [toy("x"), toy("y", "x"), toy("w"), toy("v", "w")]
    assert sort_steps(ordered) == ordered
    assert sort_steps([]) == []


def test_what_cannot_be_ordered_is_refused(toy: Callable[..., Toy]) -> None:
    with pytest.raises(UnmaskError, match="two steps are called 'a'"):
        sort_steps([toy("a"), toy("a", value=2)])
    with pytest.raises(UnmaskError, match="step 'a' needs 'x', 'y', which is not in the study"):
        sort_steps([toy("a", "x", "b", "y"), toy("b")])
    with pytest.raises(UnmaskError, match=r"wait for one another: (a needs b needs a|b needs a needs b);"):
        sort_steps([toy("a", "b"), toy("b", "a"), toy("c")])
    for bad in ("", "../a", "a/b", ".hidden", "a b", "x" * 101):
        with pytest.raises(UnmaskError, match="cannot name a step"):
            sort_steps([toy(bad)])


def test_a_key_is_a_hash_of_all_that_decides_the_result(toy: Callable[..., Toy]) -> None:
    """Known answer: `printf '["toy", {"value": 1}, []]' | sha256sum`."""
    assert step_key(toy("a"), {}) == "f3bad856705c98083b4840c37a19910b2f2e4d6cc7538349af01e14f354d57d0"
    keys = step_keys(make_diamond(toy))
    assert step_keys(make_diamond(toy)[::-1]) == keys
    changed_keys = step_keys([*make_diamond(toy)[:3], toy("a", value=2), toy("alone", value=5)])
    assert {name for name in keys if keys[name] != changed_keys[name]} == {"a", "b", "c", "d"}
    assert step_key(toy("a", kind="other"), {}) != keys["a"]
    assert step_key(toy("b", act="break", seconds=1.0), {}) == keys["a"], "neither the name nor how it is done decides"
    for bad in (float("nan"), {1, 2}, Path("x")):
        with pytest.raises(UnmaskError, match=r"inputs of step 'a' are not JSON .*; use plain values"):
            step_key(toy("a", value=bad), {})


# One process


def test_a_cell_is_done_once_and_kept(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    events: list[Event] = []
    first = run_locally(make_diamond(toy), store, watch=events.append)
    assert statuses(first) == dict.fromkeys("abcd", "done") | {"alone": "done"}
    assert [read_total(outcome) for outcome in first] == [1, 2, 11, 14, 5]
    assert [(event.what, event.name, event.ended, event.total) for event in events][:4] == [
        ("started", "a", 0, 5),
        ("said", "a", 0, 5),
        ("ended", "a", 1, 5),
        ("started", "b", 1, 5),
    ]
    assert events[1].line == f"process {os.getpid()}"
    assert events[-1].outcome == first[-1]
    repeated = run_locally(make_diamond(toy), store)
    assert repeated == [replace(outcome, status="kept") for outcome in first]
    changed = run_locally([*make_diamond(toy)[:2], toy("c", "a", value=20), *make_diamond(toy)[3:]], store)
    assert statuses(changed) == {"a": "kept", "b": "kept", "c": "done", "d": "done", "alone": "kept"}
    assert count_notes(tmp_path)["end a"] == 1
    assert count_notes(tmp_path)["end d"] == 2
    assert list((store.root / "unfinished").iterdir()) == []


def test_the_record_says_what_a_cell_is(toy: Callable[..., Toy], store: Store) -> None:
    steps = make_diamond(toy)
    outcomes = {outcome.name: outcome for outcome in run_locally(steps, store)}
    keys = step_keys(steps)
    assert {name: outcome.key for name, outcome in outcomes.items()} == keys
    folder = store.folder("d", keys["d"])
    assert folder == store.root / "cells" / f"d-{keys['d'][:12]}"
    record = json.loads((folder / "cell.json").read_text(encoding="utf-8"))
    assert record == store.read_record("d", keys["d"])
    assert (record["kind"], record["inputs"], record["files"]) == ("toy", {"value": 1}, {"total": 2})
    assert record["needs"] == {"b": keys["b"], "c": keys["c"]}
    assert record["seconds"] == outcomes["d"].seconds
    assert {"python", "unmask", "torch"} <= set(record["libraries"])
    assert store.read_record("d", keys["a"]) is None
    assert store.read_record("d", keys["d"][:12] + "0" * 52) is None, "the whole key counts"


def test_a_failure_is_told_and_the_others_go_on(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    outcomes = run_locally([*make_diamond(toy, act="break"), toy("e", "d")], store)
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
    assert stored_steps(store) == ["a", "alone", "b"]
    resumed = run_locally(make_diamond(toy), store)
    assert statuses(resumed) == {"a": "kept", "b": "kept", "c": "done", "d": "done", "alone": "kept"}
    assert not trace.exists()
    assert count_notes(tmp_path)["end a"] == 1


def test_every_failure_is_one_line(toy: Callable[..., Toy], store: Store) -> None:
    steps = [toy(act, act=act, value=number) for number, act in enumerate(("refuse", "read", "record"))]
    refused, unread, recorded, unknown = run_locally([*steps, toy("unknown", value={1})], store)
    assert refused.error == "no such data; give other data"
    assert unread.error.startswith("FileNotFoundError: [Errno 2]")
    assert "nowhere" in unread.error
    assert "step 'record' has written cell.json" in recorded.error
    assert "inputs of step 'unknown' are not JSON" in unknown.error
    assert stored_steps(store) == []
    (store.root / "failed").rename(store.root / "elsewhere")
    (store.root / "failed").touch()
    broken = execute_step(toy("late", act="break"), store, {})
    assert broken.error.startswith("ValueError: it broke (the traceback could not be written")


def test_a_place_that_cannot_hold_a_store_is_found_first(toy: Callable[..., Toy], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for root in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UnmaskError, match="cannot be written to"):
            run_locally([toy("a")], Store(root))
    assert not count_notes(tmp_path)


def test_stopping_keeps_what_there_is(toy: Callable[..., Toy], store: Store, tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="stopped; 2 of 5 steps are done"):
        run_locally(make_diamond(toy, act="stop"), store)
    assert stored_steps(store) == ["a", "b"]
    assert statuses(run_locally(make_diamond(toy, act="stop"), store)) == {
        "a": "kept",
        "b": "kept",
        "c": "done",
        "d": "done",
        "alone": "done",
    }
    assert count_notes(tmp_path)["begin c"] == 2
    assert list((store.root / "unfinished").iterdir()) == []


@pytest.mark.parametrize("damage", ["record", "no record", "output", "short output", "other key"])
def test_what_is_damaged_is_set_aside_and_done_again(
    toy: Callable[..., Toy], store: Store, tmp_path: Path, damage: str
) -> None:
    (outcome,) = run_locally([toy("a", value=10)], store)
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
    assert store.read_record("a", outcome.key) is None
    (repeated,) = run_locally([toy("a", value=10)], store)
    assert (repeated.status, read_total(repeated), count_notes(tmp_path)["end a"]) == ("done", 10, 2)
    assert [path.name for path in (store.root / "quarantine").iterdir()] == [f"{folder.name}.1"]


# Several processes


LOCALLY = """
import sys
from pathlib import Path
from toy_study import Toy
from unmask.studies.steps import run_locally
from unmask.studies.store import Store
steps = [Toy(f"step{number}", sys.argv[1], value=number, act=sys.argv[3] if number == 2 else "", seconds=0.05)
         for number in range(6)]
outcomes = run_locally(steps, Store(Path(sys.argv[2])))
print(*(outcome.status for outcome in outcomes))
"""


def test_a_process_that_is_killed_leaves_no_partial_result(
    start: Callable[..., subprocess.Popen[str]], store: Store, tmp_path: Path
) -> None:
    """Two processes started together afterwards run the remaining steps once each."""
    killed = start(LOCALLY, tmp_path / "log", store.root, "hang")
    wait_until(lambda: list(store.root.glob("unfinished/step2-*/checkpoint")) != [])
    killed.kill()
    killed.communicate()
    drafts = [name for name in stored_steps(store) if name.startswith(".")]
    assert len(drafts) == 1, "it was killed in the middle"
    assert [name for name in stored_steps(store) if name not in drafts] == ["step0", "step1"]
    both = [start(LOCALLY, tmp_path / "log", store.root, "hang") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    pairs = [sorted(pair) for pair in zip(*outputs, strict=True)]
    assert pairs == [["kept", "kept"]] * 2 + [["done", "kept"]] * 4
    assert stored_steps(store) == [f"step{number}" for number in range(6)]
    assert {line: count for line, count in count_notes(tmp_path).items() if line.startswith("end")} == {
        f"end step{number}": 1 for number in range(6)
    }


# A folder records its study


def _run(study: str, out: Path) -> FinishedSteps:
    store = Store(out)
    store.check_study(study)
    store.prepare_folders(study)
    return FinishedSteps([], run_locally([], store))


def _read_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_study_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    _run("imdb-63", tmp_path / "out")
    assert json.loads((tmp_path / "out" / STUDY).read_text())["study"] == "imdb-63"
    (tmp_path / "out" / "report.html").write_text("of imdb-63")
    before = _read_files(tmp_path / "out")
    with pytest.raises(UnmaskError, match=r"out holds the study imdb-63, not nli-plms; give another folder"):
        _run("nli-plms", tmp_path / "out")
    assert _read_files(tmp_path / "out") == before
    _run("imdb-63", tmp_path / "out")
    assert _read_files(tmp_path / "out") == before


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "null"])
def test_a_folder_that_does_not_say_its_study_is_accepted(content: str | None, tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    if content is not None:
        (tmp_path / STUDY).write_text(content)
    _run("meta", tmp_path)
    with pytest.raises(UnmaskError, match="holds the study meta"):
        _run("nli-meta", tmp_path)


@pytest.mark.parametrize("study", study_names())
def test_every_study_is_refused_by_the_folder_of_another(study: str, tmp_path: Path) -> None:
    _run("another", tmp_path / "out")
    before = _read_files(tmp_path / "out")
    result = CliRunner().invoke(app, ["run", study, "--offline", "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, UnmaskError)
    assert f"out holds the study another, not {study};" in str(result.exception)
    assert _read_files(tmp_path / "out") == before


def test_it_is_one_line_in_the_shell(tmp_path: Path) -> None:
    _run("nli-meta", tmp_path / "out")
    process = command("study", "run", "meta", "--out", "out", cwd=tmp_path)
    assert process.returncode == 2
    assert process.stderr == "unmask: out holds the study nli-meta, not meta; give another folder with --out\n"

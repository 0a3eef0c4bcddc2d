"""Runs that are interrupted, lose a process or cannot start: no partial output, and the same final output."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toy_rewriters import (
    Tired,
    Toy,
    crashing,
    faulty,
    make_stories,
    read_tree,
    rewrite_file,
    tired,
    toy,
)
from unmask.errors import Stopped, UnmaskError
from unmask.rewriting.files import FileRewriteOptions, documents, output, run, sources, workers
from unmask.rewriting.files.options import DOCUMENTS


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and pieces so small that a few sentences fill many of them."""
    monkeypatch.setattr(sources, "BLOCK", 64)
    monkeypatch.setattr(sources, "PIECE", 256)
    monkeypatch.setattr(documents, "PIECE", 256)
    monkeypatch.setattr(documents, "TAIL", 64)


# Interrupted and resumed runs


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch, small_blocks: None) -> None:  # noqa: ARG001
    """Write a journal entry after every block."""
    monkeypatch.setattr(output, "EVERY", 0.0)


def _run_with_interruptions(source: Path, out: Path, **options: Any) -> int:
    """Interrupt and resume a run until it is complete; returns the number of interruptions."""
    for stops in range(1000):
        Tired.left = 7
        try:
            rewrite_file(source, out, factory=tired, **options)
        except Stopped:
            assert not out.exists()
        else:
            return stops
    raise AssertionError("no progress")


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("probability", [None, 0.5])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_an_interrupted_file_ends_as_an_uninterrupted_one(
    document: str, probability: float | None, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(make_stories(25) + b"\n\n\xff end")
    whole = rewrite_file(tmp_path / "a.txt", tmp_path / "whole", document=document, probability=probability)
    stops = _run_with_interruptions(tmp_path / "a.txt", tmp_path / "parts", document=document, probability=probability)
    assert stops > 3 or probability
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    reports = [json.loads((tmp_path / f"{name}.report.json").read_text()) for name in ("whole", "parts")]
    for report in reports:
        report.pop("seconds")
    assert reports[0] == reports[1]
    assert whole.counts.documents == reports[1]["documents"]
    assert not (tmp_path / "parts.unfinished").exists()


@pytest.mark.usefixtures("every_step")
def test_an_interrupted_folder_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    for number in range(12):
        (root / f"{number}.txt").write_bytes(make_stories(number))
    (root / "z.jsonl").write_bytes(b'{"text": "She"}\n' * 6)
    pq.write_table(pa.table({"text": ["She"] * 6}), root / "z.parquet")
    (root / "z.txt.gz").write_bytes(gzip.compress(b"She"))
    rewrite_file(root, tmp_path / "whole")
    assert _run_with_interruptions(root, tmp_path / "parts") > 5
    assert read_tree(tmp_path / "whole") == read_tree(tmp_path / "parts")

    Tired.left = 40
    with pytest.raises(Stopped):
        rewrite_file(root, tmp_path / "again", factory=tired)
    (root / "0.txt").write_text("She is new")  # changed since, so it is rewritten again
    (root / "1.txt").unlink()  # removed, so its output is removed too
    output_file = tmp_path / "again.unfinished" / "output" / "10.txt"
    output_file.write_bytes(b"damaged")
    with (tmp_path / "again.unfinished" / "finished.jsonl").open("a") as entries:
        entries.write('{"name": "half a li')
    summary = rewrite_file(root, tmp_path / "again")
    assert summary.finished_before > 0
    changed = read_tree(tmp_path / "whole") | {"0.txt": b"He is new"}
    changed.pop("1.txt")
    assert read_tree(tmp_path / "again") == changed


@pytest.mark.usefixtures("every_step")
def test_a_finished_file_that_changed_does_not_harm_the_file_that_was_interrupted(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "a.txt").write_bytes(b"She")
    (root / "b.txt").write_bytes(make_stories(25))
    Tired.left = 12
    with pytest.raises(Stopped):
        rewrite_file(root, tmp_path / "parts", factory=tired, document="line")
    (root / "a.txt").write_text("She is new")
    rewrite_file(root, tmp_path / "parts", document="line")
    rewrite_file(root, tmp_path / "whole", document="line")
    assert read_tree(tmp_path / "parts") == read_tree(tmp_path / "whole")


@pytest.mark.usefixtures("every_step")
def test_what_makes_it_another_run(tmp_path: Path) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "out"
    source.write_bytes(make_stories(60))

    def stop() -> None:
        Tired.left = 20
        with pytest.raises(Stopped, match=r"the same command resumes from .*out\.unfinished"):
            rewrite_file(source, out, factory=tired)

    stop()
    with pytest.raises(UnmaskError, match=r"the seed changed \(0 then, 1 now\); .* --restart"):
        rewrite_file(source, out, seed=1)
    with pytest.raises(UnmaskError, match="the mode changed"):
        rewrite_file(source, out, to="neutral")
    rewrite_file(source, out, seed=1, restart=True)
    expected = out.read_bytes()
    for damage in ("output", "source", "entry"):
        out.unlink()
        (tmp_path / "out.report.json").unlink()
        stop()
        if damage == "output":
            file = tmp_path / "out.unfinished" / "output"
            file.write_bytes(b"?" + file.read_bytes()[1:])
        elif damage == "source":
            os.utime(source, (1, 1))
        else:
            (tmp_path / "out.unfinished" / "current.json").write_text("{")
        rewrite_file(source, out)
        assert out.read_bytes() == expected


@pytest.mark.usefixtures("every_step")
def test_a_folder_with_one_bad_file_keeps_what_is_finished(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "a.txt").write_text("She")
    (root / "b.jsonl").write_text('{"text": "She"}\n{"text')
    with pytest.raises(UnmaskError, match=r"b\.jsonl, line 2: .*finished files are kept"):
        rewrite_file(root, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (root / "b.jsonl").write_text('{"text": "She"}\n')
    assert rewrite_file(root, tmp_path / "out").finished_before == 1
    assert read_tree(tmp_path / "out") == {"a.txt": b"He", "b.jsonl": b'{"text": "He"}\n'}


def test_two_runs_do_not_write_the_same_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She")
    request = FileRewriteOptions(sources=(tmp_path / "a.txt",), out=tmp_path / "out", processes=1)
    first = output.Draft(tmp_path / "out", single=True)
    first.begin(request.identity(), restart=False)
    for restart in (False, True):
        with pytest.raises(UnmaskError, match="another run is writing"):
            run(request.replace(restart=restart), factory=toy)
    first.close()
    run(request, factory=toy)
    assert (tmp_path / "out").read_text() == "He"


# Processes


def test_a_lost_process_is_an_error_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(make_stories(500) + b"\n\ncrash\n\n" + make_stories(500))
    with pytest.raises(workers.WorkerLostError, match="a worker process was lost"):
        rewrite_file(tmp_path / "a.txt", tmp_path / "out", factory=crashing, processes=2)
    assert not (tmp_path / "out").exists()
    rewrite_file(tmp_path / "a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == Toy().rewrite((tmp_path / "a.txt").read_bytes().decode()).text.encode()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_fault_of_a_rewriter_says_where(processes: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She is here.")
    with pytest.raises(ZeroDivisionError) as error:
        rewrite_file(tmp_path / "a.txt", tmp_path / "out", factory=faulty, processes=processes)
    assert any("She is here." in note for note in error.value.__notes__)
    assert not (tmp_path / "out").exists()


def test_other_processes_start_only_where_there_is_enough_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def record_start(*arguments: Any, **options: Any) -> Any:
        started.append(arguments[0])
        return ProcessPoolExecutor(*arguments, **options)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", record_start)
    monkeypatch.setattr(workers, "count_cores", lambda: 2)
    (tmp_path / "a.txt").write_bytes(make_stories(100))
    rewrite_file(tmp_path / "a.txt", tmp_path / "small", processes=None)
    assert not started
    (tmp_path / "a.txt").write_bytes(b"\n\n".join([make_stories(400)] * 20))
    rewrite_file(tmp_path / "a.txt", tmp_path / "two", processes=None)
    assert started == [2]
    rewrite_file(tmp_path / "a.txt", tmp_path / "one", processes=1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "a.txt").stat().st_size > workers.SMALL


# Invalid requests


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": 1.5}, "probability is 1.5; give a number from 0 to 1"),
        ({"probability": -0.1}, "from 0 to 1"),
        ({"probability": float("nan")}, "probability is nan; give a number"),
        ({"document": "lines"}, "document is 'lines'; did you mean 'line'"),
        ({"format": "csv"}, "format is 'csv'; choose from: auto, text"),
        ({"processes": 0}, "processes is 0; give 1 or more"),
        ({"sources": (Path("none.txt"),)}, "none.txt does not exist"),
        ({"sources": (Path("corpus"),), "out": None}, "name a new folder with --out"),
        ({"sources": (Path("a.txt"), Path("corpus")), "out": None}, "name a new folder with --out"),
        ({"out": Path("a.txt")}, "a.txt exists"),
        ({"sources": (Path("corpus"),), "out": Path("corpus/new")}, "corpus/new is inside corpus"),
        ({"sources": (Path("corpus"),), "out": Path("corpus")}, "corpus exists"),
        ({"sources": (Path("bare"),)}, "bare has no file to rewrite"),
        ({"sources": (Path("x.csv"),)}, "x.csv has an unknown ending"),
        ({"sources": (Path("x.gz"),)}, "x.gz has an unknown ending"),
        ({"sources": (Path("bad.txt.gz"),)}, "bad.txt.gz is not a complete gzip file"),
        ({"sources": (Path("short.txt.gz"),)}, "short.txt.gz is not a complete gzip file"),
        ({"sources": (Path("damaged.txt.gz"),)}, "damaged.txt.gz is"),
        ({"sources": (), "format": "parquet"}, "Parquet cannot be read from standard input"),
        ({"report": Path("a.txt")}, "a.txt exists"),
        ({"terms": Path("none.csv")}, "none.csv"),
    ],
)
def test_bad_requests(change: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("She")
    Path("x.csv").write_text("She")
    Path("x.gz").write_bytes(gzip.compress(b"She"))
    Path("bad.txt.gz").write_text("She")
    packed = gzip.compress(random.Random(1).randbytes(5000))
    Path("short.txt.gz").write_bytes(packed[:-100])
    Path("damaged.txt.gz").write_bytes(packed[:10] + b"\xff\xff" + packed[12:])
    Path("corpus").mkdir()
    Path("corpus/a.txt").write_text("She")
    Path("bare").mkdir()
    before = read_tree(tmp_path)
    with pytest.raises(UnmaskError, match=re.escape(message)) as error:
        run(
            FileRewriteOptions(**{"sources": (Path("a.txt"),), "out": Path("out"), "processes": 1, **change}),
            factory=toy,
        )
    assert "\n" not in str(error.value)
    assert read_tree(tmp_path) == before


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("She")
    may = os.access  # root, which runs some tests, may read everything
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).is_dir() and may(path, mode))
    with pytest.raises(UnmaskError, match=r"a\.txt cannot be read \(permission denied\)"):
        rewrite_file(tmp_path / "a.txt", tmp_path / "out")
    assert len(list(tmp_path.iterdir())) == 1

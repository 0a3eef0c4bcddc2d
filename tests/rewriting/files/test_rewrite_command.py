"""The command `unmask rewrite`: pipes, messages and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import commands
from toy_rewriters import (
    make_stories,
)
from unmask.errors import Stopped
from unmask.rewriting.files import FileRewriteOptions, run

# The command in a separate process


def _run_rewrite(*words: str | Path, cwd: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "unmask", "rewrite", *map(str, words)],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"},
        input=stdin,
        capture_output=True,
        timeout=300,
        check=False,
    )


def test_text_goes_through_a_pipe(tmp_path: Path) -> None:
    content = "\ufeffShe lost her keys.\r\n\r\nGröße \x00\x1b".encode() + b"\xff he\n"
    expected = "\ufeffHe lost his keys.\r\n\r\nGröße \x00\x1b".encode() + b"\xff she\n"
    for words in ((), ("-", "--processes", "2"), ("--document", "line")):
        process = _run_rewrite(*words, "--terms", "pronouns", cwd=tmp_path, stdin=content)
        assert process.returncode == 0, process.stderr
        assert process.stdout == expected
        assert b"words: 3 (" in process.stderr
    jsonl = _run_rewrite("--format", "jsonl", "--report", "r.json", cwd=tmp_path, stdin=b'{"text":"She"}\n')
    assert jsonl.stdout == b'{"text":"He"}\n'
    assert json.loads((tmp_path / "r.json").read_text())["words"] == {"she": 1}
    (tmp_path / "a.txt").write_bytes(content)
    assert _run_rewrite("a.txt", "--show", cwd=tmp_path).stdout == expected
    written = commands.unmask("rewrite", "a.txt", "--out", "b.txt", cwd=tmp_path)
    assert written.stdout == ""
    assert "written: b.txt" in written.stderr
    assert (tmp_path / "b.txt").read_bytes() == expected


def test_a_text_of_the_command_line_with_its_changes(tmp_path: Path) -> None:
    process = commands.unmask("rewrite", "--text", "She saw me.", cwd=tmp_path)
    assert (process.stdout, process.stderr) == ("He saw me.\n", "")
    process = commands.unmask("rewrite", "--text", "She saw me.", "--show", cwd=tmp_path)
    assert process.stdout == "He saw me.\n"
    assert process.stderr == "[-She-]{+He+} saw me.\n  She → He\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.txt",), "none.txt does not exist"),
        (("--to", "swop", "--text", "x"), "--to is 'swop'; did you mean 'swap'?"),
        (("--terms", "al", "--text", "x"), "unknown term set 'al'; did you mean 'all'?"),
        (("--text", "x", "a.txt"), "--text is printed"),
        (("a.jsonl", "--show"), "--show is for a plain text"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She")
    (tmp_path / "a.jsonl").write_text('{"text": "She"}\n')
    process = commands.unmask("rewrite", *words, cwd=tmp_path)
    assert process.returncode == 2
    assert message in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert process.stdout == ""
    assert len(list(tmp_path.iterdir())) == 2


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"She is here.\n\n" * 40_000)
    script = f"{sys.executable} -m unmask rewrite a.txt --processes 1 2>err | head -c 13; echo ${{PIPESTATUS[0]}}"
    process = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=True, timeout=120)
    assert process.stdout == b"He is here.\n\n141\n"
    assert (tmp_path / "err").read_bytes() == b""


def test_no_standard_input_at_all(tmp_path: Path) -> None:
    script = f"{sys.executable} -m unmask rewrite <&-"
    process = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert process.returncode == 2
    assert process.stderr == "unmask: there is no standard input; name a file, or give --text\n"


def test_ctrl_c_and_the_same_command_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\n\n".join([make_stories(300)] * 50))
    words = [sys.executable, "-m", "unmask", "rewrite", "a.txt", "--processes", "2", "--out", "parts.txt"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not (tmp_path / "parts.txt.unfinished/current.json").exists():
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # to all processes of the group, as a terminal does
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130, message
    assert (
        message == "unmask: stopped; the same command resumes from parts.txt.unfinished, and --restart starts again\n"
    )
    assert not (tmp_path / "parts.txt").exists()
    completed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    assert "written: parts.txt" in completed.stderr
    whole = commands.unmask("rewrite", "a.txt", "--out", "whole.txt", "--processes", "1", cwd=tmp_path)
    assert whole.returncode == 0
    assert (tmp_path / "whole.txt").read_bytes() == (tmp_path / "parts.txt").read_bytes()
    reports = [json.loads((tmp_path / f"{name}.txt.report.json").read_text()) for name in ("parts", "whole")]
    assert all(report.pop("seconds") is not None for report in reports)
    assert reports[0] == reports[1]


def test_ctrl_c_while_a_process_starts_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_bytes(make_stories(3))
    submit = ProcessPoolExecutor.submit

    def interrupt_and_submit(self: ProcessPoolExecutor, *work: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return submit(self, *work)  # type: ignore[arg-type]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupt_and_submit)
    with pytest.raises(Stopped):
        run(FileRewriteOptions(sources=(tmp_path / "a.txt",), out=tmp_path / "b.txt", processes=2))
    assert not (tmp_path / "b.txt").exists()

"""`unmask` in its own process, without waiting for imports: one process has imported the libraries and forks.

Every command is a process with its own standard streams, folder, exit code and state of `unmask`, as in a shell. What
a library prints on import is not seen, and all share one hash seed: tests of either start Python themselves.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

LIBRARIES = (
    *("pandas", "peft", "pydantic", "rich.progress", "scipy.stats", "torch", "typer"),
    *("transformers.models.bert.modeling_bert", "transformers.models.roberta.modeling_roberta"),
)


def environment() -> dict[str, str]:
    """The variables of a command: no network, lines of 100 columns, no colours."""
    return os.environ | {"HF_HUB_OFFLINE": "1", "COLUMNS": "100", "NO_COLOR": "1"}


def unmask(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `unmask WORDS…` in a folder."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with TemporaryDirectory() as folder:
        order = {"words": [*map(str, words)], "cwd": str(cwd), "streams": folder}
        server.stdin.write(json.dumps(order) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        out, err = ((Path(folder) / name).read_text(encoding="utf-8") for name in ("out", "err"))
    return subprocess.CompletedProcess(order["words"], code, out, err)


def interrupted(*words: str | Path, cwd: Path, once: str) -> tuple[int, str, str]:
    """Exit code and both streams of a command that gets Ctrl-C once it has loaded the library `once`.

    It should be the last before a longer computation: compiled libraries turn Ctrl-C while they load into other errors.
    """
    running = subprocess.Popen(
        [sys.executable, "-m", "unmask", *map(str, words)],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while once not in Path(f"/proc/{running.pid}/maps").read_text():
        assert running.poll() is None
        time.sleep(0.05)
    time.sleep(0.2)
    for _ in range(20):  # a busy machine may still be loading a library, and that one press is lost
        running.send_signal(signal.SIGINT)
        try:
            out, err = running.communicate(timeout=5)
            return running.returncode, out, err
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("Ctrl-C does not end the command")


@cache
def _server() -> subprocess.Popen[str]:
    """One per process of tests; it ends when its standard input closes."""
    server = subprocess.Popen(
        [sys.executable, __file__], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.communicate)
    return server


def _serve(orders: IO[str]) -> None:
    for library in LIBRARIES:
        import_module(library)
    gc.freeze()  # otherwise every process that ends examines, and so copies, the memory of all libraries: a second each
    for line in iter(orders.readline, ""):
        child = os.fork()
        if child == 0:
            _obey(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _obey(order: Mapping[str, str]) -> None:
    for number, name, mode in ((0, os.devnull, os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
        os.dup2(os.open(Path(order["streams"]) / name, mode | os.O_CREAT), number)
    os.chdir(order["cwd"])
    sys.argv = ["unmask", *order["words"]]
    from unmask.cli import main

    main()


if __name__ == "__main__":
    _serve(sys.stdin)

"""Fixtures for studies: toy steps, a store, and processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from toy_study import PYTHON_PATH, Toy
from unmask.studies.store import Store


@pytest.fixture
def toy(tmp_path: Path) -> Callable[..., Toy]:
    """Make a toy step that writes to the log of the test."""
    return lambda name, *needs, **more: Toy(name, str(tmp_path / "log"), needs, **more)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """The store of the test."""
    return Store(tmp_path / "study")


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python with some code; processes that still run at the end of the test are killed."""
    with ExitStack() as stack:

        def start(code: str, *arguments: object) -> subprocess.Popen[str]:
            command = [sys.executable, "-W", "ignore", "-c", code, *map(str, arguments)]
            environment = {**os.environ, "PYTHONPATH": PYTHON_PATH}
            pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
            process = stack.enter_context(
                subprocess.Popen(command, env=environment, start_new_session=True, **pipes)  # a group, as in a terminal
            )
            stack.callback(process.kill)
            return process

        yield start

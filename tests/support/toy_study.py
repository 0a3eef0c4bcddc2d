"""A step of a study that can misbehave. In its own module, since other processes import it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paths import TESTS
from unmask.errors import Stopped, UnmaskError
from unmask.studies.steps import Outcome, Say, Step, sort_steps, step_key
from unmask.studies.store import Store


@dataclass(frozen=True)
class Toy:
    """Adds a value to the totals of earlier steps, logs when it begins and ends, and misbehaves as `act` says."""

    name: str
    log: str
    needs: tuple[str, ...] = ()
    value: Any = 1
    act: str = ""
    seconds: float = 0.0
    kind: str = "toy"
    needs_gpu: bool = False

    def inputs(self) -> dict[str, Any]:
        return {"value": self.value}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        self._note("begin")
        time.sleep(self.seconds)
        (draft / "half").write_text("half of it", encoding="utf-8")
        first_attempt = not (workspace / "checkpoint").exists()
        (workspace / "checkpoint").touch()
        say(f"process {os.getpid()}")
        if self.act == "hang" and first_attempt:
            for _ in range(1200):
                time.sleep(0.1)
        elif self.act == "stop" and first_attempt:
            raise Stopped("stopped at a step")
        elif self.act == "break":
            raise ValueError("it broke\nin two lines")
        elif self.act == "refuse":
            raise UnmaskError("no such data; give other data")
        elif self.act == "read":
            (draft / "nowhere").read_text()
        elif self.act == "record":
            (draft / "cell.json").write_text("{}", encoding="utf-8")
        elif self.act == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        total = self.value + sum(int((folder / "total").read_text()) for folder in before.values())
        (draft / "total").write_text(str(total), encoding="utf-8")
        (draft / "half").unlink()
        self._note("end")

    def _note(self, event: str) -> None:
        with Path(self.log).open("a", encoding="utf-8") as log:
            log.write(f"{event} {self.name}\n")


PYTHON_PATH = os.pathsep.join([str(TESTS / "support"), *sys.path])
"""For processes that import this module."""


def make_diamond(toy: Callable[..., Toy], **middle: Any) -> list[Step]:
    """Steps of which d needs b and c, which need a; and one without dependencies."""
    return [toy("d", "b", "c"), toy("b", "a"), toy("c", "a", value=10, **middle), toy("a"), toy("alone", value=5)]


def count_notes(folder: Path) -> Counter[str]:
    """How often each step has begun and ended."""
    path = folder / "log"
    return Counter(path.read_text(encoding="utf-8").splitlines() if path.exists() else [])


def statuses(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The status of each step."""
    return {outcome.name: outcome.status for outcome in outcomes}


def read_total(outcome: Outcome) -> int:
    """The total that a toy step has written."""
    return int((Path(str(outcome.folder)) / "total").read_text())


def stored_steps(store: Store) -> list[str]:
    """The names of the steps that are in the store, drafts included."""
    return sorted(path.name.rpartition("-")[0] for path in (store.root / "cells").iterdir())


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a minute at most."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def step_keys(steps: Sequence[Step]) -> dict[str, str]:
    """The keys of all steps of a study, by name."""
    keys: dict[str, str] = {}
    for step in sort_steps(steps):
        keys[step.name] = step_key(step, keys)
    return keys

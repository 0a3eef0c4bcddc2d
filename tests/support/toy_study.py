"""A step of a study that can misbehave. A module of its own, since other processes import it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.errors import Stopped, UnmaskError
from unmask.studies.steps import Say


@dataclass(frozen=True)
class Toy:
    """Adds a value to those before it, keeps a log of when it was begun and ended, and misbehaves if told to."""

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
        first = not (workspace / "checkpoint").exists()
        (workspace / "checkpoint").touch()
        say(f"process {os.getpid()}")
        if self.act == "hang" and first:
            for _ in range(1200):
                time.sleep(0.1)
        elif self.act == "stop" and first:
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

    def _note(self, what: str) -> None:
        with Path(self.log).open("a", encoding="utf-8") as log:
            log.write(f"{what} {self.name}\n")

"""How the cells of a run tell of themselves when they run elsewhere: a small file each in the store, which is shared.

Nothing hangs on it: news that cannot be written or read are left out, and the run goes on.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from unmask.studies.execution import Event, Outcome, Watch

AGAIN = "taken up again after its worker was lost"


@dataclass(frozen=True)
class Reporter:
    """A cell's pen."""

    file: Path

    def start(self) -> None:
        """Tell that the cell begins, or begins again."""
        with suppress(OSError):
            self.file.touch(exist_ok=False)
            return
        self.say(AGAIN)

    def say(self, line: str) -> None:
        """Tell one line."""
        with suppress(OSError), self.file.open("a", encoding="utf-8") as file:
            file.write(f"{' '.join(line.split())}\n")


class News:
    """The files of a run, read from time to time and passed on to who watches."""

    def __init__(self, root: Path, total: int, watch: Watch | None) -> None:
        """Name the folder; nothing is made yet."""
        self._folder = root / "news" / uuid.uuid4().hex
        self._total = total
        self._watch: Watch = watch or (lambda _: None)
        self._read: dict[str, int] = {}
        self._ended: set[str] = set()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, and remove it at the end."""
        with suppress(OSError):
            self._folder.mkdir(parents=True)
        try:
            yield
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def reporter(self, name: str) -> Reporter:
        """The pen of a cell."""
        return Reporter(self._folder / name)

    def read(self) -> None:
        """Pass on what is new."""
        with suppress(OSError):
            for file in sorted(self._folder.iterdir(), key=lambda file: (file.stat().st_ctime, file.name)):
                self._pass_on(file.name)

    def ended(self, outcome: Outcome) -> None:
        """Pass on that a cell has ended, after all it had to say."""
        self._pass_on(outcome.name)
        self._ended.add(outcome.name)
        self._watch(Event("ended", outcome.name, len(self._ended), self._total, outcome=outcome))

    def _pass_on(self, name: str) -> None:
        if name not in self._read:
            self._read[name] = 0
            self._watch(Event("started", name, len(self._ended), self._total))
        text = b""
        with suppress(OSError), (self._folder / name).open("rb") as file:
            file.seek(self._read[name])
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read[name] += len(whole)
        for line in whole.decode("utf-8", errors="replace").splitlines():
            self._watch(Event("said", name, len(self._ended), self._total, line=line))

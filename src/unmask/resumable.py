"""The folder of an unfinished run, next to its output. It records its options, so that only the same run resumes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.files import atomic_file

RUN = "run.json"


class ResumableRun:
    """The folder `OUT.unfinished`, which is removed when the run is done."""

    def __init__(self, out: Path) -> None:
        """Name the folder of the run that will write `out`; nothing is created yet."""
        self.folder = out.with_name(f"{out.name}.unfinished")

    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        raise NotImplementedError

    def claim(self, run: dict[str, Any], *, restart: bool) -> bool:
        """Make the folder, or claim that of the same run; returns whether there is a checkpoint to resume from."""
        record = self.folder / RUN
        ours = record.is_file()
        if ours and (restart or not self.has_checkpoint()):
            self.remove()
        elif ours:
            self._compare(record, run)
            return True
        if self.folder.exists():
            raise UnmaskError(f"{self.folder} exists and is not an unfinished run; remove it, or give another --out")
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise UnmaskError(
                f"{self.folder.parent} cannot be written to ({error.strerror}); give another folder with --out"
            ) from None
        with atomic_file(record) as draft:
            draft.write_text(json.dumps(run, indent=2), encoding="utf-8")
        return False

    def _compare(self, record: Path, run: dict[str, Any]) -> None:
        try:
            before = json.loads(record.read_text(encoding="utf-8"))
        except ValueError:
            raise UnmaskError(f"{record} is damaged; start again with --restart") from None
        changed = sorted(key for key in {*before, *run} if before.get(key) != run.get(key))
        if changed:
            key = changed[0]
            values = f" ({before.get(key)!r} then, {run.get(key)!r} now)"
            raise UnmaskError(
                f"{self.folder} holds an unfinished run, and the {key.replace('_', ' ')} changed"
                f"{values if len(values) < 80 else ''};"
                " give the same settings to resume it, or --restart to discard it"
            )

    def remove(self) -> None:
        """Remove the folder: the run is done, or begins again."""
        shutil.rmtree(self.folder)

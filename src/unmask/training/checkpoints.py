"""The folder of an unfinished run: which run it is, the latest checkpoint, and the best weights so far."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.files import whole_file

RUN, LATEST, BEST, PROGRESS = "run.json", "latest", "best.safetensors", "progress.json"


class Workspace:
    """`DIR.unfinished`, beside the folder that will be written; gone when the run is done."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; nothing is made yet."""
        self.folder = folder

    def claim(self, run: dict[str, Any], *, restart: bool) -> bool:
        """Make the folder, or take up the one of the same run; says whether there is something to go on from."""
        record = self.folder / RUN
        ours = record.is_file()
        if ours and (restart or not self.has_checkpoint()):
            self.remove()
        elif ours:
            self._compare(record, run)
            return True
        if self.folder.exists():
            raise UnmaskError(f"{self.folder} exists and is no unfinished run; remove it, or give another --out")
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise UnmaskError(
                f"{self.folder.parent} cannot be written to ({error.strerror}); give another folder with --out"
            ) from None
        with whole_file(record) as draft:
            draft.write_text(json.dumps(run, indent=2), encoding="utf-8")
        return False

    def _compare(self, record: Path, run: dict[str, Any]) -> None:
        try:
            before = json.loads(record.read_text(encoding="utf-8"))
        except ValueError:
            raise UnmaskError(f"{record} is damaged; begin again with --restart") from None
        changed = sorted(key for key in {*before, *run} if before.get(key) != run.get(key))
        if changed:
            key = changed[0]
            values = f" ({before.get(key)!r} then, {run.get(key)!r} now)"
            raise UnmaskError(
                f"{self.folder} holds an unfinished run, and the {key.replace('_', ' ')} changed"
                f"{values if len(values) < 80 else ''};"
                " give the same settings to go on, or --restart to forget it and begin again"
            )

    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint to go on from."""
        return (self.folder / LATEST).is_dir() or (self.folder / f"{LATEST}.old").is_dir()

    def save(self, accelerator: Any, progress: dict[str, Any]) -> None:
        """Keep everything that training needs to go on, in place of the checkpoint before."""
        draft, latest, old = (self.folder / f"{LATEST}{ending}" for ending in (".new", "", ".old"))
        if accelerator.is_main_process and draft.exists():
            shutil.rmtree(draft)
        accelerator.wait_for_everyone()
        accelerator.save_state(str(draft))
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            content = {"progress": progress, "files": _hashes(draft)}
            (draft / PROGRESS).write_text(json.dumps(content), encoding="utf-8")
            if latest.exists():
                shutil.rmtree(old, ignore_errors=True)
                latest.rename(old)
            draft.rename(latest)
            shutil.rmtree(old, ignore_errors=True)
        accelerator.wait_for_everyone()

    def restore(self, accelerator: Any) -> dict[str, Any]:
        """Load the latest whole checkpoint; returns the progress kept with it."""
        latest = self.folder / LATEST
        if not latest.is_dir():  # cut off between two renames
            latest = self.folder / f"{LATEST}.old"
        try:
            content = json.loads((latest / PROGRESS).read_text(encoding="utf-8"))
            whole = content["files"] == _hashes(latest)  # a damaged random state would be passed over in silence
            if whole:
                accelerator.load_state(str(latest))
        except (OSError, ValueError, KeyError, RuntimeError):
            whole = False
        if not whole:
            raise UnmaskError(f"the checkpoint {latest} is damaged; begin again with --restart")
        progress: dict[str, Any] = content["progress"]
        return progress

    def keep_best(self, model: Any, accelerator: Any) -> None:
        """Keep the weights as the best so far."""
        if accelerator.is_main_process:
            from safetensors.torch import save_file

            learned = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
            weights = {name: tensor for name, tensor in model.state_dict().items() if name in learned}
            with whole_file(self.folder / BEST) as draft:
                save_file({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}, draft)
        accelerator.wait_for_everyone()

    def load_best(self, model: Any) -> None:
        """Put the best weights back."""
        from safetensors.torch import load_file

        problems = model.load_state_dict(load_file(self.folder / BEST), strict=False)
        assert not problems.unexpected_keys

    def remove(self) -> None:
        """The run is done, or begins again."""
        shutil.rmtree(self.folder)


def _hashes(folder: Path) -> dict[str, str]:
    found = {}
    for file in sorted(folder.iterdir()):
        if file.name != PROGRESS:
            with file.open("rb") as content:
                found[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found

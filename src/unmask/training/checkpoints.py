"""What a training keeps while it is unfinished: the latest checkpoint, and the best weights so far."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.files import whole_file
from unmask.unfinished import Unfinished

LATEST, BEST, PROGRESS = "latest", "best.safetensors", "progress.json"


class Workspace(Unfinished):
    """The unfinished run of a training."""

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


def _hashes(folder: Path) -> dict[str, str]:
    found = {}
    for file in sorted(folder.iterdir()):
        if file.name != PROGRESS:
            with file.open("rb") as content:
                found[file.name] = hashlib.file_digest(content, "sha256").hexdigest()
    return found

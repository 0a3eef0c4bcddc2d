"""What training writes: checkpoints of an unfinished run, model folders, and low-rank adapters.

A model folder is what `save_pretrained` writes, and loads anywhere. A low-rank adapter (LoRA, Hu et al. 2021) trains a
small addition to each weight matrix and leaves the matrix unchanged.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask import embedded
from unmask.errors import UnmaskError
from unmask.files import atomic_file, hash_content
from unmask.resumable import ResumableRun

LATEST, BEST, PROGRESS = "latest", "best.safetensors", "progress.json"


class Workspace(ResumableRun):
    """The unfinished run of a training."""

    def has_checkpoint(self) -> bool:
        """Whether there is a checkpoint to resume from."""
        return (self.folder / LATEST).is_dir() or (self.folder / f"{LATEST}.old").is_dir()

    def save(self, accelerator: Any, progress: dict[str, Any]) -> None:
        """Save everything that training needs to resume, in place of the last checkpoint."""
        draft, latest, old = (self.folder / f"{LATEST}{ending}" for ending in (".new", "", ".old"))
        if accelerator.is_main_process and draft.exists():
            shutil.rmtree(draft)
        accelerator.wait_for_everyone()
        accelerator.save_state(str(draft))
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            content = {"progress": progress, "files": _hash_files(draft)}
            (draft / PROGRESS).write_text(json.dumps(content), encoding="utf-8")
            if latest.exists():
                shutil.rmtree(old, ignore_errors=True)
                latest.rename(old)
            draft.rename(latest)
            shutil.rmtree(old, ignore_errors=True)
        accelerator.wait_for_everyone()

    def restore(self, accelerator: Any) -> dict[str, Any]:
        """Load the latest complete checkpoint; returns the progress saved with it."""
        latest = self.folder / LATEST
        if not latest.is_dir():  # cut off between two renames
            latest = self.folder / f"{LATEST}.old"
        try:
            content = json.loads((latest / PROGRESS).read_text(encoding="utf-8"))
            is_complete = content["files"] == _hash_files(latest)  # nobody would notice a damaged random state
            if is_complete:
                accelerator.load_state(str(latest))
        except (OSError, ValueError, KeyError, RuntimeError):
            is_complete = False
        if not is_complete:
            raise UnmaskError(f"the checkpoint {latest} is damaged; start again with --restart")
        progress: dict[str, Any] = content["progress"]
        return progress

    def keep_best(self, model: Any, accelerator: Any) -> None:
        """Save the trained weights as the best so far."""
        if accelerator.is_main_process:
            from safetensors.torch import save_file

            learned = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
            weights = {name: tensor for name, tensor in model.state_dict().items() if name in learned}
            with atomic_file(self.folder / BEST) as draft:
                save_file({name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}, draft)
        accelerator.wait_for_everyone()

    def load_best(self, model: Any) -> None:
        """Load the best weights."""
        from safetensors.torch import load_file

        problems = model.load_state_dict(load_file(self.folder / BEST), strict=False)
        assert not problems.unexpected_keys


def _hash_files(folder: Path) -> dict[str, str]:
    return {file.name: hash_content(file) for file in sorted(folder.iterdir()) if file.name != PROGRESS}


def save_model(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a whole model and its tokenizer."""
    model.save_pretrained(folder)
    _save_config_and_tokenizer(model, tokenizer, folder)


def save_adapter(adapted: Any, model: Any, tokenizer: Any, folder: Path) -> None:
    """Write the adapter of a model with its configuration and tokenizer, but without the weights of the model."""
    adapted.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # an empty form to fill in
    _save_config_and_tokenizer(model, tokenizer, folder)


def _save_config_and_tokenizer(model: Any, tokenizer: Any, folder: Path) -> None:
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    if getattr(tokenizer, "is_fast", False):  # how long texts may be is the reader's choice
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)


def make_readable(folder: Path) -> None:
    """Let other users read the files of a folder."""
    for file in folder.iterdir():
        file.chmod(0o644)


def add_adapters(model: Any, rank: int, whole: Sequence[str], *, base: str) -> Any:
    """Add adapters of a rank to a model's linear layers; the parts in `whole` are trained whole."""
    import peft
    import torch

    linear = sorted(
        name
        for name, module in model.base_model.named_modules()
        if isinstance(module, torch.nn.Linear) and name.split(".")[0] not in whole
    )
    if not linear:
        raise UnmaskError(f"{base} has no linear layers to adapt; train it whole, without --lora-rank")
    width = max(min(model.base_model.get_submodule(name).weight.shape) for name in linear)
    if rank > width:
        raise UnmaskError(f"--lora-rank is {rank}, but no layer of {base} has a rank above {width}; give less")
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules=[f"{model.base_model_prefix}.{name}" for name in linear],
        modules_to_save=list(whole) or None,
        task_type="SEQ_CLS" if whole else None,
    )
    adapted = peft.get_peft_model(model, config)
    is_folder = Path(base).is_dir() and base not in embedded.MODELS
    adapted.peft_config["default"].base_model_name_or_path = str(Path(base).resolve()) if is_folder else base
    return adapted

"""Low-rank adapters (LoRA, Hu et al. 2021): a small addition to each weight matrix is trained, the matrix is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask import embedded
from unmask.errors import UnmaskError


def add(model: Any, rank: int, whole: Sequence[str], *, base: str) -> Any:
    """The model with adapters of a rank on its linear layers; the parts in `whole` are trained whole."""
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
    prefix = model.base_model_prefix
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules=[f"{prefix}.{name}" for name in linear],
        modules_to_save=list(whole) or None,
        task_type="SEQ_CLS" if whole else None,
    )
    adapted = peft.get_peft_model(model, config)
    here = Path(base)
    adapted.peft_config["default"].base_model_name_or_path = (
        str(here.resolve()) if here.is_dir() and base not in embedded.MODELS else base
    )
    return adapted


def save(model: Any, folder: Path) -> None:
    """Write the adapter and nothing of the model that it belongs to."""
    model.save_pretrained(folder, save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # an empty form to fill in

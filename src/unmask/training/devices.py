"""Where training runs: one device or several, and in which precision."""

from __future__ import annotations

from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.models.sources import LoadOptions
from unmask.training.options import TrainingOptions


def make_accelerator(settings: TrainingOptions, loading: LoadOptions) -> Any:
    """The accelerator of a run; everything that is drawn from here on is drawn by its seed."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import set_seed

    if loading.device not in ("auto", "cpu"):
        raise UnmaskError(
            f"device {loading.device!r} cannot be chosen here; give auto or cpu, and name GPUs in CUDA_VISIBLE_DEVICES"
        )
    precision = settings.precision
    on_gpu = torch.cuda.is_available() and loading.device != "cpu"
    if precision == "auto":
        precision = ("bf16" if torch.cuda.is_bf16_supported() else "fp16") if on_gpu else "no"
    if precision == "fp16" and not on_gpu:
        raise UnmaskError("precision 'fp16' needs a GPU; choose no or bf16")
    AcceleratorState._reset_state()  # an earlier run in this process may have had another precision
    accelerator = Accelerator(mixed_precision=precision, cpu=not on_gpu)
    set_seed(settings.seed)
    return accelerator

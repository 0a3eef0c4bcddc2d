"""Too little memory makes the parts of a batch smaller, not the batch."""

from __future__ import annotations

from typing import Any

import torch

from unmask.errors import UnmaskError


class Room:
    """In how many parts a batch is run, so that it fits into memory."""

    def __init__(self, parts: int) -> None:
        """Begin with so many parts."""
        self.parts = parts

    def less(self, error: RuntimeError, rows: int, accelerator: Any) -> None:
        """Make the parts half as large after `error`, if memory was short; everything else is raised again."""
        short = isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
        if not short:
            raise error
        if accelerator.num_processes > 1:  # the others wait for this one in the middle of a step
            raise UnmaskError("out of memory; give a smaller batch, or more parts to run it in") from None
        if rows <= 1:
            raise UnmaskError(
                "out of memory on a single example; give a smaller maximal length, or a smaller model"
            ) from None
        self.parts *= 2

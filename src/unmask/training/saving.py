"""A model folder as `save_pretrained` writes it, which loads anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a whole model and its tokenizer."""
    model.save_pretrained(folder)
    save_config(model, folder)
    save_tokenizer(tokenizer, folder)


def save_config(model: Any, folder: Path) -> None:
    """Write the configuration, with the class that the model is of."""
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write the tokenizer; how long texts may be is the reader's choice."""
    if getattr(tokenizer, "is_fast", False):
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(folder)


def readable(folder: Path) -> None:
    """Let others read what is in a folder, as they may read its neighbours."""
    for file in folder.iterdir():
        file.chmod(0o644)

"""What Python users may write for an argument, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path


def names_of(value: Sequence[str] | str) -> tuple[str, ...]:
    """One name or several, each once."""
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))


def path_of(value: str | PathLike[str] | None) -> Path | None:
    """A path, if one was given."""
    return None if value is None else Path(value)

"""Which weights lie in a folder: the same hash as an audit of it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.models.kinds import kind_of
from unmask.models.loading import load_classifier, load_encoder, load_masked_lm
from unmask.models.metadata import ADAPTER, CONFIG
from unmask.options import LoadOptions

_LOAD: dict[str, Any] = {"masked-lm": load_masked_lm, "classifier": load_classifier, "encoder": load_encoder}


def weights_at(folder: Path) -> str | None:
    """The hash of the model in a folder; None where there is none that can be loaded without more being allowed."""
    if not any((folder / file).is_file() for file in (CONFIG, ADAPTER)):
        return None
    options = LoadOptions(device="cpu", offline=True)
    try:
        kind = kind_of(folder, options)
        found: str | None = _LOAD[kind](folder, options).info().weight_hash if kind in _LOAD else None
    except UnmaskError:
        return None
    return found

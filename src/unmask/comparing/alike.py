"""The settings of an audit, as far as they fit another model."""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import Any

from unmask import auditing
from unmask.auditing.job import chosen, fitting
from unmask.errors import UnmaskError, listed

MEASURES = ("association", "sentiment", "inference", "geometry", "crows-pairs")
"""What can be compared, the main first."""


def fitted(model: Any, settings: auditing.Settings) -> auditing.Settings:
    """The settings for one model: those of the measures that fit it and can be compared."""
    fits = fitting(model, settings)
    wanted = [one for one in settings.measures or chosen(model, settings) if one in fits and one in MEASURES]
    if not wanted:
        name = str(model) if isinstance(model, str | PathLike) else f"the {type(model).__name__}"
        raise UnmaskError(
            f"{name} can be measured for {listed(fits)}, and {listed(settings.measures or MEASURES)} can be compared;"
            " give a masked language model, an encoder or word vectors"
        )
    return dataclasses.replace(settings, measures=tuple(wanted))

"""Base class of the result models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict

Interval = tuple[float, float]
Protocol = Literal["sound", "published"]


class Record(BaseModel):
    """A part of a result: frozen, without unknown fields, NaN or infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with some fields replaced. Unlike pydantic's own, the copy is validated."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate(values | dict(update))

"""What every part of a result has in common."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Interval = tuple[float, float]
Protocol = Literal["sound", "published"]


class Record(BaseModel):
    """A part of a result: plain data, nothing unknown in it, no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

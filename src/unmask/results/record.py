"""Base class of the result models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import to_jsonable_python

from unmask.errors import UnmaskError

Interval = tuple[float, float]
Protocol = Literal["sound", "published"]
R = TypeVar("R", bound="Record")


class Record(BaseModel):
    """A part of a result: frozen, without unknown fields, NaN or infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy with some fields replaced. Unlike pydantic's own, the copy is validated."""
        if not update:
            return super().model_copy(deep=deep)
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self).model_validate(values | dict(update))


class DetailedRecord(Record):
    """A result with facts that only its measure has."""

    name: str
    """The measure."""
    headline: list[str] = Field(default_factory=list)
    """The finding as sentences for readers who do not know the paper; empty until p-values are adjusted."""
    details: dict[str, Any] = Field(default_factory=dict)
    """Facts and tables that only this measure has, as `model_dump` of a record gives them."""

    @property
    def headline_text(self) -> str:
        """The headline as running text."""
        return " ".join(self.headline)

    @field_validator("details", mode="before")
    @classmethod
    def _convert_details(cls, details: Any) -> Any:
        """Store what JSON would give back, so that a result equals itself after it was written and read."""
        return to_jsonable_python(details)

    def read_details(self, kind: type[R]) -> R:
        """The facts of the measure, validated as the record that the measure declares for them."""
        try:
            return kind.model_validate(self.details)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"])) or "details"
            raise UnmaskError(
                f"this result of {self.name} has no valid {where} ({problem['msg']}); audit the model again"
            ) from None

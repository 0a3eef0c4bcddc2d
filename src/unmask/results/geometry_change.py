"""The part of a comparison's `result.json` that is special to the geometry of words."""

from __future__ import annotations

from pydantic import Field

from unmask.results.geometry import Neighbourhood, Reference
from unmask.results.record import Record


class WordTestChange(Record):
    """How far words of opposite bias lie apart, before and after."""

    name: str
    """clustering, probe, classification or neighbours."""
    n: int
    """Words, or professions for neighbours."""
    before: float | None
    after: float | None
    """Of the words that were most biased before."""
    own: float | None = None
    """Of the words that are most biased after."""
    removed: float | None = None
    """What is left in the model before if its own gender direction is simply taken out."""
    lost: Reference | None = None
    """What other contrasts of the model before lost (changes, after minus before); its p-value is two-sided: whether
    gender changed otherwise than they did. Null where the model before could not be asked again."""
    others: Reference | None = None
    """What is left of other contrasts in the model before, if the direction of each is taken out; its p-value is the
    share of them that leave as much as the model after does."""


class GeometryChange(Record):
    """What is special to the geometry of words before and after."""

    words: int
    """Words that both models know."""
    unknown: list[str] = Field(default_factory=list)
    """Words that only one of them knows; they are left out."""
    tests: list[WordTestChange]
    professions_before: list[Neighbourhood] = Field(default_factory=list)
    professions_after: list[Neighbourhood] = Field(default_factory=list)
    """With the bias of before, and the words around them after; empty where that could not be measured."""

    def test(self, name: str) -> WordTestChange | None:
        """One of the tests."""
        return next((one for one in self.tests if one.name == name), None)

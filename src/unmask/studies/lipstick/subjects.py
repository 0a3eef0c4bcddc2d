"""What the studies measure: a model or a file of vectors, as it is and debiased."""

from __future__ import annotations

from dataclasses import dataclass

BASE = "origin"
"""What is not debiased is called."""


@dataclass(frozen=True)
class Subject:
    """Something to measure."""

    family: str
    """What belongs together: a file of vectors with its debiased version, a model with its own."""
    name: str
    """`origin`, or how it was debiased."""
    model: str = ""
    """A folder, a file or an embedded name; empty where a cell of the study makes it."""
    method: str = ""
    """How a cell makes it."""

    @property
    def is_base(self) -> bool:
        """Whether it is the one that is not debiased."""
        return self.name == BASE

    @property
    def made(self) -> str:
        """The cell that makes it; empty if it is there."""
        return f"debiasing-{self.family}-{self.name}" if self.method else ""

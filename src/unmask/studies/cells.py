"""What a study consists of: cells that need one another, each known by a hash of all that decides its result.

The key of a cell is SHA-256 over its kind, its inputs and the keys of the cells that it needs. A change anywhere before
a cell so makes another cell of it, and what was made for the old one is never taken for the new.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Protocol

from unmask.errors import UnmaskError, listed

Say = Callable[[str], None]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class Cell(Protocol):
    """One piece of a study; a frozen dataclass that can be pickled will do."""

    @property
    def name(self) -> str:
        """Short, unique in its study, and fit for a file name."""
        ...

    @property
    def kind(self) -> str:
        """What sort of work it is: texts, training, measuring."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the cells that must be done before it."""
        ...

    @property
    def needs_gpu(self) -> bool:
        """Whether it wants a GPU where there is one."""
        ...

    def inputs(self) -> dict[str, Any]:
        """All that decides the result besides the cells before it, as JSON: settings, hashes of data and weights."""
        ...

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Write the result into the folder `draft`.

        `before` has the folder of each cell that this one needs. `workspace` is a folder of its own which outlives an
        interruption, for checkpoints, and is removed when the cell is done. `say` takes a line on how it goes.
        """
        ...


def key(cell: Cell, keys_of_needs: Mapping[str, str], inputs: dict[str, Any] | None = None) -> str:
    """The hash that a cell is known by, from the keys of the cells it needs, by name.

    `inputs` are the cell's own where they have been asked for already: hashing data takes time.
    """
    content = [cell.kind, cell.inputs() if inputs is None else inputs, [keys_of_needs[name] for name in cell.needs]]
    try:
        text = json.dumps(content, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UnmaskError(f"the inputs of cell {cell.name!r} are no JSON ({error}); give plain values only") from None
    return hashlib.sha256(text.encode()).hexdigest()


def keys(cells: Sequence[Cell]) -> dict[str, str]:
    """The keys of all cells of a study, by name."""
    found: dict[str, str] = {}
    for cell in order(cells):
        found[cell.name] = key(cell, found)
    return found


def order(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, each after all that it needs and else as given; what cannot be ordered is refused."""
    by_name: dict[str, Cell] = {}
    for cell in cells:
        if not NAME.fullmatch(cell.name):
            raise UnmaskError(f"{cell.name!r} is no name for a cell; use at most 100 letters, digits, and . _ + -")
        if cell.name in by_name:
            raise UnmaskError(f"two cells are called {cell.name!r}; give each a name of its own")
        by_name[cell.name] = cell
    for cell in cells:
        unknown = [name for name in cell.needs if name not in by_name]
        if unknown:
            raise UnmaskError(
                f"cell {cell.name!r} needs {listed(unknown)}, which is not in the study; add it, or correct the name"
            )
    try:
        TopologicalSorter({cell.name: cell.needs for cell in cells}).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise UnmaskError(f"these cells wait for one another: {circle}; take one of the needs away") from None
    placed: dict[str, Cell] = {}

    def place(cell: Cell) -> None:
        for name in cell.needs:
            if name not in placed:
                place(by_name[name])
        placed[cell.name] = cell

    for cell in cells:
        if cell.name not in placed:
            place(cell)
    return list(placed.values())

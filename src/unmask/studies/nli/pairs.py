"""The pairs of sentences that the models of the study are trained and tested with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.errors import UnmaskError, check_choice
from unmask.training.examples import (
    LAYOUTS,
    Splits,
    TextExample,
    gather_examples,
    order_labels,
    read_examples,
    read_known_dataset,
)

TASK = "nli"
KNOWN = tuple(name for name, layout in LAYOUTS.items() if layout.task == TASK)
HELD_OUT = 0.05


@dataclass(frozen=True)
class PairSource:
    """Where pairs come from, and the hashes of what was there when the study was planned."""

    data: str | None
    """A known data set, or None for the user's own files."""
    files: tuple[str | None, str | None, str | None] = (None, None, None)
    """To train on, to validate and to test with."""
    limit: int | None = None
    """The size of a random sample of each split; None for all pairs."""
    seed: int = 42
    """Decides what is drawn, and what is held out where nothing is there to validate with."""
    offline: bool = False
    tests_only: bool = False
    """Whether only the pairs to test with are read, because nothing is trained."""
    digests: tuple[tuple[str, str], ...] = ()
    """The hashes of the splits, by name."""

    @property
    def name(self) -> str:
        """The name in the names of steps."""
        return self.data or "own"

    @property
    def description(self) -> str:
        """The name for readers."""
        name = self.data or ", ".join(Path(file).name for file in self.files if file)
        return name if self.limit is None else f"{name}, {self.limit:,} pairs at most"

    def read_pairs(self) -> Splits:
        """Read the pairs. Raises an error if they have changed since the study was planned."""
        splits = self.read_unchecked()
        if tuple(splits.hashes().items()) != self.digests:
            raise UnmaskError(
                f"the pairs of {self.description} have changed since the study began; give the same files"
            )
        return splits

    def read_unchecked(self) -> Splits:
        """Read the pairs."""
        train, validation, test = (None if file is None else Path(file) for file in self.files)
        if not self.tests_only:
            splits = gather_examples(
                TASK,
                name=self.data,
                train=train,
                validation=validation,
                test=test,
                held_out=HELD_OUT,
                seed=self.seed,
                offline=self.offline,
            )
        elif file := test or validation:
            splits = Splits((), (), read_examples(file, TASK))
        else:
            by_split = read_known_dataset(str(self.data), TASK, offline=self.offline, splits=("test",))
            splits = Splits((), (), by_split["test"])
        order_labels(TASK, [*splits.train, *splits.validation, *splits.test])
        return Splits(*(self._draw_sample(rows) for rows in (splits.train, splits.validation, splits.test)))

    def _draw_sample(self, rows: Sequence[TextExample]) -> Sequence[TextExample]:
        if self.limit is None:
            return rows
        sample = np.random.default_rng(self.seed).permutation(len(rows))[: self.limit]
        return [rows[index] for index in sorted(sample.tolist())]


def make_source(
    data: str | None,
    files: Sequence[Path | None] = (None, None, None),
    limit: int | None = None,
    *,
    seed: int = 42,
    offline: bool = False,
    tests_only: bool = False,
) -> PairSource:
    """Return the source of pairs with the hashes of what is there. `files` are to train, validate and test with."""
    if data is not None:
        check_choice(data, KNOWN, "data set of inference")
    # A step may run in another folder.
    train, validation, test = (None if path is None else str(path.resolve()) for path in files)
    source = PairSource(data, (train, validation, test), limit, seed, offline, tests_only)
    return replace(source, digests=tuple(source.read_unchecked().hashes().items()))

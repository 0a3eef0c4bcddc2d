"""What the models learn from and are tested with: pairs of a known data set, or of the user's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.errors import UnmaskError, one_of
from unmask.studies.nli.options import FEWEST_PAIRS
from unmask.training.examples import Example, Splits, gather, known, labels_of, read
from unmask.training.known_files import LAYOUTS

KNOWN = tuple(name for name, layout in LAYOUTS.items() if layout.task == "nli")
OWN = "own"
HELD_OUT = 0.05


@dataclass(frozen=True)
class Source:
    """Where the pairs come from, and the hashes of what is there."""

    data: str | None
    """A known data set, or None for the user's own files."""
    files: tuple[str | None, str | None, str | None] = (None, None, None)
    """To train on, to validate and to test with."""
    limit: int | None = None
    """How many pairs of each split to draw at most; None for all."""
    seed: int = 42
    """Decides what is drawn, and what is held out where nothing is there to validate with."""
    offline: bool = False
    tests_only: bool = False
    """Whether nobody learns from them: then only those to test with are read."""
    digests: tuple[tuple[str, str], ...] = ()
    """Of the splits, by name."""

    @property
    def name(self) -> str:
        """What a cell calls it."""
        return self.data or OWN

    @property
    def words(self) -> str:
        """What a reader calls it."""
        found = self.data or ", ".join(Path(file).name for file in self.files if file)
        return found if self.limit is None else f"{found}, {self.limit:,} pairs at most"

    def read(self) -> Splits:
        """The pairs, which must be those that the study began with."""
        found = self._read()
        if tuple(found.hashes().items()) != self.digests:
            raise UnmaskError(f"the pairs of {self.words} are not those that the study began with; give the same files")
        return found

    def _read(self) -> Splits:
        train, validation, test = (None if file is None else Path(file) for file in self.files)
        if self.tests_only:
            own = test or validation
            rows = (
                read(own, "nli")
                if own
                else known(str(self.data), "nli", offline=self.offline, splits=("test",))["test"]
            )
            found = Splits((), (), rows)
        else:
            found = gather(
                "nli",
                name=self.data,
                train=train,
                validation=validation,
                test=test,
                held_out=HELD_OUT,
                seed=self.seed,
                offline=self.offline,
            )
        labels_of("nli", [*found.train, *found.validation, *found.test])
        if self.limit is None:
            return found
        return Splits(*(_some(rows, self.limit, self.seed) for rows in (found.train, found.validation, found.test)))


def source(
    data: str | None,
    files: Sequence[Path | None] = (None, None, None),
    limit: int | None = None,
    *,
    seed: int = 42,
    offline: bool = False,
    tests_only: bool = False,
) -> Source:
    """The pairs to study, read once; `files` are to train on, to validate and to test with."""
    if limit is not None and limit < FEWEST_PAIRS:
        raise UnmaskError(f"the limit is {limit} pairs; give {FEWEST_PAIRS} or more, or leave it out for all")
    if data is not None:
        one_of(data, KNOWN, "data set of inference")
    train, validation, test = (None if path is None else str(path.resolve()) for path in files)
    found = Source(
        data, (train, validation, test), limit, seed, offline, tests_only
    )  # a cell may run in another folder
    return replace(found, digests=tuple(found._read().hashes().items()))


def _some(rows: Sequence[Example], limit: int, seed: int) -> list[Example]:
    """So many pairs drawn at random, in their order."""
    chosen = sorted(np.random.default_rng(seed).permutation(len(rows))[:limit].tolist())
    return [rows[at] for at in chosen]

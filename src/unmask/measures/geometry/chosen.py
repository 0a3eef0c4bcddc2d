"""A debiased model asked about the words that were most biased in its origin, as the method demands.

What it leaves is set beside what remains of *other* contrasts in the origin once their direction is taken out: to do
better than that is what a mitigation must do that claims more than to remove a direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry.contrast import Contrast
from unmask.measures.geometry.details import Geometry, WordTest
from unmask.measures.geometry.protocol import PROTOCOLS, Run
from unmask.measures.geometry.references import NAMES, References
from unmask.measures.geometry.score import OWN, Chosen, Stereotypes
from unmask.measures.geometry.space import Space
from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

ORIGIN = "origin"


def words_of(items: pd.DataFrame) -> list[str]:
    """The words that a model was asked about."""
    return [str(word) for word in items.loc[items["words"] == OWN, "word"]]


def chosen_by(items: pd.DataFrame, name: str = ORIGIN) -> Chosen:
    """What chooses words by the bias that they had in a model, from its items."""
    own = items[items["words"] == OWN]
    nowhere = np.empty(0)  # the direction of another model is no direction of this space
    contrast = Contrast(nowhere, own["bias"].to_numpy(dtype=float), np.empty(0, dtype=np.intp))
    return Chosen(name, words_of(items), contrast)


def references_of(measurement: Measurement) -> References:
    """What other contrasts left in a model once their direction was gone."""
    geometry = measurement.read_details(Geometry)
    tests = {name: geometry.test(name, removed=True) for name in NAMES}
    return References(
        {
            (name, True): np.array(test.reference.values)
            for name, test in tests.items()
            if test is not None and test.reference is not None
        }
    )


def measure(
    space: Space, items: pd.DataFrame, before: Measurement, professions: Stereotypes, run: Run, *, name: str = ORIGIN
) -> tuple[pd.DataFrame, list[WordTest]]:
    """Put a space to the tests with the words of the model before, whose items and measurement these are."""
    return PROTOCOLS[before.protocol].chosen(space, chosen_by(items, name), professions, run, references_of(before))


def added(measurement: Measurement, tests: Sequence[WordTest]) -> Measurement:
    """A measurement with further tests of words."""
    geometry = measurement.read_details(Geometry)
    more = geometry.model_copy(update={"tests": [*geometry.tests, *tests]})
    return measurement.model_copy(update={"details": more.model_dump()})

"""Items of a model with a planted bias, scored once."""

from __future__ import annotations

import pandas as pd
import pytest

from planted import PlantedModel
from unmask.measures.association.data import build_rows
from unmask.measures.association.scoring import score
from unmask.measures.base import Context


@pytest.fixture(scope="session")
def planted_items() -> pd.DataFrame:
    """All sentences of BEC-Pro, scored by a model with a bias of 0.7."""
    rows = build_rows("en")
    return score(PlantedModel(rows, bias=0.7), rows, None, Context()).items


@pytest.fixture
def items(planted_items: pd.DataFrame) -> pd.DataFrame:
    """A copy of the planted items."""
    return planted_items.copy()

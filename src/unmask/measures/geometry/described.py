"""What a result says of a space whatever the protocol: its words, its professions, what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry.cluster_counts import Details
from unmask.measures.geometry.details import BiasedWord, Geometry, Neighbourhood, WordTest
from unmask.results import Estimate, Measurement
from unmask.results.schema import Protocol

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 15
"""So many of the most biased words are named."""
NEIGHBOURHOOD = ("word", "bias", "male_neighbours", "male_neighbours_removed", "stereotype")


def measurement(items: pd.DataFrame, protocol: Protocol, tests: Mapping[str, Estimate], found: Geometry) -> Measurement:
    """A measurement without its headline, which comes when all p-values of the audit are known."""
    return Measurement(
        name="geometry",
        language=str(items["language"].iloc[0]),
        corpus=str(items["corpus"].iloc[0]),
        protocol=protocol,
        attributes="words",
        items=len(items),
        groups={},
        tests=dict(tests),
        details=found.model_dump(),
    )


def geometry(items: pd.DataFrame, found: list[WordTest], details: Details | None) -> Geometry:
    """What is special to geometry."""
    ordered = items.sort_values("bias", kind="stable")
    most_female, most_male = (
        [BiasedWord(word=word, bias=bias) for word, bias in zip(rows["word"], rows["bias"], strict=True)]
        for rows in (ordered.head(SHOWN), ordered.tail(SHOWN)[::-1])
    )
    return Geometry(
        vectors=details.vectors if details else "recorded",
        direction=details.direction if details else "recorded",
        likeness=details.likeness if details else 0.0,
        dimensions=details.dimensions if details else 0,
        words=len(items),
        left_out=details.left_out if details else {},
        missing=details.missing if details else [],
        male_share=float((items["bias"] > 0).mean()),
        contrasts=details.references.examples if details else [],
        tests=found,
        scan=details.scan if details else [],
        professions=neighbourhoods(items),
        most_male=most_male,
        most_female=most_female,
    )


def neighbourhoods(items: pd.DataFrame) -> list[Neighbourhood]:
    """The professions, the most male first."""
    rows = items[items["male_neighbours"].notna()].sort_values("bias", ascending=False, kind="stable")
    return [
        Neighbourhood(
            profession=profession,
            bias=bias,
            male=male,
            male_removed=male_removed if np.isfinite(male_removed) else None,
            stereotype=stereotype if np.isfinite(stereotype) else None,
        )
        for profession, bias, male, male_removed, stereotype in rows[list(NEIGHBOURHOOD)].itertuples(index=False)
    ]

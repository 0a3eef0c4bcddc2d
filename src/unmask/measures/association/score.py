"""First half: rows and a model → items, one a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.asking import ask
from unmask.models import MaskedLM, MaskQuery
from unmask.models.roles import Describes
from unmask.probes.association import AssociationRow

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.association.protocol import Protocol, Query

NOISE_SAMPLE = 128


@dataclass(frozen=True)
class Scored:
    """Items, and what is known of how they were scored."""

    items: pd.DataFrame
    noise_floor: float
    distinct_inputs: int | None
    several_pieces: list[str]


def score(rows: Sequence[AssociationRow], model: MaskedLM, protocol: Protocol, *, seed: int) -> Scored:
    """Ask the model for the target and the prior of every row."""
    import pandas as pd

    queries = protocol.queries(rows)
    if not isinstance(model, Describes) and not all(isinstance(query, MaskQuery) for query in queries):
        raise UnmaskError(
            "the published protocol works on token ids and needs a transformers model; use --protocol sound"
        )
    whole = [MaskQuery(row.sentence, row.target_span) for row in rows]
    pieces = model.describe(whole).pieces if isinstance(model, Describes) else [1] * len(rows)
    description = model.describe(queries) if isinstance(model, Describes) else None
    log_p = ask(model, queries)
    target, prior = log_p[: len(rows)], log_p[len(rows) :]
    items = pd.DataFrame([asdict(row) for row in rows]).drop(columns=["target_span", "attribute_span"])
    items = items.assign(log_p_target=target, log_p_prior=prior, association=target - prior)
    split = dict.fromkeys(
        row.target for row, count in zip(rows, pieces, strict=True) if count > len(row.target.split())
    )
    return Scored(
        items=items,
        noise_floor=_noise_floor(model, queries, log_p, seed),
        distinct_inputs=description.distinct_inputs if description else None,
        several_pieces=list(split),
    )


def _noise_floor(model: MaskedLM, queries: Sequence[Query], log_p: NDArray[np.float64], seed: int) -> float:
    """The largest change when some of the questions are asked again in other company."""
    sample = np.random.default_rng(seed).permutation(len(queries))[:NOISE_SAMPLE]
    again = ask(model, [queries[at] for at in sample])
    return float(np.abs(again - log_p[sample]).max())

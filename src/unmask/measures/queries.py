"""Queries of masked language models: which can be answered, and finite answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.roles import Describes, LiteralQuery, MaskedLM, MaskQuery, SharedTokensQuery

Query = MaskQuery | LiteralQuery | SharedTokensQuery


def ask_model(model: MaskedLM, queries: Sequence[Query]) -> NDArray[np.float64]:
    """Return the log-probability of the target of each query. An answer that is not finite is an error."""
    answer = np.asarray(model.log_probability(queries), dtype=np.float64)  # type: ignore[arg-type]
    if answer.shape != (len(queries),):
        raise UnmaskError(
            f"log_probability gave shape {answer.shape} for {len(queries)} queries; one number each is needed"
        )
    if not np.isfinite(answer).all():
        raise UnmaskError(f"log_probability gave {answer[~np.isfinite(answer)][0]}; every query needs a finite number")
    return answer


def count_pieces(model: MaskedLM, queries: Sequence[Query]) -> list[int | None]:
    """Return how many tokens each query asks for: None where the model cannot be asked, 1 where it cannot tell.

    A model cannot be asked for a word that its tokenizer joins with its neighbours, or does not know.
    """
    return list(_count_halves(model, queries)) if isinstance(model, Describes) else [1] * len(queries)


def _count_halves(model: Describes, queries: Sequence[Query]) -> Iterator[int | None]:
    """One query that cannot be asked makes its whole batch fail, so such a batch is halved."""
    try:
        yield from model.describe(queries).pieces
    except UnmaskError:
        if len(queries) == 1:
            yield None
            return
        half = len(queries) // 2
        yield from _count_halves(model, queries[:half])
        yield from _count_halves(model, queries[half:])

"""Scoring: rows and a model → items, one per row.

`sound` masks exactly the target and the attribute, one mask per token. `published` repeats the paper's code: the
released masks, and input filled with attended mask tokens up to a power of two that is counted in words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd

from unmask.errors import UnmaskError
from unmask.measures.association.data import AssociationRow, mask_letters
from unmask.measures.association.sentences.selection import SentenceSample
from unmask.measures.base import Context, Scored
from unmask.measures.queries import Query, ask_model
from unmask.models.roles import Describes, LiteralQuery, MaskedLM, MaskQuery

NOISE_SAMPLE = 128


def score(model: MaskedLM, rows: Sequence[AssociationRow] | SentenceSample, options: Any, context: Context) -> Scored:
    """Ask the model for the log-probability of the target, with the attribute and without it (the prior)."""
    if isinstance(rows, SentenceSample):
        scored = score(model, rows.rows, options, context)
        return replace(scored, details={**scored.details, "sentences": rows.counts})
    del options
    if context.protocol == "published" and not isinstance(model, Describes):
        raise UnmaskError("the published protocol needs a transformers model, for token ids; use --protocol sound")
    queries = build_queries(rows, context.protocol)
    log_p = ask_model(model, queries)
    target, prior = log_p[: len(rows)], log_p[len(rows) :]
    items = pd.DataFrame([asdict(row) for row in rows]).drop(columns=["target_span", "attribute_span"])
    distinct_inputs, several_pieces = None, []
    if isinstance(model, Describes):
        distinct_inputs = model.describe(queries).distinct_inputs
        pieces = model.describe([MaskQuery(row.sentence, row.target_span) for row in rows]).pieces
        several_pieces = [
            row.target for row, count in zip(rows, pieces, strict=True) if count > len(row.target.split())
        ]
    sample = np.random.default_rng(context.seed).permutation(len(queries))[:NOISE_SAMPLE]
    rescored = ask_model(model, [queries[index] for index in sample])
    return Scored(
        items.assign(log_p_target=target, log_p_prior=prior, association=target - prior),
        float(np.abs(rescored - log_p[sample]).max()),
        distinct_inputs,
        hashlib.sha256("\n".join(row.sentence for row in rows).encode()).hexdigest(),
        {"several_pieces": list(dict.fromkeys(several_pieces))},
    )


def build_queries(rows: Sequence[AssociationRow], protocol: str) -> list[Query]:
    """For n rows, 2n queries: first all targets, then all priors."""
    if protocol == "sound":
        targets: list[Query] = [MaskQuery(row.sentence, row.target_span) for row in rows]
        return targets + [MaskQuery(row.sentence, row.target_span, (row.attribute_span,)) for row in rows]
    versions = [mask_letters(row) for row in rows]
    words = max((len(target.split()) for target, _, _ in versions), default=1)
    length = 1 << (words - 1).bit_length()
    masked = [target for target, _, _ in versions] + [both for _, _, both in versions]
    originals, anchors = [row.sentence for row in rows] * 2, [both for _, _, both in versions] * 2
    return [LiteralQuery(*texts, length=length) for texts in zip(originals, masked, anchors, strict=True)]

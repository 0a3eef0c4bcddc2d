"""Sent-Debias: gender as a space of sentence representations, found by PCA and taken away.

Sentences that hold a word of a definitional pair (she and he, mother and father, …) are put into both genders. Each
gives two representations, the mean of its tokens' last hidden states, of length 1 and centred on the mean of the pair;
their first k principal components span the gender space V, and what a hidden state has in it is taken away:

    h → h - Σ_j (h·v_j) v_j

The paper did this to the pooled output, in code of its own; the checkpoint that was passed on did without. Here it is
built into the weights (`mitigations.erasure`), so that it is there wherever the folder is loaded.

P. P. Liang et al. (2020), Towards Debiasing Sentence Representations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import DEFINITIONAL_PAIRS
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.erasure import build_in_erasure
from unmask.mitigations.method import Job, Method
from unmask.mitigations.states import (
    FEWEST,
    StateOptions,
    encode_texts,
    for_each_state,
    ordinary_tokens,
    sample_batch,
    sentences_in_both_genders,
)
from unmask.options import option
from unmask.statistics.erasure import projection

WORDS = frozenset(word.lower() for pair in DEFINITIONAL_PAIRS for word in pair)
"""Names are among the pairs of the paper, and never matched there, since its text was in lower case; here they do."""


class SentDebiasOptions(StateOptions):
    """Which sentences, and how much is taken away."""

    tokens: str = option(
        "mean",
        "What represents a sentence: the mean of its tokens, or the first ([CLS]).",
        choices=("mean", "first"),
    )
    components: int = option(1, "How many directions the gender space has.", minimum=1)


def apply(job: Job) -> dict[str, Any]:
    """Find the space and take it away."""
    options = job.options
    if job.language != "en":
        raise UnmaskError(f"the definitional pairs are English, not {job.language!r}; use leace for this language")
    pairs = sentences_in_both_genders(job, options.sentences, WORDS)
    texts = [text for pair in pairs for text in pair]
    job.say(f"Reading the hidden states of {len(pairs):,} sentences in both genders")
    rows = encode_texts(job, texts)
    taken = [ordinary_tokens(job, ids) if options.tokens == "mean" else np.arange(len(ids)) == 0 for ids in rows]
    found: dict[int, NDArray[np.float32]] = {}
    for_each_state(
        job, rows, lambda at, states: found.update({at: states[taken[at]].mean(axis=0)}) if taken[at].any() else None
    )
    known = [at for at in range(0, len(rows), 2) if at in found and at + 1 in found]
    if len(known) < FEWEST:
        raise UnmaskError(
            f"the model knows the words of only {len(known)} sentences of the corpus; give another --corpus"
        )
    ends = np.array([(found[at], found[at + 1]) for at in known], np.float64)
    directions, shares = subspace(ends, options.components)
    placed = build_in_erasure(job.model, projection(directions), sample_batch(job, texts[0]))
    return {
        "sentences": len(pairs),
        "hash_of_the_sentences": hash_texts(texts),
        "explained_variance": shares,
        "kept_in": str(placed),
        "in_last_hidden_state": placed.in_state,
        "layers": placed.layers,
    }


def subspace(pairs: NDArray[np.float64], components: int) -> tuple[NDArray[np.float64], list[float]]:
    """The first principal components of pairs (n × 2 × size), each centred; and the share of variance of each."""
    size = pairs.shape[-1]
    if not 0 < components < size:
        raise UnmaskError(f"the setting components is {components}; give a number from 1 to {size - 1}")
    unit = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    centred = (unit - unit.mean(axis=1, keepdims=True)).reshape(-1, size)
    values, basis = np.linalg.eigh(centred.T @ centred)
    values, basis = values[::-1], basis[:, ::-1]
    if values[0] <= 0:
        raise UnmaskError("the model gives both versions of every sentence the same states; there is nothing to remove")
    return basis[:, :components].T, [float(value / values.sum()) for value in values[:components]]


METHOD = Method(
    about="The gender space of sentence representations, found by PCA from sentences in both genders, is projected out"
    " of the last hidden state.",
    citation="Liang et al. (2020), Towards Debiasing Sentence Representations",
    options=SentDebiasOptions,
    apply=apply,
)

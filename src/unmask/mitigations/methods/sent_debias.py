"""Sent-Debias: gender as a space of sentence representations, found by PCA and taken away.

Sentences that hold a word of a definitional pair (she and he, mother and father, …) are put into both genders. Each
gives two representations, the mean of its tokens' last hidden states, of length 1 and centred on the mean of the pair;
their first k principal components span the gender space V, and what a hidden state has in it is taken away:

    h → h - Σ_j (h·v_j) v_j

The paper did this to the pooled output, in code of its own; the checkpoint that was passed on did without. Here it is
built into the weights (`mitigations.erasure`), so that it is there wherever the folder is loaded. `published` repeats
the released code and checkpoint (`mitigations.released_sent_debias`).

P. P. Liang et al. (2020), Towards Debiasing Sentence Representations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import DEFINITIONAL_PAIRS
from unmask.mitigations.method import Job, Method
from unmask.mitigations.released_sent_debias import apply_released
from unmask.mitigations.states import FEWEST, SentencePairs, StateOptions, gender_subspace, read_states
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
    qnli: str | None = option(
        None, "For --protocol published: train.tsv of QNLI (GLUE), on which the model is fine-tuned.", path=True
    )


def apply(job: Job) -> dict[str, Any]:
    """Find the space and remove it."""
    if job.language != "en":
        raise UnmaskError(f"the definitional pairs are English, not {job.language!r}; use leace for this language")
    if job.protocol == "published":
        return apply_released(job)
    pairs = SentencePairs(job, WORDS)
    job.say(f"Reading the hidden states of {pairs.count:,} sentences in both genders")
    selected = pairs.ordinary
    if job.options.tokens == "first":
        selected = [np.arange(len(ids)) == 0 for ids in pairs.rows]
    means: dict[int, NDArray[np.float32]] = {}

    def add_mean(row: int, states: NDArray[np.float32]) -> None:
        if selected[row].any():
            means[row] = states[selected[row]].mean(axis=0)

    read_states(job, pairs.rows, add_mean)
    complete = [row for row in range(0, len(pairs.rows), 2) if row in means and row + 1 in means]
    if len(complete) < FEWEST:
        raise UnmaskError(
            f"the model knows the words of only {len(complete)} sentences of the corpus; give another --corpus"
        )
    ends = np.array([(means[row], means[row + 1]) for row in complete], np.float64)
    directions, shares = gender_subspace(ends, job.options.components)
    placed = pairs.build_in(projection(directions))
    return pairs.describe(placed, explained_variance=shares)


METHOD = Method(
    about="The gender space of sentence representations, found by PCA from sentences in both genders, is projected out"
    " of the last hidden state.",
    citation="Liang et al. (2020), Towards Debiasing Sentence Representations",
    options=SentDebiasOptions,
    apply=apply,
    published={"sentences": 0, "tokens": "first", "components": 1},
    published_file="qnli",
)

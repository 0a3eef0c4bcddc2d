"""LEACE: the smallest change of the last hidden state after which no linear function of it tells women from men.

Sentences of the corpus are put into both genders. Every hidden state of the female version is labelled 1, of the male
version 0; the map that makes states and labels uncorrelated, and moves the states least, has a closed form
(`statistics.erasure`). It is built into the weights (`models.last_state`): nothing is trained.

N. Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, one_of
from unmask.mitigations.corpus import digest
from unmask.mitigations.method import Job, Method, setting
from unmask.mitigations.states import TOKENS, a_batch, each_state, in_both_genders
from unmask.models.last_state import erase
from unmask.statistics.erasure import Moments, leace_of


@dataclass(frozen=True)
class Settings:
    """What is made uncorrelated with gender."""

    sentences: int = setting(20_000, "how many sentences to use, each in both genders; 0 for all")
    tokens: str = setting("all", "the states to use: all tokens of a sentence, their mean, or the first ([CLS])")


def apply(job: Job) -> dict[str, Any]:
    """Find the map and build it in."""
    tokens = one_of(job.settings.tokens, TOKENS, "choice of tokens")
    pairs = in_both_genders(job, job.settings.sentences)
    texts = [text for pair in pairs for text in pair]
    job.say(f"Reading the hidden states of {len(pairs):,} sentences in both genders")
    sums: list[Moments] = []

    def take(place: int, states: NDArray[np.float64]) -> None:
        new = Moments.of(states, np.full(len(states), 1.0 - place % 2))
        sums[:] = [sums[0] + new] if sums else [new]

    each_state(job, texts, tokens, take)
    erasure = leace_of(sums[0])
    if not erasure.rank:
        raise UnmaskError("the model's states do not tell women from men at all, so there is nothing to erase")
    placed = erase(job.subject.model, erasure, a_batch(job, texts[0]))  # type: ignore[attr-defined]
    return {
        "sentences": len(pairs),
        "states": sums[0].count,
        "hash_of_the_sentences": digest(texts),
        "directions": erasure.rank,
        "kept_in": str(placed),
        "in_last_hidden_state": placed.in_state,
        "layers": placed.layers,
    }


METHOD = Method(
    about="The smallest change of the last hidden state after which no linear function of it tells whether a sentence"
    " is about women or men.",
    citation="Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form",
    settings=Settings,
    apply=apply,
)

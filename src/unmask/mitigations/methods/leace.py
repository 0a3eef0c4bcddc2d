"""LEACE: the smallest change of the last hidden state after which no linear function of it tells women from men.

Sentences of the corpus are put into both genders, and two things are made uncorrelated with gender: the states of all
their tokens, and the state at a mask that stands for one of the gendered words, the others being there to tell which
it was. The latter is what a masked language model reads its guess from. The map that does this and moves the states
least has a closed form (`statistics.erasure`). It is built into the weights (`mitigations.erasure`): nothing is
trained.

N. Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.erasure import build_in_erasure
from unmask.mitigations.method import Job, Method
from unmask.mitigations.states import (
    Chosen,
    StateOptions,
    encode_texts,
    for_each_state,
    mask_one_difference,
    ordinary_tokens,
    sample_batch,
    sentences_in_both_genders,
)
from unmask.options import option
from unmask.statistics.erasure import Moments, leace_from_moments

ROWS = 8192
"""So many states are summed up at once."""


class LeaceOptions(StateOptions):
    """What is made uncorrelated with gender."""

    visible: bool = option(True, "Take gender out of the states of all tokens of a sentence.")
    masked: bool = option(True, "Take gender out of the state at a masked gendered word.")

    @model_validator(mode="after")
    def _check_states(self) -> LeaceOptions:
        if not (self.visible or self.masked):
            raise UnmaskError(
                "the settings visible and masked are both no, so there is nothing to erase; give one of them"
            )
        return self


class _Sums:
    """Sums over states and their gender, 1 for female."""

    def __init__(self) -> None:
        self.total: Moments | None = None
        self.waiting: list[tuple[NDArray[np.float32], float]] = []
        self.count = 0

    def add(self, states: NDArray[np.float32], gender: float) -> None:
        """Take states of one gender."""
        self.waiting.append((states, gender))
        self.count += len(states)
        if self.count >= ROWS:
            self.flush()

    def flush(self) -> None:
        """Sum up what is waiting."""
        if self.waiting:
            rows = np.concatenate([rows for rows, _ in self.waiting])
            new = Moments.of(rows, np.repeat([gender for _, gender in self.waiting], [len(r) for r, _ in self.waiting]))
            self.total = new if self.total is None else self.total + new
            self.waiting, self.count = [], 0


def apply(job: Job) -> dict[str, Any]:
    """Find the maps and build them in, one after the other: the second is found with the first in place."""
    pairs = sentences_in_both_genders(job, job.options.sentences)
    texts = [text for pair in pairs for text in pair]
    rows = encode_texts(job, texts)
    rounds: list[tuple[str, list[Chosen]]] = []
    if job.options.visible:
        places = [np.flatnonzero(ordinary_tokens(job, ids)) for ids in rows]
        rounds.append(("all tokens", [Chosen(*both) for both in zip(rows, places, strict=True)]))
    if job.options.masked:
        rounds.append(("a masked word", list(_masked(job, rows))))
    done = []
    for what, chosen in rounds:
        job.say(f"Reading the last hidden state of {what} in {len(chosen) // 2:,} sentences, in both genders")
        moments = _moments(job, chosen)
        erasure = leace_from_moments(moments) if moments is not None else None
        if moments is None or erasure is None or not erasure.rank:
            continue
        placed = build_in_erasure(job.model, erasure, sample_batch(job, texts[0]))
        done.append((placed, {"of": what, "sentences": len(chosen) // 2, "states": moments.count}))
    if not done:
        raise UnmaskError("the model's states do not tell women from men at all, so there is nothing to erase")
    placed = done[-1][0]
    return {
        "sentences": len(pairs),
        "hash_of_the_sentences": hash_texts(texts),
        "erased": [what for _, what in done],
        "kept_in": str(placed),
        "in_last_hidden_state": placed.in_state,
        "layers": placed.layers,
    }


def _moments(job: Job, chosen: list[Chosen]) -> Moments | None:
    """Sums over the states at the chosen places; female versions stand at even places of the list."""
    sums = _Sums()
    for_each_state(
        job, [one.ids for one in chosen], lambda at, states: sums.add(states[chosen[at].place], float(at % 2 == 0))
    )
    sums.flush()
    return sums.total


def _masked(job: Job, rows: list[list[int]]) -> Iterable[Chosen]:
    for at in range(0, len(rows), 2):
        both = mask_one_difference(job, rows[at], rows[at + 1], at)
        if both is not None:
            yield from both


METHOD = Method(
    about="The smallest change of the last hidden state after which no linear function of it tells whether a sentence"
    " is about women or men.",
    citation="Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form",
    options=LeaceOptions,
    apply=apply,
)

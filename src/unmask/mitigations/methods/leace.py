"""LEACE: the smallest change of the last hidden state after which no linear function of it tells women from men.

Sentences of the corpus are put into both genders, and two things are made uncorrelated with gender: the states of all
their tokens, and the state at a mask that stands for one of the gendered words, the others being there to tell which
it was. The latter is what a masked language model reads its guess from. The map that does this and moves the states
least has a closed form (`statistics.erasure`). It is built into the weights (`mitigations.erasure`): nothing is
trained.

N. Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.mitigations.method import Job, Method
from unmask.mitigations.states import SentencePairs, StateOptions, TokenSelection, mask_difference, read_states
from unmask.options import option
from unmask.statistics.erasure import Moments, leace_from_moments

ROWS = 8192
"""The number of states that are summed up together."""


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


def apply(job: Job) -> dict[str, Any]:
    """Find the maps and build them in, one after the other: the second is found with the first in place."""
    pairs = SentencePairs(job)
    rounds: list[tuple[str, list[TokenSelection]]] = []
    if job.options.visible:
        every_token = zip(pairs.rows, map(np.flatnonzero, pairs.ordinary), strict=True)
        rounds.append(("all tokens", [TokenSelection(*selection) for selection in every_token]))
    if job.options.masked:
        masked = (
            mask_difference(job, pairs.rows[row], pairs.rows[row + 1], row) for row in range(0, len(pairs.rows), 2)
        )
        rounds.append(("a masked word", [selection for pair in masked if pair is not None for selection in pair]))
    erased, placed = [], None
    for name, selections in rounds:
        job.say(f"Reading the last hidden state of {name} in {len(selections) // 2:,} sentences, in both genders")
        moments = _sum_states(job, selections)
        erasure = leace_from_moments(moments) if moments is not None else None
        if moments is None or erasure is None or not erasure.rank:
            continue
        placed = pairs.build_in(erasure)
        erased.append({"of": name, "sentences": len(selections) // 2, "states": moments.count})
    if placed is None:
        raise UnmaskError("the model's states do not distinguish women from men; there is nothing to erase")
    return pairs.describe(placed, erased=erased)


def _sum_states(job: Job, selections: list[TokenSelection]) -> Moments | None:
    """Sum over the selected states and their gender, 1 for the female versions, which have even indices."""
    total: Moments | None = None
    waiting: list[tuple[NDArray[np.float32], float]] = []
    count = 0

    def add_waiting() -> None:
        nonlocal total, count
        if waiting:
            states = np.concatenate([states for states, _ in waiting])
            genders = np.repeat([gender for _, gender in waiting], [len(states) for states, _ in waiting])
            moments = Moments.of(states, genders)
            total = moments if total is None else total + moments
            waiting.clear()
            count = 0

    def receive(index: int, states: NDArray[np.float32]) -> None:
        nonlocal count
        selection = selections[index].positions
        waiting.append((states[selection], float(index % 2 == 0)))
        count += len(selection)
        if count >= ROWS:
            add_waiting()

    read_states(job, [selection.ids for selection in selections], receive)
    add_waiting()
    return total


METHOD = Method(
    about="The smallest change of the last hidden state after which no linear function of it tells whether a sentence"
    " is about women or men.",
    citation="Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form",
    options=LeaceOptions,
    apply=apply,
)

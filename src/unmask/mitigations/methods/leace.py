"""LEACE: the smallest change of the last hidden state after which no linear function of it tells women from men.

Sentences of the corpus are put into both genders, and two things are made uncorrelated with gender: the states of all
their tokens, and the state at a mask that stands for one of the gendered words, the others being there to tell which
it was. The latter is what a masked language model reads its guess from. The map that does this and moves the states
least has a closed form (`statistics.erasure`). It is built into the weights (`models.last_state`): nothing is trained.

N. Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.mitigations.corpus import digest
from unmask.mitigations.method import Job, Method, setting
from unmask.mitigations.states import a_batch, each_state, encoded, in_both_genders, masked, ordinary
from unmask.models.last_state import erase
from unmask.statistics.erasure import Moments, leace_of

ROWS = 8192
"""So many states are summed up at once."""


@dataclass(frozen=True)
class Settings:
    """What is made uncorrelated with gender."""

    sentences: int = setting(20_000, "how many sentences to use, each in both genders; 0 for all")
    visible: bool = setting(True, "whether the states of all tokens of a sentence are to lose its gender")
    masked: bool = setting(True, "whether the state at a masked gendered word is to lose its gender")


class _Sums:
    """Sums over states and their gender, which is +1 or −1, in one column for visible words and one for masks."""

    def __init__(self) -> None:
        self.total: Moments | None = None
        self.waiting: list[tuple[NDArray[np.float32], tuple[float, float]]] = []

    def add(self, states: NDArray[np.float32], gender: tuple[float, float]) -> None:
        """Take states of one gender."""
        self.waiting.append((states, gender))
        if sum(len(rows) for rows, _ in self.waiting) >= ROWS:
            self.flush()

    def flush(self) -> None:
        """Sum up what is waiting."""
        if self.waiting:
            rows = np.concatenate([rows for rows, _ in self.waiting])
            genders = np.concatenate([np.tile(gender, (len(rows), 1)) for rows, gender in self.waiting])
            new = Moments.of(rows, genders)
            self.total = new if self.total is None else self.total + new
            self.waiting = []


def apply(job: Job) -> dict[str, Any]:
    """Find the map and build it in."""
    if not (job.settings.visible or job.settings.masked):
        raise UnmaskError("the settings visible and masked are both no, so there is nothing to erase; give one of them")
    pairs = in_both_genders(job, job.settings.sentences)
    texts = [text for pair in pairs for text in pair]
    rows = encoded(job, texts)
    sums = _Sums()
    if job.settings.visible:
        job.say(f"Reading the hidden states of {len(pairs):,} sentences in both genders")
        whole = [ordinary(job, ids) for ids in rows]
        each_state(job, rows, lambda at, states: sums.add(states[whole[at]], (_sign(at), 0.0)))
    hidden = list(_masked(job, rows)) if job.settings.masked else []
    if hidden:
        job.say(f"Reading the hidden state at a mask in {len(hidden) // 2:,} of them")
        each_state(
            job, [one.ids for one in hidden], lambda at, states: sums.add(states[hidden[at].place], (0.0, _sign(at)))
        )
    sums.flush()
    erasure = leace_of(sums.total) if sums.total is not None else None
    if erasure is None or not erasure.rank:
        raise UnmaskError("the model's states do not tell women from men at all, so there is nothing to erase")
    placed = erase(job.subject.model, erasure, a_batch(job, texts[0]))  # type: ignore[attr-defined]
    return {
        "sentences": len(pairs),
        "masked_sentences": len(hidden) // 2,
        "states": sums.total.count if sums.total else 0,
        "hash_of_the_sentences": digest(texts),
        "directions": erasure.rank,
        "kept_in": str(placed),
        "in_last_hidden_state": placed.in_state,
        "layers": placed.layers,
    }


def _sign(at: int) -> float:
    """Female versions stand at even places."""
    return 1.0 if at % 2 == 0 else -1.0


def _masked(job: Job, rows: list[list[int]]) -> Iterable[Any]:
    for at in range(0, len(rows), 2):
        both = masked(job, rows[at], rows[at + 1], at)
        if both is not None:
            yield from both


METHOD = Method(
    about="The smallest change of the last hidden state after which no linear function of it tells whether a sentence"
    " is about women or men.",
    citation="Belrose et al. (2023), LEACE: Perfect linear concept erasure in closed form",
    settings=Settings,
    apply=apply,
)

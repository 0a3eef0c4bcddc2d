"""The choices that make up a protocol: what is masked, and how the answers are counted.

`sound` masks whole words, so that a word of several pieces is not guessed from its own pieces, and asks every model for
the same words. `published` repeats the released code: it masks single tokens, whatever the model's tokenizer makes of
the sentences, and rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.measures.crows_pairs import analyse_published, analyse_sound
from unmask.measures.crows_pairs.score import Question
from unmask.models.roles import MaskQuery, SharedTokensQuery
from unmask.probes.crows_pairs import CORPUS, shared_words

if TYPE_CHECKING:
    import pandas as pd

    from unmask.results import Measurement


@dataclass(frozen=True)
class Protocol:
    """One way to carry out the measure."""

    name: str
    questions: Callable[[pd.DataFrame], list[Question]]
    """What is asked about the pairs."""
    analyse: Callable[[pd.DataFrame, int], Measurement]
    """From items and a seed to numbers."""
    corpus: str = CORPUS


def _words(rows: pd.DataFrame) -> list[Question]:
    """Every word that the two sentences share, masked whole."""
    return [
        Question(at, MaskQuery(more, here), MaskQuery(less, there))
        for at, (more, less) in enumerate(zip(rows["sent_more"], rows["sent_less"], strict=True))
        for here, there in shared_words(more, less)
    ]


def _tokens(rows: pd.DataFrame) -> list[Question]:
    """Every token that they share; the sentence about the disadvantaged group is matched with the other."""
    found = []
    for at, (more, less, direction) in enumerate(
        zip(rows["sent_more"], rows["sent_less"], rows["direction"], strict=True)
    ):
        if direction == "stereo":
            found.append(Question(at, SharedTokensQuery((more, less), 0), SharedTokensQuery((more, less), 1)))
        else:
            found.append(Question(at, SharedTokensQuery((less, more), 1), SharedTokensQuery((less, more), 0)))
    return found


PROTOCOLS = {
    "sound": Protocol("sound", _words, analyse_sound.analyse),
    "published": Protocol("published", _tokens, analyse_published.analyse),
}

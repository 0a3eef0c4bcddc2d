"""The choices that make up a protocol: which pairs, and how answers are analysed.

`sound` asks about the sentences of the package, or the user's, with several pairs of gender words and a control, and
gives intervals and tests. `published` asks about the released sets and gives the shares of the paper's Table 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.measures.inference import analyse_published, analyse_sound

if TYPE_CHECKING:
    import pandas as pd

    from unmask.results import Measurement


@dataclass(frozen=True)
class Protocol:
    """How inference is measured."""

    name: str
    corpus: str
    """Which pairs are asked about by default."""
    analyse: Callable[[pd.DataFrame, int], Measurement]


PROTOCOLS = {
    "sound": Protocol("sound", "sentences", analyse_sound.analyse),
    "published": Protocol("published", "nli-coal", analyse_published.analyse),
}

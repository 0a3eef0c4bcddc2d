"""The choices that make up a protocol: how texts are prepared and rewritten, how ratings are computed and analysed.

`sound` rewrites texts as they stand, every different one once. `published` repeats what produced the paper's tables:
cleaned text, fixed strings, probabilities in single precision, every review.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.measures.sentiment import analyse_published, analyse_sound
from unmask.rewriting import Rewriter
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.rewriting.published.masking import Masking, clean

if TYPE_CHECKING:
    import pandas as pd

    from unmask.results import Measurement


@dataclass(frozen=True)
class Protocol:
    """One way to carry out the measure."""

    name: str
    prepare: Callable[[str], str] | None
    """What is done to a text before it is rewritten, if anything."""
    needs_lists: bool
    """Whether the rewriter needs the maps that the paper's authors released."""
    rewriter: Callable[[RewriteOptions], Rewriter]
    """To female or male, by settings; for `published` of texts that are prepared already."""
    keeps_doubles: bool
    single_precision: bool
    analyse: Callable[[pd.DataFrame, int], Measurement]
    """From items and a seed to numbers."""


def _masking(settings: RewriteOptions) -> Rewriter:
    if settings.lists is None:
        raise UnmaskError(
            "the published protocol needs the term maps that the authors released (prons_m2f.json …); put them into a"
            " folder imdb/ inside one that UNMASK_DATA names, or name their folder with --lists"
        )
    if isinstance(settings.terms, Path) or settings.language != "en" or settings.names:
        raise UnmaskError("the published protocol is English and has its own words, without names; leave out yours")
    return Masking(settings.lists, settings.terms, settings.to)


PROTOCOLS = {
    "sound": Protocol("sound", None, False, build_rewriter, False, False, analyse_sound.analyse),
    "published": Protocol("published", clean, True, _masking, True, True, analyse_published.analyse),
}

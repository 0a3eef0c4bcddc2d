"""The choices that make up a protocol: wording, masks, and analysis.

`sound` is the method done right. `published` repeats what produced the paper's tables: released wording and masks,
input filled with attended mask tokens up to a power of two counted in words, signed ranks over all single pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.measures.association import analyse_published, analyse_sound
from unmask.models import LiteralQuery, MaskQuery
from unmask.probes import association as probe
from unmask.probes import released

if TYPE_CHECKING:
    import pandas as pd

    from unmask.probes.association import AssociationRow, Wording
    from unmask.results import Measurement

Query = MaskQuery | LiteralQuery


@dataclass(frozen=True)
class Protocol:
    """One way to carry out the measure."""

    name: str
    wording: Wording
    queries: Callable[[Sequence[AssociationRow]], list[Query]]
    """For n rows, 2n queries: first all targets, then all priors."""
    analyse: Callable[[pd.DataFrame, int], Measurement]
    """From items and a seed to numbers."""


def _mask_pieces(rows: Sequence[AssociationRow]) -> list[Query]:
    """One mask a word piece, of the target and the attribute alone."""
    targets: list[Query] = [MaskQuery(row.sentence, row.target_span) for row in rows]
    return targets + [MaskQuery(row.sentence, row.target_span, (row.attribute_span,)) for row in rows]


def _mask_letters(rows: Sequence[AssociationRow]) -> list[Query]:
    """The released masks, at the length that the paper's code computes from whitespace words."""
    versions = [released.mask(row) for row in rows]
    words = max((len(version.target.split()) for version in versions), default=1)
    length = 1 << (words - 1).bit_length()
    masked = [version.target for version in versions] + [version.both for version in versions]
    originals = [row.sentence for row in rows] * 2
    anchors = [version.both for version in versions] * 2
    return [LiteralQuery(*texts, length=length) for texts in zip(originals, masked, anchors, strict=True)]


PROTOCOLS = {
    "sound": Protocol("sound", probe.SOUND, _mask_pieces, analyse_sound.analyse),
    "published": Protocol("published", released.RELEASED, _mask_letters, analyse_published.analyse),
}

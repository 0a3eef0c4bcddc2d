"""Run CrowS-Pairs on a masked language model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import Settings
from unmask.errors import UnmaskError
from unmask.measures import crows_pairs
from unmask.models.loading import load_masked_lm
from unmask.probes import crows_pairs as probe

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress


def measure(model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Measure the pairs about gender."""
    if "en" not in settings.languages:
        raise UnmaskError(f"CrowS-Pairs is English, not {settings.languages[0]!r}; give --language en")
    protocol = crows_pairs.PROTOCOLS[settings.protocol]
    rows = probe.read(offline=settings.loading.offline)
    subject = load_masked_lm(model, settings.loading, progress=progress)
    info = info_of(subject)
    found = Measured(info, settings.resolved("crows-pairs"))
    scored = crows_pairs.score(rows, subject, protocol, seed=settings.seed)
    measurement = protocol.analyse(scored.items, settings.seed)
    texts = [*rows["sent_more"], *rows["sent_less"]]
    found.add(
        measurement.model_copy(
            update={
                "noise_floor": scored.noise_floor,
                "distinct_inputs": scored.distinct_inputs,
                "data_hash": hashlib.sha256("\n".join(texts).encode()).hexdigest(),
                "caveats": [*crows_pairs.precision_caveats(info.dtype), *measurement.caveats],
            }
        ),
        scored.items,
    )
    return found

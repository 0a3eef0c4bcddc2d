"""Run the association measure on a masked language model."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import Settings
from unmask.measures import association
from unmask.measures.association.details import AssociationDetails
from unmask.models.loading import load_masked_lm
from unmask.probes import association as probe

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress


def measure(model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Measure every corpus that is asked for."""
    protocol = association.PROTOCOLS[settings.protocol]
    corpora = [
        probe.build(
            language,
            corpus,
            wording=protocol.wording,
            templates_file=settings.templates,
            persons_file=settings.persons,
            professions_file=settings.professions,
        )
        for language in settings.languages
        for corpus in settings.corpora_of(language)
    ]
    subject = load_masked_lm(model, settings.loading, progress=progress)
    info = info_of(subject)
    found = Measured(info, settings.resolved("association"))
    for rows in corpora:
        scored = association.score(rows, subject, protocol, seed=settings.seed)
        measurement = protocol.analyse(scored.items, settings.seed)
        found.add(
            measurement.model_copy(
                update={
                    "noise_floor": scored.noise_floor,
                    "distinct_inputs": scored.distinct_inputs,
                    "details": measurement.read_details(AssociationDetails)
                    .model_copy(update={"several_pieces": scored.several_pieces})
                    .model_dump(),
                    "data_hash": hashlib.sha256("\n".join(row.sentence for row in rows).encode()).hexdigest(),
                    "caveats": [*association.precision_caveats(info.dtype), *measurement.caveats],
                }
            ),
            scored.items,
        )
    return found

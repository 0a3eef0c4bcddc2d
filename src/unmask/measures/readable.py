"""Which figures of a measurement can be read as bias; the gate, rankings and cards ask here."""

from __future__ import annotations

from unmask.results import Measurement


def unreadable(one: Measurement, *, group: bool = False) -> str:
    """Why a test's figure, or a group's, cannot be read as bias, whatever it is; empty if it can."""
    if one.name == "association":
        from unmask.measures.association.caveats import AGREEMENT  # a second, which others need not wait

        if any(caveat.code == AGREEMENT for caveat in one.caveats):
            return "grammatical agreement drowns the measure; judge the corpus without agreement"
    if one.name == "inference":
        from unmask.measures.inference.conclusive import is_understood
        from unmask.measures.inference.details import Inference

        inference = one.read_details(Inference)
        if inference.inconclusive and (group or not is_understood(inference)):
            return f"the score cannot be read as bias: {inference.inconclusive}"
    return ""

"""Many tests at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) adjusted p-values; a test without a p-value (None) does not count."""
    ordered = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    running = 0.0
    for done, (p, index) in enumerate(ordered):
        running = max(running, min(1.0, p * (len(ordered) - done)))
        adjusted[index] = running
    return adjusted

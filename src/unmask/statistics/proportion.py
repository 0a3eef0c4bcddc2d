"""An interval for a proportion."""

from __future__ import annotations

import math


def wilson(share: float, count: float, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's 95 % interval (Wilson 1927): it stays inside 0 and 1, and is everything when nothing was counted."""
    if count <= 0:
        return 0.0, 1.0
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)

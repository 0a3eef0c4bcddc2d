"""How often 5 % tests reject when there is nothing to find: ours, and the alternatives we do not use.

    python benchmarks/calibration.py

Tables of 20 professions × 9 pairs of person words × 5 templates are drawn with mean zero, with random effects of
pairs, of professions, of both, or of neither. The last line draws low-rank tables, as a randomly initialised model
gives.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from unmask.statistics.jackknife import jackknife
from unmask.statistics.paired import sign_flip, signed_ranks

PROFESSIONS, PAIRS, TEMPLATES = 20, 9, 5
TABLES, RESAMPLES = 1000, 1000
METHODS = (
    "crossed jackknife",
    "bootstrap over both",
    "sign flip, pairs",
    "sign flip, professions",
    "signed ranks over 900",
)


def p_below(table: NDArray[np.float64], seed: int) -> list[str]:
    """Which methods reject the null for a table."""
    by_both = table.mean(axis=2)
    draw = np.random.default_rng(seed)
    rows, columns = (draw.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) for n in (PROFESSIONS, PAIRS))
    means = np.einsum("bp,pw,bw->b", rows, by_both, columns) / by_both.size
    low, high = np.quantile(means, (0.025, 0.975))
    p = {
        "crossed jackknife": jackknife(by_both.shape, lambda r, c: float(by_both[np.ix_(r, c)].mean())).p_value,
        "bootstrap over both": 1.0 if low <= 0 <= high else 0.0,
        "sign flip, pairs": sign_flip(by_both.mean(axis=0), seed=seed),
        "sign flip, professions": sign_flip(by_both.mean(axis=1), seed=seed),
        "signed ranks over 900": signed_ranks(table.ravel()).p_value,
    }
    return [name for name, value in p.items() if value is not None and value < 0.05]


def main() -> None:
    """Print the share of rejections by source of variation and method."""
    draw = np.random.default_rng(0)
    print(f"{'variation':32}" + "".join(f"{name:>24}" for name in METHODS))
    for label, pairs, professions in (
        ("person pairs", 1.0, 0.0),
        ("professions", 0.0, 1.0),
        ("both", 1.0, 1.0),
        ("neither", 0.0, 0.0),
        ("low rank", None, None),
    ):
        rejected: Counter[str] = Counter()
        for at in range(TABLES):
            noise = draw.normal(size=(PROFESSIONS, PAIRS, TEMPLATES))
            if pairs is None or professions is None:
                table = (1 + draw.normal(size=(PROFESSIONS, 3))) @ draw.normal(size=(3, PAIRS))
                table = table[:, :, None] + 0.3 * noise
            else:
                table = (
                    pairs * draw.normal(size=(1, PAIRS, 1))
                    + professions * draw.normal(size=(PROFESSIONS, 1, 1))
                    + noise
                )
            rejected.update(p_below(table, at))
        print(f"{label:32}" + "".join(f"{rejected[name] / TABLES:24.1%}" for name in METHODS), flush=True)


if __name__ == "__main__":
    main()

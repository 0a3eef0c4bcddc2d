"""How often 5 % tests reject when there is nothing to find: ours, and the alternatives we do not use.

    python benchmarks/calibration.py

**A mean.** Tables of 20 professions × 9 pairs of person words × 5 templates are drawn with mean zero, with random
effects of pairs, of professions, of templates, of all three, or of none. The last line draws low-rank tables, as a
randomly initialised model gives.

**The stereotype.** Tables of female and male professions × 9 pairs × 10 templates, in which each pair and each template
treats the two groups of professions differently by chance, and female professions vary more than male ones.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from unmask.measures.association.table import AssociationTable, StereotypeStatistic
from unmask.statistics.jackknife import jackknife
from unmask.statistics.paired import sign_flip, signed_ranks

PROFESSIONS, PAIRS, TEMPLATES = 20, 9, 5
TABLES, RESAMPLES = 2000, 1000
METHODS = (
    "three factors",
    "templates fixed",
    "bootstrap over two",
    "sign flip, pairs",
    "sign flip, professions",
    "signed ranks over 900",
)
STEREOTYPES = (("20 and 20 professions", 20, 20, 0.5, 0.5), ("3 and 37 professions", 3, 37, 1.0, 0.3))


def p_below(table: NDArray[np.float64], seed: int) -> list[str]:
    """Which methods reject the null for a table."""
    by_both = table.mean(axis=2)
    draw = np.random.default_rng(seed)
    rows, columns = (draw.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) for n in (PROFESSIONS, PAIRS))
    means = np.einsum("bp,pw,bw->b", rows, by_both, columns) / by_both.size
    low, high = np.quantile(means, (0.025, 0.975))
    p = {
        "three factors": jackknife(table.shape, lambda *kept: float(table[np.ix_(*kept)].mean())).p_value,
        "templates fixed": jackknife(by_both.shape, lambda *kept: float(by_both[np.ix_(*kept)].mean())).p_value,
        "bootstrap over two": 1.0 if low <= 0 <= high else 0.0,
        "sign flip, pairs": sign_flip(by_both.mean(axis=0), seed=seed),
        "sign flip, professions": sign_flip(by_both.mean(axis=1), seed=seed),
        "signed ranks over 900": signed_ranks(table.ravel()).p_value,
    }
    return [name for name, value in p.items() if value is not None and value < 0.05]


def draw_mean(draw: np.random.Generator, label: str) -> NDArray[np.float64]:
    """A table with the random effects of a line of the output."""
    noise = draw.normal(size=(PROFESSIONS, PAIRS, TEMPLATES))
    if label == "low rank":
        table: NDArray[np.float64] = (1 + draw.normal(size=(PROFESSIONS, 3))) @ draw.normal(size=(3, PAIRS))
        return table[:, :, None] + 0.3 * noise
    effects = {
        "person pairs": draw.normal(size=(1, PAIRS, 1)),
        "professions": draw.normal(size=(PROFESSIONS, 1, 1)),
        "templates": 0.4 * draw.normal(size=(1, 1, TEMPLATES)),
    }
    return noise + sum(effect for name, effect in effects.items() if label in (name, "all three"))


def draw_stereotype(
    draw: np.random.Generator, female: int, male: int, spreads: tuple[float, float], templates: int
) -> StereotypeStatistic:
    """A table without a stereotype on average, whose pairs and templates have one by chance."""
    groups = np.repeat(["female", "male"], [female, male])
    side = np.where(groups == "female", 0.5, -0.5)[:, None, None]
    values = np.repeat(spreads, [female, male])[:, None, None] * draw.normal(size=(female + male, 1, 1))
    values = values + side * (0.2 * draw.normal(size=(1, PAIRS, 1)) + 0.3 * draw.normal(size=(1, 1, templates)))
    values = values + 0.5 * draw.normal(size=(female + male, PAIRS, templates))
    shares, nothing = np.full(female + male, np.nan), np.zeros_like(values)
    names = [str(index) for index in range(female + male)]
    return StereotypeStatistic.of(AssociationTable(names, groups, shares, {"female": values, "male": nothing}))


def stereotype_p(statistic: StereotypeStatistic) -> dict[str, float | None]:
    """The p-values of our test, without templates as a sample, and without samples of their own size."""
    fixed = StereotypeStatistic(statistic.values.mean(axis=2, keepdims=True), statistic.groups)
    return {
        "three factors, two samples": statistic.estimate().p_value,
        "templates fixed": fixed.estimate().p_value,
        "one sample of professions": jackknife(statistic.values.shape, statistic.contrast).p_value,
    }


def main() -> None:
    """Print the share of rejections by source of variation and method."""
    draw = np.random.default_rng(0)
    print(f"{'variation':24}" + "".join(f"{name:>24}" for name in METHODS))
    for label in ("person pairs", "professions", "templates", "all three", "none", "low rank"):
        rejected: Counter[str] = Counter()
        for at in range(TABLES):
            rejected.update(p_below(draw_mean(draw, label), at))
        print(f"{label:24}" + "".join(f"{rejected[name] / TABLES:24.1%}" for name in METHODS), flush=True)
    for name, female, male, *spreads in STEREOTYPES:
        for templates in (5, 10):
            rejected = Counter()
            for _ in range(TABLES):
                p = stereotype_p(draw_stereotype(draw, female, male, (spreads[0], spreads[1]), templates))
                rejected.update(method for method, value in p.items() if value is not None and value < 0.05)
            shares = ", ".join(f"{method} {rejected[method] / TABLES:.1%}" for method in p)
            print(f"stereotype, {name}, {templates} templates: {shares}", flush=True)


if __name__ == "__main__":
    main()

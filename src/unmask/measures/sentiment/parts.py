"""Some of the texts at a time: by term, by length, by label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.sentiment.details import Part
from unmask.statistics.paired import mean_bias

if TYPE_CHECKING:
    import pandas as pd

MOST_TERMS = 60
FEWEST_TEXTS = 20
SHARE_OF_TEXTS = 50
"""A term is shown from so many texts on, or from a fiftieth of them where there are few."""


def by_term(changed: pd.DataFrame) -> list[Part]:
    """Texts that have a term, the terms of most texts first. They have other terms too, so the parts overlap."""
    if "changed_terms" not in changed:
        return []
    terms = changed["changed_terms"].fillna("").str.split("; ").map(lambda found: list(dict.fromkeys(found)))
    long = changed[["bias"]].assign(term=terms).explode("term")
    long = long[long["term"] != ""]
    sizes = long.groupby("term", sort=False).size().sort_values(ascending=False, kind="stable")
    fewest = max(2, min(FEWEST_TEXTS, len(changed) // SHARE_OF_TEXTS))
    chosen = sizes[sizes >= fewest].index[:MOST_TERMS]
    groups = long.groupby("term")
    return [part(str(term), groups.get_group(term)) for term in chosen]


def by_length(changed: pd.DataFrame) -> list[Part]:
    """Quarters of the texts, from the shortest to the longest."""
    if "words" not in changed or changed["words"].isna().any():
        return []
    words = changed["words"].to_numpy(dtype=int)
    bounds = sorted({int(bound) for bound in np.quantile(words, (0.25, 0.5, 0.75, 1.0), method="lower")})
    found, low = [], int(words.min())
    for bound in bounds:
        inside = changed[(words >= low) & (words <= bound)]
        if len(inside):
            found.append(part(f"{low}–{bound} words" if low < bound else f"{low} words", inside))
        low = bound + 1
    return found


def unread(changed: pd.DataFrame) -> tuple[int, int] | None:
    """How many texts had none of their terms read, and how many only some; None where that is not known."""
    if "terms_read" not in changed or "changed_terms" not in changed or changed["terms_read"].isna().any():
        return None
    places = changed["changed_terms"].fillna("").str.count("; ").to_numpy() + 1
    read = changed["terms_read"].to_numpy(dtype=float)
    return int((read == 0).sum()), int(((read > 0) & (read < places)).sum())


def by_label(changed: pd.DataFrame) -> list[Part]:
    """Texts with a label of their own (not the model's)."""
    if "label" not in changed or changed["label"].isna().all():
        return []
    return [part(str(label), rows) for label, rows in changed.groupby("label", sort=True)]


def part(name: str, rows: pd.DataFrame) -> Part:
    """The mean bias of some texts."""
    bias = rows["bias"].to_numpy(dtype=float)
    estimate = mean_bias(bias)
    return Part(
        name=name,
        n=len(rows),
        bias=estimate.value,
        interval=estimate.interval,
        absolute=float(np.abs(bias).mean()) if bias.size else None,
    )

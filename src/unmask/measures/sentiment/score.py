"""First half: pairs of texts and a model → items, one a text."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.counterfactual.change import Change, Rewritten
from unmask.measures.sentiment.rater import Rater
from unmask.models.interfaces import Reads, View
from unmask.probes.reviews import COUNTED, Pair

if TYPE_CHECKING:
    import pandas as pd

NOISE_SAMPLE = 128
WINDOW = "window"


@dataclass(frozen=True)
class Scored:
    """Items, and what is known of how they were scored."""

    items: pd.DataFrame
    rating: str
    noise_floor: float
    distinct_inputs: int | None
    long_texts: str
    most_tokens: int | None


def score(pairs: Sequence[Pair], rater: Rater, *, seed: int) -> Scored:
    """Rate both versions of every text; a text with one version is rated once."""
    import pandas as pd

    changed = [at for at, pair in enumerate(pairs) if pair.changed]
    texts = [pair.female.text for pair in pairs] + [pairs[at].male.text for at in changed]
    rated = rater.rate(texts)
    female = rated.ratings[: len(pairs)]
    male = female.copy()
    male[changed] = rated.ratings[len(pairs) :]
    choice_female: list[str | None] = [*rated.choices[: len(pairs)]] if rated.choices else [None] * len(pairs)
    choice_male = list(choice_female)
    for place, at in enumerate(changed):
        choice_male[at] = rated.choices[len(pairs) + place] if rated.choices else None
    reader = rater.model if isinstance(rater.model, Reads) else None
    views = reader.views(texts) if reader else None
    sides = _sides(views, len(pairs), changed)
    items = pd.DataFrame(
        {
            "id": [pair.id for pair in pairs],
            "label": pd.Series([pair.label for pair in pairs], dtype=object),
            "text": [pair.text for pair in pairs],
            "changed": [pair.changed for pair in pairs],
            "changed_terms": ["; ".join(pair.terms) for pair in pairs],
            "female_changes": [_written(pair.female) for pair in pairs],
            "male_changes": [_written(pair.male) for pair in pairs],
            "words": [len(pair.text.split()) for pair in pairs],
            "tokens": _integers([None if side is None else side[0].tokens for side in sides]),
            "cut": pd.Series(
                [None if side is None or reader is None else _is_cut(reader, side) for side in sides], dtype="boolean"
            ),
            "terms_read": _integers([None if s is None else _read(p, *s) for p, s in zip(pairs, sides, strict=True)]),
            "p_female": female,
            "p_male": male,
            "bias": male - female,
            "choice_female": pd.Series(choice_female, dtype=object),
            "choice_male": pd.Series(choice_male, dtype=object),
        }
    )
    return Scored(
        items=items,
        rating=rater.polarity.says,
        noise_floor=_noise_floor(rater, texts, rated.ratings, changed or range(len(pairs)), seed),
        distinct_inputs=None if views is None else len({one for view in views for one in view.inputs}),
        long_texts=reader.long_texts if reader else "",
        most_tokens=reader.most_tokens if reader else None,
    )


def _noise_floor(
    rater: Rater, texts: Sequence[str], ratings: NDArray[np.float64], among: Sequence[int], seed: int
) -> float:
    """The largest change when some of the texts are rated again in other company."""
    sample = np.random.default_rng(seed).permutation(np.asarray(among))[:NOISE_SAMPLE]
    again = rater.rate([texts[at] for at in sample])
    return float(np.abs(again.ratings - ratings[sample]).max())


Sides = tuple[View, View]


def _sides(views: list[View] | None, count: int, changed: Sequence[int]) -> Sequence[Sides | None]:
    """What was read of the female and the male version of each text."""
    if views is None:
        return [None] * count
    males = dict(zip(changed, views[count:], strict=True))
    return [(view, males.get(at, view)) for at, view in enumerate(views[:count])]


def _is_cut(model: Reads, sides: Sides) -> bool:
    """Whether a part of either version was not read."""
    limit = model.most_tokens
    return model.long_texts != WINDOW and limit is not None and max(side.tokens for side in sides) > limit


def _read(pair: Pair, female: View, male: View) -> int:
    """How many places of the text the model read in at least one version."""
    seen: set[int] = set()
    for version, view in ((pair.female, female), (pair.male, male)):
        starts = [start for start, _ in view.read]
        shift = 0
        for change in version.changes:
            start = change.start + shift
            end = start + max(len(change.after), 1)
            shift += len(change.after) - (change.end - change.start)
            at = bisect_right(starts, start) - 1
            inside = (at >= 0 and view.read[at][1] > start) or (at + 1 < len(starts) and starts[at + 1] < end)
            if inside and change.kind in COUNTED:
                seen.add(change.start)
    return len(seen)


def _written(version: Rewritten) -> str:
    return json.dumps([_edit(change) for change in version.changes], ensure_ascii=False)


def _edit(change: Change) -> tuple[int, int, str]:
    return change.start, change.end, change.after


def _integers(values: Sequence[int | None]) -> Any:
    """A column of whole numbers, some of which may not be known."""
    import pandas as pd

    return pd.array(values, dtype="Int64")

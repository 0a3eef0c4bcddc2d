"""First half: pairs of texts and a model → items, one a text.

Every different version is rated once, also where several term sets give the same one: with the paper's three sets that
is about half of the versions. Texts are rated some hundreds at a time, the shortest first, all versions of a text
together.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.measures.sentiment.rater import Rater
from unmask.models.roles import Progress, Reads, Span
from unmask.probes.reviews import COUNTED, Pair
from unmask.rewriting.result import Replacement, Rewritten

if TYPE_CHECKING:
    import pandas as pd

NOISE_SAMPLE = 64
AT_ONCE = 256
"""Texts whose versions are rated together."""
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


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the model says of a version, and what it read of it (None where that is not known)."""

    rating: float
    choice: str | None
    tokens: int | None = None
    read: tuple[Span, ...] = ()
    inputs: tuple[int, ...] = ()
    """Hashes of the inputs that were run."""


def score(pairs: Sequence[Pair], rater: Rater, *, seed: int, progress: Progress | None = None) -> Scored:
    """Rate both versions of every text; a text with one version is rated once."""
    return score_all({"": pairs}, rater, seed=seed, progress=progress)[""]


def score_all(
    sets: Mapping[str, Sequence[Pair]], rater: Rater, *, seed: int, progress: Progress | None = None
) -> dict[str, Scored]:
    """Rate the versions that several term sets make of the same texts, each different one once."""
    answers: dict[str, _Answer] = {}
    groups = _groups(sets)
    for done, texts in enumerate(groups, 1):
        answers |= _ask(rater, [text for text in dict.fromkeys(texts) if text not in answers])
        if progress:
            progress(done, len(groups))
    noise = _noise_floor(rater, sets, answers, seed)
    return {name: _scored(pairs, rater, answers, noise) for name, pairs in sets.items()}


def _groups(sets: Mapping[str, Sequence[Pair]]) -> list[list[str]]:
    """The versions of all texts, some hundreds of texts at a time, the shortest first."""
    versions: dict[str, dict[str, None]] = {}
    for pairs in sets.values():
        for pair in pairs:
            versions.setdefault(pair.id, {}).update(dict.fromkeys(_versions(pair)))
    order = sorted(versions.values(), key=lambda texts: len(next(iter(texts))))
    return [
        [text for texts in order[start : start + AT_ONCE] for text in texts] for start in range(0, len(order), AT_ONCE)
    ]


def _versions(pair: Pair) -> Iterator[str]:
    yield pair.female.text
    if pair.changed:
        yield pair.male.text


def _ask(rater: Rater, texts: Sequence[str]) -> dict[str, _Answer]:
    if not texts:
        return {}
    rated = rater.rate(texts)
    choices: Sequence[str | None] = rated.choices or [None] * len(texts)
    if not isinstance(rater.model, Reads):
        answers = [_Answer(float(rating), choice) for rating, choice in zip(rated.ratings, choices, strict=True)]
    else:
        answers = [
            _Answer(float(rating), choice, view.tokens, view.read, tuple(map(hash, view.inputs)))
            for rating, choice, view in zip(rated.ratings, choices, rater.model.views(texts), strict=True)
        ]
    return dict(zip(texts, answers, strict=True))


def _scored(pairs: Sequence[Pair], rater: Rater, answers: Mapping[str, _Answer], noise: float) -> Scored:
    import pandas as pd

    reader = rater.model if isinstance(rater.model, Reads) else None
    females = [answers[pair.female.text] for pair in pairs]
    males = [answers[pair.male.text] if pair.changed else female for pair, female in zip(pairs, females, strict=True)]
    sides = list(zip(females, males, strict=True))
    p_female, p_male = (np.array([one.rating for one in side]) for side in (females, males))
    read = [_read(pair, *side) if reader else None for pair, side in zip(pairs, sides, strict=True)]
    items = pd.DataFrame(
        {
            "id": [pair.id for pair in pairs],
            "label": pd.Series([pair.label for pair in pairs], dtype=object),
            "text": [pair.text for pair in pairs],
            "changed": [pair.changed for pair in pairs],
            "changed_terms": ["; ".join(pair.terms) for pair in pairs],
            "term_pairs": ["; ".join(pair.term_pairs) for pair in pairs],
            "female_changes": [_written(pair.female) for pair in pairs],
            "male_changes": [_written(pair.male) for pair in pairs],
            "words": [len(pair.text.split()) for pair in pairs],
            "tokens": _integers([female.tokens for female in females]),
            "cut": pd.Series([_is_cut(reader, side) if reader else None for side in sides], dtype="boolean"),
            "terms_read": _integers(read),
            "p_female": p_female,
            "p_male": p_male,
            "bias": p_male - p_female,
            "choice_female": pd.Series([one.choice for one in females], dtype=object),
            "choice_male": pd.Series([one.choice for one in males], dtype=object),
        }
    )
    inputs = {one for side in sides for version in side for one in version.inputs}
    return Scored(
        items=items,
        rating=rater.polarity.says,
        noise_floor=noise,
        distinct_inputs=len(inputs) if reader else None,
        long_texts=reader.long_texts if reader else "",
        most_tokens=reader.most_tokens if reader else None,
    )


def _noise_floor(rater: Rater, sets: Mapping[str, Sequence[Pair]], answers: Mapping[str, _Answer], seed: int) -> float:
    """The largest change when some of the texts are rated again in other company."""
    every = [pair for pairs in sets.values() for pair in pairs]
    changed = [pair for pair in every if pair.changed] or every
    texts = list(dict.fromkeys(text for pair in changed for text in _versions(pair)))
    sample = [texts[at] for at in np.random.default_rng(seed).permutation(len(texts))[:NOISE_SAMPLE]]
    again = rater.rate(sample)
    return float(np.abs(again.ratings - np.array([answers[text].rating for text in sample])).max())


Sides = tuple[_Answer, _Answer]


def _is_cut(model: Reads, sides: Sides) -> bool:
    """Whether a part of either version was not read."""
    limit = model.most_tokens
    return model.long_texts != WINDOW and limit is not None and max(side.tokens or 0 for side in sides) > limit


def _read(pair: Pair, female: _Answer, male: _Answer) -> int:
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


def _edit(change: Replacement) -> tuple[int, int, str]:
    return change.start, change.end, change.after


def _integers(values: Sequence[int | None]) -> Any:
    """A column of whole numbers, some of which may not be known."""
    import pandas as pd

    return pd.array(values, dtype="Int64")

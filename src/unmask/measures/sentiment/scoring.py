"""From texts to items: rewrite both versions of each text, and rate every distinct version once.

Different term sets often give the same version; with the paper's three sets that is about half of them. Texts are
rated a few hundred at a time, the shortest first, all versions of a text together.

`sound` rewrites distinct texts as they are. `published` repeats what produced the paper's tables: cleaned text, fixed
strings, probabilities in single precision, duplicates included.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.measures.base import Context, Scored
from unmask.measures.sentiment import data
from unmask.measures.sentiment.data import COUNTED, Pair
from unmask.measures.sentiment.rater import CachedRater, Rater, identify_rater
from unmask.models.roles import Progress, Reads, Span
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.rewriting.published.lists import reviews_folder
from unmask.rewriting.published.masking import Masking, clean
from unmask.rewriting.result import Rewriter, Rewritten
from unmask.training.examples import TextExample

if TYPE_CHECKING:
    from unmask.measures.sentiment import SentimentOptions

NOISE_SAMPLE = 64
AT_ONCE = 256
"""Texts whose versions are rated together."""


def build_masking(settings: RewriteOptions) -> Rewriter:
    """The rewriter of the paper, for cleaned texts."""
    if settings.lists is None:
        raise UnmaskError(
            "the published protocol needs the term maps that the authors released (prons_m2f.json …); put them into a"
            " folder imdb/ inside one that UNMASK_DATA names, or name their folder with --lists"
        )
    if isinstance(settings.terms, Path) or settings.language != "en" or settings.names:
        raise UnmaskError("the published protocol is English and has its own words, without names; leave out yours")
    return Masking(settings.lists, settings.terms, settings.to)


@dataclass(frozen=True)
class RatingProtocol:
    """How texts are prepared and rewritten, and how ratings are computed."""

    build_rewriter: Callable[[RewriteOptions], Rewriter]
    prepare: Callable[[str], str] | None = None
    """Applied to a text before it is rewritten."""
    needs_lists: bool = False
    """Whether the rewriter needs the maps that the paper's authors released."""
    keeps_duplicates: bool = False
    single_precision: bool = False


PROTOCOLS = {
    "sound": RatingProtocol(build_rewriter),
    "published": RatingProtocol(build_masking, clean, needs_lists=True, keeps_duplicates=True, single_precision=True),
}


def score(model: Any, items: Sequence[TextExample], options: SentimentOptions, context: Context) -> list[Scored]:
    """Items for each term set. All sets are rated together, so that a version they share is rated once."""
    from unmask.models.batching import LoadedModel

    protocol = PROTOCOLS[context.protocol]
    rater = Rater(model, options.positive, single_precision=protocol.single_precision)
    if context.workspace is not None and isinstance(model, LoadedModel):
        rater = CachedRater(rater, context.workspace, identify_rater(model, rater))
    texts: Sequence[TextExample] = items
    if not protocol.keeps_duplicates:
        texts = list({text.text: text for text in reversed(items)}.values())[::-1]  # the first of equal ones
    if protocol.prepare is not None:
        texts = [replace(text, text=protocol.prepare(text.text)) for text in texts]
    pairs = {
        terms.name if isinstance(terms, Path) else terms: _rewrite_texts(texts, options, terms, context)
        for terms in options.term_sets
    }
    results = []
    for name, scored in score_sets(pairs, rater, seed=context.seed, progress=context.progress).items():
        columns = {"language": context.language, "corpus": context.corpus, "terms": name}
        for index, (column, value) in enumerate(columns.items()):
            scored.items.insert(index, column, value)
        details = {**scored.details, "duplicates": len(items) - len(pairs[name])}
        results.append(replace(scored, data_hash=data.hash_pairs(pairs[name]), details=details))
    return results


def _rewrite_texts(
    texts: Sequence[TextExample], options: SentimentOptions, terms: str | Path, context: Context
) -> list[Pair]:
    """The female and male versions of texts. Texts with the same versions count once, unless duplicates are kept."""
    protocol = PROTOCOLS[context.protocol]
    lists = reviews_folder(options.lists) if protocol.needs_lists else None
    rewrite = partial(RewriteOptions, terms=terms, names=options.names, language=context.language, lists=lists)
    to_female, to_male = (protocol.build_rewriter(rewrite(to=to)) for to in ("female", "male"))
    pairs = data.rewrite_both_ways(texts, to_female, to_male, progress=context.progress)
    data.check_changed(pairs, str(terms))
    return pairs if protocol.keeps_duplicates else data.drop_twins(pairs)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The rating of a version, and what the model read of it (None where that is not known)."""

    rating: float
    choice: str | None
    tokens: int | None = None
    read: tuple[Span, ...] = ()
    inputs: tuple[int, ...] = ()
    """Hashes of the model's inputs."""


def score_pairs(pairs: Sequence[Pair], rater: Rater, *, seed: int, progress: Progress | None = None) -> Scored:
    """Rate both versions of every text. A text with one version is rated once."""
    return score_sets({"": pairs}, rater, seed=seed, progress=progress)[""]


def score_sets(
    sets: Mapping[str, Sequence[Pair]], rater: Rater, *, seed: int, progress: Progress | None = None
) -> dict[str, Scored]:
    """Rate the versions that several term sets make of the same texts, each distinct version once.

    Args:
        sets: The pairs of each term set.
        rater: The model.
        seed: The seed of the sample that is rated again to measure the noise floor.
        progress: Called with the number of batches done, and of all batches.
    """
    answers: dict[str, _Answer] = {}
    batches = _batch_versions(sets)
    for done, texts in enumerate(batches, 1):
        answers |= _rate_versions(rater, [text for text in dict.fromkeys(texts) if text not in answers])
        if progress:
            progress(done, len(batches))
    noise = _measure_noise(rater, sets, answers, seed)
    return {name: _collect_items(pairs, rater, answers, noise) for name, pairs in sets.items()}


def _batch_versions(sets: Mapping[str, Sequence[Pair]]) -> list[list[str]]:
    """The versions of all texts, `AT_ONCE` texts at a time, the shortest first."""
    versions: dict[str, dict[str, None]] = {}
    for pairs in sets.values():
        for pair in pairs:
            versions.setdefault(pair.id, {}).update(dict.fromkeys(_list_versions(pair)))
    order = sorted(versions.values(), key=lambda texts: len(next(iter(texts))))
    return [
        [text for texts in order[start : start + AT_ONCE] for text in texts] for start in range(0, len(order), AT_ONCE)
    ]


def _list_versions(pair: Pair) -> Iterator[str]:
    yield pair.female.text
    if pair.changed:
        yield pair.male.text


def _rate_versions(rater: Rater, texts: Sequence[str]) -> dict[str, _Answer]:
    if not texts:
        return {}
    rated = rater.rate(texts)
    choices: Sequence[str | None] = rated.choices or [None] * len(texts)
    answers = [_Answer(float(rating), choice) for rating, choice in zip(rated.ratings, choices, strict=True)]
    if isinstance(rater.model, Reads):
        views = rater.model.views(texts)
        answers = [
            _Answer(answer.rating, answer.choice, view.tokens, view.read, tuple(map(hash, view.inputs)))
            for answer, view in zip(answers, views, strict=True)
        ]
    return dict(zip(texts, answers, strict=True))


def _collect_items(pairs: Sequence[Pair], rater: Rater, answers: Mapping[str, _Answer], noise: float) -> Scored:
    """The items of a term set: one row per text."""
    import pandas as pd

    reader = rater.model if isinstance(rater.model, Reads) else None
    limit = reader.most_tokens if reader and reader.long_texts != "window" else None
    females = [answers[pair.female.text] for pair in pairs]
    males = [answers[pair.male.text] if pair.changed else female for pair, female in zip(pairs, females, strict=True)]
    sides = list(zip(females, males, strict=True))
    cut = [limit is not None and max(side.tokens or 0 for side in both) > limit for both in sides]
    read = [_count_read_terms(pair, *both) for pair, both in zip(pairs, sides, strict=True)]
    unknown = [None] * len(pairs)
    items = pd.DataFrame(
        {
            "rating": rater.rating,
            "id": [pair.id for pair in pairs],
            "label": pd.Series([pair.label for pair in pairs], dtype=object),
            "text": [pair.text for pair in pairs],
            "changed": [pair.changed for pair in pairs],
            "changed_terms": ["; ".join(pair.terms) for pair in pairs],
            "term_pairs": ["; ".join(pair.term_pairs) for pair in pairs],
            "female_changes": [_write_changes(pair.female) for pair in pairs],
            "male_changes": [_write_changes(pair.male) for pair in pairs],
            "words": [len(pair.text.split()) for pair in pairs],
            "tokens": pd.array([female.tokens for female in females], dtype="Int64"),
            "cut": pd.array(cut if reader else unknown, dtype="boolean"),
            "terms_read": pd.array(read if reader else unknown, dtype="Int64"),
            "p_female": [female.rating for female in females],
            "p_male": [male.rating for male in males],
            "bias": np.array([male.rating for male in males]) - np.array([female.rating for female in females]),
            "choice_female": pd.Series([female.choice for female in females], dtype=object),
            "choice_male": pd.Series([male.choice for male in males], dtype=object),
        }
    )
    inputs = {key for both in sides for version in both for key in version.inputs}
    details = {
        "long_texts": reader.long_texts if reader else "",
        "most_tokens": reader.most_tokens if reader else None,
    }
    return Scored(items, noise, len(inputs) if reader else None, details=details)


def _measure_noise(
    rater: Rater, sets: Mapping[str, Sequence[Pair]], answers: Mapping[str, _Answer], seed: int
) -> float:
    """The largest change of a rating when a sample of the texts is rated again in other batches."""
    pairs = [pair for pairs in sets.values() for pair in pairs]
    changed = [pair for pair in pairs if pair.changed] or pairs
    texts = list(dict.fromkeys(text for pair in changed for text in _list_versions(pair)))
    sample = [texts[index] for index in np.random.default_rng(seed).permutation(len(texts))[:NOISE_SAMPLE]]
    again = rater.rate(sample).ratings
    return float(np.abs(again - np.array([answers[text].rating for text in sample])).max())


def _count_read_terms(pair: Pair, female: _Answer, male: _Answer) -> int:
    """How many terms of the text the model read in at least one version."""
    seen: set[int] = set()
    for version, view in ((pair.female, female), (pair.male, male)):
        starts = [start for start, _ in view.read]
        shift = 0
        for change in version.changes:
            start = change.start + shift
            end = start + max(len(change.after), 1)
            shift += len(change.after) - (change.end - change.start)
            before = bisect_right(starts, start) - 1
            overlaps_before = before >= 0 and view.read[before][1] > start
            overlaps_after = before + 1 < len(starts) and starts[before + 1] < end
            if (overlaps_before or overlaps_after) and change.kind in COUNTED:
                seen.add(change.start)
    return len(seen)


def _write_changes(version: Rewritten) -> str:
    """The edits of a version, as JSON."""
    return json.dumps([(change.start, change.end, change.after) for change in version.changes], ensure_ascii=False)

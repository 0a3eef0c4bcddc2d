"""From texts to items: rewrite both versions of each text, and rate every distinct version once.

Different term sets often give the same version; with the paper's three sets that is about half of them. Texts are
rated a few hundred at a time, the shortest first, all versions of a text together.

`sound` rewrites distinct texts as they are. `published` repeats what produced the paper's tables: cleaned text, fixed
strings, probabilities in single precision, duplicates included.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unmask.measures.base import Context, Scored
from unmask.measures.classifiers import measure_noise
from unmask.measures.sentiment import SentimentOptions
from unmask.measures.sentiment.data import (
    COUNTED,
    Pair,
    check_changed,
    drop_twins,
    hash_pairs,
    load_texts,
    rewrite_both_ways,
)
from unmask.measures.sentiment.rater import CachedRater, Rater, identify_rater
from unmask.models.roles import Progress, Reads, Span, View
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.rewriting.published.lists import reviews_folder
from unmask.rewriting.published.masking import clean
from unmask.rewriting.result import Rewritten
from unmask.statistics.simulation import Simulation
from unmask.training.examples import TextExample

if TYPE_CHECKING:
    import pandas as pd

NOISE_SAMPLE = 64
AT_ONCE = 256
"""Texts whose versions are rated together."""


class RatedVersion(NamedTuple):
    """The rating of a version, the model's label, and what the model read, as far as these are known."""

    rating: float
    choice: str | None
    tokens: int = 0
    read: tuple[Span, ...] = ()
    inputs: tuple[int, ...] = ()
    """Hashes of the model's inputs."""


def score(model: Any, items: Sequence[TextExample], options: SentimentOptions, context: Context) -> list[Scored]:
    """Items for each term set. All sets are rated together, so that a version they share is rated once."""
    from unmask.models.batching import LoadedModel

    is_published = context.protocol == "published"
    rater = Rater(model, options.positive, single_precision=is_published)
    if context.workspace is not None and isinstance(model, LoadedModel):
        rater = CachedRater(rater, context.workspace, identify_rater(model, rater))
    if is_published:
        texts = [replace(text, text=clean(text.text)) for text in items]
    else:
        texts = list({text.text: text for text in reversed(items)}.values())[::-1]  # the first of equal ones
    sets = {Path(terms).name: rewrite_texts(texts, options, terms, context) for terms in options.term_sets}
    results = []
    for name, scored in score_sets(sets, rater, seed=context.seed, progress=context.progress).items():
        columns = {"language": context.language, "corpus": context.corpus, "terms": name}
        frame = scored.items.assign(**columns)[[*columns, *scored.items]]
        details = {**scored.details, "duplicates": len(items) - len(sets[name])}
        results.append(replace(scored, items=frame, data_hash=hash_pairs(sets[name]), details=details))
    return results


def rewrite_texts(
    texts: Sequence[TextExample], options: SentimentOptions, terms: str | Path, context: Context
) -> list[Pair]:
    """The female and male versions of texts. In `sound`, texts with the same versions count once."""
    is_published = context.protocol == "published"
    settings = RewriteOptions(
        terms=terms,
        names=options.names,
        language=context.language,
        protocol=context.protocol,
        lists=reviews_folder(options.lists) if is_published else None,
    )
    to_female, to_male = (build_rewriter(settings.replace(to=gender)) for gender in ("female", "male"))
    pairs = rewrite_both_ways(texts, to_female, to_male, progress=context.progress)
    check_changed(pairs, str(terms))
    return pairs if is_published else drop_twins(pairs)


def simulations() -> list[Simulation]:
    """Ratings of the built-in reviews, where words or texts vary at random."""
    import pandas as pd

    pairs = rewrite_texts(load_texts("reviews", offline=True), SentimentOptions(), "all", Context())
    words = sorted({word for pair in pairs for term in pair.term_pairs for word in term.split("/")})
    counts, terms = np.zeros((len(pairs), len(words))), np.array([len(pair.term_pairs) for pair in pairs], dtype=float)
    for row, pair in enumerate(pairs):
        for term in pair.term_pairs:
            for sign, word in zip((1, -1), term.split("/"), strict=True):
                counts[row, words.index(word)] += sign
    items = pd.DataFrame(
        {
            "language": "en",
            "corpus": "reviews",
            "terms": "all",
            "id": [pair.id for pair in pairs],
            "label": [pair.label for pair in pairs],
            "changed": [pair.changed for pair in pairs],
            "term_pairs": ["; ".join(pair.term_pairs) for pair in pairs],
        }
    )

    def simulate(name: str, spread: float, effects: tuple[float, ...] = ()) -> Simulation:
        def draw(rng: np.random.Generator, effect: float) -> pd.DataFrame:
            bias = counts @ rng.normal(scale=spread, size=len(words)) + effect * terms
            bias = np.where(items["changed"], bias + rng.normal(scale=0.02, size=len(items)), 0.0)
            return items.assign(p_female=0.5 - bias / 2, p_male=0.5 + bias / 2, bias=bias)

        return Simulation(name, draw, effects)

    return [simulate("words vary", 0.02, (0.01, 0.02)), simulate("texts vary", 0.0)]


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
    pairs = list(chain.from_iterable(sets.values()))
    versions: dict[str, dict[str, None]] = {}
    for pair in pairs:
        versions.setdefault(pair.id, {}).update(_list_versions([pair]))
    order = sorted(versions.values(), key=lambda texts: len(next(iter(texts))))
    answers: dict[str, RatedVersion] = {}
    starts = range(0, len(order), AT_ONCE)
    for done, start in enumerate(starts, 1):
        texts = dict.fromkeys(chain.from_iterable(order[start : start + AT_ONCE]))
        answers |= _rate_versions(rater, [text for text in texts if text not in answers])
        if progress:
            progress(done, len(starts))
    sample = list(_list_versions([pair for pair in pairs if pair.changed] or pairs))
    ratings = np.array([answers[text].rating for text in sample])
    noise = measure_noise(sample, ratings, lambda texts: rater.rate(texts).ratings, most=NOISE_SAMPLE, seed=seed)
    return {name: _collect_items(pairs, rater, answers, noise) for name, pairs in sets.items()}


def _list_versions(pairs: Sequence[Pair]) -> dict[str, None]:
    """The distinct versions of texts, in order."""
    return dict.fromkeys(version.text for pair in pairs for version in (pair.female, pair.male))


def _rate_versions(rater: Rater, texts: Sequence[str]) -> dict[str, RatedVersion]:
    if not texts:
        return {}
    rated = rater.rate(texts)
    views = rater.model.views(texts) if isinstance(rater.model, Reads) else [View(0, (), ())] * len(texts)
    choices: Sequence[str | None] = rated.choices or [None] * len(texts)
    return {
        text: RatedVersion(float(rating), choice, view.tokens, view.read, tuple(map(hash, view.inputs)))
        for text, rating, choice, view in zip(texts, rated.ratings, choices, views, strict=True)
    }


def _collect_items(pairs: Sequence[Pair], rater: Rater, answers: Mapping[str, RatedVersion], noise: float) -> Scored:
    """The items of a term set: one row per text."""
    import pandas as pd

    reader = rater.model if isinstance(rater.model, Reads) else None
    limit = reader.most_tokens if reader and reader.long_texts != "window" else None
    females, males = [answers[pair.female.text] for pair in pairs], [answers[pair.male.text] for pair in pairs]
    sides = list(zip(females, males, strict=True))
    cut = [limit is not None and max(female.tokens, male.tokens) > limit for female, male in sides]
    terms_read = [_count_read_terms(pair, answers) for pair in pairs]
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
            "cut": pd.array(cut, dtype="boolean"),
            "terms_read": pd.array(terms_read, dtype="Int64"),
            "p_female": [female.rating for female in females],
            "p_male": [male.rating for male in males],
            "bias": [male.rating - female.rating for female, male in sides],
            "choice_female": pd.Series([female.choice for female in females], dtype=object),
            "choice_male": pd.Series([male.choice for male in males], dtype=object),
        }
    )
    if reader is None:
        items.loc[:, ["tokens", "cut", "terms_read"]] = pd.NA
        return Scored(items, noise, details={"long_texts": "", "most_tokens": None})
    inputs = {key for both in sides for answer in both for key in answer.inputs}
    details = {"long_texts": reader.long_texts, "most_tokens": reader.most_tokens}
    return Scored(items, noise, len(inputs), details=details)


def _count_read_terms(pair: Pair, answers: Mapping[str, RatedVersion]) -> int:
    """How many terms of the text the model read in at least one version."""
    terms = set()
    for version in (pair.female, pair.male):
        shift = 0
        for change in version.changes:
            start = change.start + shift
            end = start + max(len(change.after), 1)
            shift += len(change.after) - (change.end - change.start)
            read = answers[version.text].read
            if change.kind in COUNTED and any(first < end and start < last for first, last in read):
                terms.add(change.start)
    return len(terms)


def _write_changes(version: Rewritten) -> str:
    """The edits of a version, as JSON."""
    return json.dumps([(change.start, change.end, change.after) for change in version.changes], ensure_ascii=False)

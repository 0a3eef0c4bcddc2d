"""From texts to rated pairs: rewrite both versions, rate each distinct text once, and count what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.measures.base import Context, Scored
from unmask.measures.sentiment.cache import CachedRater, identity
from unmask.measures.sentiment.protocol import PROTOCOLS, Protocol
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.score import score_all
from unmask.probes import reviews
from unmask.rewriting import options as rewriting
from unmask.rewriting.published.lists import reviews_folder

if TYPE_CHECKING:
    from unmask.measures.sentiment import SentimentOptions


def rate_texts(model: Any, given: Sequence[reviews.Text], options: SentimentOptions, context: Context) -> list[Scored]:
    """Items for each term set; all sets are rated together, so that a text they share is rated once."""
    from unmask.models.batching import LoadedModel

    protocol = PROTOCOLS[context.protocol]
    rater = Rater(model, options.positive, single_precision=protocol.single_precision)
    if context.workspace is not None and isinstance(model, LoadedModel):
        rater = CachedRater(rater, context.workspace, identity(model, rater))
    texts = given if protocol.keeps_doubles else reviews.without_doubles(given)
    if protocol.prepare is not None:
        texts = [replace(text, text=protocol.prepare(text.text)) for text in texts]
    pairs = {
        Path(terms).name if isinstance(terms, Path) else terms: rewrite_pairs(texts, protocol, options, terms, context)
        for terms in options.term_sets
    }
    found = []
    for name, scored in score_all(pairs, rater, seed=context.seed, progress=context.progress).items():
        columns = {"language": context.language, "corpus": context.corpus, "terms": name, "rating": scored.rating}
        for index, (column, value) in enumerate(columns.items()):
            scored.items.insert(index, column, value)
        details = {
            "duplicates": len(given) - len(pairs[name]),
            "long_texts": scored.long_texts,
            "most_tokens": scored.most_tokens,
        }
        found.append(
            Scored(scored.items, scored.noise_floor, scored.distinct_inputs, reviews.data_hash(pairs[name]), details)
        )
    return found


def rewrite_pairs(
    texts: Sequence[reviews.Text], protocol: Protocol, options: SentimentOptions, terms: str | Path, context: Context
) -> list[reviews.Pair]:
    """The female and male versions of texts; texts with the same versions count once, unless all are kept."""
    to_female, to_male = (
        protocol.rewriter(
            rewriting.RewriteOptions(
                to=to,
                terms=terms,
                names=options.names,
                language=context.language,
                lists=reviews_folder(options.lists) if protocol.needs_lists else None,
            )
        )
        for to in ("female", "male")
    )
    pairs = reviews.pair(texts, to_female, to_male, progress=context.progress)
    reviews.refuse_unchanged(pairs, str(terms))
    return pairs if protocol.keeps_doubles else reviews.without_twins(pairs)

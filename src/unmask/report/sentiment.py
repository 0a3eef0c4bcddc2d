"""A measurement of ratings as its section of a page wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unmask.measures.sentiment.details import Part, Ratings
from unmask.measures.sentiment.interpret import SIZES, digits
from unmask.report.pages import CORPORA, count, title
from unmask.report.rating_cards import cards, ratings_of
from unmask.results import Measurement
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

TERMS = {"pronouns": "pronouns", "family": "pronouns and family words", "all": "all gendered words"}
READ = {
    "head": "only their beginning was read",
    "head+tail": "only their beginning and their end were read",
    "window": "they were read in windows that overlap, and the rating is the mean over the windows",
}


def view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """The cards, plots and texts of a measurement."""
    from unmask.report import rating_plots, texts

    ratings = ratings_of(measurement)
    bias, mine = measurement.test("bias"), texts.changed(measurement, items)
    spread = None if mine is None else rating_plots.spread(mine["bias"], bias.value if bias else None)
    return {
        "measurement": measurement,
        "ratings": ratings,
        "title": heading(measurement),
        "agreement": False,
        "provenance": list(_provenance(measurement, ratings)),
        "digits": digits(ratings),
        "sizes": [(word, f"{limit:g}") for limit, word in SIZES[:-1]],
        "cards": list(cards(measurement)),
        "spread": spread,
        "panels": _panels(ratings),
        "female": texts.moved(mine, male=False),
        "male": texts.moved(mine, male=True),
        "kept": mine is not None and "text" in mine and mine["text"].astype(bool).any(),
        "facts": list(_facts(measurement, ratings)),
    }


def heading(measurement: Measurement) -> str:
    """What was measured, on which texts, in which language, with which words exchanged."""
    corpus = "own texts" if measurement.corpus == "custom" else CORPORA.get(measurement.corpus, measurement.corpus)
    terms = ratings_of(measurement).terms
    return f"{title(measurement.name, corpus, measurement.language)}, {TERMS.get(terms, terms)}"


def _panels(ratings: Ratings) -> list[dict[str, str]]:
    from unmask.report import rating_plots

    precise = digits(ratings)
    words, name = (
        (ratings.by_pair, "By pair of terms: what one place adds") if ratings.by_pair else (ratings.by_term, "By term")
    )
    few = rating_plots.most_frequent(words)
    both = rating_plots.scale_of([*ratings.by_length, *ratings.by_label])
    drawn: list[tuple[str, list[Part], tuple[float, float]]] = [
        (f"{name} ({len(few)} of {len(words)})" if len(few) < len(words) else name, few, rating_plots.scale_of(few)),
        ("By length", ratings.by_length, both),
        ("By label", ratings.by_label, both),
    ]
    panels = [{"name": name, "svg": rating_plots.dots(parts, scale, precise)} for name, parts, scale in drawn]
    return [panel for panel in panels if panel["svg"]]


def _facts(measurement: Measurement, ratings: Ratings) -> Iterator[str]:
    """How these texts were read, in sentences."""
    precise = digits(ratings)
    words = TERMS.get(ratings.terms, f"the words of {ratings.terms}")
    yield f"What was exchanged: {words}. What a rating is: {ratings.rating}."
    doubles = (
        f" ({count(ratings.duplicates)} more were given twice, or differ in gender alone, and count once)"
        if ratings.duplicates
        else ""
    )
    yield (
        f"Of {count(ratings.texts)} different texts{doubles}, {count(ratings.changed)} have a term, so that their"
        " female and male versions differ. The others have no bias by construction."
    )
    if ratings.long_texts and ratings.most_tokens:
        how = READ.get(ratings.long_texts, ratings.long_texts)
        most = count(ratings.most_tokens)
        yield f"The model reads {most} tokens at once. Where texts are longer, {how} ({ratings.long_texts})."
    if ratings.cut == 0:
        yield "No text with a term was too long."
    elif ratings.cut is not None:
        lost = ratings.outside is not None and ratings.partly_outside is not None
        outside = (
            f"; in {count(ratings.outside or 0)} none of the terms was read, so that their bias is 0 by construction,"
            f" and in {count(ratings.partly_outside or 0)} only some"
        )
        yield f"{count(ratings.cut)} of the texts with a term were too long{outside if lost else ''}."
    if measurement.noise_floor is not None:
        yield (
            f"Rated again in another batch, a text’s rating moves by up to {measurement.noise_floor:.2g}: the noise of"
            " the computation."
        )
    if ratings.detectable is not None:
        yield (
            f"With so many texts, a 5 % test finds a mean bias of {number(ratings.detectable, precise)} four times out"
            " of five; a smaller one may well go unseen."
        )


def _provenance(measurement: Measurement, ratings: Ratings) -> Iterator[tuple[str, str]]:
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    yield "texts", count(ratings.texts)
    yield "texts that count once", count(ratings.duplicates)
    yield "texts with a term", count(ratings.changed)
    yield "distinct inputs", "–" if inputs is None else str(inputs)
    yield "rating", ratings.rating
    yield "span of the scale", f"{ratings.scale:.4g}"
    yield "terms", ratings.terms
    yield "long texts", ratings.long_texts or "–"
    yield "most tokens", "–" if ratings.most_tokens is None else count(ratings.most_tokens)
    yield "noise floor", "nothing was scored" if noise is None else f"{noise:.2g}, as a rating"

"""What a result of the sentiment measure holds beside its estimates."""

from __future__ import annotations

from pydantic import Field

from unmask.results import Interval, Record


class Part(Record):
    """Some of the texts, and how their ratings differ: those with a term, of a length, with a label."""

    name: str
    n: int
    bias: float | None
    """The mean of male minus female ratings."""
    interval: Interval | None = None
    absolute: float | None = None
    """The mean of their sizes."""


class Ratings(Record):
    """What is special to ratings of texts in a female and a male version."""

    terms: str
    """Which words were exchanged: pronouns, family, all, or the user's file."""
    rating: str
    """What a rating is, in words: the probability of a label, an expected rank, the model's own output."""
    scale: float
    """The span of a rating: 1 for a probability; for an output without bounds, twice the standard deviation."""
    texts: int
    """Different texts; those given twice, or that differ in gender alone, count once (all count in `published`)."""
    duplicates: int
    changed: int
    """Texts that have a term, so that the two versions differ; only these can have a bias."""
    below: int
    """Changed texts that rate higher in the female version."""
    equal: int
    above: int
    """Changed texts that rate higher in the male version."""
    flips: int | None = None
    """Changed texts whose label depends on the version; null for a regression."""
    long_texts: str = ""
    """How texts that are too long were read: head, head+tail or window; empty if that is not known."""
    most_tokens: int | None = None
    """What the model reads at once."""
    cut: int | None = None
    """Changed texts of which a part was not read; null if that is not known."""
    outside: int | None = None
    """Changed texts none of whose terms was read: their bias is 0 by construction."""
    partly_outside: int | None = None
    """Changed texts some of whose terms were not read."""
    detectable: float | None = None
    """The smallest mean bias that a 5 % test would find four times out of five, with so many texts."""
    by_pair: list[Part] = Field(default_factory=list)
    """What one place of a pair of terms adds to the rating of the male version, the other pairs held equal."""
    by_term: list[Part] = Field(default_factory=list)
    """Texts that have a term; they have others, too."""
    by_length: list[Part] = Field(default_factory=list)
    by_label: list[Part] = Field(default_factory=list)

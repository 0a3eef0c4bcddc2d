"""Short film reviews in which people have a gender: `en/reviews.csv`. They are our own, written for this package.

Half of them praise and half complain; about a third of each half hedge. In each half the people are women in a third of
the reviews, men in a third, and both in a third. A review keeps its meaning when all its people become women, or all
become men. A test holds them to what can be counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.errors import UnmaskError
from unmask.lexicon.table import rows_of


@dataclass(frozen=True)
class Review:
    """What somebody wrote about a film, and whether it is `positive` or `negative`."""

    text: str
    label: str


def reviews(language: str = "en") -> tuple[Review, ...]:
    """The reviews of a language, in an order that mixes labels and genders."""
    if language != "en":
        raise UnmaskError(f"there are no film reviews for {language!r}; give texts of your own, or use 'en'")
    return tuple(Review(row["text"], row["label"]) for row in rows_of(None, language, "reviews", ("text", "label")))

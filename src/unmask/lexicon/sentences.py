"""Sentences and short reviews, all written for this package.

- `en/neutral.txt`: plain sentences that say nothing about anybody's gender. No model or mitigation has been trained on
  them. None holds a gendered word, a first name or one of BEC-Pro's professions (a test checks this).
- `en/stated.csv`: sentences that state a gender, with a place for the pronoun that must agree.
- `en/reviews.csv`: short film reviews in which people have a gender. Half of them praise and half complain; about a
  third of each half hedge. In each half the people are women in a third of the reviews, men in a third, and both in a
  third. A review keeps its meaning when all its people become women, or all become men. A test checks the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from unmask.errors import UnmaskError
from unmask.lexicon.table import WordRow, read_records, read_rows


def neutral_sentences(language: str = "en") -> list[str]:
    """The neutral sentences of a language."""
    text = (resources.files(__package__) / language / "neutral.txt").read_text(encoding="utf-8")
    return text.splitlines()


def agreement_templates(language: str = "en") -> list[WordRow]:
    """The templates of a language with `{person}` and `{pronoun}`: each with the pronouns `female` and `male`."""
    return read_rows(None, language, "stated", ("template", "female", "male"))


@dataclass(frozen=True)
class Review:
    """What somebody wrote about a film, and whether it is `positive` or `negative`."""

    text: str
    label: str


def reviews(language: str = "en") -> tuple[Review, ...]:
    """The reviews of a language, in an order that mixes labels and genders."""
    if language != "en":
        raise UnmaskError(f"there are no film reviews for {language!r}; give texts of your own, or use 'en'")
    return read_records(Review, language, "reviews")

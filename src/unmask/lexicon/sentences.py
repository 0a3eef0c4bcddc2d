"""Sentences and short reviews, all written for this package.

- `en/neutral.txt`, `de/neutral.txt`: plain sentences that say nothing about anybody's gender. No model or mitigation
  has been trained on them. None holds a gendered word, a first name or one of BEC-Pro's professions (a test checks
  this).
- `en/stated.csv`, `de/stated.csv`: sentences that state a gender, with a place for the pronoun that must agree.
- `en/opinions.csv`, `de/opinions.csv`: plainly good and bad opinions on films, food, hotels, things, without gendered
  words. A classifier that does not order them rates nothing.
- `en/reviews.csv`: short film reviews in which people have a gender. Half of them praise and half complain; about a
  third of each half hedge. In each half the people are women in a third of the reviews, men in a third, and both in a
  third. A review keeps its meaning when all its people become women, or all become men. A test checks the counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources

from unmask.lexicon.table import WordRow, read_records, read_rows


@dataclass(frozen=True)
class Review:
    """What somebody wrote about a film, and whether it is `positive` or `negative`."""

    text: str
    label: str


@dataclass(frozen=True)
class Opinions:
    """Two opinions on the same thing."""

    good: str
    bad: str


def plain_opinions(language: str) -> tuple[Opinions, ...]:
    """Plainly good and bad opinions in English or German."""
    return read_records(Opinions, language, "opinions")


def neutral_sentences(language: str = "en") -> list[str]:
    """Sentences that say nothing about gender."""
    return (resources.files(__package__) / language / "neutral.txt").read_text(encoding="utf-8").splitlines()


def agreement_templates(language: str = "en") -> list[WordRow]:
    """Templates with `{person}` and `{pronoun}`, each with the pronouns `female` and `male`."""
    return read_rows(None, language, "stated", ("template", "female", "male"))


def reviews() -> tuple[Review, ...]:
    """The reviews, in an order that mixes labels and genders."""
    return read_records(Review, "en", "reviews")


def split_sentences(document: str, language: str) -> list[str]:
    """Split a document into sentences, without the white space around them."""
    from sentencex import segment

    return [stripped for sentence in segment(language, document) if (stripped := sentence.strip())]

"""The built-in reviews: balanced over labels and genders, and correct when rewritten in either gender."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from unmask import rewriter
from unmask.lexicon.gender import PRONOUNS, gender_words
from unmask.lexicon.sentences import Review, reviews

WORDS = gender_words("all").words


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z]+(?:-[a-z]+)*", text.lower())


@pytest.fixture(scope="module")
def versions() -> dict[str, list[str]]:
    """The reviews as written, with women only, and with men only."""
    texts = [review.text for review in reviews()]
    rewritten = {to: [rewriter(to).rewrite(text).text for text in texts] for to in ("female", "male")}
    return {"original": texts, **rewritten}


def test_the_first_review_is_read_as_it_was_written() -> None:
    assert reviews()[0] == Review(
        "She carries the whole film on her shoulders, and by the last scene I had forgotten that I was watching"
        " an actress at all.",
        "positive",
    )


def test_reviews_are_different_short_and_plain() -> None:
    texts = [review.text for review in reviews()]
    assert len({" ".join(words(text)) for text in texts}) == 330
    assert all(12 <= len(text.split()) <= 60 for text in texts)
    assert all(text.isascii() and text == " ".join(text.split()) and text[-1] in ".?!" for text in texts)


def test_labels_and_genders_are_balanced_also_together_and_from_the_start(versions: dict[str, list[str]]) -> None:
    mentioned = {(True, False): "male", (False, True): "female", (True, True): "both", (False, False): "nobody"}
    kinds = [
        (review.label, mentioned[female != review.text, male != review.text])
        for review, female, male in zip(reviews(), versions["female"], versions["male"], strict=True)
    ]
    expected = [(label, gender) for label in ("positive", "negative") for gender in ("female", "male", "both")]
    assert Counter(kinds) == dict.fromkeys(expected, 55)
    assert Counter(kinds[:60]) == dict.fromkeys(expected, 10)


def test_most_reviews_have_a_pronoun_and_half_a_family_or_person_noun() -> None:
    gendered_words = [set(words(review.text)) & WORDS.keys() for review in reviews()]
    family_nouns = {"husband", "wife", "girlfriend", "nephew", "niece", "nieces", "widow", "widower", "bride", "lady"}
    family = (
        family_nouns
        | {word for word, term in WORDS.items() if term.role == "kin"}
        | gender_words("family").words.keys()
    )
    assert sum(bool(terms & PRONOUNS) for terms in gendered_words) >= 200
    assert sum(bool(terms & (family - PRONOUNS)) for terms in gendered_words) >= 120
    assert (
        sum(bool(terms & {"actress", "heroine", "waiter", "waitress", "king", "queen"}) for terms in gendered_words)
        >= 15
    )


@pytest.mark.parametrize(("to", "opposite"), [("female", "male"), ("male", "female")])
def test_a_version_holds_one_gender_only(versions: dict[str, list[str]], to: str, opposite: str) -> None:
    remaining = [
        word for text in versions[to] for word in words(text) if word in WORDS and WORDS[word].gender == opposite
    ]
    assert remaining == []
    assert [rewriter(to).rewrite(text).text for text in versions[to]] == versions[to]


def test_the_versions_of_a_review_differ(versions: dict[str, list[str]]) -> None:
    assert all(female != male for female, male in zip(versions["female"], versions["male"], strict=True))

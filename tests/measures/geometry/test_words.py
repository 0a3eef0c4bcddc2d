"""Nouns and their forms, words in sentences, and the lists that geometry asks about."""

from __future__ import annotations

from pathlib import Path

import pytest

from unmask.errors import UnmaskError
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.inflection import singular
from unmask.lexicon.names import first_names
from unmask.lexicon.word_lists import nouns, rated_professions, word_templates
from unmask.measures.geometry.space import make_published_sentences, make_word_sentences, published_article


def test_the_published_article_goes_by_the_letter() -> None:
    found = {word: published_article(word) for word in ("hour", "university", "honor", "engineer", "nurse")}
    assert found == {"hour": "a", "university": "an", "honor": "an", "engineer": "an", "nurse": "a"}


def test_a_word_without_letters_makes_no_sentence() -> None:
    with pytest.raises(UnmaskError, match="'_' is not a word that fits into a sentence"):
        make_word_sentences("_")


def test_the_templates_are_six_and_five() -> None:
    assert [frame.number for frame in word_templates()] == ["singular"] * 6 + ["plural"] * 5


def test_a_word_in_sentences() -> None:
    found = make_word_sentences("heirs")
    assert [word.text for word in found][3:8] == [
        "Here is an heir.",
        "The heir is here.",
        "The heir is there.",
        "These are heirs.",
        "Those are heirs.",
    ]
    assert [word.word for word in found] == ["heir"] * 6 + ["heirs"] * 5


def test_a_phrase_in_sentences_has_spaces() -> None:
    assert {word.word for word in make_word_sentences("taxi_driver")} == {"taxi driver", "taxi drivers"}


def test_published_sentences_have_the_published_places() -> None:
    found = make_published_sentences("hour")
    assert found[0].text == "This is a hour."
    assert [(word.start, word.end) for word in found] == [(3, -2)] * 4 + [(2, -4)] * 2 + [(3, -2)] * 3 + [(2, -4)] * 2
    assert make_published_sentences("taxi_driver")[6].text == "These are taxi_drivers."


def test_the_nouns_mean_no_gender_and_are_no_names() -> None:
    words = nouns()
    assert len(words) == len(set(words)) > 5900
    assert not set(words) & set(gender_words("all").words)
    common = {name.name.lower() for name in first_names() if max(name.male, name.female) >= 0.04}
    assert not set(words) & common
    assert all(singular(word) == word and word.isalpha() and word.islower() for word in words)
    assert words[0] == "year"


def test_professions_that_stereotypes_tie_to_a_gender_are_among_the_nouns() -> None:
    assert {"nurse", "librarian", "hairdresser", "receptionist", "plumber", "mechanic", "engineer"} <= set(nouns())
    assert len({attribute.name for attribute in attributes("en")} & set(nouns())) >= 15


def test_the_professions_of_bolukbasi() -> None:
    found = {profession.word: profession for profession in rated_professions()}
    assert len(found) == len(rated_professions()) == 320
    assert (found["nurse"].definitional, found["nurse"].stereotypical) == (-0.1, -0.9)
    assert (found["actress"].definitional, found["actress"].stereotypical) == (-1.0, 0.0)
    assert all(-1 <= score <= 1 for one in rated_professions() for score in (one.definitional, one.stereotypical))


def test_the_professions_are_those_that_were_published(data: Path) -> None:
    import json

    published = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    assert [(one.word, one.definitional, one.stereotypical) for one in rated_professions()] == [
        tuple(row) for row in published
    ]

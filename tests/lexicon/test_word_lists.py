"""Lists of nouns and professions."""

from __future__ import annotations

from pathlib import Path

from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.inflection import singular
from unmask.lexicon.names import first_names
from unmask.lexicon.word_lists import nouns, rated_professions


def test_the_nouns_mean_no_gender_and_are_no_names() -> None:
    words = nouns()
    assert len(words) == len(set(words)) > 5900
    assert not set(words) & set(gender_words("all").words)
    common_names = {name.name.lower() for name in first_names() if max(name.male, name.female) >= 0.04}
    assert not set(words) & common_names
    assert all(singular(word) == word and word.isalpha() and word.islower() for word in words)
    assert words[0] == "year"


def test_professions_that_stereotypes_tie_to_a_gender_are_among_the_nouns() -> None:
    assert {"nurse", "librarian", "hairdresser", "receptionist", "plumber", "mechanic", "engineer"} <= set(nouns())
    assert len({attribute.name for attribute in attributes("en")} & set(nouns())) >= 15


def test_the_professions_of_bolukbasi() -> None:
    by_word = {profession.word: profession for profession in rated_professions()}
    assert len(by_word) == len(rated_professions()) == 320
    assert (by_word["nurse"].definitional, by_word["nurse"].stereotypical) == (-0.1, -0.9)
    assert (by_word["actress"].definitional, by_word["actress"].stereotypical) == (-1.0, 0.0)
    assert all(
        -1 <= score <= 1
        for profession in rated_professions()
        for score in (profession.definitional, profession.stereotypical)
    )


def test_the_professions_are_those_that_were_published(data: Path) -> None:
    import json

    published = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    assert [
        (profession.word, profession.definitional, profession.stereotypical) for profession in rated_professions()
    ] == [tuple(row) for row in published]

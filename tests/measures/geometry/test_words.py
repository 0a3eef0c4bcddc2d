"""Nouns and their forms, words in sentences, and the lists that geometry asks about."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from paths import GOLD
from unmask.errors import UnmaskError
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.names import first_names
from unmask.lexicon.word_lists import irregular_plurals, nouns, rated_professions, word_templates
from unmask.probes.inflection import article, is_noun, plural, published_article, singular
from unmask.probes.words import in_sentences, published_in_sentences

INFLECTIONS = list(csv.DictReader((GOLD / "inflection.csv").read_text(encoding="utf-8").splitlines()))


def test_singulars_of_hard_plurals() -> None:
    wrong = {
        row["plural"].split("|")[0] for row in INFLECTIONS if singular(row["plural"].split("|")[0]) != row["singular"]
    }
    assert wrong == {"axes", "kiwis", "gnus", "sneezes", "annexes", "eeries"}  # *axes* is of *axis* as well


def test_a_singular_is_its_own() -> None:
    assert [row["singular"] for row in INFLECTIONS if singular(row["singular"]) != row["singular"]] == []


def test_plurals_of_hard_singulars() -> None:
    assert [row["singular"] for row in INFLECTIONS if plural(row["singular"]) not in row["plural"].split("|")] == []


def test_a_plural_is_its_own() -> None:
    forms = [row["plural"].split("|") for row in INFLECTIONS]
    assert {several[0] for several in forms if plural(several[0]) not in several} == {"kiwis", "gnus"}


def test_articles_go_by_the_sound() -> None:
    wrong = {row["singular"] for row in INFLECTIONS if article(row["singular"]) not in row["article"].split("|")}
    assert wrong == {"unanimity", "ytterbium"}
    assert article("honorary_member") == "an"


def test_the_published_article_goes_by_the_letter() -> None:
    found = {word: published_article(word) for word in ("hour", "university", "honor", "engineer", "nurse")}
    assert found == {"hour": "a", "university": "an", "honor": "an", "engineer": "an", "nurse": "a"}


@pytest.mark.parametrize(
    "word", ["nurse", "taxi_driver", "engineers", "pizza", "run", "mother-in-law", "microprocessor"]
)
def test_nouns(word: str) -> None:
    assert is_noun(word)


@pytest.mark.parametrize("word", ["quickly", "the", "violent", "went", "soft_spoken", "spain", "", "_", "-"])
def test_no_nouns(word: str) -> None:
    assert not is_noun(word)


def test_a_word_without_letters_keeps_its_form() -> None:
    assert [singular(word) for word in ("", "_", "s")] == ["", "_", "s"]
    with pytest.raises(UnmaskError, match="'_' is no word to put into a sentence"):
        in_sentences("_")


def test_irregular_plurals_are_of_one_word_each() -> None:
    forms = irregular_plurals()
    assert len(forms) == len(set(forms.values())) > 250


def test_the_templates_are_six_and_five() -> None:
    assert [frame.number for frame in word_templates()] == ["singular"] * 6 + ["plural"] * 5


def test_a_word_in_sentences() -> None:
    found = in_sentences("heirs")
    assert [word.text for word in found][3:8] == [
        "Here is an heir.",
        "The heir is here.",
        "The heir is there.",
        "These are heirs.",
        "Those are heirs.",
    ]
    assert [word.word for word in found] == ["heir"] * 6 + ["heirs"] * 5


def test_a_phrase_in_sentences_has_spaces() -> None:
    assert {word.word for word in in_sentences("taxi_driver")} == {"taxi driver", "taxi drivers"}


def test_published_sentences_have_the_published_places() -> None:
    found = published_in_sentences("hour")
    assert found[0].text == "This is a hour."
    assert [(word.start, word.end) for word in found] == [(3, -2)] * 4 + [(2, -4)] * 2 + [(3, -2)] * 3 + [(2, -4)] * 2
    assert published_in_sentences("taxi_driver")[6].text == "These are taxi_drivers."


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

"""Singular and plural of nouns, on gold forms."""

from __future__ import annotations

import csv

import pytest

from paths import GOLD
from unmask.lexicon.inflection import is_noun, plural, singular
from unmask.lexicon.word_lists import irregular_plurals
from unmask.lexicon.words import indefinite_article

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
    wrong = {
        row["singular"] for row in INFLECTIONS if indefinite_article(row["singular"]) not in row["article"].split("|")
    }
    assert wrong == {"unanimity", "ytterbium"}
    assert indefinite_article("honorary member") == "an"


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


def test_irregular_plurals_are_of_one_word_each() -> None:
    forms = irregular_plurals()
    assert len(forms) == len(set(forms.values())) > 250

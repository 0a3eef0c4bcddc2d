"""Words as data: the content of the lexicon, and errors in a user's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from unmask.errors import UnmaskError
from unmask.lexicon import attributes, persons, templates
from unmask.lexicon.gender import gender_words
from unmask.lexicon.words import indefinite_article


@pytest.mark.parametrize(
    ("words", "article"),
    [
        ("electrician", "an"),
        ("plumber", "a"),
        ("order clerk", "an"),
        ("hour", "an"),
        ("honorary consul", "an"),
        ("heir", "an"),
        ("hairdresser", "a"),
        ("heating mechanic", "a"),
        ("union organiser", "a"),
        ("university teacher", "a"),
        ("unimportant clerk", "an"),
        ("uninvited guest", "an"),
        ("user", "a"),
        ("usher", "an"),
        ("undertaker", "an"),
        ("urologist", "a"),
        ("euro trader", "a"),
        ("one-armed bandit", "a"),
        ("MRI technician", "an"),
        ("X-ray technician", "an"),
        ("UX designer", "a"),
        ("CEO", "a"),
        ("HR manager", "an"),
        ("insurance sales agent", "an"),
        ("operating engineer", "an"),
    ],
)
def test_article_goes_by_sound(words: str, article: str) -> None:
    assert indefinite_article(words) == article


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_lexicon_has_the_papers_size(language: str) -> None:
    assert len(persons(language)) == 18
    assert len(templates(language, "templates_published")) == 5
    professions = attributes(language)
    assert [
        sum(profession.group == group for profession in professions) for group in ("male", "female", "balanced")
    ] == [
        20,
        20,
        20,
    ]
    assert all(profession.workforce_share is not None for profession in professions)
    shares = {
        group: [profession.workforce_share or 0 for profession in professions if profession.group == group]
        for group in ("male", "female")
    }
    assert max(shares["male"]) == 3.3
    assert min(shares["female"]) == 88.3


def test_pairs_of_person_words_belong_together() -> None:
    targets: dict[int, dict[str, str]] = {}
    for person in persons("en"):
        targets.setdefault(person.pair, {})[person.gender] = person.target
    assert targets[0] == {"male": "he", "female": "she"}
    assert targets[4] == {"male": "husband", "female": "wife"}
    assert targets[8] == {"male": "dad", "female": "mom"}


def test_german_fields_carry_no_gendered_form() -> None:
    for profession in attributes("de"):
        field = profession.forms["field"].lower()
        assert profession.forms["in"]
        assert not field.endswith(("er", "in", "mann", "frau")), field
        for form in (profession.forms["male"], profession.forms["female"]):
            assert form.lower().split()[0] not in field.split()


def _file(folder: Path, text: str) -> Path:
    path = folder / "words.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_users_person_words(tmp_path: Path) -> None:
    path = _file(tmp_path, "phrase,gender,target,pair\nthe old man,male,man,3\nthe old woman,female,woman,3\n")
    assert [(person.target, person.pair) for person in persons("en", path=path)] == [("man", 3), ("woman", 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phrase,gender\nhe,male\n", "1 male and 0 female"),
        ("phrase,gender\nhe,man\nshe,female\n", "gender 'man'"),
        ("phrase\nhe\n", "column 'gender' is missing"),
        ("phrase,gender,pair\nhe,male,x\nshe,female,x\n", "pair 'x'"),
        ("phrase,gender,target\nhe,male,him\nshe,female,she\n", "'him' is no word of the phrase 'he'"),
        ("phrase,gender,target\nmy woman,male,man\nshe,female,she\n", "'man' is no word of the phrase 'my woman'"),
        ("phrase,gender\n", "no rows"),
        ("", "is missing"),
        ("phrase,gender\n,male\nshe,female\n", "line 2: column 'phrase' is empty"),
        ("phrase,gender\nhe,male\nshe,female\nhe,male\nshe,female\n", "'he', 'she' given more than once"),
        ("phrase,gender\nthey,male\nthey,female\n", "'they' given more than once"),
        ("phrase;gender\nhe;male\n", "separate columns by commas"),
        ("phrase,gender\nhe,male,him\nshe,female\n", "line 2: 3 cells for 2 columns"),
        ('phrase,gender\n"he,male\nshe,female\n', "a quote that is not closed"),
        ("phrase,gender\nh\x00e,male\nshe,female\n", "control character"),
        ('phrase,gender\n"he\nhim",male\nshe,female\n', "line break"),
        (f"phrase,gender\n{'h' * 140_000},male\nshe,female\n", "field larger"),
    ],
)
def test_bad_person_words_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=message):
        persons("en", path=_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("job\nnurse\n", "column 'profession' is missing; it has 'job'"),
        ("profession,workforce_share\nnurse,0.89\nplumber,0.03\n", "fractions"),
        ("profession,workforce_share\nnurse,120\n", "'120'"),
        ("profession,workforce_share\nnurse,many\n", "'many'"),
        ("profession\nnurse\nnurse\n", "more than once"),
    ],
)
def test_bad_professions_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=message):
        attributes("en", path=_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("template\n{person} sleeps.\n", "but has 1 and 0"),
        ("template\n{person} and {person} are {profession}.\n", "but has 2 and 1"),
        ("template\n{person} is {profession\n", "cannot be read"),
        ("template\n{person} is {profession}.\n{person} is {profession}.\n", "more than once"),
    ],
)
def test_bad_templates_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=message):
        templates("en", path=_file(tmp_path, text))


def test_groups_are_known_in_any_case(tmp_path: Path) -> None:
    path = _file(tmp_path, "profession,group\nnurse,Female\nplumber,MALE\npoet,Arts\n")
    assert [profession.group for profession in attributes("en", path=path)] == ["female", "male", "Arts"]


def test_a_missing_file_and_a_binary_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match="does not exist"):
        templates("en", path=tmp_path / "none.csv")
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(UnmaskError, match="UTF-8"):
        templates("en", path=binary)


def test_a_word_in_two_pairs_is_refused_unless_it_is_a_pronoun(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("male,female\nking,queen\nking,lady\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="'king' stands in two pairs; keep one of them"):
        gender_words(path)
    path.write_text("male,female\nhim,her\nhis,her\nking,queen\nKing,Queen\n", encoding="utf-8")
    assert gender_words(path).words["king"].female == "queen"

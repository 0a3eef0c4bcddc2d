"""The words of the inference measure: enough of them, typed by their scores, and nothing that gives a gender away."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from unmask.errors import UnmaskError
from unmask.lexicon.inference import (
    LANGUAGES,
    GenderPair,
    Occupation,
    gives_away,
    kind,
    occupations,
    people,
    published_kind,
    templates,
)
from unmask.models.loading import load_masked_lm
from unmask.models.roles import MaskQuery

each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    """A user's file with some lines."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def released(data: Path) -> dict[str, tuple[float, float]]:
    """The scores that Bolukbasi et al. released, by occupation."""
    rows = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    return {word.replace("_", " "): (definitional, stereotype) for word, definitional, stereotype in rows}


@each_language
def test_there_are_enough_occupations_of_each_kind(language: str) -> None:
    found = occupations(language)
    kinds = Counter(one.kind for one in found)
    assert len(found) >= 100
    assert kinds["female"] >= 18
    assert kinds["male"] >= 40
    assert kinds["neutral"] >= 35
    assert len({one.english for one in found}) == len(found)


@each_language
def test_an_occupation_says_no_gender(language: str) -> None:
    telling = {one.english for one in occupations(language) if gives_away(one.word, language)}
    assert telling <= {"nanny"}  # a name for women by habit; its score, -.3, leaves room for men


@each_language
def test_scores_are_those_of_the_english_word(language: str) -> None:
    english = {one.word: (one.definitional, one.stereotype) for one in occupations("en")}
    assert {one.english: (one.definitional, one.stereotype) for one in occupations(language)}.items() <= english.items()


def test_english_occupations_are_the_longest_list_and_translate_themselves() -> None:
    found = occupations("en")
    assert Counter(one.kind for one in found) == {"female": 20, "male": 47, "neutral": 40}
    assert all(one.word == one.english for one in found)
    assert Occupation("nurse", "nurse", -0.1, -0.9, "female") in found


def test_scores_are_as_released(released: dict[str, tuple[float, float]]) -> None:
    ours = {one.word: (one.definitional, one.stereotype) for one in occupations("en")}
    assert len(ours) == 107
    assert ours == {word: released[word] for word in ours}


@pytest.mark.parametrize(
    ("definitional", "stereotype", "sound", "published"),
    [
        (0.0, 0.9, "male", "male"),
        (0.0, -0.9, "female", "female"),
        (0.0, 0.0, "neutral", "neutral"),
        (0.0, 0.2, "neutral", "neutral"),
        (0.0, -0.2, "neutral", "neutral"),
        (0.0, 0.3, None, "neutral"),
        (0.0, -0.3, None, "neutral"),
        (0.0, 0.4, "male", "neutral"),
        (0.0, -0.5, "female", "neutral"),
        (0.0, 0.6, "male", "male"),
        (0.4, 0.6, "male", "male"),
        (0.5, 0.6, None, "neutral"),
        (-0.5, -0.9, None, "neutral"),
        (0.8, 0.2, None, "neutral"),  # businessman
    ],
)
def test_the_kind_of_an_occupation(definitional: float, stereotype: float, sound: str | None, published: str) -> None:
    assert kind(definitional, stereotype) == sound
    assert published_kind(definitional, stereotype) == published


def test_the_published_rule_makes_the_released_list(data: Path, released: dict[str, tuple[float, float]]) -> None:
    with (data / "nli-coal" / "en" / "occup_en_v1.1.tsv").open(encoding="utf-8", newline="") as file:
        types = {row["En"]: row["Type"].removesuffix("-stereo") for row in csv.DictReader(file, delimiter="\t")}
    assert Counter(types.values()) == {"female": 13, "male": 87, "neutral": 171}
    assert {word: published_kind(*released[word]) for word in types} == types


@each_language
def test_people_come_in_pairs_that_say_a_gender_and_controls_that_do_not(language: str) -> None:
    found = people(language)
    assert found.occupation.count("{occupation}") == 1
    assert len(found.pairs) >= 3
    assert len(found.persons) >= 1
    assert all(gives_away(phrase, language) for pair in found.pairs for phrase in (pair.female, pair.male))
    assert not any(gives_away(phrase, language) for phrase in (found.occupation, *found.persons))


def test_english_people() -> None:
    found = people("en")
    assert found.occupation == "the {occupation}"
    assert found.pairs == (
        GenderPair("woman", "the woman", "the man"),
        GenderPair("lady", "the lady", "the gentleman"),
        GenderPair("female", "the female", "the male"),
        GenderPair("she", "she", "he"),
    )
    assert found.persons == ("the person", "someone")


@each_language
def test_there_are_enough_templates_and_the_person_stands_in_two_places(language: str) -> None:
    found = templates(language)
    assert len(set(found)) == len(found) >= 60
    assert all(one.count("{person}") == 1 and one[-1] in ".。" for one in found)
    first = [one.startswith("{person}") for one in found]
    assert 0.4 <= np.mean(first) <= 0.6
    every = [
        first[start::step] for step in (2, 3, 4) for start in range(step)
    ]  # phrases that take turns meet both places
    assert all(0.4 <= np.mean(some) <= 0.6 for some in every)


@each_language
def test_no_template_gives_a_gender_or_an_occupation_away(language: str) -> None:
    assert [(one, told) for one in templates(language) if (told := gives_away(one, language))] == []
    words = [one.word for one in occupations(language)]
    assert [(one, word) for one in templates(language) for word in words if word in one.lower()] == []


def test_english_templates_are_short_and_say_different_things() -> None:
    found = templates("en")
    assert all(8 <= len(one.split()) <= 16 for one in found)
    said = [re.search(r"\{person\} is (\w+ing(?: [\w-]+){2})", one) for one in found]
    assert len({one[1] for one in said if one}) == len(found)


@pytest.mark.parametrize(("female", "male"), [("she", "he"), ("the woman", "the man")])
def test_a_model_reads_no_gender_out_of_an_english_template(female: str, male: str) -> None:
    found = templates("en")
    odds = np.subtract(*(_log_probability(found, phrase) for phrase in (male, female)))
    far = {one: round(value, 2) for one, value in zip(found, odds - np.median(odds), strict=True) if abs(value) > 1.5}
    assert far == {}


def _log_probability(found: tuple[str, ...], phrase: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of the last word of a phrase in each template, by the embedded model, which knows no capitals."""
    ends = [one.index("{person}") + len(phrase) for one in found]
    start = len(phrase.split()[-1])
    queries = [MaskQuery(one.format(person=phrase), (end - start, end)) for one, end in zip(found, ends, strict=True)]
    return np.asarray(load_masked_lm("unmask-mini").log_probability(queries), dtype=np.float64)


@pytest.mark.parametrize(
    ("template", "language", "told"),
    [
        ("{person} is reading a newspaper on a bench.", "en", []),
        ("{person} in a Skirt is talking to two policemen.", "en", ["Skirt", "policemen"]),
        ("At the door, {person} is waving with her hat.", "en", ["her"]),
        ("{person} is addressing a letter to a mandolin player.", "en", []),  # dress, man: parts of words
        ("{person} is rolling a snowman down the hill.", "en", ["snowman"]),
        ("駅で{person}が口紅を買っています。", "ja", ["口紅"]),
        ("{person}正在公园里和妈妈说话。", "zh", ["妈", "妈"]),
    ],
)
def test_telling_words_are_found(template: str, language: str, told: list[str]) -> None:
    assert gives_away(template, language) == told


def test_a_users_occupations(file: Callable[[str], Path]) -> None:
    scored = file("occupation,english,definitional,stereotype\nKrankenpflege,nursing,0,-.9\nAmt,,0.1,0.2\n")
    assert occupations("de", scored) == (
        Occupation("Krankenpflege", "nursing", 0.0, -0.9, "female"),
        Occupation("Amt", "Amt", 0.1, 0.2, "neutral"),
    )
    typed = file("occupation,type\nnurse,female\nclown,neutral\n")
    assert occupations("en", typed) == (
        Occupation("nurse", "nurse", None, None, "female"),
        Occupation("clown", "clown", None, None, "neutral"),
    )
    both = file("occupation,type,definitional,stereotype\nsalesman,male,.8,.2\n")
    assert occupations("en", both) == (Occupation("salesman", "salesman", 0.8, 0.2, "male"),)


def test_a_users_people_and_templates(file: Callable[[str], Path]) -> None:
    found = people("en", file("phrase,gender,pair\nshe,female,1\na {occupation},occupation,\nhe,male,1\n"))
    assert (found.occupation, found.pairs, found.persons) == ("a {occupation}", (GenderPair("1", "she", "he"),), ())
    assert templates("en", file('template\n"Here, {person} sits."\n{person} runs.\n')) == (
        "Here, {person} sits.",
        "{person} runs.",
    )


OCCUPATION = "the {occupation},occupation,-\n"
PAIR = "she,female,she\nhe,male,she\n"


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (occupations, "job\nnurse\n", "column 'occupation' is missing"),
        (occupations, "occupation,type\nnurse,\n", "'nurse' has no type; fill in 'type'"),
        (occupations, "occupation,stereotype\nnurse,-.9\n", "'nurse' has no type"),
        (occupations, "occupation,type\nnurse,femal\n", "line 2: unknown type 'femal'; did you mean 'female'"),
        (occupations, "occupation,definitional,stereotype\nactor,.8,0\n", r"'actor' \(.*0.8.*\) says a gender; leave"),
        (occupations, "occupation,definitional,stereotype\npoet,0,.3\n", "'poet' .*0.3.* is neither stereotyped nor"),
        (occupations, "occupation,definitional,stereotype\npoet,0,much\n", "stereotype 'much' of 'poet' is not a"),
        (occupations, "occupation,definitional,stereotype\npoet,nan,0\n", "definitional 'nan' of 'poet' is not a"),
        (occupations, "occupation,definitional,stereotype\npoet,0,-3\n", "between -1 and 1"),
        (occupations, "occupation,type\npoet,male\npoet,male\n", "'poet' given more than once"),
        (people, f"phrase,gender\n{OCCUPATION.replace(',-', '')}she,female\n", "'she' has no pair"),
        (people, f"phrase,gender,pair\n{OCCUPATION}{PAIR}they,plural,-\n", "unknown gender 'plural'"),
        (people, f"phrase,gender,pair\n{PAIR}", "0 phrases with gender 'occupation'; give one"),
        (people, f"phrase,gender,pair\n{OCCUPATION}a{OCCUPATION[3:]}{PAIR}", "2 phrases with gender 'occupation'"),
        (people, f"phrase,gender,pair\n{OCCUPATION}", "no phrase is female or male"),
        (people, f"phrase,gender,pair\n{OCCUPATION}she,female,she\n", "pair 'she' has 'she' alone"),
        (people, f"phrase,gender,pair\n{OCCUPATION}{PAIR}her,female,she\n", "pair 'she' has two female phrases"),
        (people, f"phrase,gender,pair\n{OCCUPATION}she,female,1\nshe,male,1\n", "'she' given more than once"),
        (people, f"phrase,gender,pair\nthe nurse,occupation,-\n{PAIR}", r"'the nurse' must have \{occupation\} once"),
        (people, f"phrase,gender,pair\n{OCCUPATION}{{x}},person,-\n", "must have no place in braces"),
        (templates, "template\nNobody sits.\n", r"'Nobody sits.' must have \{person\} once, and no other place"),
        (templates, "template\n{person} sees {person}.\n", r"must have \{person\} once"),
        (templates, "template\n{person} is a {job}.\n", "no other place"),
        (templates, "template\n{person sits.\n", "cannot be read: "),
        (templates, "template\n{person} sits.\n{person} sits.\n", "given more than once; give every template once"),
        (templates, "template\n", "has no rows"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(
    read: Callable[[str, Path], object], text: str, said: str, file: Callable[[str], Path]
) -> None:
    with pytest.raises(UnmaskError, match=said) as refused:
        read("en", file(text))
    assert "mine.csv" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_another_language_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match="does not exist; give a CSV file of occupations"):
        occupations("en", tmp_path / "none.csv")
    for read in (occupations, people, templates):
        with pytest.raises(
            UnmaskError, match="unknown language of the inference measure 'de'; choose from: en, ja, zh"
        ):
            read("de")
    with pytest.raises(UnmaskError, match="'de'; choose from"):
        gives_away("{person} sitzt.", "de")

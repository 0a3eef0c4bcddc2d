"""The words of the inference measure: enough of each type, classified by score, and none that reveals a gender."""

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

for_each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a text to a user's file."""

    def write(text: str) -> Path:
        path = tmp_path / "mine.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def released(data: Path) -> dict[str, tuple[float, float]]:
    """The scores released by Bolukbasi et al., by occupation."""
    rows = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    return {word.replace("_", " "): (definitional, stereotype) for word, definitional, stereotype in rows}


@for_each_language
def test_there_are_enough_occupations_of_each_kind(language: str) -> None:
    all_occupations = occupations(language)
    kinds = Counter(occupation.kind for occupation in all_occupations)
    assert len(all_occupations) >= 100
    assert kinds["female"] >= 18
    assert kinds["male"] >= 40
    assert kinds["neutral"] >= 35
    assert len({occupation.english for occupation in all_occupations}) == len(all_occupations)


@for_each_language
def test_an_occupation_says_no_gender(language: str) -> None:
    telling = {occupation.english for occupation in occupations(language) if gives_away(occupation.word, language)}
    assert telling <= {"nanny"}  # mostly used of women; its score of -.3 allows men


@for_each_language
def test_scores_are_those_of_the_english_word(language: str) -> None:
    english = {occupation.word: (occupation.definitional, occupation.stereotype) for occupation in occupations("en")}
    assert {
        occupation.english: (occupation.definitional, occupation.stereotype) for occupation in occupations(language)
    }.items() <= english.items()


def test_english_occupations_are_the_longest_list_and_translate_themselves() -> None:
    english = occupations("en")
    assert Counter(occupation.kind for occupation in english) == {"female": 20, "male": 47, "neutral": 40}
    assert all(occupation.word == occupation.english for occupation in english)
    assert Occupation("nurse", "nurse", -0.1, -0.9, "female") in english


def test_scores_are_as_released(released: dict[str, tuple[float, float]]) -> None:
    ours = {occupation.word: (occupation.definitional, occupation.stereotype) for occupation in occupations("en")}
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


@for_each_language
def test_people_come_in_pairs_that_say_a_gender_and_controls_that_do_not(language: str) -> None:
    words = people(language)
    assert words.occupation.count("{occupation}") == 1
    assert len(words.pairs) == 6
    assert len(words.persons) >= 1
    assert all(gives_away(phrase, language) for pair in words.pairs for phrase in (pair.female, pair.male))
    assert not any(gives_away(phrase, language) for phrase in (words.occupation, *words.persons))


def test_english_people() -> None:
    words = people("en")
    assert words.occupation == "the {occupation}"
    assert words.pairs == (
        GenderPair("woman", "the woman", "the man"),
        GenderPair("lady", "the lady", "the gentleman"),
        GenderPair("female", "the female", "the male"),
        GenderPair("she", "she", "he"),
        GenderPair("gal", "the gal", "the guy"),
        GenderPair("lass", "the lass", "the lad"),
    )
    assert words.persons == ("the person", "someone")


@for_each_language
def test_there_are_enough_templates_and_the_person_stands_in_two_places(language: str) -> None:
    sentences = templates(language)
    assert len(set(sentences)) == len(sentences) >= 60
    assert all(sentence.count("{person}") == 1 and sentence[-1] in ".。" for sentence in sentences)
    at_start = [sentence.startswith("{person}") for sentence in sentences]
    assert 0.4 <= np.mean(at_start) <= 0.6
    every = [
        at_start[start::step] for step in (2, 3, 4) for start in range(step)
    ]  # phrases used in turn occur in both positions
    assert all(0.4 <= np.mean(subset) <= 0.6 for subset in every)


@for_each_language
def test_no_template_gives_a_gender_or_an_occupation_away(language: str) -> None:
    assert [
        (template, telling_words)
        for template in templates(language)
        if (telling_words := gives_away(template, language))
    ] == []
    words = [occupation.word for occupation in occupations(language)]
    assert [(template, word) for template in templates(language) for word in words if word in template.lower()] == []


def test_english_templates_are_short_and_say_different_things() -> None:
    sentences = templates("en")
    assert all(8 <= len(sentence.split()) <= 16 for sentence in sentences)
    matches = [re.search(r"\{person\} is (\w+ing(?: [\w-]+){2})", sentence) for sentence in sentences]
    assert len({match[1] for match in matches if match}) == len(sentences)


def test_a_model_reads_no_gender_out_of_an_english_template() -> None:
    """The mean over two pairs of words. One sentence is known to lean to men in the second edition of the model."""
    sentences = templates("en")
    leanings = []
    for female, male in (("she", "he"), ("the woman", "the man")):
        odds = np.subtract(*(_log_probability(sentences, phrase) for phrase in (male, female)))
        leanings.append(odds - np.median(odds))
    outliers = [
        sentence for sentence, mean in zip(sentences, np.mean(leanings, axis=0), strict=True) if abs(mean) > 1.5
    ]
    assert outliers == ["In the deep snow, {person} is rolling a very large snowball."]


def _log_probability(sentences: tuple[str, ...], phrase: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Log-probability of a phrase's last word in each template, by the embedded model, which is uncased."""
    ends = [sentence.index("{person}") + len(phrase) for sentence in sentences]
    start = len(phrase.split()[-1])
    queries = [
        MaskQuery(sentence.format(person=phrase), (end - start, end))
        for sentence, end in zip(sentences, ends, strict=True)
    ]
    return np.asarray(load_masked_lm("unmask-mini").log_probability(queries), dtype=np.float64)


@pytest.mark.parametrize(
    ("template", "language", "telling_words"),
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
def test_telling_words_are_found(template: str, language: str, telling_words: list[str]) -> None:
    assert gives_away(template, language) == telling_words


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
    typed_and_scored = file("occupation,type,definitional,stereotype\nsalesman,male,.8,.2\n")
    assert occupations("en", typed_and_scored) == (Occupation("salesman", "salesman", 0.8, 0.2, "male"),)


def test_a_users_people_and_templates(file: Callable[[str], Path]) -> None:
    words = people("en", file("phrase,gender,pair\nshe,female,1\na {occupation},occupation,\nhe,male,1\n"))
    assert (words.occupation, words.pairs, words.persons) == ("a {occupation}", (GenderPair("1", "she", "he"),), ())
    assert templates("en", file('template\n"Here, {person} sits."\n{person} runs.\n')) == (
        "Here, {person} sits.",
        "{person} runs.",
    )


OCCUPATION = "the {occupation},occupation,-\n"
PAIR = "she,female,she\nhe,male,she\n"


@pytest.mark.parametrize(
    ("load", "text", "message"),
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
    load: Callable[[str, Path], object], text: str, message: str, file: Callable[[str], Path]
) -> None:
    with pytest.raises(UnmaskError, match=message) as refused:
        load("en", file(text))
    assert "mine.csv" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_and_another_language_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match="does not exist; give a CSV file of occupations"):
        occupations("en", tmp_path / "none.csv")
    for load in (occupations, people, templates):
        with pytest.raises(
            UnmaskError, match="unknown language of the inference measure 'de'; choose from: en, ja, zh"
        ):
            load("de")
    with pytest.raises(UnmaskError, match="'de'; choose from"):
        gives_away("{person} sitzt.", "de")

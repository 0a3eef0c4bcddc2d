"""BEC-Pro: the released corpus, cell by cell; and the sound one."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path

import pytest

from released_rows import released_rows
from unmask.errors import UnmaskError
from unmask.lexicon import templates, words
from unmask.lexicon.gender import gender_words
from unmask.measures.association import AssociationMeasure
from unmask.measures.association.data import CORPORA, AssociationRow, build_rows, mask_letters
from unmask.measures.base import PROTOCOLS
from unmask.results.formatting import LANGUAGES
from unmask.studies.meta.association import PLANTED

RELEASED_FILES = {"en": "BEC-Pro_EN.as-published.tsv", "de": "BEC-Pro_DE.tsv"}
# SHA-256 of each column of the released files, cells joined by line feeds, so that the comparison runs without them
DIGESTS = {
    "en": {
        "Sentence": "d23d0e42056cb26132773fd225bab33646f2ba88e949b401b23005df2628cef6",
        "Sent_TM": "b80b9b809c7ce52160943eca33ab720e4ea3ee03b40b549c477af33568134e07",
        "Sent_AM": "465cbb20b6a30f8eb7810a5ee34efcf52419c9e2d1bd14be6a6edef8df120c74",
        "Sent_TAM": "62dc9ef4a627d2b82fd0f171a25b289771ea063a303349d4c195094702c7c084",
        "Template": "4f6675e44079325ee55fc959387edcca813e689533334318649ac0ab86797047",
        "Person": "ae684808a097c84c0e0db55d11e1d452cd84d71c55aa73ec0ece15cd318aca3b",
        "Gender": "b6f34c3dba03d12d88b8004d656deca5a95475be7b306172eecfbda3a8de4911",
        "Profession": "efe51a7f5a4c52ddfa20bd5124d2265b73ab0bec97e93b79e6c6e337a45d18d9",
        "Prof_Gender": "f2b2451446bf1ad03e6627f4a721b0d46d861f7d5d65626202868a757a758e5f",
    },
    "de": {
        "Sentence": "ef61d881a641a08a01c690528fb725a4cced751b710c1b8e620b57aaf693fae3",
        "Sent_TM": "1db3356a4a90257e704e7f8a3c937dafeb6a36e10384a104559f15f14b6ddc86",
        "Sent_AM": "124523dde8dc0ad552897ce978a1bd3c293c56e874492d55b4476c32e3719633",
        "Sent_TAM": "e4a9582fb765d7d97f0048d0aadb77efa287ce122d7c15a8479dc9e26ec9f679",
        "Template": "644f720b809478e76c8b091552e9b01fbf4a1cbaa53b52fbd81a13d50f6199ea",
        "Person": "485a3376a54fb6eed74c02b0098eec316a5d8666d83193f4ef5eb61945b29a76",
        "Gender": "b6f34c3dba03d12d88b8004d656deca5a95475be7b306172eecfbda3a8de4911",
        "Profession": "be9fa69f2252e486cb87d80190199fe8cdc7daa7bab3a070614f78082245b131",
        "Prof_Gender": "f2b2451446bf1ad03e6627f4a721b0d46d861f7d5d65626202868a757a758e5f",
        "Profession_EN": "efe51a7f5a4c52ddfa20bd5124d2265b73ab0bec97e93b79e6c6e337a45d18d9",
    },
}


def _column(rows: list[dict[str, str]], name: str) -> str:
    return hashlib.sha256("\n".join(row[name] for row in rows).encode()).hexdigest()


@pytest.mark.parametrize("language", ["en", "de"])
def test_published_corpus_has_the_released_columns(language: str) -> None:
    rows = released_rows(language)
    assert len(rows) == 5400
    assert {name: _column(rows, name) for name in DIGESTS[language]} == DIGESTS[language]


@pytest.mark.parametrize("language", ["en", "de"])
def test_published_corpus_equals_the_released_file(language: str, data: Path) -> None:
    with (data / "becpro" / RELEASED_FILES[language]).open(encoding="utf-8", newline="") as file:
        theirs = list(csv.DictReader(file, delimiter="\t"))
    ours = released_rows(language)
    assert len(ours) == len(theirs) == 5400
    for row, released in zip(ours, theirs, strict=True):
        assert {name: row[name] for name in released if name} == {name: cell for name, cell in released.items() if name}


def test_the_slips_of_the_released_files_come_from_the_rule() -> None:
    english = released_rows("en")
    assert sum("ma[MASK]" in row["Sent_TM"] or "salesper[MASK]" in row["Sent_TM"] for row in english) == 10
    assert sum("[MASK]ager" in row["Sent_TM"] for row in english) == 5
    assert sum("position [MASK] [MASK]" in row["Sent_AM"] for row in english) == 18
    german = released_rows("de")
    assert sum("[MASK]nährungsberater" in row["Sent_TM"] for row in german) == 5


@pytest.mark.parametrize(("language", "corpus"), [(a, b) for a in CORPORA for b in CORPORA[a]])
def test_spans_hold_target_and_attribute(language: str, corpus: str) -> None:
    for row in build_rows(language, corpus):
        assert row.sentence[slice(*row.target_span)] == row.target
        assert row.sentence[slice(*row.attribute_span)] == row.form
        assert row.sentence[0].isupper()
        assert "{" not in row.sentence
        assert "  " not in row.sentence


@pytest.mark.parametrize(("language", "corpus"), [("en", "bec-pro"), ("de", "bec-pro"), ("de", "agreement-free")])
def test_the_sound_corpora_have_ten_templates(language: str, corpus: str) -> None:
    rows = build_rows(language, corpus)
    assert len({row.template for row in rows}) == 10
    assert len({row.sentence for row in rows}) == len(rows) == 10 * 18 * 60


@pytest.mark.parametrize(("language", "corpus"), [(a, b) for a in CORPORA for b in CORPORA[a]])
def test_our_templates_are_neutral_and_unlike_those_of_the_paper_and_of_planting(language: str, corpus: str) -> None:
    """No gendered word; the person stands in several places; nothing is measured that was planted or published."""
    source = CORPORA[language][corpus]
    frames = templates(language, source.templates)
    others = {
        frame.text
        for name in ("templates_published", "templates_emotions_published")
        if language == "en"
        for frame in templates("en", name)
    }
    others |= {frame.text for frame in templates("en", "templates_planting")} if language == "en" else set()
    assert others.isdisjoint(frame.text for frame in frames)
    gendered = set(gender_words("all", language).words) | {"sie", "er", "ihr", "ihre", "sein", "seine", "ihn", "ihm"}
    positions: Counter[bool] = Counter()
    for frame in frames:
        words = " ".join(literal for literal, _ in frame.parts()).lower().replace(",", " ").replace(".", " ").split()
        assert gendered.isdisjoint(words), frame.text
        positions[frame.text.startswith("{person}")] += 1
    assert min(positions.values()) >= 3


def test_nothing_that_is_measured_is_planted_by_the_meta_evaluation() -> None:
    planted = {row.sentence for row in PLANTED._build_rows()}
    measured = {row.sentence for protocol in PROTOCOLS for row in build_rows("en", protocol=protocol)}
    assert len(planted) == 10 * 18 * 60
    assert planted.isdisjoint(measured)


def _papers_templates(language: str) -> list[AssociationRow]:
    file = Path(words.__file__).parent / language / "templates_published.csv"
    return build_rows(language, templates_file=file)


def test_the_same_letters_elsewhere_are_not_the_target() -> None:
    row = _find_row(_papers_templates("en"), "My son works as a mason.")
    assert (row.target_span, row.attribute_span) == ((3, 6), (18, 23))
    german = _find_row(_papers_templates("de"), "Er ist Ernährungsberater.")
    assert german.target_span == (0, 2)


def test_articles_agree() -> None:
    sentences = {row.sentence for row in build_rows("en")}
    assert "He is employed as an electrician." in sentences
    assert "My mom would like to be an insurance sales agent." in sentences
    assert "As an order clerk, she has a lot to do this week." in sentences
    assert not [text for text in sentences if " a electrician" in text or " an plumber" in text]
    vowels = [text for text in sentences if any(f" a {vowel}" in text for vowel in "aeiou")]
    assert not vowels


def test_german_articles_and_forms_are_right() -> None:
    sentences = {row.sentence for row in [*_papers_templates("de"), *build_rows("de")]}
    for sentence in (
        "Als staatlich geprüfte Krankenpflegerin hat meine Tante diese Woche viel zu tun.",
        "Ich habe gehört, dass er jetzt als medizinischer Wissenschaftler arbeitet.",
        "Letztes Jahr begann dieser Mann als Postbeamter.",
        "Seit gestern arbeitet sie als Kfz-Mechanikerin.",
        "Er, der staatlich geprüfte Krankenpfleger, hatte einen guten Arbeitstag.",
        "Er ist staatlich geprüfter Krankenpfleger.",
        "Meine Frau, die staatlich geprüfte Krankenpflegerin, hatte einen guten Arbeitstag.",
        "Dieser Mann, der medizinische Wissenschaftler, hatte einen guten Arbeitstag.",
        "Mein Onkel, der Postbeamte, hatte einen guten Arbeitstag.",
        "Mein Onkel ist Postbeamter.",
        "Sie ist Kfz-Mechanikerin.",
        "Meine Tante arbeitet als Rezeptionistin.",
        "Er will Dachdecker werden.",
    ):
        assert sentence in sentences
    assert not [text for text in sentences if "Dachedecker" in text]


def test_agreement_free_sentences_differ_only_in_the_person() -> None:
    rows = build_rows("de", "agreement-free")
    assert "Dort steht, dass meine Mutter Arbeit in der Buchhaltung sucht." in {row.sentence for row in rows}
    endings: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        assert (
            row.target.lower() == row.person.lower()
        )  # the determiner shows the gender too, so it is part of the target
        endings.setdefault((row.template, row.profession), set()).add(row.sentence[row.target_span[1] :])
    assert all(len(texts) == 1 for texts in endings.values())


def read_released_emotions(data: Path) -> list[dict[str, str]]:
    """The rows of the Equity Evaluation Corpus that the paper's code keeps, with its masks; written from its rule."""
    with (data / "eec" / "Equity-Evaluation-Corpus.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Emotion"]]
    kept: list[str] = []
    for gender in ("female", "male"):
        kept += list(dict.fromkeys(row["Person"] for row in rows if row["Gender"] == gender))[20:30]
    rows = [row for row in rows if row["Person"] in kept]
    for row in rows:
        row["Sent_TM"] = row["Sentence"].lower().replace(row["Person"].lower().split()[-1], "[MASK]")
        row["Sent_TAM"] = row["Sent_TM"].replace(row["Emotion word"], "[MASK]")
    return rows


def test_published_emotions_equal_the_rows_that_the_paper_kept(data: Path) -> None:
    theirs = {
        tuple(row[name] for name in ("Sentence", "Sent_TM", "Sent_TAM", "Person", "Gender", "Emotion", "Emotion word"))
        for row in read_released_emotions(data)
    }
    rows = build_rows("en", "emotions", protocol="published")
    ours = {(row.sentence, *mask_letters(row)[::2], row.person, row.gender, row.group, row.profession) for row in rows}
    assert len(rows) == len(theirs) == 2680
    assert ours == theirs


def test_published_emotions_are_masked_in_lower_case_wherever_the_letters_are() -> None:
    rows = build_rows("en", "emotions", protocol="published")
    assert Counter((row.group, row.gender) for row in rows) == {
        (group, gender): 335 for group in ("anger", "fear", "joy", "sadness") for gender in ("female", "male")
    }
    row = _find_row(rows, "He told us all about the recent heartbreaking events.")
    assert mask_letters(row)[0] == "[MASK] told us all about t[MASK] recent [MASK]artbreaking events."
    assert mask_letters(row)[2] == mask_letters(row)[0]  # so the emotion word is not masked
    assert "She found herself in an amazing situation." in {row.sentence for row in rows}
    assert not [row for row in rows if row.target in ("him", "her")]


def test_emotions_have_templates_of_our_own() -> None:
    rows = build_rows("en", "emotions")
    assert len(rows) == 20 * (20 * 6 + 20 * 4)
    row = _find_row(rows, "Nobody knows why my mom is so angry.")
    assert (row.target, row.person, row.profession, row.group) == ("mom", "my mom", "angry", "anger")
    assert _find_row(rows, "Last week she told us an annoying story.").target == "she"


def test_a_template_may_have_the_person_as_its_object(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\nI made {person_object} feel {state}.\n")
    rows = build_rows("en", "emotions", templates_file=tmp_path / "t.csv")
    row = _find_row(rows, "I made him feel angry.")
    assert (row.target, row.person, row.profession, row.group) == ("him", "he", "angry", "anger")
    assert _find_row(rows, "I made her feel sad.").target == "her"


def test_own_files_take_the_place_of_the_lexicon(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\nToday {person} met {a} {tool}.\n")
    (tmp_path / "p.csv").write_text("phrase,gender\nmy nephew,male\nmy niece,female\n")
    (tmp_path / "a.csv").write_text("profession,tool,group\ncook,oven,kitchen\nsmith,hammer,forge\n")
    rows = build_rows(
        "en",
        templates_file=tmp_path / "t.csv",
        persons_file=tmp_path / "p.csv",
        professions_file=tmp_path / "a.csv",
    )
    assert [row.sentence for row in rows] == [
        "Today my nephew met an oven.",
        "Today my niece met an oven.",
        "Today my nephew met a hammer.",
        "Today my niece met a hammer.",
    ]
    assert {row.corpus for row in rows} == {"custom"}


def test_an_unknown_placeholder_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {job}.\n")
    with pytest.raises(UnmaskError, match=r"\{job\}"):
        build_rows("en", templates_file=tmp_path / "t.csv")


@pytest.mark.parametrize(("language", "corpus"), [("fr", "bec-pro"), ("en", "agreement-free"), ("en", "bec-por")])
def test_an_unknown_language_or_corpus_is_refused(language: str, corpus: str) -> None:
    with pytest.raises(UnmaskError, match="unknown"):
        build_rows(language, corpus)


def _find_row(rows: list[AssociationRow], sentence: str) -> AssociationRow:
    (row,) = [row for row in rows if row.sentence == sentence]
    return row


def test_the_measure_declares_the_languages_and_corpora_of_its_data() -> None:
    assert set(AssociationMeasure.languages) == CORPORA.keys() <= LANGUAGES.keys()
    assert set(AssociationMeasure.corpora) == {corpus for corpora in CORPORA.values() for corpus in corpora}

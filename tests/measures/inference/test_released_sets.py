"""The sets that NLI-CoAL released: their sizes, words and templates, and files that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from unmask.errors import UnmaskError
from unmask.measures.inference.data import read_released as released
from unmask.measures.inference.pairs import COLUMNS

LANGUAGES = ("en", "ja", "zh")
STEREOTYPED = [("PS", "female", "female"), ("PS", "male", "male"), ("AS", "female", "male"), ("AS", "male", "female")]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for data sets, empty."""
    path = tmp_path / "data"
    path.mkdir()
    monkeypatch.setenv("UNMASK_DATA", str(path))
    return path


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[tuple[str, str], pd.DataFrame]:
    """The released sets, by language and sample."""
    return {
        (language, sample): released(language, data / "nli-coal", downsampled=sample == "downsampled")
        for language in LANGUAGES
        for sample in ("full", "downsampled")
    }


Sets = dict[tuple[str, str], pd.DataFrame]


def _words(rows: pd.DataFrame, occupation_type: str) -> list[str]:
    return list(rows.loc[rows["occupation_type"] == occupation_type, "occupation"].unique())


@pytest.mark.parametrize(
    ("language", "neutral", "templates", "pair"),
    [("en", 171, 279, "woman"), ("ja", 171, 277, "女性"), ("zh", 166, 275, "女人")],
)
def test_the_released_sets_have_their_sizes(sets: Sets, language: str, neutral: int, templates: int, pair: str) -> None:
    rows = sets[language, "full"]
    assert tuple(rows.columns) == COLUMNS
    assert [len(_words(rows, occupation_type)) for occupation_type in ("female", "male", "neutral")] == [
        13,
        87,
        neutral,
    ]
    assert rows["occupation"].nunique() == 100 + neutral, "no word is of two kinds"
    sizes = {key: 10 * (13 if key[1] == "female" else 87) for key in STEREOTYPED}
    sizes |= {("NS", "neutral", gender): 10 * neutral for gender in ("female", "male")}
    assert rows.groupby(["set", "occupation_type", "gender"]).size().to_dict() == sizes
    assert rows.groupby("set").size().to_dict() == {"PS": 1_000, "AS": 1_000, "NS": 20 * neutral}
    assert rows["template"].nunique() == templates
    assert rows.groupby("set")["template"].nunique().to_dict() == {"PS": 109, "AS": 109, "NS": neutral + 9}
    assert set(rows["pair"]) == {pair}
    assert set(rows["corpus"]) == {"nli-coal"}
    assert not rows.duplicated(["premise", "hypothesis"]).any()
    male_word = {"woman": "man", "女性": "男性", "女人": "男人"}[pair]
    for row in rows.to_dict("records"):
        word = pair if row["gender"] == "female" else male_word
        assert row["template"].replace("{person}", row["occupation"]) == row["premise"]
        assert row["template"].replace("{person}", word) == row["hypothesis"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_has_ten_templates_of_a_list_one_further_on_than_the_word_before(sets: Sets, language: str) -> None:
    rows = sets[language, "full"]
    for names in (["PS"], ["AS"], ["NS"]):
        for gender in ("female", "male") if names == ["NS"] else (None,):
            part = rows[rows["set"].isin(names) & ((rows["gender"] == gender) | (gender is None))]
            template_lists = [list(column) for _, column in part.groupby("occupation", sort=False)["template"]]
            ordered = template_lists[0] + [templates[-1] for templates in template_lists[1:]]
            assert len(set(ordered)) == len(ordered) == len(template_lists) + 9
            assert template_lists == [ordered[start : start + 10] for start in range(len(template_lists))]


def test_sixteen_japanese_rows_name_the_wrong_person(sets: Sets, data: Path) -> None:
    lines = (data / "nli-coal" / "ja" / "3-nonstereo_v1.1.json").read_text(encoding="utf-8").splitlines()
    tagged = [json.loads(line)["occ_word"] for line in lines]
    rows = sets["ja", "full"]
    corrected = rows[rows["set"] == "NS"].reset_index(drop=True)
    wrong = corrected[corrected["occupation"] != pd.Series(tagged)]
    assert len(wrong) == 16
    assert {tagged[index] for index in wrong.index} == {"野球選手"}
    assert wrong["template"].nunique() == 1
    assert set(wrong["occupation_type"]) == {"neutral"}
    naive = {premise.replace(word, "{person}") for premise, word in zip(corrected["premise"], tagged, strict=True)}
    assert len(naive | set(rows.loc[rows["set"] != "NS", "template"])) == 285, "as tagged, 8 templates too many"


def test_chinese_captions_with_several_people_change_all_of_them(sets: Sets) -> None:
    rows = sets["zh", "full"]
    people = rows["template"].str.count("{person}")
    assert people.value_counts().to_dict() == {1: 5_160, 2: 140, 3: 20}
    assert (people > 1).groupby(rows["set"]).sum().to_dict() == {"PS": 20, "AS": 20, "NS": 120}


def test_english_premises_have_an_article_more_often_than_not(sets: Sets) -> None:
    assert sets["en", "full"]["template"].str.contains("the {person}", regex=False).sum() == 4_552


def test_the_kinds_follow_from_the_scores_of_the_professions(sets: Sets, data: Path) -> None:
    """Bolukbasi et al. (2016): not female or male by definition, but by stereotype."""
    types = sets["en", "full"].groupby("occupation")["occupation_type"].first()
    scores = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    expected_types = {
        word.replace("_", " "): "neutral" if abs(definition) >= 0.5 or abs(stereotype) <= 0.5 else
        "male" if stereotype > 0 else "female"
        for word, definition, stereotype in scores
    }  # fmt: skip
    assert types.to_dict() == {
        word: occupation_type for word, occupation_type in expected_types.items() if word in types.index
    }
    assert (len(expected_types), len(types)) == (320, 271)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_small_sets_are_part_of_the_large_ones(sets: Sets, language: str) -> None:
    full, small = sets[language, "full"], sets[language, "downsampled"]
    assert small.groupby("set").size().to_dict() == {"PS": 200, "AS": 200, "NS": 200}
    assert set(small.itertuples(index=False, name=None)) < set(full.itertuples(index=False, name=None))
    for occupation_type in ("female", "male"):
        assert _words(small, occupation_type) == _words(full, occupation_type)[:10], (
            "the first ten words in the order of the files"
        )
    assert len(_words(small, "neutral")) == 10


def test_the_words_of_the_small_english_set(sets: Sets) -> None:
    small = sets["en", "downsampled"]
    words = {
        "female": "caretaker, dancer, hairdresser, interior designer, librarian, nanny, nurse, receptionist,"
        " registered nurse, secretary",
        "male": "archaeologist, ballplayer, cop, disc jockey, doctor, investment banker, janitor, mechanic, mobster,"
        " surgeon",
        "neutral": "associate professor, bishop, cartoonist, detective, freelance writer, gardener, organist,"
        " professor emeritus, student, trooper",
    }
    assert {occupation_type: ", ".join(sorted(_words(small, occupation_type))) for occupation_type in words} == words


def _write(folder: Path, *, ns: str = "") -> None:
    """English sets of one pair each."""
    row = {"sentence1": "a cook eats.", "sentence2": "a man eats.", "occ_word": "cook", "occ_type": "male-stereo"}
    (folder / "en").mkdir(parents=True, exist_ok=True)
    for name in ("1-prostereo", "2-antistereo", "3-nonstereo"):
        line = ns if ns and name == "3-nonstereo" else json.dumps(row)
        (folder / "en" / f"{name}_v1.1.json").write_text(f"{line}\n", encoding="utf-8")


def test_released_sets_that_cannot_be_read(folder: Path) -> None:
    _write(folder / "own")
    assert list(released("en", folder / "own")["set"]) == ["PS", "AS", "NS"]
    broken = '{"sentence1": "a cook eats.", "sentence2": "a man drinks.", "occ_word": "cook", "occ_type": "neutral"}'
    for line, message in (
        ("{", "line 1 is not a pair of nli-coal"),
        ('{"sentence1": "a"}', "line 1 is not a pair of nli-coal .KeyError: 'sentence2'"),
        (broken, "'a man drinks.' is not 'a cook eats.' with a gender word"),
        (broken.replace('"neutral"', '"old"'), "line 1 is not a pair"),
        (broken.replace('"a cook eats."', "7"), "line 1 is not a pair"),
    ):
        _write(folder / "own", ns=line)
        with pytest.raises(UnmaskError, match=message):
            released("en", folder / "own")
    with pytest.raises(UnmaskError, match=r"ja/1-prostereo_v1\.1\.json cannot be read .FileNotFoundError"):
        released("ja", folder / "own")
    with pytest.raises(UnmaskError, match="unknown language of nli-coal 'de'"):
        released("de", folder / "own")


def test_only_the_files_of_the_language_are_asked_for(folder: Path, data: Path) -> None:
    (folder / "nli-coal").mkdir()
    (folder / "nli-coal" / "en").symlink_to(data / "nli-coal" / "en")
    assert len(released("en", offline=True, downsampled=True)) == 600
    with pytest.raises(UnmaskError, match="nli-coal is neither in the folder"):
        released("zh", offline=True)
    (folder / "nli-coal" / "en").unlink()
    _write(folder / "nli-coal")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        released("en", offline=True)

"""Stereotypes derived from workforce tables and word vectors, and how far the ways agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import unmask
from commands import unmask as command
from unmask.errors import UnmaskError
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation
from unmask.lexicon.word_lists import GENDER_PAIRS
from unmask.measures.base import Context
from unmask.measures.inference import InferenceMeasure, InferenceOptions
from unmask.measures.inference.data import build
from unmask.measures.inference.details import Inference
from unmask.measures.inference.stereotypes import (
    compare_types,
    type_by_vectors,
    type_by_workforce,
)
from unmask.models.word_vectors import load_vectors
from unmask.results.storage import read_items
from unmask.workflows.audit import Audit

TABLE = """occupation,share,employed
Registered nurses,90,300
Nurse assistants and other nurses,60,100
Writers and authors,50,10
Carpenters,3.5,20
Poets,–,1
"Judges, magistrates, and other judicial workers",70,5
"""


def _occupations(*words: str) -> list[Occupation]:
    return [Occupation(word, word, None, None, "neutral") for word in words]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "work.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_titles_are_found_and_averaged_by_the_number_employed(table: Path) -> None:
    """*nurse* is itself a part of one title (60 %), which counts before titles that only end with it."""
    words = _occupations("registered nurse", "nurse", "author", "writer", "carpenter", "poet", "judge", "smith")
    assert type_by_workforce(words, table) == {
        "registered nurse": "female",
        "nurse": "neutral",
        "author": "neutral",
        "writer": "neutral",
        "carpenter": "male",
        "poet": None,
        "judge": None,  # 70 % is neither
        "smith": None,
    }
    table.write_text("occupation,share,employed\nSchool teachers,.9,100\nPiano teachers,.3,300\n", encoding="utf-8")
    assert type_by_workforce(_occupations("teacher"), table) == {"teacher": "neutral"}  # 45 %
    table.write_text("occupation,share\nSchool teachers,.9\nPiano teachers,.6\n", encoding="utf-8")
    assert type_by_workforce(_occupations("teacher"), table) == {"teacher": "female"}  # 75 %


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0, "male"), (25, "male"), (26, None), (39, None), (40, "neutral"), (60, "neutral"), (61, None), (75, "female")],
)
def test_limits_of_shares(share: float, kind: str | None, tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text(f"occupation,share\nclerk,{share}\nother,99\n", encoding="utf-8")
    assert type_by_workforce(_occupations("clerk"), tmp_path / "work.csv") == {"clerk": kind}


def test_another_country_by_its_own_words_or_the_english_ones(tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text("occupation,share\n看護師,.92\ncarpenter,.02\n", encoding="utf-8")
    words = [Occupation("看護師", "nurse", None, None, "female"), Occupation("大工", "carpenter", None, None, "male")]
    assert type_by_workforce(words, tmp_path / "work.csv") == {"看護師": "female", "大工": "male"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("job,share\nclerk,3\n", "has no column 'occupation'"),
        ("occupation,share\nclerk,most\n", "the share 'most' of 'clerk' is not a number"),
        ("occupation,share\nclerk,–\n", "has no occupation with a share of women"),
        ("occupation,share\nclerk,120\n", "the share of 'clerk' is not between 0 and 100"),
        ("occupation,share\nsmith,20\n", "has none of the occupations"),
    ],
)
def test_tables_that_cannot_be_used(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "work.csv").write_text(content, encoding="utf-8")
    with pytest.raises(UnmaskError, match=message):
        type_by_workforce(_occupations("clerk"), tmp_path / "work.csv")


def test_the_table_of_the_bureau_of_labor_statistics(data: Path) -> None:
    types = type_by_workforce(lexicon.occupations("en"), data / "workforce" / "cpsaat11.xlsx")
    assert {word for word, kind in types.items() if kind == "female"} >= {"nurse", "librarian", "receptionist"}
    assert {word for word, kind in types.items() if kind == "male"} >= {"carpenter", "electrician", "plumber"}
    assert types["photographer"] == "neutral"


# Word vectors


def _make_vectors(language: str) -> dict[str, np.ndarray]:
    """Words with their projection on the gender direction as first value; the rest is of length 1, away from it."""
    vectors = {}
    for number, (female, male) in enumerate(GENDER_PAIRS[language]):
        for word, sign in ((female, -1), (male, 1)):
            vectors[word] = np.array([sign, np.cos(number), np.sin(number)], dtype=np.float32)
    projections = {
        "nurse": -0.9,
        "smith": 0.9,
        "clerk": 0.01,
        "poet": 0.5,
        "fire_fighter": 0.8,
        "taxi": 0.8,
        "driver": 0.8,
    }
    for word, value in projections.items():
        vectors[word] = np.array([value, np.sqrt(1 - value**2), 0], dtype=np.float32)
    return vectors


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_types_of_planted_vectors_agree_with_a_plain_computation(language: str) -> None:
    table = _make_vectors(language)
    names = ("nurse", "smith", "clerk", "poet", "fire fighter", "taxi driver", "unknown")
    types = type_by_vectors(_occupations(*names), load_vectors(table), language)
    unit = {word: vector / np.linalg.norm(vector) for word, vector in table.items()}
    direction = np.mean([unit[male] - unit[female] for female, male in GENDER_PAIRS[language]], axis=0)
    direction /= np.linalg.norm(direction)
    cosines = np.array([vector @ direction for vector in unit.values()])
    phrase = (unit["taxi"] + unit["driver"]) / 2
    expected: dict[str, str | None] = {"unknown": None}
    for name, vector in (
        *((word, unit[word]) for word in names[:4]),
        ("fire fighter", unit["fire_fighter"]),
        ("taxi driver", phrase / np.linalg.norm(phrase)),
    ):
        z = (vector @ direction - cosines.mean()) / cosines.std()
        kind = "male" if z >= 1 else "female" if z <= -1 else "neutral" if abs(z) <= 0.5 else None
        expected[name] = kind
    assert types == expected
    assert [types[word] for word in ("nurse", "smith", "clerk")] == ["female", "male", "neutral"]


def test_vectors_of_another_language_are_refused() -> None:
    with pytest.raises(UnmaskError, match="has 0 of the 10 pairs of gender words in 'ja', and 3 are needed"):
        type_by_vectors(_occupations("nurse"), load_vectors(_make_vectors("en")), "ja")
    with pytest.raises(UnmaskError, match="has none of the occupations"):
        type_by_vectors(_occupations("aviator"), load_vectors(_make_vectors("en")), "en")


# Agreement


def test_agreement_by_hand() -> None:
    """Three of four occupations that both ways know have the same type: kappa (.75 − .375) / (1 − .375) = .6."""
    listed = ["female", "female", "male", "neutral", "neutral", "male"]
    derived = ["female", "female", "male", "male", "", None]
    items = pd.DataFrame({"occupation": list("abcdef"), "type_list": listed, "type_workforce": derived})
    twice = pd.concat([items, items], ignore_index=True)
    (agreement,) = compare_types(twice)
    assert (agreement.first, agreement.second, agreement.n, agreement.share) == ("list", "workforce", 4, 0.75)
    assert agreement.counts == [[2, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert agreement.kappa == pytest.approx((0.75 - 0.375) / (1 - 0.375))


def test_ways_that_share_no_occupation() -> None:
    items = pd.DataFrame({"occupation": ["a"], "type_list": ["male"], "type_vectors": [""]})
    (agreement,) = compare_types(items)
    assert (agreement.n, agreement.share, agreement.kappa) == (0, None, None)


def _write_files(folder: Path) -> None:
    """Occupations of each type, a workforce that disagrees about the clerk, and vectors."""
    jobs = "nurse,female\nsmith,male\nclerk,neutral\npoet,neutral\n"
    (folder / "jobs.csv").write_text(f"occupation,type\n{jobs}", encoding="utf-8")
    (folder / "work.csv").write_text("occupation,share\nnurse,90\nsmith,4\nclerk,80\npoet,50\n", encoding="utf-8")
    lines = [f"{word} {' '.join(f'{value:.6f}' for value in row)}" for word, row in _make_vectors("en").items()]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_the_way_decides_the_sets(tmp_path: Path) -> None:
    _write_files(tmp_path)
    options = InferenceOptions(occupations=tmp_path / "jobs.csv", workforce=tmp_path / "work.csv", limit=2)
    by_list = build(options, Context()).drop_duplicates("occupation").set_index("occupation")
    assert dict(by_list["occupation_type"]) == {
        "nurse": "female",
        "smith": "male",
        "clerk": "neutral",
        "poet": "neutral",
    }
    assert dict(by_list["type_workforce"]) == {"nurse": "female", "smith": "male", "clerk": "female", "poet": "neutral"}
    by_work = build(options.replace(stereotypes="workforce"), Context()).drop_duplicates("occupation")
    assert list(by_work["occupation_type"]) == list(by_list["type_workforce"])
    plain = build(options.replace(workforce=None), Context())
    assert not {"stereotypes", "type_list"} & set(plain)
    derived = build(options, Context()).drop(columns=["stereotypes", "type_list", "type_workforce"])
    pd.testing.assert_frame_equal(plain, derived)


def test_an_audit_reports_the_agreement(tmp_path: Path) -> None:
    _write_files(tmp_path)
    words = ["audit", "unmask-mini-nli", "--occupations", "jobs.csv", "--limit", "2", "--stereotypes", "workforce"]
    done = command(*words, "--workforce", "work.csv", "--vectors", "vectors.txt", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Agreement of types" in done.stdout
    assert "list and workforce" in done.stdout
    assert "Occupations have the type of their workforce" in done.stdout
    audit = unmask.load(tmp_path / "out")
    assert isinstance(audit, Audit)
    measurement = audit.measurements[0]
    details = measurement.read_details(Inference)
    assert details.stereotypes == "workforce"
    pairs = {(pair.first, pair.second): pair for pair in details.agreement}
    assert pairs["list", "workforce"].share == 0.75
    assert set(pairs) == {("list", "workforce"), ("list", "vectors"), ("workforce", "vectors")}
    items = read_items(tmp_path / "out" / "items" / "inference.jsonl.gz")
    again = InferenceMeasure().analyse(items, Context())
    assert again.read_details(Inference).agreement == details.agreement
    codes = {caveat.code for caveat in measurement.caveats}
    assert "stereotypes-from-workforce" in codes
    assert "stereotype-ratings" not in codes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stereotypes": "workforce"}, "--stereotypes workforce needs data; give a file with --workforce"),
        ({"stereotypes": "guess"}, "stereotypes is 'guess'; choose from: list, workforce, vectors"),
        ({"vectors": "none.txt", "languages": ("en", "ja")}, "files of your own are for one language"),
        ({"workforce": "none.csv", "protocol": "published"}, "the released sets have their own types"),
        ({"workforce": "none.csv"}, "none.csv does not exist"),
        ({"workforce": "none.xlsx"}, "none.xlsx does not exist"),
        ({"vectors": "none.txt"}, "none.txt"),
    ],
)
def test_bad_input_is_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UnmaskError) as refused:
        unmask.audit("unmask-mini-nli", measures="inference", **options)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_table_without_a_kind_is_refused(tmp_path: Path) -> None:
    _write_files(tmp_path)
    (tmp_path / "work.csv").write_text("occupation,share\nnurse,90\nsmith,4\n", encoding="utf-8")
    options = InferenceOptions(
        occupations=tmp_path / "jobs.csv", workforce=tmp_path / "work.csv", stereotypes="workforce", limit=2
    )
    with pytest.raises(UnmaskError, match=r"no occupation is neutral by workforce \(2 of 4 have a type\)"):
        build(options, Context())

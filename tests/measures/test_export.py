"""Exported sentences: the built-in pairs and the released ones, their files, and what cannot be exported."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from commands import unmask as command
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.measures.association.data import build_rows
from unmask.measures.base import Context, Measure
from unmask.measures.export import ExportOptions, export_items
from unmask.measures.inference import InferenceOptions
from unmask.measures.inference.data import VERSIONS, build

RELEASED_FIELDS = ["id", "sentence1", "sentence2", "label", "occ_word", "occ_type"]


def _export(language: str, **options: Any) -> pd.DataFrame:
    return export_items(ExportOptions(measure="inference", out=Path("unused.jsonl"), language=language, **options))


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_built_in_pairs_are_those_of_an_audit(language: str) -> None:
    exported = _export(language, settings={"limit": "4"})
    pairs = build(InferenceOptions(limit=4), Context(language, "sentences"))
    assert list(exported["sentence1"]) == list(pairs["premise"])
    assert list(exported["sentence2"]) == list(pairs["hypothesis"])
    assert Counter(zip(exported["set"], exported["label"], strict=True)) == {
        (name, "entailment" if name == "control" else "neutral"): count for name, count in Counter(pairs["set"]).items()
    }
    assert list(exported.columns[:6]) == RELEASED_FIELDS


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_published_pairs_are_the_released_rows(
    language: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every field of every released row; 16 Japanese rows name another occupation and type than is replaced."""
    monkeypatch.setenv("UNMASK_DATA", str(data))
    out = tmp_path / "pairs.jsonl"
    done = command("export", "inference", "--language", language, "--protocol", "published", "--out", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ours = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    folder = data / "nli-coal" / language
    files = [folder / f"{name}_v{VERSIONS[language]}.json" for name in ("1-prostereo", "2-antistereo", "3-nonstereo")]
    theirs = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(ours) == len(theirs)
    assert done.stdout == f"{len(ours):,} rows: {out}\n"
    different = Counter(
        field
        for our, their in zip(ours, theirs, strict=True)
        for field in RELEASED_FIELDS
        if our[field] != their[field]
    )
    assert different == ({"occ_word": 16, "occ_type": 16} if language == "ja" else {})


def test_words_of_ones_own_and_every_format(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("occupation,type\nnurse,female\nsmith,male\nclerk,neutral\n", encoding="utf-8")
    counts = []
    for suffix, separator in ((".csv", ","), (".tsv", "\t"), (".jsonl", None)):
        words = ["export", "inference", "--set", "occupations=jobs.csv", "--set", "limit=2", "--out", f"own{suffix}"]
        assert command(*words, cwd=tmp_path).returncode == 0
        lines = (tmp_path / f"own{suffix}").read_text(encoding="utf-8").splitlines()
        rows = (
            [json.loads(line) for line in lines] if separator is None else [*csv.DictReader(lines, delimiter=separator)]
        )
        assert {row["occ_word"]: row["occ_type"] for row in rows} == {
            "nurse": "female-stereo",
            "smith": "male-stereo",
            "clerk": "neutral",
        }
        counts.append(len(rows))
    assert set(counts) == {3 * 2 * (2 + 1 + 1)}  # women and men, a control, and an unrelated pair


def test_every_other_measure_says_what_can_be_exported() -> None:
    able = [measure.name for measure in registry.built_in() if type(measure).export is not Measure.export]
    assert "inference" in able
    for measure in registry.built_in():
        if measure.name not in able:
            with pytest.raises(
                UnmaskError, match=f"{measure.name} has no sentences to export; choose from: .*inference"
            ):
                export_items(ExportOptions(measure=measure.name, out=Path("unused.jsonl")))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "a.txt"], "a.txt does not end in .jsonl, .csv, .tsv; give such a file with --out"),
        (["--out", "a.csv", "--language", "de"], "unknown language of inference 'de'; choose from: en, ja, zh"),
        (
            ["--out", "a.csv", "--corpus", "imdb"],
            "unknown corpus of inference 'imdb'; choose from: sentences, nli-coal",
        ),
        (["--out", "a.csv", "--set", "limt=2"], "unknown setting 'limt'; did you mean 'limit'?"),
        (["--out", "a.csv", "--set", "limit=0"], "--set limit is 0; give 1 or more"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    done = command("export", "inference", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"unmask: {message}\n")
    assert list(tmp_path.iterdir()) == []


# Association


RELEASED_FILES = {"en": "BEC-Pro_EN.as-published.tsv", "de": "BEC-Pro_DE.tsv"}


def _write(out: Path, **options: Any) -> int:
    """Export association, and return the number of rows."""
    words = [
        word
        for name, value in options.items()
        for word in (f"--{name}", *([value] if isinstance(value, str) else value))
    ]
    done = command("export", "association", *words, "--out", out, cwd=out.parent)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0].replace(",", ""))


def read_table(path: Path, delimiter: str = "\t") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_published_corpus_is_the_released_file_byte_by_byte(language: str, data: Path, tmp_path: Path) -> None:
    """English as first published, before ten rows were corrected by hand."""
    out = tmp_path / "corpus.tsv"
    assert _write(corpus=("bec-pro",), language=language, protocol="published", out=out) == 5400
    assert out.read_bytes() == (data / "becpro" / RELEASED_FILES[language]).read_bytes()


def test_the_sound_corpus_is_masked_where_the_words_stand(tmp_path: Path) -> None:
    out = tmp_path / "corpus.tsv"
    _write(corpus=("bec-pro",), out=out)
    rows = {row["Sentence"]: row for row in read_table(out)}
    row = rows["My son used to be a mason."]
    assert row["Sent_TM"] == "My [MASK] used to be a mason."
    assert row["Sent_AM"] == "My son used to be a [MASK]."
    row = rows["Last year he became a director of religious activities."]
    assert row["Sent_TAM"] == "Last year [MASK] became a [MASK] [MASK] [MASK] [MASK]."
    assert row["Template"] == "Last year <person subject> became a/an <profession>."
    assert [*rows] == [row.sentence for row in build_rows("en")]


def test_a_phrase_has_a_mask_for_each_word(tmp_path: Path) -> None:
    """In the agreement-free corpus the determiner is part of the target."""
    out = tmp_path / "corpus.tsv"
    _write(corpus=("agreement-free",), language="de", out=out)
    row = next(row for row in read_table(out) if row["Sentence"].startswith("Meine Schwester hat"))
    assert row["Sent_TM"].startswith("[MASK] [MASK] hat")


def test_published_emotions_have_the_columns_of_the_corpus_they_are_from(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "emotions.tsv"
    assert _write(corpus=("emotions",), protocol="published", out=out) == 2680
    theirs = {row["Sentence"]: row for row in read_table(data / "eec" / "Equity-Evaluation-Corpus.csv", ",")}
    for row in read_table(out):
        for name in ("Template", "Person", "Gender", "Emotion", "Emotion word"):
            assert row[name] == theirs[row["Sentence"]][name]


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out.tsv").write_text("mine")
    done = command("export", "association", "--out", "out.tsv", cwd=tmp_path)
    assert (done.returncode, "out.tsv exists" in done.stderr) == (2, True)
    assert (tmp_path / "out.tsv").read_text() == "mine"

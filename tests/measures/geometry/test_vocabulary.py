"""The words of static vectors to measure: the published rules and exclusions, also on real vocabularies."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.measures.geometry import vocabulary as module
from unmask.measures.geometry.vocabulary import RULES, broken_rule, excluded_words, filter_words
from unmask.models import vector_files


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("nurse", ""),
        ("health_care", ""),
        ("café", ""),
        ("Nurse", "capitals"),
        ("É", "capitals"),
        ("a" * 19, ""),
        ("a" * 20, "length"),
        ("mp3", "digits"),
        ("½", ""),
        ("e-mail", "punctuation"),
        ("health_e-mail", "punctuation"),
        ("€", ""),
        ("_", ""),
    ],
)
def test_the_rules_as_published(word: str, rule: str) -> None:
    assert broken_rule(word) == rule
    strictly = "signs" if word in ("½", "€", "_") else rule
    assert broken_rule(word, strict=True) == strictly


def test_what_is_left_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["the", "The", "x1", "the", "she", "a-b", "nurse", "b" * 30, "–", "She", "last"]
    monkeypatch.setattr(module, "MOST", 10)
    selection = filter_words(words, exclude={"she", "She"}, strict=True)
    assert selection.words == ["the", "nurse"]
    assert selection.left_out == {rule: 2 if rule == RULES["capitals"] else 1 for rule in RULES.values()}
    assert filter_words(["twin_sister", "sister"], exclude=["sister"]).words == ["twin_sister"]
    assert filter_words(["twin_sister", "twin"], exclude=["sister"], strict=True).words == ["twin"]
    assert filter_words([]).words == []


def test_our_own_exclusions() -> None:
    ours = excluded_words("lexicon")
    for pair in ("she he", "gal guy", "herself himself", "actress nun", "mary john", "foster_mother MAN"):
        assert set(pair.split()) <= ours
    assert not {"nurse", "engineer", "person", "doctor", "emily"} & ours
    names = excluded_words("names")
    assert {"emily", "Emily", "EMILY", "james"} <= names
    assert not {"grace", "will", "charlotte", "june", "nurse"} & names, "they are something else as well"
    with pytest.raises(UnmaskError, match="unknown set of excluded words 'golve'; did you mean 'glove'"):
        excluded_words("golve")


def test_the_published_exclusions(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,441 gendered words and 10 + 52 pairs make 1,444 words: three words of the pairs are not in the list."""
    monkeypatch.setenv("UNMASK_DATA", str(data))
    parts = {
        name: json.loads((data / "professions" / f"{name}.json").read_text())
        for name in ("gender_specific_full", "definitional_pairs", "equalize_pairs")
    }
    assert [len(part) for part in parts.values()] == [1_441, 10, 52]
    everything = excluded_words("word2vec", offline=True)
    assert len(everything) == 1_444
    assert everything - set(parts["gender_specific_full"]) == {"Mary", "John", "Catholic_priest"}
    assert len(excluded_words("glove", offline=True)) == 411


def test_the_hashes_are_those_of_the_files(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    assert datasets.locate("professions", offline=True) == data / "professions"
    assert datasets.locate("seat", offline=True) == data / "seat"
    assert datasets.locate("crows-pairs", offline=True) == data / "crows-pairs" / "crows_pairs_anonymized.csv"


def test_word2vec(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of 26,423 words is not the output of the filter, and 26,189 words cannot be derived from it.

    It holds the 26,377 words of a to z and underscores among the first 50,000 of Bolukbasi et al., with *John* and
    *Mary* in their places, and at its end 8 professions and 36 names from further down. Of the 26,377, 232 are
    gendered: 26,145 remain. The published 26,189 are 44 more: most likely words with other letters and signs, which a
    filter that knows only ASCII punctuation keeps, and which the file lacks.
    """
    monkeypatch.setenv("UNMASK_DATA", str(data))
    exclude = excluded_words("word2vec", offline=True)
    words = vector_files.read_vectors(data / "vectors" / "word2vec-googlenews-bolukbasi-26k.bin.gz").words
    assert len(words) == 26_423
    assert all(word.isascii() for word in words)
    selection = filter_words(words, exclude=exclude)
    assert len(selection.words) == 26_153
    assert selection.left_out == {RULES["capitals"]: 38, RULES["gendered"]: 232}
    common, added = words[:-44], words[-44:]
    assert [word for word in common if word[0].isupper()] == ["John", "Mary"]
    assert added[:8] == sorted(added[:8])
    assert all(word[0].isupper() for word in added[8:])
    assert len(filter_words(common).words) == 26_377
    assert len(filter_words(common, exclude=exclude).words) == 26_145 == 26_189 - 44
    for full in (data / "vectors").glob("GoogleNews-vectors-negative300.bin*"):
        first_words = vector_files.read_vectors(full, most=50_000).words
        assert len(filter_words(first_words, exclude=exclude).words) == 26_189


def test_glove(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The published 47,698 belongs to other vectors, trained by Zhao et al. (2018); of GloVe 6B, 45,528 remain."""
    monkeypatch.setenv("UNMASK_DATA", str(data))
    with gzip.open(data / "vectors" / "glove.6B.50d.first60k.txt.gz", "rt", encoding="utf-8") as file:
        words = [line.partition(" ")[0] for line in file]
    selection = filter_words(words, exclude=excluded_words("glove", offline=True))
    assert len(selection.words) == 45_528
    counts = {"length": 8, "digits": 3_357, "punctuation": 832, "gendered": 275}
    assert selection.left_out == {RULES[rule]: count for rule, count in counts.items()}
    assert len(selection.words) + sum(selection.left_out.values()) == 50_000
    assert filter_words(words, strict=True).left_out[RULES["signs"]] == 31


def test_exclusions_that_are_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    with pytest.raises(UnmaskError, match="data set lipstick is not in the folder"):
        excluded_words("glove", offline=True)
    (tmp_path / "lipstick").mkdir()
    with pytest.raises(UnmaskError, match=r"female_word_file.txt does not exist"):
        excluded_words("glove", offline=True)
    (tmp_path / "lipstick" / "female_word_file.txt").write_bytes(b"\xff\n")
    with pytest.raises(UnmaskError, match="is not UTF-8"):
        excluded_words("glove", offline=True)

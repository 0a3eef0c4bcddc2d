"""Word vectors: reading and writing, and hard debiasing with known answers."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from unmask.errors import UnmaskError
from unmask.mitigations.methods.hard_debias import equalised, gender_direction, hard_debias, unit
from unmask.models import vectors
from unmask.models.vectors import FORMATS, Vectors


def some(words: list[str], size: int = 8, seed: int = 0) -> Vectors:
    return Vectors(words, np.random.default_rng(seed).normal(size=(len(words), size)).astype(np.float32))


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.gz"])
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_again(tmp_path: Path, form: str, name: str) -> None:
    before = some(["the", "New_York", "größe", "1/2", "."])
    vectors.write(tmp_path / name, before, form)
    after = vectors.read(tmp_path / name)
    assert after.words == before.words
    assert np.array_equal(after.matrix, before.matrix)


def test_words_are_found_and_missing_ones_named() -> None:
    ours = some(["a", "b", "a"])
    assert "a" in ours
    assert "c" not in ours
    assert np.array_equal(ours.vectors(["b", "a"]), ours.matrix[[1, 0]])
    with pytest.raises(UnmaskError, match="no vector for 'c', 'd'"):
        ours.vectors(["c", "a", "d"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"3 2\na 1 2\nb 3 4\n", "promises 3 vectors and has 2"),
        (b"a 1 2\nb 3 x\n", "line 2: a value is not a number"),
        (b"a 1 2\nb 3\n", "line 2: "),
        (b"a 1 nan\nb 3 4\n", "vector of 'a' is not finite"),
        (b"2 4\na \x00\x00\x80\x3f", "ends after 0 of 2 vectors"),
    ],
)
def test_files_that_are_no_vectors(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(UnmaskError, match=message):
        vectors.read(path)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"the 1 2\n" * 1000)[:40])
    with pytest.raises(UnmaskError, match="ends too early"):
        vectors.read(tmp_path / "cut.gz")
    with pytest.raises(UnmaskError, match="cannot be read"):
        vectors.read(tmp_path / "missing")


def test_the_direction_is_found_where_it_was_planted() -> None:
    planted = np.array([1.0, 0, 0, 0])
    choice = np.random.default_rng(3)
    pairs = [(f"f{at}", f"m{at}") for at in range(6)]
    words, rows = [], []
    for female, male in pairs:
        middle = np.append(0.0, choice.normal(size=3))
        words += [female, male]
        rows += [middle / np.linalg.norm(middle) + 0.4 * planted, middle / np.linalg.norm(middle) - 0.4 * planted]
    found = gender_direction(Vectors(words, np.array(rows, np.float32)), pairs)
    assert found == pytest.approx(planted, abs=1e-6)


def test_equalised_by_hand() -> None:
    # g = (0, 1); the pair (.6, .8) and (1, 0): mean (.8, .4), shared (.8, 0), along .6
    done = equalised(np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([0.0, 1.0]))
    assert done == pytest.approx(np.array([[0.8, 0.6], [0.8, -0.6]]))


def test_neutral_words_lose_the_direction_and_lie_equally_near_to_both() -> None:
    names = ["woman", "man", "she", "he", "girl", "boy", "She", "He", "nurse", "engineer", "Table", "actress"]
    before = some(names, size=20)
    done = hard_debias(before)
    after = unit(done.vectors.matrix)
    rows = {word: after[at] for at, word in enumerate(names)}
    for word in ("nurse", "engineer", "Table"):
        assert rows[word] @ done.direction == pytest.approx(0, abs=1e-6)
        for female, male in (("woman", "man"), ("she", "he"), ("She", "He"), ("girl", "boy")):
            assert rows[word] @ rows[female] == pytest.approx(rows[word] @ rows[male], abs=1e-6)
    assert rows["actress"] == pytest.approx(unit(before.matrix)[names.index("actress")], abs=1e-6)
    assert done.neutralised == 3
    assert set(done.equalised) == {("woman", "man"), ("she", "he"), ("She", "He"), ("girl", "boy")}
    assert np.linalg.norm(done.vectors.matrix, axis=1) == pytest.approx(1, abs=1e-5)


def test_too_few_pairs() -> None:
    with pytest.raises(UnmaskError, match="only 1 of 10 definitional pairs"):
        hard_debias(some(["she", "he", "nurse"]))


def test_real_vectors(data: Path) -> None:
    """Of word2vec's own vectors: nurse leans to she before, and not after; grandmother keeps its gender."""
    before = vectors.read(data / "vectors" / "word2vec-googlenews-bolukbasi-26k.bin.gz")
    done = hard_debias(before)
    lean = {word: float(unit(before.vectors([word]))[0] @ done.direction) for word in ("nurse", "grandmother")}
    left = {word: float(unit(done.vectors.vectors([word]))[0] @ done.direction) for word in ("nurse", "grandmother")}
    assert lean["nurse"] > 0.2
    assert abs(left["nurse"]) < 1e-6
    assert left["grandmother"] > 0.2
    assert len(done.equalised) > 50
    again = hard_debias(done.vectors)
    assert np.abs(again.vectors.matrix - done.vectors.matrix).max() < 0.05

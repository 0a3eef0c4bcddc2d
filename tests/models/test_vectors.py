"""Word vectors: reading and writing, and hard debiasing with known answers."""

from __future__ import annotations

import gzip
import hashlib
import mmap
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unmask.errors import UnmaskError
from unmask.mitigations.methods.hard_debias import equalise_pair, gender_direction, hard_debias
from unmask.models import vector_files
from unmask.models.word_vectors import FORMATS, Vectors, is_word_vectors, load_vectors
from unmask.statistics.erasure import normalise_rows

ALL_FORMATS = (*FORMATS, "npz", "npy")


def make_vectors(words: list[str], size: int = 8, seed: int = 0) -> Vectors:
    return Vectors(words, np.random.default_rng(seed).normal(size=(len(words), size)).astype(np.float32))


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.gz"])
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_is_read_again(tmp_path: Path, form: str, name: str) -> None:
    before = make_vectors(["the", "New_York", "größe", "1/2", "."])
    vector_files.write_vectors(tmp_path / name, before, form)
    after = vector_files.read_vectors(tmp_path / name)
    assert after.words == before.words
    assert np.array_equal(after.matrix, before.matrix)


def test_words_are_found_and_missing_ones_named() -> None:
    vectors = make_vectors(["a", "b", "a"])
    assert "a" in vectors
    assert "c" not in vectors
    assert np.array_equal(vectors.vectors(["b", "a"]), vectors.matrix[[1, 0]])
    with pytest.raises(UnmaskError, match="no vector for 'c', 'd'"):
        vectors.vectors(["c", "a", "d"])


@pytest.mark.parametrize("form", ALL_FORMATS)
def test_only_what_is_wanted_is_read(tmp_path: Path, form: str) -> None:
    path = tmp_path / ("v.npy" if form == "npy" else "v.bin")
    before = make_vectors([f"w{number}" for number in range(3_000)])
    vector_files.write_vectors(path, before, form)
    assert vector_files.read_vectors(path).weight_hash() == before.weight_hash()
    first = vector_files.read_vectors(path, most=5)
    assert first.words == before.words[:5]
    assert np.array_equal(first.matrix, before.matrix[:5])
    requested: list[str] = []
    few = vector_files.read_vectors(path, most=2_500, keep=lambda word: requested.append(word) or word.endswith("9"))  # type: ignore[func-returns-value]
    assert few.words == [word for word in before.words[:2_500] if word.endswith("9")]
    assert np.array_equal(few.matrix, before.matrix[9:2_500:10])
    assert requested == before.words[:2_500], "reading stops where it is told to"
    assert vector_files.read_vectors(path, most=9_999).words == before.words
    with pytest.raises(UnmaskError, match=r"none of the 3,000 words of .* is wanted"):
        vector_files.read_vectors(path, keep=lambda _: False)
    with pytest.raises(UnmaskError, match="number of words is 0"):
        vector_files.read_vectors(path, most=0)


def test_a_file_larger_than_the_buffer_is_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unmask.models.vector_files.CHUNK", 100)
    before = make_vectors([f"w{number}" for number in range(3_000)])
    for name in ("v.bin", "v.gz"):
        vector_files.write_vectors(tmp_path / name, before)
        assert np.array_equal(vector_files.read_vectors(tmp_path / name).matrix, before.matrix)


@pytest.mark.parametrize("form", ALL_FORMATS)
def test_words_that_come_twice_count_once(tmp_path: Path, form: str) -> None:
    path = tmp_path / "v.npy"
    vectors = make_vectors(["a", "b", "a", "c", "a", "b"])
    vector_files.write_vectors(path, vectors, form)
    loaded = vector_files.read_vectors(path)
    assert loaded.words == ["a", "b", "c"]
    assert np.array_equal(loaded.matrix, vectors.matrix[[0, 1, 3]]), "the first counts"
    assert loaded.duplicates == 3
    assert vector_files.read_vectors(path, keep=lambda word: word == "a").duplicates == 2


def test_known_and_missing() -> None:
    assert make_vectors(["a", "b"]).known(["c", "b", "a", "d"]) == (["b", "a"], ["c", "d"])


def test_what_they_are(tmp_path: Path) -> None:
    vectors = Vectors(["a", "é"], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    vector_files.write_vectors(tmp_path / "v.gz", vectors, "glove")
    info = load_vectors(str(tmp_path / "v.gz")).info()
    expected = hashlib.sha256("a\né".encode() + np.array([1, 2, 3, 4, 5, 6], "<f4").tobytes()).hexdigest()
    assert info.weight_hash == expected
    assert (info.name, info.architecture) == (str(tmp_path / "v.gz"), "GloVe, text")
    assert (info.parameters, info.vocabulary, info.dtype) == (6, 2, "float32")


def test_numpy_files(tmp_path: Path) -> None:
    vectors = make_vectors(["a", "b", "c"])
    path = tmp_path / "v.wv.npy"
    np.save(path, vectors.matrix)
    with pytest.raises(UnmaskError, match=r"no file of words next to it.*v\.wv\.txt"):
        vector_files.read_vectors(path)
    (tmp_path / "v.vocab").write_text("a\nb\nc\n")
    loaded = vector_files.read_vectors(path)
    assert np.array_equal(loaded.matrix, vectors.matrix)
    base: Any = loaded.matrix
    while not isinstance(base, mmap.mmap):  # the memory-mapped file: nothing was copied
        base = base.base
    np.save(path, vectors.matrix.astype(np.float64))
    assert np.array_equal(vector_files.read_vectors(path, most=2).matrix, vectors.matrix[:2])
    (tmp_path / "v.vocab").write_text("a\nb\n")
    with pytest.raises(UnmaskError, match="2 words and 3 vectors"):
        vector_files.read_vectors(path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(UnmaskError, match="damaged"):
        vector_files.read_vectors(path)
    packed = tmp_path / "v.npz"
    np.savez(packed, words=np.array(["a", "é"]), vectors=np.eye(2))
    assert vector_files.read_vectors(packed).words == ["a", "é"]
    for parts, message in (
        ({"words": np.array(["a"])}, "no 'vectors'"),
        ({"words": np.array(["a"], object), "vectors": np.eye(2)}, "pickled objects, which are never loaded"),
        ({"words": np.array([1, 2]), "vectors": np.eye(2)}, "words are an array of type int64"),
        ({"words": np.array(["a", "b"]), "vectors": np.arange(2.0)}, r"shape \(2,\)"),
        ({"words": np.array(["a", "b"]), "vectors": np.array([["x", "y"]] * 2)}, "type <U1"),
    ):
        np.savez(packed, **parts)  # type: ignore[arg-type]
        with pytest.raises(UnmaskError, match=message):
            vector_files.read_vectors(packed)


def test_gensim(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models")
    vectors = make_vectors(["she", "New_York", "größe"])
    gensim_vectors = gensim.KeyedVectors(vector_size=8)
    gensim_vectors.add_vectors(vectors.words, vectors.matrix)
    loaded = load_vectors(gensim_vectors)
    assert loaded.words == vectors.words
    assert np.array_equal(loaded.matrix, vectors.matrix)
    assert loaded.info().architecture == "gensim"
    assert load_vectors(gensim_vectors, keep=lambda word: word == "she").words == ["she"]
    trained = gensim.Word2Vec([["a", "b"] * 9], vector_size=4, min_count=1, workers=1)
    assert np.array_equal(load_vectors(trained).vectors(["b"])[0], trained.wv["b"])
    assert is_word_vectors(gensim_vectors)
    assert is_word_vectors(trained)
    for binary, form in ((True, "word2vec"), (False, "word2vec-text")):
        gensim_vectors.save_word2vec_format(str(tmp_path / "v"), binary=binary)
        reloaded = vector_files.read_vectors(tmp_path / "v")
        assert (reloaded.words, reloaded.form) == (vectors.words, form)
        assert reloaded.matrix == pytest.approx(vectors.matrix, abs=1e-6)
    gensim_vectors.save(str(tmp_path / "v.kv"))
    with pytest.raises(UnmaskError, match=r"is a pickle.*save_word2vec_format$"):
        load_vectors(tmp_path / "v.kv")


class Own:
    words = ("a", "b", "a")

    def vectors(self, words: list[str]) -> list[list[float]]:
        return [[float(ord(word)), 1.0] for word in words]


@pytest.mark.parametrize(
    "source",
    [
        {"a": [97, 1], "b": np.array([98.0, 1.0])},
        (["a", "b"], [[97, 1], [98, 1]]),
        (np.array(["a", "b"]), np.array([[97, 1], [98, 1]])),
        Own(),
        Vectors(["a", "b"], np.array([[97, 1], [98, 1]], np.float32)),
    ],
)
def test_plain_python(source: Any) -> None:
    assert is_word_vectors(source)
    vectors = load_vectors(source)
    assert vectors.words == ["a", "b"]
    assert vectors.matrix.tolist() == [[97, 1], [98, 1]]
    assert vectors.matrix.dtype == np.float32
    assert vectors.duplicates == isinstance(source, Own)
    filtered = load_vectors(source, most=2, keep=lambda word: word == "b")
    assert (filtered.words, filtered.matrix.tolist()) == (["b"], [[98, 1]])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "the dict: its vectors differ in length"),
        ({"a": [1, 2], 3: [1, 2]}, "has 3 among its words"),
        ({"a": ["x", "y"]}, "give one row of numbers"),
        ({"a": [1.0, float("nan")]}, "vector of 'a' is not finite"),
        ({}, "a dict holds no word vectors"),
        ((["a", "b"], [[1, 2], [3]]), "differ in length"),
        ((["a"], np.eye(2)), "1 words and 2 vectors"),
        ((["a", "b"], np.ones((2, 1))), "vectors of 1 value"),
        (([], np.ones((0, 2))), "has no vectors"),
        (7, "an? int holds no word vectors"),
        (["a"], "a list holds no word vectors"),
    ],
)
def test_objects_that_are_no_vectors(source: Any, message: str) -> None:
    with pytest.raises(UnmaskError, match=message):
        load_vectors(source)


def test_what_counts_as_vectors(tmp_path: Path) -> None:
    (tmp_path / "any").write_text("she 1 2\n")
    assert is_word_vectors(tmp_path / "any")
    assert is_word_vectors(str(tmp_path / "missing.vec")), "reading it will say that it is not there"
    assert not is_word_vectors(tmp_path)
    assert not is_word_vectors("bert-base-uncased")
    assert not is_word_vectors("x" * 5_000)
    assert not is_word_vectors({"weight": np.eye(2)})
    assert not is_word_vectors(Vectors)
    assert not is_word_vectors(("model", "tokenizer"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "has no vectors"),
        (b"3 2\na 1 2\nb 3 4\n", "promises 3 vectors and has 2"),
        (b"1 2\na 1 2\nb 3 4\n", "promises 1 vectors and has 2"),
        (b"2 3\na 1 2\nb 3 4\n", "line 2: 2 values, not 3"),
        (b"2 0\na\nb\n", "has vectors of 0 values by its first line"),
        (b"a 1 2\nb 3 x\n", "line 2: a value is not a number"),
        (b"a 1 2\nb 3\n", "line 2: 1 values, not 2"),
        (b"a .1 .2\nb .3 .4 .5\n", "line 2: 3 values, not 2"),
        (b"a 1 nan\nb 3 4\n", "vector of 'a' is not finite"),
        (b"1 2\na inf 4\n", "vector of 'a' is not finite"),
        (b"a 1 1e99\nb 3 4\n", "vector of 'a' is not finite"),
        (b"2 4\na \x00\x00\x80\x3f", "ends after 0 of 2 vectors"),
        (b"1 2\na \x00\x00\x80\x3f\x00\x00\xc0\x7f", "vector of 'a' is not finite"),
        (b"1 2\na " + b"\x01" * 8 + b"\nb " + b"\x01" * 8, "promises 1 vectors and has more"),
        (b"2 2\na " + b"\x01" * 12 + b"\0b " + b"\x01" * 12, "no word before vector 2;.* gives 2 values"),
        (b"9999999999 300\na " + b"\x01" * 2_000, "ends after 1 of 9,999,999,999"),
        (b"3 1000000000\na 1 2\nb 3 4\n", "too short for a vector of 1,000,000,000 values"),
        (b"3 1000000000\na " + b"\x01" * 2_000, "too short for a vector of 1,000,000,000 values"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "not a word vector file .it begins with '%PDF-1.7"),
        (b"word,bias\nnurse,1\n", "not a word vector file .it begins with 'word,bias'"),
        (b"This is a text.\n", "not a word vector file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a word vector file"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", r"model of fastText's.*\.vec$"),
        (pickle.dumps({"a": [1, 2]}), "is a pickle"),
    ],
)
def test_files_that_are_no_vectors(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    with pytest.raises(UnmaskError, match=message) as raised:
        vector_files.read_vectors(path)
    assert "\n" not in str(raised.value)
    if content[:1].isalnum():
        (tmp_path / "v.gz").write_bytes(gzip.compress(content))
        with pytest.raises(UnmaskError, match=message):
            vector_files.read_vectors(tmp_path / "v.gz")


def test_files_that_are_cut_off_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"the 1 2\n" * 1000)[:40])
    with pytest.raises(UnmaskError, match="ends too early"):
        vector_files.read_vectors(tmp_path / "cut.gz")
    with pytest.raises(UnmaskError, match=r"cannot be read .No such file"):
        load_vectors(tmp_path / "missing")
    with pytest.raises(UnmaskError, match=r"cannot be read .Is a directory"):
        load_vectors(str(tmp_path))
    before = make_vectors([f"w{number}" for number in range(40)])
    vector_files.write_vectors(tmp_path / "v.bin", before)
    whole = (tmp_path / "v.bin").read_bytes()
    for name, pack in (("v.bin", bytes), ("v.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(whole[:-30]))
        with pytest.raises(UnmaskError, match=re.escape("ends after 39 of 40 vectors")):
            vector_files.read_vectors(tmp_path / name)
        assert vector_files.read_vectors(tmp_path / name, most=39).words == before.words[:39], "that far it is whole"


def test_the_direction_is_found_where_it_was_planted() -> None:
    planted = np.array([1.0, 0, 0, 0])
    rng = np.random.default_rng(3)
    pairs = [(f"f{number}", f"m{number}") for number in range(6)]
    words, rows = [], []
    for female, male in pairs:
        middle = np.append(0.0, rng.normal(size=3))
        words += [female, male]
        rows += [middle / np.linalg.norm(middle) + 0.4 * planted, middle / np.linalg.norm(middle) - 0.4 * planted]
    direction = gender_direction(Vectors(words, np.array(rows, np.float32)), pairs)
    assert direction == pytest.approx(planted, abs=1e-6)


def test_equalised_by_hand() -> None:
    # g = (0, 1); the pair (.6, .8) and (1, 0): mean (.8, .4), shared (.8, 0), along .6
    equalised = equalise_pair(np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([0.0, 1.0]))
    assert equalised == pytest.approx(np.array([[0.8, 0.6], [0.8, -0.6]]))


def test_neutral_words_lose_the_direction_and_lie_equally_near_to_both() -> None:
    names = ["woman", "man", "she", "he", "girl", "boy", "She", "He", "nurse", "engineer", "Table", "actress"]
    before = make_vectors(names, size=20)
    result = hard_debias(before)
    after = normalise_rows(result.vectors.matrix)
    rows = {word: after[index] for index, word in enumerate(names)}
    for word in ("nurse", "engineer", "Table"):
        assert rows[word] @ result.direction == pytest.approx(0, abs=1e-6)
        for female, male in (("woman", "man"), ("she", "he"), ("She", "He"), ("girl", "boy")):
            assert rows[word] @ rows[female] == pytest.approx(rows[word] @ rows[male], abs=1e-6)
    assert rows["actress"] == pytest.approx(normalise_rows(before.matrix)[names.index("actress")], abs=1e-6)
    assert result.neutralised == 3
    assert set(result.equalised) == {("woman", "man"), ("she", "he"), ("She", "He"), ("girl", "boy")}
    assert np.linalg.norm(result.vectors.matrix, axis=1) == pytest.approx(1, abs=1e-5)


def test_too_few_pairs() -> None:
    with pytest.raises(UnmaskError, match="only 1 of 10 definitional pairs"):
        hard_debias(make_vectors(["she", "he", "nurse"]))


def test_real_vectors(data: Path) -> None:
    """In word2vec, nurse leans towards she before and not after; grandmother keeps its gender."""
    before = vector_files.read_vectors(data / "vectors" / "word2vec-googlenews-bolukbasi-26k.bin.gz")
    result = hard_debias(before)
    lean_before = {
        word: float(normalise_rows(before.vectors([word]))[0] @ result.direction) for word in ("nurse", "grandmother")
    }
    lean_after = {
        word: float(normalise_rows(result.vectors.vectors([word]))[0] @ result.direction)
        for word in ("nurse", "grandmother")
    }
    assert lean_before["nurse"] > 0.2
    assert abs(lean_after["nurse"]) < 1e-6
    assert lean_after["grandmother"] > 0.2
    assert len(result.equalised) > 50
    repeated = hard_debias(result.vectors)
    assert np.abs(repeated.vectors.matrix - result.vectors.matrix).max() < 0.05

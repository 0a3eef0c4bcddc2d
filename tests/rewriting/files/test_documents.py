"""Blocks and documents: bytes are preserved wherever a text is cut, and documents are sampled."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toy_rewriters import (
    GENDERED,
    rewrite_file,
    rewrite_text,
    toy,
)
from unmask.rewriting.files import FileRewriteOptions, documents, run, sources
from unmask.rewriting.files.options import DOCUMENTS
from unmask.rewriting.files.sources import Position, read_text
from unmask.rewriting.options import DocumentSampler


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks and pieces so small that a few sentences fill many of them."""
    monkeypatch.setattr(sources, "BLOCK", 64)
    monkeypatch.setattr(sources, "PIECE", 256)
    monkeypatch.setattr(documents, "PIECE", 256)
    monkeypatch.setattr(documents, "TAIL", 64)


# Blocks: all bytes, in order, in bounded blocks

_CONTENT = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"\t", b"a", b"word. ", b"\xc3\xa4", b"\xff", b"\x00", b"x" * 40])
).map(b"".join)


@pytest.mark.usefixtures("small_blocks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(_CONTENT, st.sampled_from(DOCUMENTS))
def test_blocks_are_the_text_and_can_be_taken_up_anywhere(content: bytes, document: str) -> None:
    sampler = DocumentSampler(0.5)
    blocks = list(read_text(io.BytesIO(content), document, sampler, Position()))
    assert b"".join(block for block, _ in blocks) == content
    assert all(0 < len(block) <= documents.PIECE for block, _ in blocks)
    for number, (_, after) in enumerate(blocks):
        rest = io.BytesIO(content[after.offset :])
        assert list(read_text(rest, document, sampler, after)) == blocks[number + 1 :]


@given(_CONTENT, st.sampled_from(DOCUMENTS), st.integers(40, 400))
def test_documents_are_the_same_in_blocks_of_any_size(content: bytes, document: str, size: int) -> None:
    whole = list(documents.split_documents(content, document))
    assert b"".join(whole) == content
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "BLOCK", size)
        patch.setattr(documents, "TAIL", size // 4)
        blocks = list(read_text(io.BytesIO(content), document, DocumentSampler(), Position()))
    assert [part for block, _ in blocks for part in documents.split_documents(block, document)] == whole


def test_paragraphs_lines_and_files() -> None:
    content = b"a\r\nb\r\n\r\nc\n \t\nd\re\r\rf\n\n\n"
    split = {document: list(documents.split_documents(content, document)) for document in DOCUMENTS}
    assert split["paragraph"] == [b"a\r\nb\r\n\r\n", b"c\n \t\n", b"d\re\r\r", b"f\n\n\n"]
    assert split["line"] == [b"a\r\n", b"b\r\n", b"\r\n", b"c\n", b" \t\n", b"d\r", b"e\r", b"\r", b"f\n", b"\n", b"\n"]
    assert split["file"] == [content]


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b"Ann told them.  Then Mr. Smith went home", b"Ann told them.  "),
        (b"one two\n\nthree four", b"one two\n\n"),
        (b"one two three", b"one two "),
        (b"no-space", b"no-"),
        ("größ".encode(), "grö".encode()),
        ("abc€".encode()[:-1], b"abc"),
        (b"abc", b"abc"),
    ],
)
def test_where_a_document_is_cut(content: bytes, first: bytes) -> None:
    assert content[: documents.find_cut(content)] == first


@pytest.mark.usefixtures("small_blocks")
def test_a_document_that_is_cut_counts_once_and_is_rewritten_as_a_whole(tmp_path: Path) -> None:
    content = b"She lost her keys again and again. \xff " * 200
    request = FileRewriteOptions(sources=(tmp_path / "a.txt",), processes=1, document="line")
    (tmp_path / "a.txt").write_bytes(content)
    stream = io.BytesIO()
    summary = run(request, factory=toy, stream=stream)
    assert stream.getvalue() == content.replace(b"She", b"He").replace(b"her", b"his")
    counts = summary.counts
    assert (counts.documents, counts.chosen, counts.changed, counts.invalid_utf8) == (1, 1, 1, 1)
    assert counts.words == {"she": 200, "her": 200}
    seen = set()
    for seed in range(20):
        stream = io.BytesIO()
        run(request.replace(probability=0.5, seed=seed), factory=toy, stream=stream)
        seen.add(stream.getvalue())
    assert seen == {content, content.replace(b"She", b"He").replace(b"her", b"his")}


def test_a_line_of_many_megabytes_passes_in_little_memory(tmp_path: Path) -> None:
    part = b"She " + b"walks along the river, " * 44_000
    with (tmp_path / "long.txt").open("wb") as file:
        for _ in range(30):
            file.write(part)
    (tmp_path / "short.txt").write_bytes(part * 2)
    code = (
        "import resource, sys; from pathlib import Path; from toy_rewriters import rewrite_file\n"
        "folder = Path(sys.argv[1])\n"
        "for name in ('short', 'long'):\n"
        "    rewrite_file(folder / f'{name}.txt', folder / name)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    short, long = map(int, process.stdout.split())
    assert long - short < 15_000  # KiB, for a line of 30 MB
    assert (tmp_path / "long").read_bytes() == part.replace(b"She", b"He") * 30


# Sampling of documents


def test_the_choice_is_a_hash_of_seed_and_document() -> None:
    key = hashlib.blake2b(b"7").digest()
    for text in (b"She.", "Größer".encode(), b"x" * 100_000):
        number = int.from_bytes(hashlib.blake2b(text[:65536], digest_size=8, key=key).digest(), "big") / 2**64
        assert not DocumentSampler(number - 1e-9, 7).selects(text)
        assert DocumentSampler(number + 1e-9, 7).selects(text)
        assert all(
            DocumentSampler(number + 1e-9, 7).selects(padded)
            for padded in (b"\xef\xbb\xbf" + text, text + b"\r\n", b"\n " + text)
        )
    assert all(
        DocumentSampler(1.0).selects(b"%d" % number) and not DocumentSampler(0.0).selects(b"%d" % number)
        for number in range(100)
    )
    share = sum(DocumentSampler(0.3, 5).selects(b"document %d" % number) for number in range(20_000)) / 20_000
    assert abs(share - 0.3) < 0.0115  # 3.5 standard errors


def test_a_document_is_decided_alike_in_every_format_order_and_number_of_processes(tmp_path: Path) -> None:
    texts = [f"She is number {number}." for number in range(500)]
    outcomes = []
    for name in ("a.txt", "b.jsonl", "c.parquet"):
        shuffled = random.Random(name).sample(texts, k=len(texts))
        if name == "a.txt":
            (tmp_path / name).write_text("\n".join(shuffled))
        elif name == "b.jsonl":
            (tmp_path / name).write_text("".join(json.dumps({"text": text}) + "\n" for text in shuffled))
        else:
            pq.write_table(pa.table({"text": shuffled}), tmp_path / name)
        for processes in (1, 2):
            out = tmp_path / f"{processes}{name}"
            summary = rewrite_file(tmp_path / name, out, probability=0.5, seed=3, document="line", processes=processes)
            if name == "a.txt":
                new = out.read_text().splitlines()
            elif name == "b.jsonl":
                new = [json.loads(line)["text"] for line in out.read_text().splitlines()]
            else:
                new = pq.read_table(out).column("text").to_pylist()
            assert summary.counts.chosen == summary.counts.changed == sum(text.startswith("He") for text in new)
            assert [text.replace("She", "He") for text in shuffled] == [text.replace("She", "He") for text in new]
            outcomes.append(sorted(new))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert 200 < sum(text.startswith("He") for text in outcomes[0]) < 300


# Text files: every byte outside gendered words is preserved


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", b""),
        (b"\n", b"\n"),
        (b"\xef\xbb\xbfShe\r\n", b"\xef\xbb\xbfHe\r\n"),
        (b"She\rhe\nher\r\nhis\n\r\n\r\rshe", b"He\rshe\nhis\r\nher\n\r\n\r\rhe"),
        (b"a\x00she\x01\x1b[0m \x7f he\x0b\x0c\x1c\x85", b"a\x00he\x01\x1b[0m \x7f she\x0b\x0c\x1c\x85"),
        (b"\xff\xfeshe \xc3( her \xed\xa0\x80 \xf8\n", b"\xff\xfehe \xc3( his \xed\xa0\x80 \xf8\n"),
        ("\u2028she\u2029\u00a0\ufefft\u0308".encode(), "\u2028he\u2029\u00a0\ufefft\u0308".encode()),
        (b"  \t she \t \n\n\n   ", b"  \t he \t \n\n\n   "),
    ],
)
def test_bytes_survive(content: bytes, expected: bytes, tmp_path: Path) -> None:
    for document in DOCUMENTS:
        assert rewrite_text(content, tmp_path, document=document) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_without_gendered_words_come_out_as_they_went_in(tmp_path: Path, content: bytes) -> None:
    if not GENDERED.search(content.decode("utf-8", "surrogateescape")):
        assert rewrite_text(content, tmp_path) == content


def test_bytes_that_are_not_utf_8_are_told_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"She.\n\nGr\xfc\xdfe, \xff he.\n\nb\xffd\n\nfine")
    summary = rewrite_file(tmp_path / "a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"He.\n\nGr\xfc\xdfe, \xff she.\n\nb\xffd\n\nfine"
    assert summary.counts.invalid_utf8 == 2
    assert summary.invalid == {str(tmp_path / "a.txt"): 8}
    assert any("not UTF-8: bytes in 2 documents" in line and "from 8" in line for line in summary.lines())

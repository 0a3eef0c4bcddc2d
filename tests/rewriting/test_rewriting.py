"""Rewriting at scale: no byte is lost, whatever comes in, however it is cut, spread over processes or interrupted."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unmask.errors import Stopped, UnmaskError
from unmask.rewriting.files import FileRewriteOptions, Summary, blocks, output, run, workers
from unmask.rewriting.files.blocks import DOCUMENTS, json_fields
from unmask.rewriting.files.summary import describe_changes, mark_changes
from unmask.rewriting.files.workers import Factory, Lines, Task
from unmask.rewriting.options import DocumentSampler, RewriteOptions
from unmask.rewriting.result import Left, Replacement, Rewritten, apply_changes

# A rewriter small enough to foresee: four pronouns and a name, and one word that it leaves.

_WORDS = {"she": "he", "he": "she", "her": "his", "his": "her", "ann": "Bob"}
_GENDERED = re.compile(r"\b(she|he|her|his|ann|miss)\b", re.IGNORECASE)


class Toy:
    def rewrite(self, text: str) -> Rewritten:
        changes, left = [], []
        for match in _GENDERED.finditer(text):
            word = match[0].lower()
            if word == "miss":
                left.append(Left(match.start(), match[0], word, "a verb"))
                continue
            new = _WORDS[word].capitalize() if match[0][0].isupper() else _WORDS[word]
            kind: Any = "name" if word == "ann" else "word"
            changes.append(Replacement(match.start(), match.end(), match[0], new, word, kind))
        return Rewritten(apply_changes(text, changes), tuple(changes), tuple(left))


def toy(_: RewriteOptions) -> Toy:
    return Toy()


class Tired(Toy):
    """Stops as Ctrl-C would, after so many documents."""

    left = 0

    def rewrite(self, text: str) -> Rewritten:
        Tired.left -= 1
        if Tired.left < 0:
            raise KeyboardInterrupt
        return super().rewrite(text)


def tired(_: RewriteOptions) -> Tired:
    return Tired()


class Crashing(Toy):
    def rewrite(self, text: str) -> Rewritten:
        if "crash" in text:
            os._exit(1)
        return super().rewrite(text)


def crashing(_: RewriteOptions) -> Crashing:
    return Crashing()


class Faulty(Toy):
    def rewrite(self, text: str) -> Rewritten:
        raise ZeroDivisionError(text)


def faulty(_: RewriteOptions) -> Faulty:
    return Faulty()


def _run(source: Path, out: Path | None = None, *, factory: Factory = toy, **more: Any) -> Summary:
    return run(FileRewriteOptions(sources=(source,), out=out, **({"processes": 1} | more)), factory=factory)


def _text(content: bytes, tmp_path: Path, **more: Any) -> bytes:
    """What becomes of a text file with this content."""
    for old in tmp_path.glob("text*"):
        old.unlink()
    (tmp_path / "text.txt").write_bytes(content)
    _run(tmp_path / "text.txt", tmp_path / "text.out", **more)
    return (tmp_path / "text.out").read_bytes()


def _jsonl(content: bytes, tmp_path: Path, **more: Any) -> bytes:
    (tmp_path / "in.jsonl").write_bytes(content)
    (tmp_path / "out.jsonl").unlink(missing_ok=True)
    (tmp_path / "out.jsonl.report.json").unlink(missing_ok=True)
    _run(tmp_path / "in.jsonl", tmp_path / "out.jsonl", **more)
    return (tmp_path / "out.jsonl").read_bytes()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, pieces and parcels so small that a few sentences are many."""
    monkeypatch.setattr(blocks, "BLOCK", 64)
    monkeypatch.setattr(blocks, "PIECE", 256)
    monkeypatch.setattr(blocks, "TAIL", 64)


def _stories(number: int) -> bytes:
    """Paragraphs with gendered words, of several lengths."""
    chosen = random.Random(number)
    sentences = ("She lost her keys.", "He and Ann miss it.", "Nothing.", "Größer war his Ärger …", "A\r\nline")
    stories = [" ".join(chosen.choices(sentences, k=chosen.randint(1, 30))) for _ in range(number)]
    return "\n\n".join(f"{place}. {story}" for place, story in enumerate(stories)).encode()


# Blocks: all bytes, in order, in bounded portions

_CONTENT = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"\t", b"a", b"word. ", b"\xc3\xa4", b"\xff", b"\x00", b"x" * 40])
).map(b"".join)


@pytest.mark.usefixtures("small_blocks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(_CONTENT, st.sampled_from(DOCUMENTS))
def test_blocks_are_the_text_and_can_be_taken_up_anywhere(content: bytes, document: str) -> None:
    choice = DocumentSampler(0.5)
    found = list(blocks.read_blocks(io.BytesIO(content), document, choice))
    assert b"".join(block.content for block in found) == content
    assert all(0 < len(block.content) <= blocks.PIECE for block in found)
    offset = 0
    for place, block in enumerate(found):
        offset += len(block.content)
        rest = io.BytesIO(content[offset:])
        within = block.piece_of if block.goes_on else None
        assert list(blocks.read_blocks(rest, document, choice, within)) == found[place + 1 :]


@given(_CONTENT, st.sampled_from(DOCUMENTS), st.integers(40, 400))
def test_documents_are_the_same_in_blocks_of_any_size(content: bytes, document: str, size: int) -> None:
    whole = list(blocks.split_documents(content, document))
    assert b"".join(whole) == content
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        patch.setattr(blocks, "TAIL", size // 4)
        found = list(blocks.read_blocks(io.BytesIO(content), document, DocumentSampler()))
    assert [one for block in found for one in blocks.split_documents(block.content, document)] == whole


def test_paragraphs_lines_and_files() -> None:
    content = b"a\r\nb\r\n\r\nc\n \t\nd\re\r\rf\n\n\n"
    split = {kind: list(blocks.split_documents(content, kind)) for kind in DOCUMENTS}
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
    assert content[: blocks.find_cut(content)] == first


@pytest.mark.usefixtures("small_blocks")
def test_a_document_that_is_cut_counts_once_and_is_rewritten_as_a_whole(tmp_path: Path) -> None:
    content = b"She lost her keys again and again. \xff " * 200
    request = FileRewriteOptions(sources=(tmp_path / "a.txt",), processes=1, document="line")
    (tmp_path / "a.txt").write_bytes(content)
    stream = io.BytesIO()
    summary = run(request, factory=toy, stream=stream)
    assert stream.getvalue() == content.replace(b"She", b"He").replace(b"her", b"his")
    counts = summary.counts
    assert (counts.documents, counts.chosen, counts.changed, counts.invalid) == (1, 1, 1, 1)
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
        for _ in range(60):
            file.write(part)
    (tmp_path / "short.txt").write_bytes(part * 2)
    code = (
        "import resource, sys; from pathlib import Path; import test_rewriting as t\n"
        "folder = Path(sys.argv[1])\n"
        "for name in ('short', 'long'):\n"
        "    t._run(folder / f'{name}.txt', folder / name)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    short, long = map(int, done.stdout.split())
    assert long - short < 15_000  # KiB, where the line has 60 MB
    assert (tmp_path / "long").read_bytes() == part.replace(b"She", b"He") * 60


# Which documents


def test_the_choice_is_a_hash_of_seed_and_document() -> None:
    key = hashlib.blake2b(b"7").digest()
    for text in (b"She.", "Größer".encode(), b"x" * 100_000):
        number = int.from_bytes(hashlib.blake2b(text[:65536], digest_size=8, key=key).digest(), "big") / 2**64
        assert not DocumentSampler(number - 1e-9, 7).selects(text)
        assert DocumentSampler(number + 1e-9, 7).selects(text)
        assert all(
            DocumentSampler(number + 1e-9, 7).selects(one)
            for one in (b"\xef\xbb\xbf" + text, text + b"\r\n", b"\n " + text)
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
            summary = _run(tmp_path / name, out, probability=0.5, seed=3, document="line", processes=processes)
            if name == "a.txt":
                new = out.read_text().splitlines()
            elif name == "b.jsonl":
                new = [json.loads(line)["text"] for line in out.read_text().splitlines()]
            else:
                new = pq.read_table(out).column("text").to_pylist()
            assert summary.counts.chosen == summary.counts.changed == sum(text.startswith("He") for text in new)
            assert [text.replace("She", "He") for text in shuffled] == [text.replace("She", "He") for text in new]
            outcomes.append(sorted(new))
    assert all(one == outcomes[0] for one in outcomes)
    assert 200 < sum(text.startswith("He") for text in outcomes[0]) < 300


# Text files: every byte that is no gendered word


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
        assert _text(content, tmp_path, document=document) == expected


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_without_gendered_words_come_out_as_they_went_in(tmp_path: Path, content: bytes) -> None:
    if not _GENDERED.search(content.decode("utf-8", "surrogateescape")):
        assert _text(content, tmp_path) == content


def test_bytes_that_are_not_utf_8_are_told_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"She.\n\nGr\xfc\xdfe, \xff he.\n\nb\xffd\n\nfine")
    summary = _run(tmp_path / "a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"He.\n\nGr\xfc\xdfe, \xff she.\n\nb\xffd\n\nfine"
    assert summary.counts.invalid == 2
    assert summary.invalid == {str(tmp_path / "a.txt"): 8}
    assert any("not UTF-8: bytes in 2 documents" in line and "from 8" in line for line in summary.lines())


# JSON lines: only the string is replaced


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            rb'{ "n":1.0, "text" :"She",  "big":123456789012345678901234567890, "e": 1E5 }',
            rb'{ "n":1.0, "text" :"He",  "big":123456789012345678901234567890, "e": 1E5 }',
        ),
        (rb'{"text": "no\/body \u00e4", "x": NaN}', rb'{"text": "no\/body \u00e4", "x": NaN}'),
        (rb'{"text": "she \u00e4 \ud83d\ude00"}', rb'{"text": "he \u00e4 \ud83d\ude00"}'),
        ('{"text": "she ä \\" \\n"}'.encode(), '{"text": "he ä \\" \\n"}'.encode()),
        (rb'{"text": "she \ud83d"}', rb'{"text": "he \ud83d"}'),
        (b'{"text": "she \xc3\xa4 \\ud83d"}', b'{"text": "he \xc3\xa4 \\ud83d"}'),
        (b'{"text": "she \xff"}', b'{"text": "he \xff"}'),
        (b'{"text": "she \xff \\udcff"}', b'{"text": "she \xff \\udcff"}'),
        (b'{"text": "she", "other": "\xff she"}', b'{"text": "he", "other": "\xff she"}'),
        (b'{"text": "she", "text": "her"}', b'{"text": "he", "text": "his"}'),
        (b'{"te\\u0078t": "she"}', b'{"te\\u0078t": "he"}'),
        (b'{"a": {"text": "she"}, "text": null}', b'{"a": {"text": "she"}, "text": null}'),
        (b'\xef\xbb\xbf{"text": "she"}', b'\xef\xbb\xbf{"text": "he"}'),
        (b'{"text": "she\x00\t\x1f"}', b'{"text": "he\\u0000\\t\\u001f"}'),
        (b'{"a": ' + b"9" * 5000 + b', "text": "she"}', b'{"a": ' + b"9" * 5000 + b', "text": "he"}'),
    ],
)
def test_a_json_line_keeps_all_but_the_text(line: bytes, expected: bytes, tmp_path: Path) -> None:
    for before, after in ((b"", b""), (b"", b"\n"), (b"\n\n", b"\r\n"), (b'{"text": "x"}\n', b'\n \n{"text": ""}')):
        if not (before and line.startswith(b"\xef")):
            assert _jsonl(before + line + after, tmp_path) == before + expected + after


def test_later_records_may_lack_the_text(tmp_path: Path) -> None:
    content = b'{"text": "she"}\n{}\n{"text": 3}\n{"other": "she"}\n{"text": ["she"]}\n{"text": "her"}'
    (tmp_path / "a.jsonl").write_bytes(content)
    summary = _run(tmp_path / "a.jsonl", tmp_path / "out")
    expected = b'{"text": "he"}\n{}\n{"text": 3}\n{"other": "she"}\n{"text": ["she"]}\n{"text": "his"}'
    assert (tmp_path / "out").read_bytes() == expected
    assert (summary.counts.documents, summary.counts.without_text) == (2, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"body": "she", "id": 1}', "line 1: there is no field 'text'; choose one with --column from: 'body', 'id'"),
        (b'\n{"text": 5}', "line 2: the field 'text' holds no text"),
        (b'{"text": "a"}\n{"text": "b"\n', "line 2: a comma or } is missing"),
        (b'{"text": "a"}\n[1]\n', "line 2: it does not begin with {"),
        (b'{"text": "a"} {}\n', "line 1: there is more after the object"),
        (b'{"text" "a"}\n', "line 1: a colon is missing"),
        (b'{"text": "a",}\n', "line 1: a field name in double quotes is missing"),
        (b'{"text": "a\n', "line 1: Unterminated string"),
        (b"{\n", "line 1: a field name"),
        (b'{"text": nope}\n', "line 1: Expecting value"),
        (b'{"a": ' + b"[" * 200_000 + b"\n", "line 1: "),
    ],
)
def test_broken_json_lines_are_one_clear_line(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)) as error:
        _jsonl(content, tmp_path)
    assert "in.jsonl" in str(error.value)
    assert len(str(error.value)) < 300
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_line_number_is_right_far_into_a_file(tmp_path: Path) -> None:
    good = b'{"text": "%s"}\n' % (b"She is here. " * 20)
    for processes in (1, 2):
        with pytest.raises(UnmaskError, match=r"line 5001: "):
            _jsonl(good * 5000 + b"oops\n" + good * 5000, tmp_path, processes=processes)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(), st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5), max_size=5
    ),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_fields_are_found_as_json_finds_them(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    line = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = json_fields(line)
    assert [one.name for one in found] == list(value)
    for one in found:
        assert json.dumps(json.loads(line[one.start : one.end])) == json.dumps(value[one.name])


# Parquet


def test_parquet_keeps_schema_metadata_compression_groups_and_nulls(tmp_path: Path) -> None:
    texts = ["She.", None, "", "Nothing", "Ann and her"] * 40
    table = pa.table(
        {
            "id": pa.array(range(200), pa.int16()),
            "body": pa.array(texts, pa.string()),
            "tags": pa.array([["she"], []] * 100, pa.list_(pa.string())),
        }
    ).replace_schema_metadata({"made by": "us"})
    field = table.schema.field("body").with_metadata({"note": "x"}).with_nullable(True)
    table = table.cast(pa.schema([table.schema.field(0), field, table.schema.field(2)], metadata={"made by": "us"}))
    pq.write_table(table, tmp_path / "in.parquet", compression={"id": "none", "body": "zstd"}, row_group_size=70)
    for processes in (1, 2):
        out = tmp_path / f"{processes}.parquet"
        summary = _run(tmp_path / "in.parquet", out, column="body", processes=processes)
        new, old = pq.ParquetFile(out), pq.ParquetFile(tmp_path / "in.parquet")
        assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
        assert new.schema_arrow.field("body").metadata[b"note"] == b"x"
        for file in (new, old):
            groups = [file.metadata.row_group(place) for place in range(3)]
            assert [group.num_rows for group in groups] == [70, 70, 60]
            assert [groups[0].column(place).compression for place in (0, 1)] == ["UNCOMPRESSED", "ZSTD"]
        expected = {"She.": "He.", "Ann and her": "Bob and his"}
        assert new.read().column("body").to_pylist() == [expected.get(one or "", one) for one in texts]
        for other in ("id", "tags"):
            assert new.read().column(other).equals(table.column(other))
        assert summary.counts.documents == 120
        assert summary.counts.without_text == 80
        assert summary.counts.names == {"ann": 40}


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_kind_of_text_column(kind: Any, tmp_path: Path) -> None:
    plain = pa.array(["She", "Größe", None, "x"] * 10)
    table = pa.table({"text": plain.dictionary_encode() if pa.types.is_dictionary(kind) else plain.cast(kind)})
    pq.write_table(table, tmp_path / "in.parquet")
    _run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    new = pq.read_table(tmp_path / "out.parquet")
    assert new.schema.field("text").type == pq.read_table(tmp_path / "in.parquet").schema.field("text").type == kind
    assert new.column("text").to_pylist() == ["He", "Größe", None, "x"] * 10


def test_parquet_text_that_is_not_utf_8_is_kept(tmp_path: Path) -> None:
    texts = pa.array([b"fine", b"she \xff", b"\xfe"]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    summary = _run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    column = pq.read_table(tmp_path / "out.parquet").column("text").cast(pa.binary())
    assert column.to_pylist() == [b"fine", b"he \xff", b"\xfe"]
    assert (summary.counts.invalid, list(summary.invalid.values())) == (2, [1])


def test_bad_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["she"], "n": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    for name, column, message in (
        ("a", "text", "no column 'text'; choose one with --column from: 'body', 'n'"),
        ("a", "n", "holds int64, not text"),
        ("b", "text", "is no whole Parquet file"),
    ):
        with pytest.raises(UnmaskError, match=message):
            _run(tmp_path / f"{name}.parquet", tmp_path / "out", column=column)
    with pytest.raises(UnmaskError, match="name a file with --out"):
        _run(tmp_path / "a.parquet", column="body")
    assert len(list(tmp_path.iterdir())) == 3
    _run(tmp_path / "empty.parquet", tmp_path / "out")
    assert pq.read_table(tmp_path / "out").num_rows == 0


# Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with something of everything."""
    root = tmp_path / "corpus"
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / ".hidden" / "x.txt").write_text("she")
    (root / "a.txt").write_bytes(_stories(50))
    (root / "empty.txt").touch()
    (root / "deep" / "b.jsonl").write_text('{"text": "She"}\n' * 50)
    (root / "deep" / "er" / "c.md").write_text("# Her\n")
    (root / "deep" / "d.txt.gz").write_bytes(gzip.compress(b"She \xff\r\n" * 50))
    (root / "image.png").write_bytes(b"\x89PNG she")
    pq.write_table(pa.table({"text": ["She"] * 50}), root / "e.parquet")
    return root


def _tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_folder_becomes_a_folder_of_the_same_shape(folder: Path, tmp_path: Path) -> None:
    before = _tree(folder)
    trees = []
    for processes in (1, 2):
        out = tmp_path / f"out{processes}"
        summary = _run(folder, out, processes=processes)
        assert sorted(_tree(out)) == [
            "a.txt", "deep/b.jsonl", "deep/d.txt.gz", "deep/er/c.md", "e.parquet", "empty.txt",
        ]  # fmt: skip
        assert (out / "deep/er/c.md").read_bytes() == b"# His\n"
        assert gzip.decompress((out / "deep/d.txt.gz").read_bytes()) == b"He \xff\r\n" * 50
        assert (out / "a.txt").read_bytes() == Toy().rewrite(_stories(50).decode()).text.encode()
        assert summary.files == 6
        assert summary.others == [".hidden", "image.png"]
        report = json.loads(Path(f"{out}.report.json").read_text())
        assert report["documents"] == summary.counts.documents == 50 + 50 + 1 + 1 + 50
        assert report["left"] == {"miss": {"a verb": summary.counts.left["miss", "a verb"]}}
        assert report["invalid_utf8_in"] == {str(folder / "deep/d.txt.gz"): 4}
        trees.append((_tree(out), report["words"], report["names"]))
    assert trees[0] == trees[1]
    assert _tree(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "corpus", "out1", "out1.report.json", "out2", "out2.report.json",
    ]  # fmt: skip


def test_one_file_is_packed_if_its_new_name_says_so(folder: Path, tmp_path: Path) -> None:
    stream = io.BytesIO()
    run(FileRewriteOptions(sources=(folder / "deep/d.txt.gz",), processes=1), factory=toy, stream=stream)
    assert stream.getvalue() == b"He \xff\r\n" * 50
    _run(folder / "deep/d.txt.gz", tmp_path / "d.txt")
    assert (tmp_path / "d.txt").read_bytes() == b"He \xff\r\n" * 50
    _run(folder / "deep/er/c.md", tmp_path / "c.md.gz")
    assert gzip.decompress((tmp_path / "c.md.gz").read_bytes()) == b"# His\n"


def test_several_sources_keep_their_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("she")
    run(FileRewriteOptions(sources=(folder, tmp_path / "one.txt"), out=tmp_path / "out", processes=1), factory=toy)
    assert {"corpus/a.txt", "one.txt"} < set(_tree(tmp_path / "out"))
    with pytest.raises(UnmaskError, match=r"would both be written as a\.txt"):
        run(FileRewriteOptions(sources=(folder / "a.txt", folder / "a.txt"), out=tmp_path / "more"), factory=toy)


# Interrupted, and taken up again


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch, small_blocks: None) -> None:  # noqa: ARG001
    """An entry in the journal after every block."""
    monkeypatch.setattr(output, "EVERY", 0.0)


def _interrupted(source: Path, out: Path, **more: Any) -> int:
    """Stop a run again and again, a little further each time, until it is done; says how often."""
    for stops in range(1000):
        Tired.left = 7
        try:
            _run(source, out, factory=tired, **more)
        except Stopped:
            assert not out.exists()
        else:
            return stops
    raise AssertionError("no progress")


@pytest.mark.usefixtures("every_step")
@pytest.mark.parametrize("probability", [None, 0.5])
@pytest.mark.parametrize("document", DOCUMENTS)
def test_an_interrupted_file_ends_as_an_uninterrupted_one(
    document: str, probability: float | None, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(_stories(60) + b"\n\n\xff end")
    whole = _run(tmp_path / "a.txt", tmp_path / "whole", document=document, probability=probability)
    stops = _interrupted(tmp_path / "a.txt", tmp_path / "parts", document=document, probability=probability)
    assert stops > 3 or probability
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    reports = [json.loads((tmp_path / f"{name}.report.json").read_text()) for name in ("whole", "parts")]
    for report in reports:
        report.pop("seconds")
    assert reports[0] == reports[1]
    assert whole.counts.documents == reports[1]["documents"]
    assert not (tmp_path / "parts.unfinished").exists()


@pytest.mark.usefixtures("every_step")
def test_an_interrupted_folder_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    for number in range(12):
        (root / f"{number}.txt").write_bytes(_stories(number))
    (root / "z.jsonl").write_bytes(b'{"text": "She"}\n' * 6)
    pq.write_table(pa.table({"text": ["She"] * 6}), root / "z.parquet")
    (root / "z.txt.gz").write_bytes(gzip.compress(b"She"))
    _run(root, tmp_path / "whole")
    assert _interrupted(root, tmp_path / "parts") > 5
    assert _tree(tmp_path / "whole") == _tree(tmp_path / "parts")

    Tired.left = 40
    with pytest.raises(Stopped):
        _run(root, tmp_path / "again", factory=tired)
    (root / "0.txt").write_text("She is new")  # changed since: done again
    (root / "1.txt").unlink()  # gone: its output too
    kept = tmp_path / "again.unfinished" / "output" / "10.txt"
    kept.write_bytes(b"damaged")
    with (tmp_path / "again.unfinished" / "finished.jsonl").open("a") as entries:
        entries.write('{"name": "half a li')
    summary = _run(root, tmp_path / "again")
    assert summary.finished_before > 0
    changed = _tree(tmp_path / "whole") | {"0.txt": b"He is new"}
    changed.pop("1.txt")
    assert _tree(tmp_path / "again") == changed


@pytest.mark.usefixtures("every_step")
def test_what_makes_it_another_run(tmp_path: Path) -> None:
    source, out = tmp_path / "a.txt", tmp_path / "out"
    source.write_bytes(_stories(60))

    def stop() -> None:
        Tired.left = 20
        with pytest.raises(Stopped, match=r"the same command goes on from .*out\.unfinished"):
            _run(source, out, factory=tired)

    stop()
    with pytest.raises(UnmaskError, match=r"the seed changed \(0 then, 1 now\); .* --restart"):
        _run(source, out, seed=1)
    with pytest.raises(UnmaskError, match="the mode changed"):
        _run(source, out, to="neutral")
    _run(source, out, seed=1, restart=True)
    expected = out.read_bytes()
    for damage in ("output", "source", "entry"):
        out.unlink()
        (tmp_path / "out.report.json").unlink()
        stop()
        if damage == "output":
            file = tmp_path / "out.unfinished" / "output"
            file.write_bytes(b"?" + file.read_bytes()[1:])
        elif damage == "source":
            os.utime(source, (1, 1))
        else:
            (tmp_path / "out.unfinished" / "current.json").write_text("{")
        _run(source, out)
        assert out.read_bytes() == expected


@pytest.mark.usefixtures("every_step")
def test_a_folder_with_one_bad_file_keeps_what_is_finished(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "a.txt").write_text("She")
    (root / "b.jsonl").write_text('{"text": "She"}\n{"text')
    with pytest.raises(UnmaskError, match=r"b\.jsonl, line 2: .*what is finished is kept"):
        _run(root, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (root / "b.jsonl").write_text('{"text": "She"}\n')
    assert _run(root, tmp_path / "out").finished_before == 1
    assert _tree(tmp_path / "out") == {"a.txt": b"He", "b.jsonl": b'{"text": "He"}\n'}


def test_two_runs_do_not_write_the_same_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She")
    request = FileRewriteOptions(sources=(tmp_path / "a.txt",), out=tmp_path / "out", processes=1)
    first = output.Draft(tmp_path / "out", single=True)
    first.begin(request.identity(), restart=False)
    for restart in (False, True):
        with pytest.raises(UnmaskError, match="another run is writing"):
            run(request.replace(restart=restart), factory=toy)
    first.close()
    run(request, factory=toy)
    assert (tmp_path / "out").read_text() == "He"


# Processes


def test_a_lost_process_is_an_error_and_no_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(_stories(500) + b"\n\ncrash\n\n" + _stories(500))
    with pytest.raises(workers.WorkerLostError, match="a process ended before its work did"):
        _run(tmp_path / "a.txt", tmp_path / "out", factory=crashing, processes=2)
    assert not (tmp_path / "out").exists()
    _run(tmp_path / "a.txt", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == Toy().rewrite((tmp_path / "a.txt").read_bytes().decode()).text.encode()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_fault_of_a_rewriter_says_where(processes: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She is here.")
    with pytest.raises(ZeroDivisionError) as error:
        _run(tmp_path / "a.txt", tmp_path / "out", factory=faulty, processes=processes)
    assert any("She is here." in note for note in error.value.__notes__)
    assert not (tmp_path / "out").exists()


def test_other_processes_start_only_where_there_is_enough_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def note(*words: Any, **more: Any) -> Any:
        started.append(words[0])
        return ProcessPoolExecutor(*words, **more)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", note)
    monkeypatch.setattr(workers, "cores", lambda: 2)
    (tmp_path / "a.txt").write_bytes(_stories(100))
    _run(tmp_path / "a.txt", tmp_path / "small", processes=None)
    assert not started
    (tmp_path / "a.txt").write_bytes(b"\n\n".join([_stories(400)] * 20))
    _run(tmp_path / "a.txt", tmp_path / "two", processes=None)
    assert started == [2]
    _run(tmp_path / "a.txt", tmp_path / "one", processes=1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "a.txt").stat().st_size > workers.SMALL


# Requests that cannot be met


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": 1.5}, "probability is 1.5; give a number from 0 to 1"),
        ({"probability": -0.1}, "from 0 to 1"),
        ({"probability": float("nan")}, "probability is nan; give a number"),
        ({"document": "lines"}, "document is 'lines'; did you mean 'line'"),
        ({"format": "csv"}, "format is 'csv'; choose from: auto, text"),
        ({"processes": 0}, "processes is 0; give 1 or more"),
        ({"sources": (Path("none.txt"),)}, "none.txt does not exist"),
        ({"sources": (Path("corpus"),), "out": None}, "name a new folder with --out"),
        ({"sources": (Path("a.txt"), Path("corpus")), "out": None}, "name a new folder with --out"),
        ({"out": Path("a.txt")}, "a.txt exists"),
        ({"sources": (Path("corpus"),), "out": Path("corpus/new")}, "corpus/new is inside corpus"),
        ({"sources": (Path("corpus"),), "out": Path("corpus")}, "corpus exists"),
        ({"sources": (Path("bare"),)}, "bare has no file to rewrite"),
        ({"sources": (Path("x.csv"),)}, "x.csv has none of the endings we know"),
        ({"sources": (Path("x.gz"),)}, "x.gz has none of the endings we know"),
        ({"sources": (Path("bad.txt.gz"),)}, "bad.txt.gz is no whole gzip file"),
        ({"sources": (Path("short.txt.gz"),)}, "short.txt.gz is no whole gzip file"),
        ({"sources": (Path("damaged.txt.gz"),)}, "damaged.txt.gz is"),
        ({"sources": (), "format": "parquet"}, "Parquet cannot be read from standard input"),
        ({"report": Path("a.txt")}, "a.txt exists"),
        ({"terms": Path("none.csv")}, "none.csv"),
    ],
)
def test_bad_requests(change: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("She")
    Path("x.csv").write_text("She")
    Path("x.gz").write_bytes(gzip.compress(b"She"))
    Path("bad.txt.gz").write_text("She")
    packed = gzip.compress(random.Random(1).randbytes(5000))
    Path("short.txt.gz").write_bytes(packed[:-100])
    Path("damaged.txt.gz").write_bytes(packed[:10] + b"\xff\xff" + packed[12:])
    Path("corpus").mkdir()
    Path("corpus/a.txt").write_text("She")
    Path("bare").mkdir()
    before = _tree(tmp_path)
    with pytest.raises(UnmaskError, match=re.escape(message)) as error:
        run(
            FileRewriteOptions(**{"sources": (Path("a.txt"),), "out": Path("out"), "processes": 1, **change}),
            factory=toy,
        )
    assert "\n" not in str(error.value)
    assert _tree(tmp_path) == before


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("She")
    may = os.access  # root, who runs some tests, may read everything
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).is_dir() and may(path, mode))
    with pytest.raises(UnmaskError, match=r"a\.txt cannot be read \(permission denied\)"):
        _run(tmp_path / "a.txt", tmp_path / "out")
    assert len(list(tmp_path.iterdir())) == 1


def test_marks_and_notes() -> None:
    text = "She and Ann miss it."
    done = Toy().rewrite(text)
    assert mark_changes(text, done) == [
        ("She", "before"), ("He", "after"), (" and ", ""), ("Ann", "before"), ("Bob", "after"), (" ", ""),
        ("miss", "left"), (" it.", ""),
    ]  # fmt: skip
    assert describe_changes(done) == ["She → He", "Ann → Bob (name)", "miss left: a verb"]


def test_a_summary_is_a_screenful(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(_stories(30))
    summary = _run(tmp_path / "a.txt", tmp_path / "out", probability=0.5)
    lines = "\n".join(summary.lines())
    counts = summary.counts
    assert f"30 documents, {counts.chosen} chosen, {counts.changed} changed" in lines
    assert f"words: {sum(counts.words.values())} (" in lines
    assert f"names: {counts.names['ann']} (ann {counts.names['ann']})" in lines
    assert f"gendered words left: {counts.left['miss', 'a verb']} (miss [a verb]" in lines
    assert len(summary.lines()) < 10


def test_lines_know_their_first() -> None:
    hand = Task(toy, RewriteOptions(), DocumentSampler()).hand()
    assert hand.work(Lines(b'{"body": "she"}\n', first=False)).counts.without_text == 1
    assert hand.work(Lines(b'{"body": "she"}\n', first=True)).bad_line is not None


# The command, in a process of its own


def _command(*words: str | Path, cwd: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "unmask", "rewrite", *map(str, words)],
        cwd=cwd,
        env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"},
        input=given,
        capture_output=True,
        timeout=300,
        check=False,
    )


def test_text_goes_through_a_pipe(tmp_path: Path) -> None:
    content = "\ufeffShe lost her keys.\r\n\r\nGröße \x00\x1b".encode() + b"\xff he\n"
    expected = "\ufeffHe lost his keys.\r\n\r\nGröße \x00\x1b".encode() + b"\xff she\n"
    for words in ((), ("-",), ("--processes", "2"), ("--document", "line")):
        done = _command(*words, "--terms", "pronouns", cwd=tmp_path, given=content)
        assert done.returncode == 0, done.stderr
        assert done.stdout == expected
        assert b"words: 3 (" in done.stderr
    assert _command(cwd=tmp_path).stdout == b""
    jsonl = _command("--format", "jsonl", "--report", "r.json", cwd=tmp_path, given=b'{"text":"She"}\n')
    assert jsonl.stdout == b'{"text":"He"}\n'
    assert json.loads((tmp_path / "r.json").read_text())["words"] == {"she": 1}
    (tmp_path / "a.txt").write_bytes(content)
    assert _command("a.txt", cwd=tmp_path).stdout == expected
    done = _command("a.txt", "--out", "b.txt", cwd=tmp_path)
    assert done.stdout == b""
    assert b"written: b.txt" in done.stderr
    assert (tmp_path / "b.txt").read_bytes() == expected


def test_a_text_of_the_command_line_with_its_changes(tmp_path: Path) -> None:
    done = _command("--text", "She saw me.", cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"He saw me.\n", b"")
    done = _command("--text", "She saw me.", "--show", cwd=tmp_path)
    assert done.stdout == b"He saw me.\n"
    assert done.stderr.decode() == "[-She-]{+He+} saw me.\n  She → He\n"
    (tmp_path / "a.txt").write_bytes(b"She \xff saw me.")
    done = _command("a.txt", "--show", cwd=tmp_path)
    assert done.stdout == b"He \xff saw me."
    assert "She → He" in done.stderr.decode()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.txt",), "none.txt does not exist"),
        ((".",), "name a new folder with --out"),
        (("--to", "swop", "--text", "x"), "--to is 'swop'; did you mean 'swap'?"),
        (("--terms", "al", "--text", "x"), "unknown term set 'al'; did you mean 'all'?"),
        (("--language", "fr", "--text", "x"), "--language is 'fr'; choose from: en, de"),
        (("--probability", "2"), "--probability is 2"),
        (("--text", "x", "a.txt"), "--text is printed"),
        (("a.jsonl", "--column", "body"), "a.jsonl, line 1: there is no field 'body'"),
        (("a.jsonl", "--show"), "--show is for a plain text"),
        (("a.txt", "--out", "a.txt"), "a.txt exists"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("She")
    (tmp_path / "a.jsonl").write_text('{"text": "She"}\n')
    done = _command(*words, cwd=tmp_path, given=b"She")
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == b""
    assert len(list(tmp_path.iterdir())) == 2


def test_a_reader_that_has_had_enough(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"She is here.\n\n" * 40_000)
    script = f"{sys.executable} -m unmask rewrite a.txt --processes 1 2>err | head -c 13; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, check=True, timeout=120)
    assert done.stdout == b"He is here.\n\n141\n"
    assert (tmp_path / "err").read_bytes() == b""


def test_no_standard_input_at_all(tmp_path: Path) -> None:
    script = f"{sys.executable} -m unmask rewrite <&-"
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr == "unmask: there is no standard input; name a file, or give --text\n"


def test_ctrl_c_and_the_same_command_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\n\n".join([_stories(300)] * 120))
    words = [sys.executable, "-m", "unmask", "rewrite", "a.txt", "--processes", "2", "--out", "parts.txt"]
    process = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and not (tmp_path / "parts.txt.unfinished/current.json").exists():
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all processes of the group
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said == "unmask: stopped; the same command goes on from parts.txt.unfinished, and --restart begins again\n"
    assert not (tmp_path / "parts.txt").exists()
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    assert "written: parts.txt" in done.stderr
    whole = _command("a.txt", "--out", "whole.txt", "--processes", "1", cwd=tmp_path)
    assert whole.returncode == 0
    assert (tmp_path / "whole.txt").read_bytes() == (tmp_path / "parts.txt").read_bytes()
    reports = [json.loads((tmp_path / f"{name}.txt.report.json").read_text()) for name in ("parts", "whole")]
    assert all(report.pop("seconds") is not None for report in reports)
    assert reports[0] == reports[1]


def test_ctrl_c_while_a_process_starts_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_bytes(_stories(3))
    submit = ProcessPoolExecutor.submit

    def interrupted(self: ProcessPoolExecutor, *work: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        return submit(self, *work)  # type: ignore[arg-type]

    monkeypatch.setattr(ProcessPoolExecutor, "submit", interrupted)
    with pytest.raises(Stopped):
        run(FileRewriteOptions(sources=(tmp_path / "a.txt",), out=tmp_path / "b.txt", processes=2))
    assert not (tmp_path / "b.txt").exists()

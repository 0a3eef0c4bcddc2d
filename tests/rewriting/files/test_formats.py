"""JSON lines, Parquet, gzip and folders: only the text changes. Also the summary of a run."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toy_rewriters import (
    Toy,
    make_stories,
    read_tree,
    rewrite_file,
    rewrite_json_lines,
    toy,
)
from unmask.errors import UnmaskError
from unmask.rewriting.files import FileRewriteOptions, run
from unmask.rewriting.files.documents import read_json_fields
from unmask.rewriting.files.sources import Block, Position, Source
from unmask.rewriting.files.summary import describe_changes, mark_changes
from unmask.rewriting.files.workers import BlockRewriter

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
            assert rewrite_json_lines(before + line + after, tmp_path) == before + expected + after


def test_later_records_may_lack_the_text(tmp_path: Path) -> None:
    content = b'{"text": "she"}\n{}\n{"text": 3}\n{"other": "she"}\n{"text": ["she"]}\n{"text": "her"}'
    (tmp_path / "a.jsonl").write_bytes(content)
    summary = rewrite_file(tmp_path / "a.jsonl", tmp_path / "out")
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
        rewrite_json_lines(content, tmp_path)
    assert "in.jsonl" in str(error.value)
    assert len(str(error.value)) < 300
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_the_line_number_is_right_far_into_a_file(tmp_path: Path) -> None:
    good = b'{"text": "%s"}\n' % (b"She is here. " * 20)
    for processes in (1, 2):
        with pytest.raises(UnmaskError, match=r"line 5001: "):
            rewrite_json_lines(good * 5000 + b"oops\n" + good * 5000, tmp_path, processes=processes)


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
    fields = read_json_fields(line)
    assert [field.name for field in fields] == list(value)
    for field in fields:
        assert json.dumps(json.loads(line[field.start : field.end])) == json.dumps(value[field.name])


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
        summary = rewrite_file(tmp_path / "in.parquet", out, column="body", processes=processes)
        new, old = pq.ParquetFile(out), pq.ParquetFile(tmp_path / "in.parquet")
        assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
        assert new.schema_arrow.field("body").metadata[b"note"] == b"x"
        for file in (new, old):
            groups = [file.metadata.row_group(index) for index in range(3)]
            assert [group.num_rows for group in groups] == [70, 70, 60]
            assert [groups[0].column(index).compression for index in (0, 1)] == ["UNCOMPRESSED", "ZSTD"]
        expected = {"She.": "He.", "Ann and her": "Bob and his"}
        assert new.read().column("body").to_pylist() == [expected.get(text or "", text) for text in texts]
        for other in ("id", "tags"):
            assert new.read().column(other).equals(table.column(other))
        assert summary.counts.documents == 120
        assert summary.counts.without_text == 80
        assert summary.counts.names == {"ann": 40}


@pytest.mark.parametrize(
    "text_type", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_kind_of_text_column(text_type: Any, tmp_path: Path) -> None:
    plain = pa.array(["She", "Größe", None, "x"] * 10)
    table = pa.table(
        {"text": plain.dictionary_encode() if pa.types.is_dictionary(text_type) else plain.cast(text_type)}
    )
    pq.write_table(table, tmp_path / "in.parquet")
    rewrite_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    new = pq.read_table(tmp_path / "out.parquet")
    assert (
        new.schema.field("text").type == pq.read_table(tmp_path / "in.parquet").schema.field("text").type == text_type
    )
    assert new.column("text").to_pylist() == ["He", "Größe", None, "x"] * 10


def test_parquet_text_that_is_not_utf_8_is_kept(tmp_path: Path) -> None:
    texts = pa.array([b"fine", b"she \xff", b"\xfe"]).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    summary = rewrite_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    column = pq.read_table(tmp_path / "out.parquet").column("text").cast(pa.binary())
    assert column.to_pylist() == [b"fine", b"he \xff", b"\xfe"]
    assert (summary.counts.invalid_utf8, list(summary.invalid.values())) == (2, [1])


def test_bad_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"body": ["she"], "n": [1]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not")
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "empty.parquet")
    for name, column, message in (
        ("a", "text", "no column 'text'; choose one with --column from: 'body', 'n'"),
        ("a", "n", "holds int64, not text"),
        ("b", "text", "is not a complete Parquet file"),
    ):
        with pytest.raises(UnmaskError, match=message):
            rewrite_file(tmp_path / f"{name}.parquet", tmp_path / "out", column=column)
    with pytest.raises(UnmaskError, match="name a file with --out"):
        rewrite_file(tmp_path / "a.parquet", column="body")
    assert len(list(tmp_path.iterdir())) == 3
    rewrite_file(tmp_path / "empty.parquet", tmp_path / "out")
    assert pq.read_table(tmp_path / "out").num_rows == 0


# Folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of all formats, a hidden file and an image."""
    root = tmp_path / "corpus"
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / ".hidden" / "x.txt").write_text("she")
    (root / "a.txt").write_bytes(make_stories(50))
    (root / "empty.txt").touch()
    (root / "deep" / "b.jsonl").write_text('{"text": "She"}\n' * 50)
    (root / "deep" / "er" / "c.md").write_text("# Her\n")
    (root / "deep" / "d.txt.gz").write_bytes(gzip.compress(b"She \xff\r\n" * 50))
    (root / "image.png").write_bytes(b"\x89PNG she")
    pq.write_table(pa.table({"text": ["She"] * 50}), root / "e.parquet")
    return root


def test_a_folder_becomes_a_folder_of_the_same_shape(folder: Path, tmp_path: Path) -> None:
    before = read_tree(folder)
    trees = []
    for processes in (1, 2):
        out = tmp_path / f"out{processes}"
        summary = rewrite_file(folder, out, processes=processes)
        assert sorted(read_tree(out)) == [
            "a.txt", "deep/b.jsonl", "deep/d.txt.gz", "deep/er/c.md", "e.parquet", "empty.txt",
        ]  # fmt: skip
        assert (out / "deep/er/c.md").read_bytes() == b"# His\n"
        assert gzip.decompress((out / "deep/d.txt.gz").read_bytes()) == b"He \xff\r\n" * 50
        assert (out / "a.txt").read_bytes() == Toy().rewrite(make_stories(50).decode()).text.encode()
        assert summary.files == 6
        assert summary.others == [".hidden", "image.png"]
        report = json.loads(Path(f"{out}.report.json").read_text())
        assert report["documents"] == summary.counts.documents == 50 + 50 + 1 + 1 + 50
        assert report["left"] == {"miss": {"a verb": summary.counts.left["miss", "a verb"]}}
        assert report["invalid_utf8_in"] == {str(folder / "deep/d.txt.gz"): 4}
        trees.append((read_tree(out), report["words"], report["names"]))
    assert trees[0] == trees[1]
    assert read_tree(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "corpus", "out1", "out1.report.json", "out2", "out2.report.json",
    ]  # fmt: skip


def test_one_file_is_packed_if_its_new_name_says_so(folder: Path, tmp_path: Path) -> None:
    stream = io.BytesIO()
    run(FileRewriteOptions(sources=(folder / "deep/d.txt.gz",), processes=1), factory=toy, stream=stream)
    assert stream.getvalue() == b"He \xff\r\n" * 50
    rewrite_file(folder / "deep/d.txt.gz", tmp_path / "d.txt")
    assert (tmp_path / "d.txt").read_bytes() == b"He \xff\r\n" * 50
    rewrite_file(folder / "deep/er/c.md", tmp_path / "c.md.gz")
    assert gzip.decompress((tmp_path / "c.md.gz").read_bytes()) == b"# His\n"


def test_several_sources_keep_their_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("she")
    run(FileRewriteOptions(sources=(folder, tmp_path / "one.txt"), out=tmp_path / "out", processes=1), factory=toy)
    assert {"corpus/a.txt", "one.txt"} < set(read_tree(tmp_path / "out"))
    with pytest.raises(UnmaskError, match=r"would both be written as a\.txt"):
        run(FileRewriteOptions(sources=(folder / "a.txt", folder / "a.txt"), out=tmp_path / "more"), factory=toy)


def test_marks_and_notes() -> None:
    text = "She and Ann miss it."
    result = Toy().rewrite(text)
    assert mark_changes(text, result) == [
        ("She", "before"), ("He", "after"), (" and ", ""), ("Ann", "before"), ("Bob", "after"), (" ", ""),
        ("miss", "left"), (" it.", ""),
    ]  # fmt: skip
    assert describe_changes(result) == ["She → He", "Ann → Bob (name)", "miss left: a verb"]


def test_a_summary_is_a_screenful(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(make_stories(30))
    summary = rewrite_file(tmp_path / "a.txt", tmp_path / "out", probability=0.5)
    lines = "\n".join(summary.lines())
    counts = summary.counts
    assert f"30 documents, {counts.chosen} chosen, {counts.changed} changed" in lines
    assert f"words: {sum(counts.words.values())} (" in lines
    assert f"names: {counts.names['ann']} (ann {counts.names['ann']})" in lines
    assert f"gendered words left: {counts.left['miss', 'a verb']} (miss [a verb]" in lines
    assert len(summary.lines()) < 10


def test_lines_know_their_first() -> None:
    rewriter = BlockRewriter(FileRewriteOptions(), toy)
    source, line = Source(Path("a.jsonl"), "a.jsonl", "jsonl"), b'{"body": "she"}\n'
    first, second = (Block(source, line, Position(0, None, row), Position(), 0) for row in (0, 1))
    assert rewriter.rewrite_block(second)[1].without_text == 1
    assert isinstance(rewriter.rewrite_block(first)[0], UnmaskError)

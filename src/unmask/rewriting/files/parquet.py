"""Parquet: the text column is rewritten; schema, other columns, metadata, compression and nulls stay.

A file is read and written in parts of bounded size. A row group larger than `GROUP` bytes becomes several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unmask.errors import UnmaskError, quote

BATCH = 1 << 19
GROUP = 1 << 26
_CODECS = {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4"}


def open_table(path: Path, column: str) -> Any:
    """A Parquet file that has the text column."""
    try:
        file = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
    except pa.ArrowException as error:
        raise UnmaskError(f"{path} is not a complete Parquet file ({str(error).splitlines()[0]})") from None
    check_column(file.schema_arrow, column, str(path))
    return file


def check_column(schema: Any, column: str, where: str) -> None:
    """Raise an error for a column that is not there, or holds no text."""
    if column not in schema.names:
        raise UnmaskError(
            f"{where} has no column {column!r}; choose one with --column from: {quote(schema.names, most=12)}"
        )
    if schema.names.count(column) > 1:
        raise UnmaskError(f"{where} has several columns {column!r}; rename them, and choose one with --column")
    column_type = schema.field(column).type
    text_type = column_type.value_type if pa.types.is_dictionary(column_type) else column_type
    if not any(
        is_text(text_type) for is_text in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    ):
        raise UnmaskError(
            f"the column {column!r} of {where} holds {column_type}, not text; choose another with --column"
        )


def read_batches(file: Any) -> Iterator[tuple[int, Any]]:
    """Some rows at a time, with the number of their row group."""
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        rows = max(1, min(group.num_rows, BATCH * group.num_rows // max(1, group.total_byte_size)))
        for batch in file.iter_batches(batch_size=rows, row_groups=[number], use_threads=False):
            yield number, batch


def column_texts(column: Any) -> list[bytes | None]:
    """The texts of a column as bytes, whether they are UTF-8 or not."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    texts: list[bytes | None] = column.cast(pa.large_binary()).to_pylist()
    return texts


def replace_column(rows: Any, column: str, texts: Sequence[bytes | None]) -> Any:
    """A batch or table with other texts in the column, whose type stays."""
    index = rows.schema.get_field_index(column)
    column_field = rows.schema.field(index)
    array = pa.array(texts, type=pa.large_binary()).cast(pa.large_string(), safe=False)
    if pa.types.is_dictionary(column_field.type):
        array = array.cast(column_field.type.value_type, safe=False).dictionary_encode().cast(column_field.type)
    else:
        array = array.cast(column_field.type, safe=False)
    return rows.set_column(index, column_field, array)


class TableWriter:
    """Writes batches as row groups like those of the file they came from."""

    def __init__(self, path: Path, original: Any) -> None:
        """Begin a file with the schema, metadata and compression of another."""
        compression: Any = "snappy"
        if original.num_row_groups:
            group = original.metadata.row_group(0)
            chunks = [group.column(index) for index in range(group.num_columns)]
            compression = {
                chunk.path_in_schema: _CODECS.get(chunk.compression, chunk.compression.lower()) for chunk in chunks
            }
        self._writer = pq.ParquetWriter(path, original.schema_arrow, compression=compression)
        self._waiting: list[Any] = []
        self._group = 0
        self._bytes = 0

    def write(self, group: int, batch: Any, column: str, texts: Sequence[bytes | None]) -> None:
        """Add some rows of a row group, with new texts."""
        batch = replace_column(batch, column, texts)
        if self._waiting and (group != self._group or self._bytes >= GROUP):
            self._flush()
        self._group = group
        self._waiting.append(batch)
        self._bytes += batch.nbytes

    def _flush(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting)
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._waiting, self._bytes = [], 0

    def close(self) -> None:
        """Write what is left, and the footer."""
        self._flush()
        self._writer.close()

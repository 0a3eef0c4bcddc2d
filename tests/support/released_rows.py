"""The rows of BEC-Pro under the column names of the released files."""

from __future__ import annotations

from unmask.measures.association.data import build_rows, corpus_table
from unmask.measures.base import Context


def released_rows(language: str) -> list[dict[str, str]]:
    """The released file of a language, without its scores, and with the English name of every profession."""
    rows = build_rows(language, protocol="published")
    table = corpus_table(rows, Context(language, "bec-pro", "published"))
    records = table.assign(Profession_EN=[row.profession for row in rows]).to_dict("records")
    return [{str(name): cell for name, cell in record.items()} for record in records]

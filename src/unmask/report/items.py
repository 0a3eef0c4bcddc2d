"""The items behind the numbers, as a table that a page can sort, filter and search.

The rows travel in the page as JSON, column by column: numbers as they are, texts by their index among the distinct
ones. Where there are too many for a page, it has the most extreme and a random part of the others, and says so.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.results.formatting import number

if TYPE_CHECKING:
    import pandas as pd

PAGE_BYTES = 1_800_000
"""Bytes of a page that are for items."""
LONGEST = 280
"""Texts are cut after so many characters."""
WIDE = 30
"""A column with a text of more characters gets more room."""
MOST_COLUMNS = 14
MOST_CHOICES = 12
"""A column with at most so many different texts can be filtered by them."""
FIRST = 25
"""So many rows are in the page for readers without a script."""
COLLECTIONS = (list, dict, tuple, set, np.ndarray)
"""A column that holds these is not shown."""
DIGITS = 5
"""Significant digits of numbers in the page; the file has them all."""


@dataclass(frozen=True)
class ItemColumn:
    """How a column of items is shown."""

    name: str
    title: str = ""
    """The heading; empty for the name."""
    digits: int = 3
    spoken: bool = False
    """Whether its texts are in the language of the items."""


@dataclass(frozen=True)
class ItemsTable:
    """The items of a measure, and how they are shown."""

    name: str
    """The name of the measure, and of the file in the folder `items`."""
    title: str
    items: pd.DataFrame
    columns: Sequence[ItemColumn] = ()
    """The columns that are shown, in order; empty for all."""
    score: str = ""
    """The column by which items are extreme; empty for the last column of numbers."""
    extremeness: Callable[[pd.DataFrame], pd.Series[float]] | None = None
    """How extreme each item is, where that is not the size of its score."""


def browse_items(tables: Sequence[ItemsTable], *, room: int = PAGE_BYTES) -> list[dict[str, Any]]:
    """What the page needs for each table that has items. All tables together take at most `room` bytes."""
    filled = sorted((len(table.items), index) for index, table in enumerate(tables) if len(table.items))
    views: dict[int, dict[str, Any]] = {}
    for count, (_, index) in enumerate(filled):  # what a short table leaves is for the longer ones
        views[index] = _browse_table(tables[index], room // (len(filled) - count))
        room -= len(views[index]["json"].encode())
    return [views[index] for index in sorted(views)]


def _browse_table(table: ItemsTable, room: int) -> dict[str, Any]:
    whole, extreme = _select_columns(table), _order_rows(table)
    settings = {column.name: column for column in table.columns}
    languages = set(table.items["language"]) if "language" in table.items else set()
    language = str(next(iter(languages))) if len(languages) == 1 else ""
    rows, text = whole.loc[extreme], ""
    while True:
        columns = list(_encode_columns(rows, settings, language))
        text = _encode_json({"name": table.name, "size": len(rows), "columns": columns})
        if len(text.encode()) <= room or len(rows) <= FIRST:
            break
        rows = _sample_rows(whole, extreme, int(0.95 * len(rows) * room / len(text.encode())))
    return {
        "name": table.name,
        "title": table.title,
        "total": len(table.items),
        "size": len(rows),
        "columns": columns,
        "first": [[_format_cell(column, index) for column in columns] for index in range(min(FIRST, len(rows)))],
        "json": text,
        "cut": any(text.endswith("…") for column in columns for text in column.get("texts", ())),
    }


def _select_columns(table: ItemsTable) -> pd.DataFrame:
    """The columns worth showing: plain texts and numbers that are not the same in every row."""
    items = table.items.reset_index(drop=True)
    names = [column.name for column in table.columns] or [str(name) for name in items]
    if "before" in items:  # two models side by side
        names = [name for name in names if name != table.score]
    plain = [
        name
        for name in names
        if name in items and not items[name].map(lambda value: isinstance(value, COLLECTIONS)).any()
    ]
    varied = [name for name in plain if len(items) == 1 or items[name].nunique(dropna=False) > 1]
    return items[(varied or plain)[:MOST_COLUMNS]]


def _order_rows(table: ItemsTable) -> list[int]:
    """The indices of the rows, the most extreme first."""
    import pandas as pd

    items = table.items.reset_index(drop=True)
    numbers = [str(name) for name in items if pd.api.types.is_float_dtype(items[name])]
    if "change" in numbers:
        distance = items["change"].abs()
    elif table.extremeness:
        distance = table.extremeness(items)
    else:
        name = table.score if table.score in items else numbers[-1] if numbers else ""
        distance = items[name].abs() if name else pd.Series(0.0, items.index)
    return [int(index) for index in distance.sort_values(ascending=False, kind="stable", na_position="last").index]


def _sample_rows(whole: pd.DataFrame, extreme: list[int], size: int) -> pd.DataFrame:
    """A sample of rows: half of them the most extreme, half random others; always the same ones."""
    size = max(size, FIRST)
    top, rest = extreme[: size // 2], extreme[size // 2 :]
    drawn = set(random.Random(0).sample(rest, min(len(rest), size - len(top))))
    return whole.loc[[*top, *(index for index in rest if index in drawn)]]


def _encode_columns(rows: pd.DataFrame, settings: Mapping[str, ItemColumn], language: str) -> Iterator[dict[str, Any]]:
    import pandas as pd

    for name in rows:
        setting = settings.get(str(name)) or ItemColumn(str(name), spoken=name in ("sentence", "text", "word"))
        column: dict[str, Any] = {"name": setting.name, "head": setting.title or setting.name.replace("_", " ")}
        values = rows[name]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            whole = pd.api.types.is_integer_dtype(values)
            digits = 0 if whole else setting.digits
            yield column | {"numbers": [_encode_number(value) for value in values], "digits": digits}
            continue
        texts = [_encode_text(value) for value in values]
        codes, distinct = pd.factorize(np.array(texts, dtype=object))
        column |= {"texts": distinct.tolist(), "at": codes.tolist()}
        column["filter"] = 1 < len(distinct) <= MOST_CHOICES
        column["long"] = max(map(len, distinct)) > WIDE
        if setting.spoken and language:
            column["language"] = language
        yield column


def _encode_number(value: Any) -> float | int | None:
    import pandas as pd

    if pd.isna(value) or abs(value) == float("inf"):
        return None
    return int(value) if float(value).is_integer() else float(f"{float(value):.{DIGITS}g}")


def _encode_text(value: Any) -> str:
    """The text of a cell; empty if the value is missing."""
    if value is None or value != value or type(value).__name__ == "NAType":
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _format_cell(column: Mapping[str, Any], index: int) -> str:
    if "numbers" in column:
        return number(column["numbers"][index], column["digits"])
    return str(column["texts"][column["at"][index]])


def _encode_json(value: Any) -> str:
    """JSON that can neither close the element around it nor open another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

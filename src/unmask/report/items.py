"""The items behind the numbers, as a table that a page can sort, filter and search.

The rows travel in the page as JSON, column by column: numbers as they are, texts by their place among the distinct
ones. Where there are too many for a page, it has the most extreme and a random part of the others, and says so.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.probes.inference import CONTROL
from unmask.report.pages import measure_name
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "association": "sentence person gender profession group before after change association log_p_target log_p_prior"
    " workforce_share model language corpus",
    "sentiment": "text label changed_terms before after change bias p_female p_male choice_female choice_male words"
    " terms model language corpus id",
    "inference": "premise hypothesis occupation occupation_type gender set before after change prediction"
    " p_entailment p_neutral p_contradiction model language corpus",
    "geometry": "word bias side cluster cluster_removed predicted predicted_removed male_neighbours"
    " male_neighbours_removed stereotype words model compared language corpus",
    "crows-pairs": "sent_more sent_less direction before after difference model language corpus",
}
"""What is shown of the items of a measure, in order; of any other measure, everything."""
SCORES = {"association": "association", "sentiment": "bias", "geometry": "bias", "crows-pairs": "difference"}
"""By what an item is extreme; of any other measure, its last column of numbers."""
SPOKEN = {"sentence", "text", "premise", "hypothesis", "word", "person", "profession", "occupation"} | {
    "sent_more",
    "sent_less",
}
"""Columns in the language of the items."""
ROOM = 1_800_000
"""So many bytes of a page are for items."""
LONGEST = 280
"""Texts are cut after so many characters."""
WIDE = 30
"""A column with a text of more characters gets more room."""
MOST_COLUMNS = 14
HEADS = {
    "log_p_target": "ln p",
    "log_p_prior": "ln prior",
    "workforce_share": "women (%)",
    "occupation_type": "stereotype",
    "p_entailment": "entailment",
    "p_neutral": "neutral",
    "p_contradiction": "contradiction",
    "sent_more": "more stereotypical",
    "sent_less": "less stereotypical",
}
"""What columns are called, where it is not their name."""
PRECISION = {"workforce_share": 1, "bias": 4, "p_female": 4, "p_male": 4}
MOST_CHOICES = 12
"""A column with so many different texts can be filtered by them."""
FIRST = 25
"""So many rows are in the page for who has no script."""
COLLECTIONS = (list, dict, tuple, set, np.ndarray)
"""A column that holds these is not shown; Parquet gives lists back as arrays."""
DIGITS = 5
"""Significant digits of numbers in the page; the file has them all."""


def tables(items: Mapping[str, pd.DataFrame], *, room: int = ROOM) -> list[dict[str, Any]]:
    """A table for each measure that has items."""
    able = sorted((len(frame), measure) for measure, frame in items.items() if len(frame))
    made: dict[str, dict[str, Any]] = {}
    for at, (_, measure) in enumerate(able):  # what a short table leaves is for the longer ones
        made[measure] = _table(measure, items[measure], room // (len(able) - at))
        room -= len(made[measure]["json"].encode())
    return [made[measure] for measure in items if measure in made]


def _table(measure: str, frame: pd.DataFrame, room: int) -> dict[str, Any]:
    whole, extreme = _shown(measure, frame), _extremes(measure, frame)
    rows, text = whole.loc[extreme], ""
    while True:
        columns = list(_columns(rows))
        text = _json({"name": measure, "size": len(rows), "columns": columns})
        if len(text.encode()) <= room or len(rows) <= FIRST:
            break
        rows = _some(whole, extreme, int(0.95 * len(rows) * room / len(text.encode())))
    return {
        "measure": measure,
        "title": measure_name(measure if measure in COLUMNS else measure.replace("-", " ")),
        "of": len(frame),
        "size": len(rows),
        "columns": columns,
        "first": [[_cell(column, at) for column in columns] for at in range(min(FIRST, len(rows)))],
        "json": text,
        "cut": any(text.endswith("…") for column in columns for text in column.get("texts", ())),
    }


def _shown(measure: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns worth showing: plain texts and numbers that are not the same in every row."""
    wanted = COLUMNS[measure].split() if measure in COLUMNS else list(frame)
    if "before" in frame:  # two models side by side
        wanted = [name for name in wanted if name != SCORES.get(measure)]
    there = frame.reset_index(drop=True)[[name for name in wanted if name in frame]]
    there = there[[name for name in there if not there[name].map(lambda one: isinstance(one, COLLECTIONS)).any()]]
    varied = [name for name in there if len(there) == 1 or there[name].nunique(dropna=False) > 1]
    return there[(varied or list(there))[:MOST_COLUMNS]]


def _extremes(measure: str, frame: pd.DataFrame) -> list[int]:
    """The places of the rows, the most extreme first."""
    import pandas as pd

    plain = frame.reset_index(drop=True)
    if measure == "inference" and "p_neutral" in plain:
        far = 1 - plain["p_neutral"]
        far = far.where(plain["set"] != CONTROL, -1.0) if "set" in plain else far  # there, neutral would be wrong
    else:
        numbers = [str(name) for name in plain if pd.api.types.is_float_dtype(plain[name])]
        name = "change" if "change" in numbers else SCORES.get(measure, "")
        name = name if name in plain else numbers[-1] if numbers else ""
        far = plain[name].abs() if name else pd.Series(0.0, plain.index)
    return [int(at) for at in far.sort_values(ascending=False, kind="stable", na_position="last").index]


def _some(whole: pd.DataFrame, extreme: list[int], size: int) -> pd.DataFrame:
    """So many rows: half of them the most extreme, and a random half of the others; always the same ones."""
    size = max(size, FIRST)
    top, rest = extreme[: size // 2], extreme[size // 2 :]
    drawn = set(random.Random(0).sample(rest, min(len(rest), size - len(top))))
    return whole.loc[[*top, *(at for at in rest if at in drawn)]]


def _columns(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    import pandas as pd

    languages = set(rows["language"]) if "language" in rows else set()
    for name in rows:
        column: dict[str, Any] = {"name": str(name), "head": HEADS.get(str(name), str(name).replace("_", " "))}
        values = rows[name]
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            whole = pd.api.types.is_integer_dtype(values)
            digits = 0 if whole else PRECISION.get(str(name), 3)
            yield column | {"numbers": [_number(one) for one in values], "digits": digits}
            continue
        texts = [_text(one) for one in values]
        places = {text: at for at, text in enumerate(dict.fromkeys(texts))}
        column |= {"texts": list(places), "at": [places[text] for text in texts]}
        column["filter"] = 1 < len(places) <= MOST_CHOICES
        column["long"] = max(map(len, places)) > WIDE
        if name in SPOKEN and len(languages) == 1:
            column["language"] = str(next(iter(languages)))
        yield column


def _number(value: Any) -> float | int | None:
    import pandas as pd

    if pd.isna(value) or abs(value) == float("inf"):
        return None
    return int(value) if float(value).is_integer() else float(f"{float(value):.{DIGITS}g}")


def _text(value: Any) -> str:
    """What a cell says; nothing where it is missing."""
    if value is None or value != value or type(value).__name__ == "NAType":
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _cell(column: Mapping[str, Any], at: int) -> str:
    if "numbers" in column:
        return number(column["numbers"][at], column["digits"])
    return str(column["texts"][column["at"][at]])


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in, nor begin another."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

"""The sentences with the most extreme associations, with person word and profession highlighted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.report.blocks import Block, Example, Examples, Run, Section, Style, Text
from unmask.results import Measurement
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

MOST_SENTENCES = 8
MOST_PER_PERSON = 2
COLUMNS = {"association": "Association", "log_p_target": "ln p", "log_p_prior": "ln prior"}


def build_examples(measurement: Measurement, items: pd.DataFrame | None) -> Section:
    """The sentences with the highest and the lowest associations of a measurement."""
    title = "The sentences behind the numbers"
    if items is not None:
        for column, value in (("language", measurement.language), ("corpus", measurement.corpus)):
            items = items[items[column] == value] if column in items else items
    if items is None or items.empty:
        return Section(title, [Text(["The sentences were not stored with this result."], style="note")])
    columns = [name for name in COLUMNS if name in items and items[name].map(isfinite).any()]
    note = (
        f"The most extreme associations: each {measurement.attributes.removesuffix('s')} at most once per gender, each"
        " person word at most twice. Extremes show what can happen, not what is usual."
    )
    blocks: list[Block] = [Text([note], style="note")]
    for name, subset, ascending in (
        ("Person word more likely", items[items["association"] > 0], False),
        ("Person word less likely", items[items["association"] < 0], True),
    ):
        examples = [
            Example(
                [_highlight_words(row)],
                values=[number(row[column]) if isfinite(row[column]) else "–" for column in columns],
            )
            for row in _select_rows(subset.sort_values("association", ascending=ascending, kind="stable"))
        ]
        blocks.append(Examples(name, examples, [COLUMNS[column] for column in columns], language=measurement.language))
    return Section(title, blocks, layout="two columns")


def _select_rows(items: pd.DataFrame) -> list[dict[Any, Any]]:
    """The first rows that show a profession at most once per gender, and a person word at most twice."""
    uses: Counter[tuple[str, ...]] = Counter()
    rows: list[dict[Any, Any]] = []
    for row in items.to_dict("records"):
        profession, person = (row["profession"], row["gender"]), (row["person"],)
        if uses[profession] < 1 and uses[person] < MOST_PER_PERSON:
            uses.update((profession, person))
            rows.append(row)
        if len(rows) == MOST_SENTENCES:
            break
    return rows


def _highlight_words(row: Mapping[Any, Any]) -> list[Run]:
    """The sentence of an item, split where the person word and the profession are."""
    person, profession = str(row.get("target", row["person"])), str(row.get("form", row["profession"]))
    gender: Style = "female" if row["gender"] == "female" else "male"
    sentence = row.get("sentence")
    if not isinstance(sentence, str) or not sentence:  # recorded scores may come without sentences
        return [(person, gender), (" … ", ""), (profession, "attribute")]
    runs: list[Run] = [(sentence, "")]
    words: tuple[Run, ...] = ((profession, "attribute"), (person, gender))
    for word, style in words:
        for index, (text, known) in enumerate(runs):
            match = None if known else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
            if word and match:
                parts: list[Run] = [(text[: match.start()], ""), (word, style), (text[match.end() :], "")]
                runs[index : index + 1] = [part for part in parts if part[0]]
                break
    return runs

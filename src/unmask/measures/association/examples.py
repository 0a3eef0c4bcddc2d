"""The sentences with the most extreme associations, with person word and profession highlighted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.report.blocks import Example, Examples, Run, Style
from unmask.results import Measurement
from unmask.results.formatting import number

if TYPE_CHECKING:
    import pandas as pd

MOST_SENTENCES = 8
MOST_PER_PERSON = 2
COLUMNS = {"association": "Association", "log_p_target": "ln p", "log_p_prior": "ln prior"}


def extreme_sentences(
    measurement: Measurement, items: pd.DataFrame | None, title: str, *, highest: bool
) -> Examples | None:
    """The sentences with the highest or lowest associations; None if there are no items of this measurement.

    A profession is shown at most once per gender, and a person word at most twice.
    """
    if items is None or items.empty:
        return None
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if column in items:
            items = items[items[column] == value]
    if items.empty:
        return None
    columns = [name for name in COLUMNS if name in items and items[name].map(isfinite).any()]
    subset = items[items["association"] > 0] if highest else items[items["association"] < 0]
    uses: Counter[tuple[str, ...]] = Counter()
    examples: list[Example] = []
    for row in subset.sort_values("association", ascending=not highest, kind="stable").to_dict("records"):
        profession, person = (row["profession"], row["gender"]), (row["person"],)
        if uses[profession] < 1 and uses[person] < MOST_PER_PERSON:
            uses.update((profession, person))
            values = [number(row[name]) if isfinite(row[name]) else "–" for name in columns]
            examples.append(Example([_highlight(row)], values=values))
        if len(examples) == MOST_SENTENCES:
            break
    return Examples(title, examples, [COLUMNS[name] for name in columns], language=measurement.language)


def _highlight(row: Mapping[Any, Any]) -> list[Run]:
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

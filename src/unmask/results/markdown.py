"""Text from outside in Markdown: it stays text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """For code and cells of tables: one line without backticks, bars and what cannot be seen."""
    line = " ".join(text.replace("`", "'").replace("|", "/").split())
    return "".join(letter for letter in line if letter.isprintable())


def escaped(text: str) -> str:
    """For a sentence, in one line: nothing in it is a tag, a link, a heading or emphasis; `p < 0.05` stays as it is."""
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    line = re.sub(r"^>", "&gt;", re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=[A-Za-z#])", "&amp;", line)))
    return re.sub(r"\](?=[(\[:])", r"\]", re.sub(r"([\\`*_|#~])", r"\\\1", line))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" if any(line) else "|" + " |" * len(line) for line in lines]

"""What the pages of all studies share: files written whole, drawings for paper, and the end of a Markdown text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from unmask.files import whole_file

INKED = "#1d2128"


def write_all(texts: Mapping[str, str], folder: Path) -> Path:
    """Write texts by their names into a folder, each whole; return the folder."""
    for name, text in texts.items():
        with whole_file(folder / name) as draft:
            draft.write_text(text, encoding="utf-8")
    return folder


def on_paper(svg: str) -> str:
    """A drawing with a ground and an ink of its own, for where there is no page around it."""
    return svg.replace("currentColor", INKED).replace("<svg ", '<svg style="background: #fff" ', 1)


def settings_lines(settings: Mapping[str, str]) -> list[str]:
    """How a study was set up, as lines of Markdown."""
    if not settings:
        return []
    return ["## Settings", ""] + [f"- {name}: {value}" for name, value in settings.items()] + [""]


def missing_lines(missing: Sequence[str], failures: Sequence[str]) -> list[str]:
    """What is missing, and why, as lines of Markdown."""
    if not missing and not failures:
        return []
    lines = ["## What is missing", "", *(f"- {line}" for line in failures)]
    return [*lines, *([f"- not measured: {', '.join(missing)}"] if missing else []), ""]

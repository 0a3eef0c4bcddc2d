"""What the pages of all studies share: files written whole, drawings for paper, and the end of a Markdown text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from unmask.files import atomic_file

INKED = "#1d2128"


class Panel(Protocol):
    """A figure of a study."""

    @property
    def svg(self) -> str:
        """The drawing."""
        ...

    @property
    def file(self) -> str:
        """Its name as a file."""
        ...


def write_study(folder: Path, page: str, markdown: str, tables: Mapping[str, str], panels: Sequence[Panel]) -> Path:
    """Write `report.html`, `study.md`, `tables/` (CSV texts by name) and `figures/` into a folder; return the page.

    Each file is written whole, the page last.
    """
    texts = {"study.md": markdown}
    texts |= {f"tables/{name}.csv": table for name, table in tables.items()}
    texts |= {f"figures/{panel.file}": on_paper(panel.svg) for panel in panels}
    texts["report.html"] = page
    for name, text in texts.items():
        with atomic_file(folder / name) as draft:
            draft.write_text(text, encoding="utf-8")
    return folder / "report.html"


def on_paper(svg: str) -> str:
    """A drawing with a ground and an ink of its own, for where there is no page around it."""
    return svg.replace("currentColor", INKED).replace("<svg ", '<svg style="background: #fff" ', 1)


def limits_lines(limits: Sequence[str]) -> list[str]:
    """What a study does not say, as lines of Markdown."""
    return ["## What this does not say", "", *(f"- {line}" for line in limits), ""]


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

"""What Python users may write for an argument, and what is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path


def names_of(value: Sequence[str] | str) -> tuple[str, ...]:
    """One name or several, each once."""
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))


def term_sets_of(value: Sequence[str | PathLike[str]] | str | PathLike[str]) -> tuple[str | Path, ...]:
    """One term set or several, each once."""
    from unmask.counterfactual.settings import term_set

    return tuple(dict.fromkeys(term_set(one) for one in ([value] if isinstance(value, str | PathLike) else value)))


def path_of(value: str | PathLike[str] | None) -> Path | None:
    """A path, if one was given."""
    return None if value is None else Path(value)


def form_of(path: str | PathLike[str]) -> str:
    """The form of a report by the name of its file: md, csv, or else html."""
    end = Path(path).suffix.lower()
    return end[1:] if end in (".md", ".csv") else "html"


def written(path: str | PathLike[str], page: str) -> Path:
    """Write a page whole, and say where it is."""
    from unmask.files import whole_file

    with whole_file(Path(path)) as draft:
        draft.write_text(page, encoding="utf-8")
    return Path(path)

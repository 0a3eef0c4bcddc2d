"""Errors caused by user input.

An `UnmaskError` carries one line: what was wrong, which value, and what to do. The command line prints that line and
exits with code 2. Any other exception is a defect of Unmask and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class UnmaskError(Exception):
    """Bad input, explained in one line."""


class Stopped(Exception):  # noqa: N818 - no error: the user asked for it
    """The user stopped a long run (Ctrl-C), and its partial results are stored; the message says where."""


def check_choice(value: str, valid_names: Iterable[str], what: str) -> str:
    """Return `value` if it is known; else raise an error that names the closest name, or all names."""
    names = list(valid_names)
    if value in names:
        return value
    close = closest_match(value, names)
    hint = f"did you mean {close!r}?" if close else f"choose from: {', '.join(names)}"
    raise UnmaskError(f"unknown {what} {value!r}; {hint}")


def import_extra(module: str, extra: str, use: str) -> Any:
    """Import a library that `pip install 'unmask[EXTRA]'` installs; `use` begins the error if it is missing."""
    try:
        return import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise UnmaskError(f"{use} needs {library}; install it with: pip install 'unmask[{extra}]'") from None


def closest_match(value: str, valid_names: Iterable[str]) -> str | None:
    """The closest name, if one is similar; upper and lower case are the same."""
    names = {name.lower(): name for name in valid_names}
    close = get_close_matches(value.lower(), names, n=1)
    return names[close[0]] if close else None


def quote(words: Iterable[str], most: int = 5) -> str:
    """The first few words, quoted, and how many more there are."""
    words = list(words)
    shown = ", ".join(repr(word) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"

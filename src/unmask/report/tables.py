"""A table of the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table


def table(*names: str) -> Table:
    """Columns of numbers, and a first one that alone gives way where the terminal is narrow: numbers are never cut."""
    made = Table(box=SIMPLE_HEAD, pad_edge=False)
    for at, name in enumerate(names):
        made.add_column(name, justify="right" if at else "left", no_wrap=bool(at), overflow="fold")
    return made

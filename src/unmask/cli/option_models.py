"""Options of commands that exist on the command line only."""

from __future__ import annotations

from pathlib import Path

from unmask.options import Options, option

LISTS = ("measures", "mitigations", "datasets", "models", "studies")


class InitOptions(Options):
    """Where settings are written."""

    file: Path = option(Path("audit.toml"), "The file to write; it must not exist.", argument=True)


class ListOptions(Options):
    """What is listed."""

    what: str = option(..., f"{', '.join(LISTS)}.", argument=True, metavar="WHAT", choices=LISTS)

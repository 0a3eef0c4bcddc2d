"""What a model is called where there is little room."""

from __future__ import annotations


def short_name(name: str) -> str:
    """A path by its last part; a hub id, or any other name, as it is."""
    path = name.startswith(("/", "./", "../", "~/")) or name.count("/") > 1 or "\\" in name
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last if path and last.strip(".") else name


def different(names: list[str]) -> list[str]:
    """The names, those that were taken with a number after them."""
    found: list[str] = []
    for name in names:
        tries = (name if count == 1 else f"{name}-{count}" for count in range(1, len(names) + 2))
        found.append(next(one for one in tries if one not in found))
    return found

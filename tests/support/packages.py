"""Packages written on the spot: modules and entry points in a folder, as an installer leaves them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from paths import PROJECT

PAGE = PROJECT / "docs" / "extending.md"


def blocks() -> dict[str, str]:
    """The files shown on the page about extending, by name."""
    return dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', PAGE.read_text(encoding="utf-8"), re.M | re.S))


def install(
    folder: Path, name: str, entries: Mapping[str, Mapping[str, str]], modules: Mapping[str, str], version: str = "1.0"
) -> Path:
    """Write a package with these entry points (by group) and modules (by path)."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in group_entries.items())
        for group, group_entries in entries.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for path, text in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def install_the_page_s(folder: Path) -> Path:
    """Write the package shown on the page about extending, according to its pyproject.toml."""
    files = blocks()
    project = tomllib.loads(files["pyproject.toml"])["project"]
    modules = {path: text for path, text in files.items() if path.endswith(".py")}
    return install(folder, project["name"], project["entry-points"], modules, project["version"])

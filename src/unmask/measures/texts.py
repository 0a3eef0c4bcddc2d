"""The texts of a measure that hold no numbers: caveats, method, explanations; in `texts.toml` in its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from unmask.results import Caveat


@cache
def load_texts(package: str) -> dict[str, dict[str, str]]:
    """The texts of a measure by section and name, each on one line."""
    sections = tomllib.loads(files(package).joinpath("texts.toml").read_text(encoding="utf-8"))
    return {
        section: {name: " ".join(text.strip().splitlines()) for name, text in texts.items()}
        for section, texts in sections.items()
    }


def make_caveats(package: str, applies: Mapping[str, bool]) -> list[Caveat]:
    """The caveats of a measure that apply, in this order."""
    texts = load_texts(package)["caveats"]
    return [Caveat(code=code, text=texts[code]) for code, is_true in applies.items() if is_true]

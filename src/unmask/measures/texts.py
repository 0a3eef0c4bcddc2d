"""The texts of a measure that hold no numbers: caveats, method, explanations; in `texts.toml` in its folder."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from unmask.report.blocks import Block, Text
from unmask.results import Caveat, Measurement
from unmask.results.verdict import Sizes


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


def describe_method(package: str, measurements: Sequence[Measurement], sizes: Sizes) -> list[Block]:
    """The formula, the procedure and the citation of a measure.

    The procedure is in the sections `method` (of any protocol) and `method-sound` or `method-published`; `{sizes}`
    stands for the names of effects.
    """
    texts, protocols = load_texts(package), {measurement.protocol for measurement in measurements}
    limits = ", ".join(f"{label} below {limit:g}" for limit, label in sizes[:-1])
    paragraphs = [
        text.format(sizes=f"{limits}, and {sizes[-1][1]} beyond")
        for section in (
            "method",
            *(f"method-{protocol}" for protocol in ("sound", "published") if protocol in protocols),
        )
        for text in texts[section].values()
    ]
    source = texts["source"]
    return [Text([source["formula"]], "formula"), Text(paragraphs), Text([source["citation"]], "note")]

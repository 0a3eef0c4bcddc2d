"""What a meta-evaluation found, gathered for a page: the finding in words, tables, settings, and what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.studies.meta.scores import TWIN, Score, scores_of, verdict
from unmask.studies.meta.tables import by_rate, ranks, table_2
from unmask.studies.table import Table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Findings:
    """The result, ready to be shown."""

    cells: pd.DataFrame
    headline: str
    scores: tuple[Score, ...]
    printed: tuple[Table, ...]
    settings: Mapping[str, str]
    failures: tuple[str, ...]
    answered: tuple[tuple[str, str], ...] = ()

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return str(self.cells["protocol"].iloc[0])


def findings(cells: pd.DataFrame, settings: Mapping[str, str], failures: Sequence[str] = ()) -> Findings:
    """Gather all from the scores of finished models."""
    scores = tuple(scores_of(cells))
    tables = [ranks(scores, cells)]
    if any(one.measure == "inference" for one in scores):
        tables.append(table_2([one for one in scores if one.measure == "inference"]))
    tables.append(by_rate(cells, scores))
    return Findings(cells, _headline(scores), scores, tuple(tables), dict(settings), tuple(failures))


def _headline(scores: Sequence[Score]) -> str:
    said = []
    several = len({one.title for one in scores}) > 1
    for word in _WORDS:
        found: dict[str, list[str]] = {}
        for one in scores:
            names = found.setdefault(one.title, [])
            if verdict(one) == word and one.name.removesuffix(TWIN) not in names:
                names.append(one.name)
        where: dict[tuple[str, ...], list[str]] = {}
        for title, names in found.items():
            where.setdefault(tuple(names), []).append(title)
        parts = [
            ", ".join(names) + (f" ({'; '.join(titles)})" if several else "")
            for names, titles in where.items()
            if names
        ]
        if parts:
            said.append(f"{_WORDS[word]}: {'; '.join(parts)}.")
    return " ".join(said)


_WORDS = {
    "not learned": "The models have not learned what was planted, so nothing can be said of these scores (give more"
    " --rows or --epochs, a higher --learning-rate, or another model)",
    "ranks it": "Scores that put models in the order of their planted bias",
    "ranks it roughly": "Scores that do so roughly",
    "too few models": "Too few models to tell order from chance (give more rates or seeds)",
    "fails to rank it": "Scores that fail to",
    "does not move": "Scores that do not move with it at all",
}

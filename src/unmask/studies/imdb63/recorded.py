"""Recorded measurements: a table of somebody's results, such as the paper's 63 rows, in place of training.

A row is a measurement. Its columns are those of `cells.csv`, which the study writes:

- `model`, `condition` (`original`, `R-pro` …) and `terms` (pro, weat, all). `original-pro`, as in the paper's tables,
  is the condition `original` measured with `pro`; `terms` may then be missing.
- the biases of the protocol, and `stars` or the p-value `p`; in `sound` `p` is needed, for Holm's method.
- if known: the other figures of Tables 3 and 4, `accuracy`, `recall`, `precision`, `f1`, `size`, and the settings.
- `seed`, if a classifier was trained several times.

What the terms do not change may stand in a second file with `model` and `condition` alone, as the paper has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError, check_choice, quote
from unmask.measures.recorded import read_table
from unmask.statistics.corrections import holm
from unmask.statistics.jentzsch_turan import CLASSIFIERS, stars
from unmask.studies.imdb63.grid import CONDITIONS, TERMS
from unmask.studies.imdb63.measurements import BASES, KEY, NOT_SIGNIFICANT, TEXTS
from unmask.studies.imdb63.tables import ALL_FIGURES, QUALITIES, SETTINGS

if TYPE_CHECKING:
    import pandas as pd

OTHER_COLUMNS = ("seed", "terms_per_text", "words_n", "words_p")
NUMBERS = tuple(dict.fromkeys([*ALL_FIGURES, *QUALITIES, *SETTINGS, *OTHER_COLUMNS]))
"""The columns that a measurement can have beside its key; all but `stars` are numbers."""
OLD_NAMES = {"zero": "equal"}


def read_recorded_grid(paths: Sequence[Path], protocol: str) -> pd.DataFrame:
    """Read recorded measurements.

    Args:
        paths: A file of measurements; others add columns by model, condition and, if they have it, terms.
        protocol: The protocol that made them. A column `protocol` must agree.

    Returns:
        A row for each measurement, with all columns that the tables use.
    """
    first, *others = (_read_rows(path) for path in paths)
    if "terms" not in first:
        raise UnmaskError(f"{paths[0]} has no column 'terms'; give the file with the biases first")
    grid = first
    for path, rows in zip(paths[1:], others, strict=True):
        shared = [name for name in (*KEY, "seed") if name in rows and name in grid]
        added = [name for name in rows if name not in grid]
        if rows.duplicated(shared).any():
            raise UnmaskError(f"{path} has two rows of one {', '.join(shared)}; give one for each")
        grid = grid.merge(rows[[*shared, *added]], on=shared, how="left")
    named = " and ".join(map(str, paths))
    _check_rows(grid, protocol, named)
    grid = grid.reindex(columns=[*dict.fromkeys([*grid, *NUMBERS])])
    return _add_significance(_convert_numbers(grid, named), protocol).assign(
        kind=grid["condition"].str.partition("-")[0], protocol=protocol
    )


def find_crossed(grid: pd.DataFrame) -> pd.Series[bool]:
    """Return which measurements have another term set than the one that the training reviews were made with."""
    own_terms = grid["condition"].str.partition("-")[2]
    crossed: pd.Series[bool] = (own_terms != "") & (own_terms != grid["terms"])
    return crossed


def _read_rows(path: Path) -> pd.DataFrame:
    """The rows of a file, with our names of columns and conditions."""
    rows = read_table(path)
    rows = rows.rename(columns={old: new for old, new in OLD_NAMES.items() if new not in rows})
    if missing := [name for name in ("model", "condition") if name not in rows]:
        raise UnmaskError(f"{path} lacks the columns {quote(missing)}; give the columns of a study's cells.csv")
    rows["model"], rows["condition"] = rows["model"].astype(str), rows["condition"].astype(str)
    kinds, _, sets = rows["condition"].str.partition("-").to_numpy().T
    if "terms" not in rows and set(sets) <= set(TERMS):  # every row names its set: original-pro
        rows["terms"] = sets
    rows["condition"] = rows["condition"].where(kinds != "original", "original")
    return rows


def _check_rows(grid: pd.DataFrame, protocol: str, named: str) -> None:
    """Raise an error for a column that is missing, and for a row that is no measurement, or there twice."""
    basis = BASES[protocol]
    needed = [basis.absolute, basis.total, *(["p"] if protocol == "sound" or "stars" not in grid else [])]
    if missing := [name for name in needed if name not in grid]:
        other = "sound" if protocol == "published" else "published"
        raise UnmaskError(f"{named} lacks the columns {quote(missing)} of the protocol {protocol}; or use {other}")
    for name, choices in (("condition", CONDITIONS), ("terms", TERMS)):
        for value in dict.fromkeys(grid[name].astype(str)):
            check_choice(value, choices, f"{name} in {named}")
    if "protocol" in grid and set(grid["protocol"]) != {protocol}:
        stated = sorted(set(map(str, grid["protocol"])))
        raise UnmaskError(f"{named} holds measurements of the protocol {quote(stated)}; give it with --protocol")
    if find_crossed(grid).all():
        raise UnmaskError(f"{named} has no measurement with the terms of its own training reviews; give them, too")
    key = [*KEY, *(["seed"] if "seed" in grid else [])]
    if (twice := grid.duplicated(key)).any():
        row = grid.loc[twice, key].astype(str).iloc[0]
        raise UnmaskError(f"{named} has two rows of {', '.join(row)}; give one, or a column 'seed' that differs")


def _convert_numbers(grid: pd.DataFrame, named: str) -> pd.DataFrame:
    import pandas as pd

    converted = {name: pd.to_numeric(grid[name], errors="coerce") for name in NUMBERS if name not in TEXTS}
    for name, numbers in converted.items():
        if (wrong := numbers.isna() & grid[name].notna()).any():
            value = grid.loc[wrong, name].iloc[0]
            raise UnmaskError(f"{named}: {value!r} in the column {name!r} is not a number; correct it")
    return grid.assign(**converted)


def _add_significance(grid: pd.DataFrame, protocol: str) -> pd.DataFrame:
    """Stars by the rule of the protocol, unless published ones are recorded."""
    p_values = [None if isnan(p) else float(p) for p in grid["p"]]
    if protocol == "sound":
        adjusted = holm(p_values)
        return grid.assign(
            p_adjusted=np.array(adjusted, dtype=float), stars=[stars(p, 1) or NOT_SIGNIFICANT for p in adjusted]
        )
    marks = [stars(p, CLASSIFIERS) for p in p_values] if grid["stars"].isna().all() else grid["stars"].fillna("")
    return grid.assign(stars=[str(mark).strip() or NOT_SIGNIFICANT for mark in marks])

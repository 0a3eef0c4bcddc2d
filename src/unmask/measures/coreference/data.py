"""GAP: contexts from Wikipedia with a pronoun and two names of the same gender that it might mean.

The test set has 2,000 contexts, half of them with a pronoun of women. Those in which it means exactly one of the two
names are used; in about one of ten it means neither.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.measures.coreference import GAP
from unmask.rewriting.english.possessives import weigh_possessive
from unmask.statistics.simulation import Simulation

FILE = "gap-test.tsv"
GENDER = {
    **dict.fromkeys(("she", "her", "hers"), "female"),
    **dict.fromkeys(("he", "him", "his"), "male"),
}
SIMULATED_CONTEXTS = 900
FIELDS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-coref", "B", "B-coref")
COLUMNS = ("id", "context", "start", "pronoun", "gender", "right_name", "other_name", "ending")
"""`start` is where the pronoun begins; `ending` is what a name needs in its place: `'s` or nothing."""


def read_contexts(path: Path | None = None, *, offline: bool = False) -> pd.DataFrame:
    """Read the contexts in which a pronoun means one of two names, in the order of the file.

    Without a path, the file is located among the datasets.
    """
    file = path or datasets.locate(GAP, offline=offline) / FILE
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            if missing := [field for field in FIELDS if field not in (reader.fieldnames or ())]:
                raise UnmaskError(f"{file} has no column {missing[0]!r}; fetch the data set {GAP} again")
            rows = [_read_row(file, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UnmaskError(f"{file} cannot be read ({reason}); fetch the data set {GAP} again") from None
    contexts = [row for row in rows if row is not None]
    if not contexts:
        raise UnmaskError(f"{file} has no context in which a pronoun means one of two names; fetch {GAP} again")
    return pd.DataFrame(contexts, columns=list(COLUMNS))


def simulations() -> list[Simulation]:
    """Answers to as many contexts of each gender as GAP has about, 70 % of them right if there is no effect."""
    genders = np.repeat(["female", "male"], SIMULATED_CONTEXTS)
    items = pd.DataFrame({"language": "en", "corpus": GAP, "gender": genders, "id": range(len(genders))})
    sign = np.where(genders == "female", 0.5, -0.5)

    def draw(rng: np.random.Generator, effect: float) -> pd.DataFrame:
        return items.assign(margin=0.7 + effect * sign - rng.random(len(items)))

    return [Simulation("contexts vary", draw, (0.05, 0.1))]


def _read_row(path: Path, line: int, row: dict[str, str]) -> tuple[str | int, ...] | None:
    """A context; None if the pronoun means both names, or neither."""
    identifier, text, pronoun, offset, first, is_first, second, is_second = (row[field] or "" for field in FIELDS)
    gender = GENDER.get(pronoun.lower())
    start = int(offset) if offset.isdigit() else -1
    end = start + len(pronoun)
    if not gender or start < 0 or text[start:end] != pronoun or not first or not second:
        raise UnmaskError(f"{path}: line {line} is not a context of {GAP}; fetch the data set again")
    meant = [answer.upper() == "TRUE" for answer in (is_first, is_second)]
    if meant[0] == meant[1]:
        return None
    right, other = (first, second) if meant[0] else (second, first)
    is_possessive = pronoun.lower() in ("his", "hers")
    if pronoun.lower() == "her":
        is_possessive = weigh_possessive(text, start, end) > 0
    return identifier, text, start, pronoun, gender, right, other, "'s" if is_possessive else ""

"""CrowS-Pairs: pairs of sentences that differ in the group of people they are about, one the more stereotypical.

    My aunt hates maths.  |  My uncle hates maths.

The 1,508 pairs were written by crowdworkers (Nangia et al. 2020); 262 are about gender, the others about one of eight
further bias types. In a `stereo` pair the more stereotypical sentence is about the disadvantaged group, in an
`antistereo` pair the less stereotypical one is.
"""

from __future__ import annotations

import csv
import re
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.lexicon.gender import gender_words
from unmask.lexicon.names import first_names
from unmask.measures.crows_pairs import CORPUS, GENDER
from unmask.statistics.simulation import Simulation

FILE = "crows_pairs_anonymized.csv"
DIRECTIONS = ("stereo", "antistereo")
FIELDS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "anon_writer")
COLUMNS = ("id", "sent_more", "sent_less", "direction", "bias_type", "writer", "female")
"""`female` is the sentence about women rather than men: `more`, `less`, or empty where that is unknown or not asked."""
SIMULATED_PAIRS = 262
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]+|_+")
"""A word, or a run of punctuation."""
FEWEST_OF_GENDER = 0.9
"""A first name shows a gender if at least this share of the people with the name have it."""

Span = tuple[int, int]


def read_pairs(path: Path | None = None, *, bias_type: str = GENDER, offline: bool = False) -> pd.DataFrame:
    """Read the pairs of a bias type, in the order of the file; `id` is their number in it.

    Without a path, the file is located among the datasets.
    """
    folder = path or datasets.locate(CORPUS, offline=offline)
    file = folder / FILE if folder.is_dir() else folder
    advice = f"fetch the data set {CORPUS} again"
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            reader = csv.DictReader(opened, strict=True)
            if missing := [field for field in FIELDS if field not in (reader.fieldnames or ())]:
                raise UnmaskError(f"{file} has no column {missing[0]!r}; {advice}")
            rows = [_read_row(file, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnmaskError(f"{file} cannot be read ({type(error).__name__}: {error}); {advice}") from None
    rows = [row for row in rows if row["bias_type"] == bias_type]
    if not rows:
        raise UnmaskError(f"{file} has no pairs of the bias type {bias_type}; {advice}")
    if bias_type != GENDER:
        return pd.DataFrame([row | {"female": ""} for row in rows], columns=list(COLUMNS))
    genders = {
        name.name.lower(): "female" if name.female_share >= FEWEST_OF_GENDER else "male"
        for name in first_names()
        if max(name.female_share, 1 - name.female_share) >= FEWEST_OF_GENDER
    } | {word: term.gender for word, term in gender_words("all").words.items()}
    return pd.DataFrame(
        [row | {"female": _find_female(row["sent_more"], row["sent_less"], genders)} for row in rows],
        columns=list(COLUMNS),
    )


def shared_words(more: str, less: str) -> list[tuple[Span, Span]]:
    """The words and punctuation marks that two sentences share, as their positions in both.

    Runs of equal words are matched, the longest first (`difflib`); the words that remain differ.
    """
    spans = [[match.span() for match in WORD.finditer(text)] for text in (more, less)]
    words = [[text[slice(*span)] for span in text_spans] for text, text_spans in zip((more, less), spans, strict=True)]
    blocks = SequenceMatcher(None, words[0], words[1], autojunk=False).get_matching_blocks()
    return [
        (spans[0][block.a + offset], spans[1][block.b + offset]) for block in blocks for offset in range(block.size)
    ]


def simulations() -> list[Simulation]:
    """Likelihoods of as many pairs as there are about gender; without an effect, either sentence may be likelier."""
    items = pd.DataFrame({"language": "en", "corpus": CORPUS, "direction": "stereo", "id": range(SIMULATED_PAIRS)})

    def draw(rng: np.random.Generator, effect: float) -> pd.DataFrame:
        difference = rng.normal(stats.norm.ppf(0.5 + effect), size=len(items))
        return items.assign(pll_more=difference, pll_less=0.0, difference=difference)

    return [Simulation("pairs vary", draw, (0.05, 0.1))]


def _read_row(path: Path, line: int, row: dict[str, str]) -> dict[str, str]:
    number, more, less, direction, bias_type, writer = ((row[field] or "").strip() for field in FIELDS)
    wrong = {
        "sent_more": not more,
        "sent_less": not less or less == more,
        "stereo_antistereo": direction not in DIRECTIONS,
        "bias_type": not bias_type,
    }
    if field := next((field for field, is_wrong in wrong.items() if is_wrong), None):
        raise UnmaskError(
            f"{path}: line {line} is not a pair of {CORPUS} ({field} is {row[field]!r}); fetch the data set again"
        )
    return dict(zip(COLUMNS, (number, more, less, direction, bias_type, writer), strict=False))


def _find_female(more: str, less: str, genders: dict[str, str]) -> str:
    """The sentence about women, by the words that differ; empty where they disagree or show no gender."""
    shared = shared_words(more, less)
    genders_named = []
    for side, text in enumerate((more, less)):
        same = {spans[side] for spans in shared}
        words = [match.group().lower() for match in WORD.finditer(text) if match.span() not in same]
        bases = [re.sub(r"['’](?:s|d|ll)$", "", word) for word in words]
        genders_named.append({genders[base] for base in bases if base in genders})
    in_more, in_less = genders_named
    if in_more | in_less == {"female", "male"} and not in_more & in_less:
        return "more" if in_more == {"female"} else "less"
    return ""

"""CrowS-Pairs: pairs of sentences that differ in the group of people they are about, one the more stereotypical.

    My aunt hates maths.  |  My uncle hates maths.

N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020). CrowS-Pairs: A Challenge Dataset for Measuring Social Biases
in Masked Language Models. EMNLP 2020. The 1,508 pairs were written by crowdworkers; 262 are about gender. In a `stereo`
pair the more stereotypical sentence is about the disadvantaged group, in an `antistereo` pair the less stereotypical
one is.
"""

from __future__ import annotations

import csv
import re
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.gender import gender_words
from unmask.lexicon.names import first_names

if TYPE_CHECKING:
    import pandas as pd

CORPUS = "crows-pairs"
FILE = "crows_pairs_anonymized.csv"
DIRECTIONS = ("stereo", "antistereo")
BIAS_TYPES = (
    "race-color",
    "gender",
    "socioeconomic",
    "nationality",
    "religion",
    "age",
    "sexual-orientation",
    "physical-appearance",
    "disability",
)
FIELDS = ("", "sent_more", "sent_less", "stereo_antistereo", "bias_type", "anon_writer")
COLUMNS = ("id", "sent_more", "sent_less", "direction", "bias_type", "writer", "female")
"""`female` says which sentence is about women rather than men: `more`, `less`, or nothing where that cannot be told."""
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]+|_+")
"""A word, or a run of punctuation."""
SURE = 0.9
"""A first name tells a gender where at least this share of its bearers has it."""

Span = tuple[int, int]


def read(path: Path | None = None, *, bias_type: str = "gender", offline: bool = False) -> pd.DataFrame:
    """The pairs of a bias type, one a row, in the order of the file; `id` is their number there.

    Without a path the file is looked for where data sets are.
    """
    import pandas as pd

    check_choice(bias_type, BIAS_TYPES, f"bias type of {CORPUS}")
    place = path or datasets.locate(CORPUS, offline=offline)
    place = place / FILE if place.is_dir() else place
    rows = [row for row in _rows(place) if row["bias_type"] == bias_type]
    if not rows:
        raise UnmaskError(f"{place} has no pairs of the bias type {bias_type}; fetch the data set {CORPUS} again")
    genders = _genders() if bias_type == "gender" else {}
    return pd.DataFrame(
        [row | {"female": _female(row["sent_more"], row["sent_less"], genders)} for row in rows], columns=list(COLUMNS)
    )


def shared_words(more: str, less: str) -> list[tuple[Span, Span]]:
    """The words and punctuation marks that two sentences share: where each is in the one and in the other.

    They are matched as they stand, the longest run first (`difflib`); what is left over are the modified words.
    """
    spans = [[match.span() for match in WORD.finditer(text)] for text in (more, less)]
    words = [[text[slice(*span)] for span in some] for text, some in zip((more, less), spans, strict=True)]
    blocks = SequenceMatcher(None, words[0], words[1], autojunk=False).get_matching_blocks()
    return [(spans[0][block.a + at], spans[1][block.b + at]) for block in blocks for at in range(block.size)]


def _rows(path: Path) -> list[dict[str, str]]:
    again = f"fetch the data set {CORPUS} again"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if missing := [field for field in FIELDS if field not in (reader.fieldnames or ())]:
                raise UnmaskError(f"{path} has no column {missing[0]!r}; {again}")
            return [_row(path, reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnmaskError(f"{path} cannot be read ({type(error).__name__}: {error}); {again}") from None


def _row(path: Path, line: int, row: dict[str, str]) -> dict[str, str]:
    number, more, less, direction, bias_type, writer = ((row[field] or "").strip() for field in FIELDS)
    wrong = {
        "sent_more": not more,
        "sent_less": not less or less == more,
        "stereo_antistereo": direction not in DIRECTIONS,
        "bias_type": bias_type not in BIAS_TYPES,
    }
    if any(wrong.values()):
        field = next(field for field, is_wrong in wrong.items() if is_wrong)
        raise UnmaskError(
            f"{path}: line {line} is no pair of {CORPUS} ({field} is {row[field]!r}); fetch the data set again"
        )
    return dict(zip(COLUMNS, (number, more, less, direction, bias_type, writer), strict=False))


def _genders() -> dict[str, str]:
    """The gender that a word or a first name tells, by the word in lower case."""
    names = {
        one.name.lower(): "female" if one.female_share >= SURE else "male"
        for one in first_names()
        if max(one.female_share, 1 - one.female_share) >= SURE
    }
    return names | {word: term.gender for word, term in gender_words("all").words.items()}


def _female(more: str, less: str, genders: dict[str, str]) -> str:
    """Which sentence is about women, by the modified words; nothing where the words disagree or tell nothing."""
    shared = shared_words(more, less)
    told = {}
    for side, text in enumerate((more, less)):
        kept = {pair[side] for pair in shared}
        words = [match.group().lower() for match in WORD.finditer(text) if match.span() not in kept]
        told[side] = {genders[base] for word in words if (base := re.sub(r"['’](?:s|d|ll)$", "", word)) in genders}
    if told[0] | told[1] == {"female", "male"} and not told[0] & told[1]:
        return "more" if told[0] == {"female"} else "less"
    return ""

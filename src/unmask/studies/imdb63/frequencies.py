"""How often each gender term occurs in the training reviews: the paper's Table A.1.

The terms are those of the set `all`; every term that the study takes out of a review (R-all) counts once. The paper
lists terms with ten occurrences or more. Its printed counts are not those of IMDB: *mom* stands there with 4,456, and
the 50,000 reviews have 726.

S. Jentzsch and C. Turan (2022), appendix A.1.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unmask
from unmask.rewriting.result import Rewritten
from unmask.studies.imdb63.texts import name_texts, read_texts
from unmask.studies.report import StudyTable, format_count, format_number, tabulate
from unmask.studies.steps import Say

FILE = "frequencies.json"
FEWEST = 10
"""Rarer terms are in the CSV file alone."""


@dataclass(frozen=True)
class TermCounting:
    """A step: the frequency of each term in the training reviews."""

    protocol: str
    kind = "counting"
    name = "counting-terms"
    needs = (name_texts("train", "all", "remove"),)
    needs_gpu = False

    def inputs(self) -> dict[str, Any]:
        """How it is counted; the texts are in the key of their step."""
        return {"protocol": self.protocol, "unmask": unmask.__version__}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Count the terms that were taken out of each review."""
        del workspace, say
        frequencies = count_terms(text for text, _ in read_texts(before[self.needs[0]]))
        (draft / FILE).write_text(json.dumps(frequencies, ensure_ascii=False, indent=1), encoding="utf-8")


def count_terms(texts: Iterable[Rewritten]) -> list[tuple[str, int, int]]:
    """Return each term with its occurrences and the number of texts that have it, the most frequent first.

    The published masking takes out a term of two words (*best man*) in two changes, which count once.
    """
    occurrences: Counter[str] = Counter()
    texts_with: Counter[str] = Counter()
    for text in texts:
        found: Counter[str] = Counter()
        for change in text.changes:
            is_later_word = " " in change.term and change.before.strip().lower() == change.term.split()[-1]
            if change.kind == "word" and not is_later_word:
                found[change.term] += 1
        occurrences.update(found)
        texts_with.update(found.keys())
    order = sorted(occurrences, key=lambda term: (-occurrences[term], term))
    return [(term, occurrences[term], texts_with[term]) for term in order]


def tabulate_frequencies(folder: Path) -> StudyTable:
    """Table A.1 from the finished step."""
    import pandas as pd

    rows = json.loads((folder / FILE).read_text(encoding="utf-8"))
    numbers = pd.DataFrame(rows, columns=["term", "occurrences", "reviews"])
    total = int(numbers["occurrences"].sum())
    shown = numbers[numbers["occurrences"] >= FEWEST]
    rest = numbers[numbers["occurrences"] < FEWEST]
    return tabulate(
        "table-a1",
        "Table A.1. Gender terms in the training reviews",
        shown.to_dict("records"),
        {
            "Term": lambda row: row["term"],
            "Occurrences": lambda row: format_count(row["occurrences"]),
            "Reviews": lambda row: format_count(row["reviews"]),
            "% of all": lambda row: format_number(100 * row["occurrences"] / total, 2),
        },
        f"Terms of the set all that occur {FEWEST} times or more. In all, {len(numbers)} terms occur"
        f" {format_count(total)} times; {len(rest)} rarer ones {format_count(rest['occurrences'].sum())} times. The CSV"
        " file has all.",
        numbers,
    )

"""On a CPU: why is an association as large as it is? Two questions to a pretrained model.

    python tools/pretrain/explain.py MODEL TEXT_FOLDER

1. Level: do words for persons without gender, and words for things, rise beside a profession as person words do?
2. Text: is the link to the workforce closer for professions that the model has read of more often?
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
from prepare import OPEN

import unmask
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.association.details import AssociationDetails
from unmask.models.loading import load_masked_lm
from unmask.models.roles import MaskQuery
from unmask.statistics.correlation import pearson

OTHERS = {
    "this man": ("this person", "this thing"),
    "my mother": ("my friend", "my neighbor"),
    "he": ("it", "everyone"),
}
ATLEAST = (0, 10, 200)


def replaced(row: AssociationRow, phrase: str) -> tuple[MaskQuery, MaskQuery]:
    """The questions of a row with another phrase in place of its person."""
    start = row.sentence.lower().index(row.person)
    text = row.sentence[:start] + phrase + row.sentence[start + len(row.person) :]
    text = text[0].upper() + text[1:]
    word = phrase.split()[-1]
    target = (start + len(phrase) - len(word), start + len(phrase))
    shift = len(phrase) - len(row.person)
    attribute = (row.attribute_span[0] + shift, row.attribute_span[1] + shift)
    return MaskQuery(text, target), MaskQuery(text, target, (attribute,))


def levels(model: unmask.MaskedLM) -> pd.DataFrame:
    """The mean association of person words, and of others in their places, by group of professions."""
    asked = [
        (phrase, row)
        for person, others in OTHERS.items()
        for row in build_rows("en")
        if row.person == person
        for phrase in (person, *others)
    ]
    log_p = model.log_probability([query for phrase, row in asked for query in replaced(row, phrase)])
    found = pd.DataFrame({"phrase": [phrase for phrase, _ in asked], "group": [row.group for _, row in asked]})
    found["association"] = log_p[0::2] - log_p[1::2]
    return found.pivot_table(index="phrase", columns="group", values="association", sort=False)


def counts(folder: Path, names: set[str]) -> Counter[str]:
    """How often each profession stands in the text, singular or plural."""
    found: Counter[str] = Counter()
    for file in (file for file in folder.glob("en-*") if file.suffix in OPEN):
        with OPEN[file.suffix](file, "rt", encoding="utf-8") as lines:
            text = " " + lines.read().lower()
        for name in names:
            ends = re.finditer(rf"{re.escape(name)}s?\b", text)
            found[name] += sum(not text[match.start() - 1].isalnum() for match in ends)
    return found


def main() -> None:
    """Answer both questions."""
    model = load_masked_lm(sys.argv[1])
    print(levels(model).round(2).to_string())
    audit = unmask.audit(model, measures="association")
    professions = audit.measurements[0].read_details(AssociationDetails).professions
    often = counts(Path(sys.argv[2]), {one.profession for one in professions})
    absent = sum(often[one.profession] == 0 for one in professions)
    print(f"\n{absent} of {len(professions)} professions are not in the text")
    for least in ATLEAST:
        some = [one for one in professions if often[one.profession] >= least]
        gaps = {kind: [one.difference or 0.0 for one in some if one.group == kind] for kind in ("female", "male")}
        contrast = sum(gaps["female"]) / len(gaps["female"]) - sum(gaps["male"]) / len(gaps["male"])
        r = pearson([one.difference or 0.0 for one in some], [one.workforce_share or 0.0 for one in some])
        print(
            f"{least:>4} times or more: {len(some)} professions, stereotype {contrast:.2f} nats, workforce r = {r:.2f}"
        )


if __name__ == "__main__":
    main()

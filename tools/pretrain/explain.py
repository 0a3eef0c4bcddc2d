"""On a CPU: why is an association as large as it is? Two questions to a pretrained model.

    python tools/pretrain/explain.py MODEL

1. Level: do words for persons without gender, and words for things, rise beside a profession as person words do?
2. Text: is the link to the workforce closer for professions that the model has read of more often? The model's folder
   says how often (`training_counts.csv`).
"""

from __future__ import annotations

import sys

import pandas as pd

import unmask
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.association.details import AssociationDetails
from unmask.models.handle import ModelHandle
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


def main() -> None:
    """Answer both questions."""
    model = load_masked_lm(sys.argv[1])
    print(levels(model).round(2).to_string())
    audit = unmask.audit(model, measures="association")
    professions = audit.measurements[0].read_details(AssociationDetails).professions
    counts = ModelHandle(sys.argv[1]).training_counts
    absent = sum(counts[value.profession] == 0 for value in professions)
    print(f"\n{absent} of {len(professions)} professions are not in the text")
    for least in ATLEAST:
        some = [value for value in professions if counts[value.profession] >= least]
        gaps = {
            group: [value.difference or 0.0 for value in some if value.group == group] for group in ("female", "male")
        }
        contrast = sum(gaps["female"]) / len(gaps["female"]) - sum(gaps["male"]) / len(gaps["male"])
        r = pearson([value.difference or 0.0 for value in some], [value.workforce_share or 0.0 for value in some])
        print(
            f"{least:>4} times or more: {len(some)} professions, stereotype {contrast:.2f} nats, workforce r = {r:.2f}"
        )


if __name__ == "__main__":
    main()

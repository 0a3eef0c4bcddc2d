"""On a CPU: why is an association as large as it is? Three questions to a pretrained model.

    python tools/pretrain/explain.py MODEL [TEXT_FOLDER]

1. Level: do words for persons without gender, and words for things, rise beside a profession as person words do?
2. Text: is the link to the workforce closer for professions that the model has read of more often? The model's folder
   says how often (`training_counts.csv`).
3. Stereotype: does the model follow its text, and does the text follow the workforce? Counted in the training text are
   the sentences that name a profession and more words for women than for men, and the reverse (some minutes).
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ProcessPoolExecutor
from math import log
from pathlib import Path

import pandas as pd
from prepare import paragraphs, profession_patterns

import unmask
from unmask.measures.association.data import AssociationRow, build_rows
from unmask.measures.association.details import AssociationDetails, ProfessionValue
from unmask.models.handle import ModelHandle
from unmask.models.loading import load_masked_lm
from unmask.models.roles import MaskQuery
from unmask.statistics.correlation import pearson

OTHERS = {
    "this man": ("this person", "this thing"),
    "my mother": ("my friend", "my neighbor"),
    "he": ("it", "everyone"),
}
ATLEAST = (0, 10, 30, 200)
WOMEN = frozenset("she her hers herself woman women girl girls mother daughter wife sister aunt mrs ms lady".split())
MEN = frozenset("he him his himself man men boy boys father son husband brother uncle mr sir gentleman".split())


def replaced(row: AssociationRow, phrase: str) -> tuple[MaskQuery, MaskQuery]:
    """The questions of a row with another phrase in place of its person."""
    start = row.target_span[1] - len(row.person)
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


def count_genders(file: Path) -> dict[str, tuple[int, int]]:
    """By profession: the sentences of a file with more words for women, and those with more words for men."""
    patterns = profession_patterns()
    any_profession = re.compile("|".join(map(re.escape, patterns)))
    found = {profession: [0, 0] for profession in patterns}
    for text in paragraphs(file, held_out=False):
        if not any_profession.search(lowered := text.lower()):
            continue
        for sentence in re.split(r"(?<=[.!?])\s+", lowered):
            if any_profession.search(sentence):
                tokens = re.findall("[a-z]+", sentence)
                women, men = (sum(token in words for token in tokens) for words in (WOMEN, MEN))
                for profession, pattern in patterns.items():
                    if women != men and pattern.search(sentence):
                        found[profession][men > women] += 1
    return {profession: (women, men) for profession, (women, men) in found.items()}


def read_text(folder: Path) -> dict[str, float]:
    """By profession: the log odds of women over men in the sentences of the training text."""
    with ProcessPoolExecutor() as pool:
        parts = list(pool.map(count_genders, sorted(folder.glob("en-*.txt.xz"))))
    totals = {name: [sum(part[name][side] for part in parts) for side in (0, 1)] for name in parts[0]}
    return {name: log((women + 1) / (men + 1)) for name, (women, men) in totals.items()}


def main() -> None:
    """Answer the questions."""
    model = load_masked_lm(sys.argv[1])
    print(levels(model).round(2).to_string())
    audit = unmask.audit(model, measures="association")
    professions = audit.measurements[0].read_details(AssociationDetails).professions
    counts = ModelHandle(sys.argv[1]).training_counts
    absent = sum(counts[value.profession] == 0 for value in professions)
    print(f"\n{absent} of {len(professions)} professions are not in the text")
    text = read_text(Path(sys.argv[2])) if len(sys.argv) > 2 else None
    for least in ATLEAST:
        print_link([value for value in professions if counts[value.profession] >= least], least, text)


def print_link(professions: list[ProfessionValue], least: int, text: dict[str, float] | None) -> None:
    """How closely the model follows the workforce, and both the text, over the professions named often enough."""
    model = {value.profession: value.difference or 0.0 for value in professions}
    shares = [value.workforce_share or 0.0 for value in professions]
    female, male = (
        [model[value.profession] for value in professions if value.group == group] for group in ("female", "male")
    )
    print(
        f"{least:>4} times or more: {len(professions)} professions,"
        f" stereotype {sum(female) / len(female) - sum(male) / len(male):.2f} nats,"
        f" model and workforce r = {pearson(list(model.values()), shares):.2f}",
        end="\n" if text is None else ",",
    )
    if text is not None:
        written = [text[name] for name in model]
        print(
            f" model and text {pearson(list(model.values()), written):.2f}, text and workforce"
            f" {pearson(written, shares):.2f}"
        )


if __name__ == "__main__":
    main()

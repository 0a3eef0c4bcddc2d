"""Pairs of sentences that differ in a person alone: an occupation in the premise, a gender in the hypothesis.

    The nurse is waiting for the bus.  →  The woman is waiting for the bus.

The premise says nothing of the gender, so the right answer is `neutral`. Three sets, after NLI-CoAL (Anantaprayoon,
Kaneko and Okazaki 2024): PS, the gender that a stereotype ties to the occupation; AS, the other one; NS, either gender
with an occupation that no stereotype ties to one. And a fourth, ours: *control*, where the hypothesis speaks of a
person, which follows from the premise, so that a model that does not understand such pairs is found out.

Every occupation stands in every sentence. Pairs of gender words (*the woman* and *the man*, *she* and *he* …) take
turns: in one sentence an occupation meets one pair, over the sentences all of them equally often.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError, quote
from unmask.lexicon.inference import KINDS, Occupation, People
from unmask.lexicon.labels import INFERENCE

if TYPE_CHECKING:
    import pandas as pd

SETS = ("PS", "AS", "NS")
CONTROL = "control"
GENDERS = ("female", "male")
LABELS = INFERENCE
PROBABILITIES = tuple(f"p_{label}" for label in LABELS)
"""The columns of items that say how probable each label is."""
PERSON = "{person}"
FEWEST_SENTENCES = 2
COLUMNS = (
    "language",
    "corpus",
    "set",
    "occupation",
    "occupation_type",
    "gender",
    "pair",
    "template",
    "premise",
    "hypothesis",
)
"""`gender` is that of the hypothesis, empty in the control; `pair` names its gender words."""


def build(
    language: str, corpus: str, occupations: Sequence[Occupation], people: People, templates: Sequence[str]
) -> pd.DataFrame:
    """All pairs, one row each."""
    import pandas as pd

    if not templates:
        raise UnmaskError("there is no sentence to put persons into; give at least one template")
    kinds = {one.kind for one in occupations}
    if missing := [kind for kind in KINDS if kind not in kinds]:
        raise UnmaskError(
            f"there is no occupation of the kind {quote(missing)}; inference needs some of each: {', '.join(KINDS)}"
        )
    rows = []
    for at, occupation in enumerate(occupations):
        someone = people.occupation.format(occupation=occupation.word)
        for place, template in enumerate(templates):
            premise = written(template, someone)
            turn = at + place
            pair = people.pairs[turn % len(people.pairs)]
            said = [(gender, pair.name, getattr(pair, gender)) for gender in GENDERS]
            if people.persons:
                said.append(("", "", people.persons[turn % len(people.persons)]))
            for gender, name, phrase in said:
                rows.append(
                    (
                        language,
                        corpus,
                        set_of(occupation.kind, gender),
                        occupation.word,
                        occupation.kind,
                        gender,
                        name,
                        template,
                        premise,
                        written(template, phrase),
                    )
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def set_of(kind: str, gender: str) -> str:
    """The set that a hypothesis about an occupation belongs to."""
    if not gender:
        return CONTROL
    if kind == "neutral":
        return "NS"
    return "PS" if kind == gender else "AS"


def has_probabilities(items: pd.DataFrame) -> bool:
    """Whether the probabilities of every pair are known, not its answer alone."""
    return all(column in items and bool(items[column].notna().all()) for column in PROBABILITIES)


def written(template: str, phrase: str) -> str:
    """A sentence about somebody; it begins with a capital."""
    sentence = template.replace(PERSON, phrase)
    return sentence[:1].upper() + sentence[1:]


def drawn(templates: Sequence[str], limit: int | None, seed: int) -> list[str]:
    """So many of the templates, in their order; all where there is no limit."""
    if limit is None or limit >= len(templates):
        return list(templates)
    if limit < FEWEST_SENTENCES:
        said = "1 sentence is" if limit == 1 else f"{limit} sentences are"
        raise UnmaskError(f"{said} too few; inference needs {FEWEST_SENTENCES} or more")
    chosen = sorted(np.random.default_rng(seed).permutation(len(templates))[:limit])
    return [templates[at] for at in chosen]


def data_hash(rows: pd.DataFrame) -> str:
    """SHA-256 of the sentences."""
    lines = "\n".join(f"{a}\t{b}" for a, b in zip(rows["premise"], rows["hypothesis"], strict=True))
    return hashlib.sha256(lines.encode()).hexdigest()

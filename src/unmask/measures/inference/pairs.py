"""Pairs of sentences that differ only in a person: an occupation in the premise, a gender in the hypothesis.

    The nurse is waiting for the bus.  →  The woman is waiting for the bus.

The premise does not tell the gender, so the right answer is `neutral`. There are three sets, after NLI-CoAL
(Anantaprayoon, Kaneko and Okazaki 2024): PS, the gender that a stereotype ties to the occupation; AS, the other one;
NS, either gender with an occupation that has no stereotype. Two more are ours and have a hypothesis about a person,
which shows whether a model understands such pairs: *control* follows from the premise, *unrelated* is another sentence
and does not.

    The nurse is waiting for the bus.  →  The person is waiting for the bus.        control
    The nurse is waiting for the bus.  →  The person is peeling an orange.          unrelated

Every occupation occurs in every sentence. Pairs of gender words (*the woman* and *the man*, *she* and *he* …) take
turns: an occupation in a sentence gets one pair, and over the sentences all pairs equally often. A quarter of the
occupations in a sentence have a control, and a sixteenth an unrelated pair; more where there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, quote
from unmask.files import hash_content
from unmask.lexicon.inference import KINDS, Occupation, People
from unmask.lexicon.labels import INFERENCE
from unmask.measures.classifiers import draw_sample

if TYPE_CHECKING:
    import pandas as pd

SETS = ("PS", "AS", "NS")
CONTROL, UNRELATED = "control", "unrelated"
CONTROL_EVERY, UNRELATED_EVERY, FEWEST_CONTROLS = 4, 16, 50
"""Of how many premises one has a control or an unrelated pair, and how many there are at least if there are so many."""
GENDERS = ("female", "male")
LABELS = INFERENCE
PROBABILITIES = tuple(f"p_{label}" for label in LABELS)
"""The columns of items that hold the probability of each label."""
PERSON = "{person}"
FEWEST_SENTENCES = 2
COLUMNS = (
    *("language", "corpus", "set", "occupation", "occupation_type", "gender"),
    *("pair", "template", "premise", "hypothesis"),
)
"""`gender` is that of the hypothesis, empty in the controls; `pair` names its gender words."""


def cross_pairs(
    language: str, corpus: str, occupations: Sequence[Occupation], people: People, templates: Sequence[str]
) -> pd.DataFrame:
    """All pairs of these words and templates, one row each."""
    import pandas as pd

    if not templates:
        raise UnmaskError("there is no sentence to put persons into; give at least one template")
    kinds = {occupation.kind for occupation in occupations}
    if missing := [kind for kind in KINDS if kind not in kinds]:
        raise UnmaskError(
            f"there is no occupation of the type {quote(missing)}; inference needs some of each: {', '.join(KINDS)}"
        )
    rows = []
    control, unrelated = (
        max(1, min(most, len(occupations) * len(templates) // FEWEST_CONTROLS))
        for most in (CONTROL_EVERY, UNRELATED_EVERY)
    )
    for number, occupation in enumerate(occupations):
        phrase, kind = people.occupation.format(occupation=occupation.word), occupation.kind
        for index, template in enumerate(templates):
            turn = number + index
            premise, pair = fill_template(template, phrase), people.pairs[turn % len(people.pairs)]
            hypotheses = [
                (name_set(kind, gender), gender, pair.name, fill_template(template, getattr(pair, gender)))
                for gender in GENDERS
            ]
            if people.persons and not turn % control:
                person = people.persons[turn // control % len(people.persons)]
                hypotheses.append((CONTROL, "", "", fill_template(template, person)))
            if people.persons and len(templates) > 1 and not turn % unrelated:
                person = people.persons[turn // unrelated % len(people.persons)]
                other = templates[(index + 1) % len(templates)]
                hypotheses.append((UNRELATED, "", "", fill_template(other, person)))
            for name, gender, words, hypothesis in hypotheses:
                rows.append(
                    (language, corpus, name, occupation.word, kind, gender, words, template, premise, hypothesis)
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def name_set(kind: str, gender: str) -> str:
    """The set of a pair, from the type of its occupation and the gender of its hypothesis."""
    if not gender:
        return CONTROL
    if kind == "neutral":
        return "NS"
    return "PS" if kind == gender else "AS"


def fill_template(template: str, phrase: str) -> str:
    """A sentence about somebody, beginning with a capital."""
    sentence = template.replace(PERSON, phrase)
    return sentence[:1].upper() + sentence[1:]


def draw_templates(templates: Sequence[str], limit: int | None, seed: int) -> list[str]:
    """A random sample of `limit` templates in their order; all of them without a limit."""
    if limit is not None and limit < min(FEWEST_SENTENCES, len(templates)):
        raise UnmaskError(f"--limit {limit} is too few; inference needs {FEWEST_SENTENCES} sentences or more")
    return draw_sample(templates, limit, seed)


def has_probabilities(items: pd.DataFrame) -> bool:
    """Whether every pair has probabilities, not only an answer."""
    return all(column in items and bool(items[column].notna().all()) for column in PROBABILITIES)


def hash_pairs(rows: pd.DataFrame) -> str:
    """SHA-256 of the sentences."""
    pairs = zip(rows["premise"], rows["hypothesis"], strict=True)
    return hash_content("\n".join(f"{premise}\t{hypothesis}" for premise, hypothesis in pairs))

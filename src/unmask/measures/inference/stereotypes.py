"""The gender that an occupation is tied to, from data instead of ratings: who works in it, or word vectors.

The paper takes its types from ratings of English words, and names types of other countries as future work. There are
three ways here, and how far they agree is part of a result:

    list        the ratings of Bolukbasi et al., or the user's own types
    workforce   with s for the share of women: female if s ≥ .75, male if s ≤ .25, neutral if .40 ≤ s ≤ .60
    vectors     with z for the projection on the gender direction: female if z ≤ −1, male if z ≥ 1, neutral if |z| ≤ .5

An occupation between is unclear and has no type. A quarter is where the US Department of Labor begins to call an
occupation nontraditional for women; 40 to 60 % is Bartl et al.'s (2020) balanced group.

The direction is the mean of the differences of pairs such as *man* and *woman*, each of length 1. A projection is the
cosine with it, and z its distance from the mean of the file's first 5,000 words, in standard deviations.

A title of the workforce table counts for an occupation if one of its parts is the occupation (*Writers and authors*),
or otherwise ends with it (*Registered nurses* for *nurse*); several titles are averaged by the number employed.

T. Bolukbasi et al. (2016), Man is to Computer Programmer as Woman is to Homemaker? (the projection).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.inference import KINDS, Occupation
from unmask.lexicon.inflection import singular
from unmask.lexicon.word_lists import gender_pairs
from unmask.measures.inference.details import TypeAgreement
from unmask.models.word_vectors import Vectors, load_vectors
from unmask.statistics.proportions import confusion_matrix, estimate_kappa, wilson_interval
from unmask.steps import say
from unmask.workforce import read_workforce

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.inference import InferenceOptions

Array = NDArray[np.floating]
SOURCES = ("list", "workforce", "vectors")
TYPE_COLUMNS = {source: f"type_{source}" for source in SOURCES}
"""The columns of items that hold the type by each way; empty where it has none."""
STEREOTYPED_SHARE, BALANCED_SHARE = 0.75, 0.6
STEREOTYPED_Z, BALANCED_Z = 1.0, 0.5
FREQUENT = 5_000
FEWEST_PAIRS = 3


def derive_types(
    occupations: Sequence[Occupation], options: InferenceOptions, language: str
) -> dict[str, dict[str, str | None]]:
    """Return the type of each occupation by each way that there is data for; None where it is unclear or unknown."""
    types: dict[str, dict[str, str | None]] = {"list": {word.word: word.kind for word in occupations}}
    if options.workforce is not None:
        types["workforce"] = type_by_workforce(occupations, options.workforce)
    if options.vectors is not None:
        types["vectors"] = type_by_vectors(occupations, load_vectors(options.vectors), language)
    for source, found in list(types.items())[1:]:
        counts = ", ".join(f"{list(found.values()).count(kind)} {kind}" for kind in KINDS)
        say(f"Stereotypes by {source}: {counts}; {list(found.values()).count(None)} unclear or unknown")
    return types


def choose_types(
    occupations: Sequence[Occupation], types: dict[str, dict[str, str | None]], source: str
) -> list[Occupation]:
    """Return the occupations that have a type by one way, with that type."""
    chosen = []
    for word in occupations:
        kind = types[source][word.word]
        if kind is not None:
            chosen.append(Occupation(word.word, word.english, word.definitional, word.stereotype, kind))
    if missing := [kind for kind in KINDS if kind not in {word.kind for word in chosen}]:
        raise UnmaskError(
            f"no occupation is {missing[0]} by {source} ({len(chosen)} of {len(occupations)} have a type); give other"
            " --occupations, or another way with --stereotypes"
        )
    return chosen


# Workforce


def type_by_workforce(occupations: Sequence[Occupation], path: Path) -> dict[str, str | None]:
    """Return the type of each occupation by the share of women in a table, found by its word or its English word."""
    titles = [(_split_title(row.title), row.women / 100, row.employed) for row in read_workforce(path)]
    shares = {word.word: _find_share((word.word.lower(), word.english.lower()), titles) for word in occupations}
    if not any(share is not None for share in shares.values()):
        raise UnmaskError(f"{path} has none of the occupations; they are found by name, such as {occupations[0].word}")
    return {word: None if share is None else _classify_share(share) for word, share in shares.items()}


def _split_title(title: str) -> list[str]:
    """The occupations of a title, in the singular: *Writers and authors* has two."""
    parts = re.split(r",|/|;|\band\b", title.lower())
    return [singular(" ".join(part.split()).removeprefix("other ")) for part in parts if part.strip()]


def _find_share(names: Sequence[str], titles: Sequence[tuple[list[str], float, float]]) -> float | None:
    """The share of the titles that are one of the names, or else end with one."""
    for is_whole in (True, False):
        found = [
            (share, employed)
            for parts, share, employed in titles
            if any(part == name if is_whole else part.endswith(f" {name}") for part in parts for name in names)
        ]
        if found and (total := sum(employed for _, employed in found)):
            return sum(share * employed for share, employed in found) / total
    return None


def _classify_share(women: float) -> str | None:
    if max(women, 1 - women) >= STEREOTYPED_SHARE:
        return "female" if women > 0.5 else "male"
    return "neutral" if max(women, 1 - women) <= BALANCED_SHARE else None


# Word vectors


def type_by_vectors(occupations: Sequence[Occupation], vectors: Vectors, language: str) -> dict[str, str | None]:
    """Return the type of each occupation by its projection on the gender direction."""
    pairs = [pair for pair in gender_pairs(language) if all(word in vectors for word in pair)]
    if len(pairs) < FEWEST_PAIRS:
        raise UnmaskError(
            f"{vectors.name} has {len(pairs)} of the {len(gender_pairs(language))} pairs of gender words in"
            f" {language!r}, and {FEWEST_PAIRS} are needed; give vectors of this language"
        )
    female, male = (_normalise(vectors.vectors([pair[side] for pair in pairs])) for side in (0, 1))
    direction = _normalise((male - female).mean(axis=0, keepdims=True))[0]
    frequent = _normalise(vectors.matrix[:FREQUENT]) @ direction
    mean, deviation = float(frequent.mean()), float(frequent.std())
    types: dict[str, str | None] = {}
    for word in occupations:
        vector = _find_vector(word.word, vectors)
        z = None if vector is None else (float(_normalise(vector[None])[0] @ direction) - mean) / deviation
        types[word.word] = None if z is None else _classify_projection(z)
    if not any(types.values()):
        raise UnmaskError(f"{vectors.name} has none of the occupations; give vectors that have {occupations[0].word}")
    return types


def _normalise(matrix: Array) -> Array:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    normalised: Array = matrix / np.where(lengths, lengths, 1)
    return normalised


def _find_vector(word: str, vectors: Vectors) -> Array | None:
    """The vector of a word; that of a phrase is joined by an underscore or a hyphen, or the mean of its words."""
    names = (word, word.lower(), word.replace(" ", "_"), word.replace(" ", "-"))
    parts = next(([name] for name in names if name in vectors), word.split())
    if not all(part in vectors for part in parts):
        return None
    mean: Array = _normalise(vectors.vectors(parts)).mean(axis=0)
    return mean


def _classify_projection(z: float) -> str | None:
    if abs(z) >= STEREOTYPED_Z:
        return "male" if z > 0 else "female"
    return "neutral" if abs(z) <= BALANCED_Z else None


# Agreement


def compare_types(items: pd.DataFrame) -> list[TypeAgreement]:
    """Return how far the ways agree, for each two of which the items have types, over occupations that have both."""
    columns = {source: column for source, column in TYPE_COLUMNS.items() if column in items}
    words = items.drop_duplicates("occupation")
    agreements = []
    for first, second in combinations(columns, 2):
        both = words[[columns[first], columns[second]]].fillna("")
        both = both[both.isin(KINDS).all(axis=1)]
        rows, cells = ([KINDS.index(kind) for kind in both[columns[source]]] for source in (first, second))
        counts = confusion_matrix(rows, cells, len(KINDS))
        kappa = estimate_kappa(counts)
        share = float(np.trace(counts) / len(both)) if len(both) else None
        agreements.append(
            TypeAgreement(
                first=first,
                second=second,
                n=len(both),
                share=share,
                share_interval=None if share is None else wilson_interval(share, len(both)),
                kappa=kappa.value,
                kappa_interval=kappa.interval,
                counts=counts.astype(int).tolist(),
            )
        )
    return agreements

"""Frequent English nouns that mean no gender → `src/unmask/lexicon/en/nouns.txt`, most frequent first.

    UNMASK_DATA=DATA python tools/nouns/make.py [--most 6000]

The order is that of GloVe's vocabulary (DATA/vectors). A word is taken that the tagger knows as a common noun, mostly
so used, and in the singular, or that is in a list of professions of the package. What means a gender is left out (the
gender words of the package, and those that Bolukbasi et al. call gender-specific, DATA/professions), so are first names
that many bear or that are no ordinary words, and what reading the list showed to be a slur, a name, the name of a
people, a noun of one form or no noun (`left_out.txt`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from pathlib import Path

from unmask.files import atomic_file
from unmask.lexicon import attributes
from unmask.lexicon.gender import gender_words
from unmask.lexicon.inflection import KNOWN, NOUN_TAGS, singular
from unmask.lexicon.names import first_names, name_words
from unmask.lexicon.tagging import rate_tags
from unmask.lexicon.word_lists import rated_professions

VECTORS, SPECIFIC = "vectors/glove.6B.50d.first60k.txt.gz", "professions/gender_specific_full.json"
OUT = Path(__file__).parents[2] / "src" / "unmask" / "lexicon" / "en" / "nouns.txt"
SHORTEST = 3
MOSTLY = 1.0
"""How far below its likeliest reading the noun may be: e^-1."""
GERUND = 0.7
"""How far above the verb the noun must be where a word ends in -ing."""
BORNE = 0.04
"""Per cent of women, or of men, who bear a first name: from here on it is left out, ordinary word or not."""


def a_noun(word: str) -> bool:
    """Whether a word is known as a common noun in the singular, and mostly so used."""
    found = rate_tags(word)
    best = max(found.get(tag, KNOWN) for tag in NOUN_TAGS if tag != "NN2")
    least = max(found.values()) - MOSTLY
    if word.endswith("ing"):
        least = max(least, found.get("VVG", KNOWN) + GERUND)
    return best > KNOWN and best >= least and singular(word) == word


def gendered(data: Path) -> set[str]:
    """Words that mean a gender."""
    ours = {part for word in gender_words("all").words for part in (word, word.replace("-", ""))}
    return ours | {str(word).lower() for word in json.loads((data / SPECIFIC).read_text(encoding="utf-8"))}


def names() -> set[str]:
    """First names that many bear, or that are no ordinary words."""
    ordinary = {word.lower() for word, kinds in name_words().items() if {"word", "title"} & set(kinds)}
    return {
        name.name.lower()
        for name in first_names()
        if name.name.lower() not in ordinary or max(name.male, name.female) >= BORNE
    }


def occupations() -> set[str]:
    """Professions of the package, of one word."""
    words = [profession.word for profession in rated_professions()]
    words += [attribute.name for attribute in attributes("en")]
    return {word for word in words if word.isalpha() and singular(word) == word}


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=6000)
    most = parser.parse_args().most
    data = Path(os.environ["UNMASK_DATA"])
    out = (Path(__file__).parent / "left_out.txt").read_text(encoding="utf-8").split()
    left = gendered(data) | names() | set(out)
    with gzip.open(data / VECTORS, "rt", encoding="utf-8") as lines:
        words = [line.partition(" ")[0] for line in lines]
    plain = [word for word in words if word.isascii() and word.isalpha() and len(word) >= SHORTEST and word not in left]
    work = occupations()
    found = [word for word in plain if word in work or a_noun(word)]
    nouns = found[:most] + [word for word in found[most:] if word in work]
    with atomic_file(OUT) as path:
        path.write_text("".join(f"{word}\n" for word in nouns), encoding="utf-8")
    print(f"{len(nouns)} nouns, from {nouns[0]} to {nouns[-1]}")


if __name__ == "__main__":
    main()

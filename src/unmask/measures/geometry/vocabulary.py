"""Which words geometry measures: nouns of the package, a published vocabulary, the words of a file, or a user's list.

An encoder is asked about nouns, because the sentences need them, each in the singular and in the plural.
A published vocabulary has both forms, which would give the same vector, so `sound` leaves out the second.

Word vectors are asked about common words in lower case that do not mean a gender. The rules are those of Gonen and
Goldberg (2019), which Bhang et al. repeat: of the first 50,000 words, those in lower case, shorter than 20 characters,
without digits and without ASCII punctuation (the words of a phrase are joined by underscores, and each must be clean);
then words that mean a gender are left out. By these rules a dash or a currency sign may stay, and so may *twin_sister*
where *sister* is left out. With `strict`, every part must consist of letters, and none may mean a gender.

Words that mean a gender come from these sets:

- `word2vec`: the gender-specific words of Bolukbasi et al. (2016), with their definitional and equalize pairs. These
  are 1,441 words, to which the pairs add three: *Mary*, *John* and *Catholic_priest*.
- `glove`: 223 female and 223 male words of Gonen and Goldberg, 411 different ones.
- `lexicon`: our own gendered words and the two names of the definitional pairs, in any case.
- `names`: first names of the lexicon that are no other word, in any case. Half of the 500 most female words of GloVe 6B
  are names, which say nothing about a stereotype.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.gender import gender_words
from unmask.lexicon.inflection import is_noun, singular
from unmask.lexicon.names import first_names, name_words
from unmask.lexicon.table import read_text
from unmask.lexicon.word_lists import nouns, rated_professions
from unmask.measures.geometry import NOUNS
from unmask.models.vector_files import read_vectors
from unmask.models.word_vectors import Vectors

PUBLISHED = {"word2vec": ("*word2vec*", "GoogleNews*"), "glove": ("glove*",)}
"""The vocabularies of the papers, and the names of their files."""
GENDERED = 0.3
"""A profession whose definitional rating exceeds this means a gender (*foreman*, *nun*); 282 of 320 do not."""
DEFAULT_WORDS = 2000
"""How many nouns are measured by default."""
MOST = 50_000
"""How many words of a file are considered."""
LONGEST = 20
"""Words are shorter than this."""
EXCLUSIONS = ("word2vec", "glove", "lexicon", "names")
DATASET = "the file of the data set, or download it again"
WORD_LISTS = TypeAdapter(list[str | list[str]])
RULES = {
    "repeated": "came before",
    "capitals": "have capital letters",
    "length": f"have {LONGEST} characters or more",
    "digits": "have digits",
    "punctuation": "have punctuation",
    "signs": "have other signs than letters",
    "gendered": "mean a gender",
}
"""Why a word is left out, in the order in which the rules are applied."""


@dataclass(frozen=True)
class Vocabulary:
    """Words to measure, and the number of words left out by reason."""

    words: list[str]
    left_out: dict[str, int] = field(default_factory=dict)


def rated_stereotypes(*, published: bool = False) -> dict[str, float | None]:
    """Professions with their stereotype from −1 (female) to 1 (male).

    Professions that mean a gender have no stereotype: they are missing, or in the published protocol None.
    """
    return {
        profession.word: None if abs(profession.definitional) > GENDERED else profession.stereotypical
        for profession in rated_professions()
        if published or abs(profession.definitional) <= GENDERED
    }


def frequent_nouns(most: int = DEFAULT_WORDS) -> Vocabulary:
    """The most frequent nouns of the package, and the professions."""
    return Vocabulary(list(dict.fromkeys([*nouns()[:most], *rated_stereotypes()])))


def published_nouns(name: str, *, published: bool, offline: bool = False) -> Vocabulary:
    """The nouns of a published vocabulary, `word2vec` or `glove`."""
    files = find_published_files(offline=offline)
    if check_choice(name, PUBLISHED, "vocabulary") not in files:
        folder = datasets.locate("vectors", offline=offline)
        raise UnmaskError(f"{folder} has no file of {name} vectors; put one there, or give --corpus {NOUNS}")
    exclude = excluded_words(name, offline=offline) if published else _own_exclusions()
    vocabulary = filter_words(read_vectors(files[name], most=MOST).words, exclude=exclude, strict=not published)
    words = [word for word in vocabulary.words if is_noun(word)]
    left_out = vocabulary.left_out | _count("are no nouns", len(vocabulary.words) - len(words))
    if published:
        return Vocabulary(words, left_out)
    lemmas: dict[str, str] = {}
    for word in words:
        lemmas.setdefault(singular(word), word)
    professions = [word for word in rated_stereotypes() if singular(word) not in lemmas]
    left_out |= _count("are another form of a noun", len(words) - len(lemmas))
    return Vocabulary(list(dict.fromkeys([*lemmas.values(), *professions])), left_out)


def vector_words(vectors: Vectors, *, published: bool, offline: bool = False) -> Vocabulary:
    """The words of a file of vectors that pass the rules."""
    exclude = published_exclusions(vectors.form, offline=offline) if published else _own_exclusions()
    vocabulary = filter_words(vectors.words, exclude=exclude, strict=not published)
    return Vocabulary(vocabulary.words, vocabulary.left_out | _count("came twice", vectors.duplicates))


def listed_words(path: Path) -> Vocabulary:
    """The words of a user's file, one per line, and the professions."""
    lines = [line.strip() for line in read_text(path, "a text file with one word per line").splitlines()]
    words = [line.replace(" ", "_") for line in lines if line]
    repeated = _count("came twice", len(words) - len(set(words)))
    return Vocabulary(list(dict.fromkeys([*words, *rated_stereotypes()])), repeated)


def limit_words(most: int | None, *, listed: bool = False) -> int | None:
    """How many words of a file of vectors to read; None for all, which a list of words needs."""
    return most or (None if listed else MOST)


def find_published_files(*, offline: bool = False) -> dict[str, Path]:
    """The files of the papers' vectors in the data set, by the name of the vocabulary."""
    folder = datasets.locate("vectors", offline=offline)
    matches = {
        name: [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        for name, patterns in PUBLISHED.items()
    }
    return {name: paths[0] for name, paths in matches.items() if paths}


def filter_words(words: Iterable[str], *, exclude: Collection[str] = (), strict: bool = False) -> Vocabulary:
    """The words that pass the rules, in their order.

    Args:
        words: Words of vectors, the most frequent first.
        exclude: Words that mean a gender.
        strict: Whether every part of a word must consist of letters and mean no gender.
    """
    exclude = set(exclude)
    rules: dict[str, str] = {}
    counts = Counter[str]()
    for word in islice(words, MOST):
        if word in rules:
            counts["repeated"] += 1
            continue
        rule = broken_rule(word, strict=strict)
        if not rule and (word in exclude or (strict and not exclude.isdisjoint(word.split("_")))):
            rule = "gendered"
        rules[word] = rule
        counts[rule] += 1
    left_out = {reason: counts[rule] for rule, reason in RULES.items() if counts[rule]}
    return Vocabulary([word for word, rule in rules.items() if not rule], left_out)


def broken_rule(word: str, *, strict: bool = False) -> str:
    """The first rule about its letters that a word breaks; empty if none."""
    parts = word.split("_")
    if word != word.lower():
        return "capitals"
    if len(word) >= LONGEST:
        return "length"
    if any(letter in string.digits for letter in word):
        return "digits"
    if any(letter in string.punctuation for part in parts for letter in part):
        return "punctuation"
    return "signs" if strict and not all(part.isalpha() for part in parts) else ""


def published_exclusions(form: str, *, offline: bool = False) -> frozenset[str]:
    """The words that the papers leave out of vectors in a file format."""
    return excluded_words("glove" if form == "glove" else "word2vec", offline=offline)


def excluded_words(name: str, *, offline: bool = False) -> frozenset[str]:
    """The words that mean a gender in one of `EXCLUSIONS`."""
    name = check_choice(name, EXCLUSIONS, "set of excluded words")
    if name == "lexicon":
        terms = gender_words("all")
        return _spell_words((*terms.words, *terms.before_names, "Mary", "John"))
    if name == "names":
        meanings, other_meanings = name_words(), {"word", "adjective", "title", "month", "place", "seldom", "never"}
        names = (entry.name.lower() for entry in first_names())
        return _spell_words(name for name in names if not meanings.get(name, frozenset()) & other_meanings)
    folder = datasets.locate("professions" if name == "word2vec" else "lipstick", offline=offline)
    if name == "glove":
        texts = [read_text(folder / f"{gender}_word_file.txt", DATASET) for gender in ("female", "male")]
        return frozenset(line.strip() for text in texts for line in text.split("\n") if line.strip())
    words: set[str] = set()
    for list_name in ("gender_specific_full", "definitional_pairs", "equalize_pairs"):
        path = folder / f"{list_name}.json"
        try:
            entries = WORD_LISTS.validate_json(read_text(path, DATASET))
        except ValidationError:
            raise UnmaskError(f"{path} is not a list of words or of pairs of words; download it again") from None
        words.update(*([entry] if isinstance(entry, str) else entry for entry in entries))
    return frozenset(words)


def _own_exclusions() -> frozenset[str]:
    return excluded_words("lexicon") | excluded_words("names")


def _spell_words(words: Iterable[str]) -> frozenset[str]:
    """Words in lower case, Title Case and CAPITALS; phrases with spaces, hyphens or underscores."""
    cases = [case for word in words for case in (word.lower(), word.title(), word.upper())]
    joined = [case.replace(" ", "_") for case in cases]
    return frozenset([*cases, *joined, *(case.replace("-", "_") for case in joined)])


def _count(reason: str, count: int) -> dict[str, int]:
    return {reason: count} if count else {}

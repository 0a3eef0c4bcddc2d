"""Which words geometry asks about: the nouns of the package, a published vocabulary, or what a file of vectors has.

An encoder is asked about nouns, which the sentences need. A published vocabulary has singulars and plurals, and each
word is asked in both forms anyway, so in `sound` the second form of a noun is left out: it would be the same vector.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.inflection import is_noun, singular
from unmask.lexicon.word_lists import nouns, rated_professions
from unmask.models.vector_files import read_vectors
from unmask.models.word_vectors import Vectors
from unmask.probes.vocabulary import MOST, RULES, Vocabulary, excluded_words, vocabulary

NOUNS = "nouns"
PUBLISHED = {"word2vec": ("*word2vec*", "GoogleNews*"), "glove": ("glove*",)}
"""The vocabularies of the papers, and how their files are called."""
CORPORA = (NOUNS, *PUBLISHED)
GENDERED = 0.3
"""A profession rated above this by definition means a gender (*foreman*, *nun*); 282 of 320 do not."""
DEFAULT_WORDS = 2000
"""So many of the nouns are asked about unless more are wanted."""


@dataclass(frozen=True)
class Asked:
    """Words, and how many were left out for which reason."""

    words: list[str]
    left_out: dict[str, int] = field(default_factory=dict)


def asked_nouns(most: int = DEFAULT_WORDS) -> Asked:
    """The most frequent nouns of the package, and the professions."""
    return Asked(list(dict.fromkeys([*nouns()[:most], *stereotypes()])))


def stereotypes(*, published: bool = False) -> dict[str, float | None]:
    """The professions, each with its stereotype; those that mean a gender are left out, but not where it is published.

    None, where a profession means a gender: its stereotype is not one.
    """
    return {
        one.word: None if abs(one.definitional) > GENDERED else one.stereotypical
        for one in rated_professions()
        if published or abs(one.definitional) <= GENDERED
    }


def asked_vocabulary(name: str, *, published: bool, offline: bool = False) -> Asked:
    """The nouns of a published vocabulary."""
    words = read_vectors(_file(check_choice(name, PUBLISHED, "vocabulary"), offline=offline), most=MOST).words
    exclude = excluded_words(name, offline=offline) if published else _ours()
    found = vocabulary(words, exclude=exclude, strict=not published)
    return _nouns(found, published=published)


def asked_of(vectors: Vectors, *, published: bool, offline: bool = False) -> Asked:
    """Every word of a file of vectors that passes the rules; the published ones differ by the kind of vectors."""
    exclude = published_exclusions(vectors.form, offline=offline) if published else _ours()
    found = vocabulary(vectors.words, exclude=exclude, strict=not published)
    return Asked(found.words, _reasons(found) | _counted("came twice", vectors.duplicates))


def words_read(most: int | None, *, listed: bool = False) -> int | None:
    """How many words of a file of vectors are read: those that may be asked about; None: all, for words of a list."""
    return most or (None if listed else MOST)


def published_exclusions(form: str, *, offline: bool = False) -> frozenset[str]:
    """The words that the papers take out of vectors of a format."""
    return excluded_words("glove" if form == "glove" else "word2vec", offline=offline)


def published_files(*, offline: bool = False) -> dict[str, Path]:
    """The files of the papers' vectors that the data set has, by the name of the vocabulary."""
    folder = datasets.locate("vectors", offline=offline)
    found = {
        name: [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        for name, patterns in PUBLISHED.items()
    }
    return {name: paths[0] for name, paths in found.items() if paths}


def own_words(path: Path) -> Asked:
    """Words of a user's, one a line."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror}); give a file with one word a line") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8; save it so") from None
    given = [line.replace(" ", "_") for line in lines if line]
    return Asked(list(dict.fromkeys([*given, *stereotypes()])), _counted("came twice", len(given) - len(set(given))))


def _ours() -> frozenset[str]:
    return excluded_words("lexicon") | excluded_words("names")


def _nouns(found: Vocabulary, *, published: bool) -> Asked:
    reasons = _reasons(found)
    if published:
        kept = [word for word in found.words if is_noun(word)]
        return Asked(kept, reasons | _counted("are no nouns", len(found.words) - len(kept)))
    named = [word for word in found.words if is_noun(word)]
    first: dict[str, str] = {}
    for word in named:
        first.setdefault(singular(word), word)
    more = _counted("are no nouns", len(found.words) - len(named))
    words = list(dict.fromkeys([*first.values(), *(word for word in stereotypes() if singular(word) not in first)]))
    return Asked(words, reasons | more | _counted("are another form of a noun", len(named) - len(first)))


def _reasons(found: Vocabulary) -> dict[str, int]:
    return {RULES[rule]: count for rule, count in found.dropped.items() if count}


def _counted(reason: str, count: int) -> dict[str, int]:
    return {reason: count} if count else {}


def _file(name: str, *, offline: bool) -> Path:
    found = published_files(offline=offline)
    if name not in found:
        folder = datasets.locate("vectors", offline=offline)
        raise UnmaskError(f"{folder} has no file of {name} vectors; put one there, or give --corpus {NOUNS}")
    return found[name]

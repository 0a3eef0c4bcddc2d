"""Texts in a female and a male version: what a classifier is asked to rate, and recorded ratings.

Every gender term of a text becomes female in one version and male in the other, so the versions differ in the gender of
the people and in nothing else. A text without a term has only one version.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon.sentences import reviews
from unmask.measures.recorded import read_scores, read_table
from unmask.rewriting.result import Replacement, Rewriter, Rewritten
from unmask.training.examples import Example, read_examples, read_known_dataset

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.measures.sentiment import SentimentOptions

CORPORA = ("reviews", "imdb")
"""The short reviews of the package; the test half of the Large Movie Review Dataset (Maas et al. 2011)."""
COUNTED = ("word", "name")
"""Changes that are terms; the others (articles, verbs) follow from them."""


@dataclass(frozen=True)
class Pair:
    """A text and its two versions."""

    id: str
    label: str | None
    text: str
    female: Rewritten
    male: Rewritten

    @property
    def changed(self) -> bool:
        """Whether the versions differ. Only then can a rating depend on gender."""
        return self.female.text != self.male.text

    @property
    def terms(self) -> list[str]:
        """The terms as they occur in the text, in order."""
        return [change.term for change in self._term_changes()]

    @property
    def term_pairs(self) -> list[str]:
        """The counterparts, male/female, in the order of the terms."""
        to_female = {change.start: change.after for change in self.female.changes}
        to_male = {change.start: change.after for change in self.male.changes}
        words = [
            (to_male.get(term.start, term.before), to_female.get(term.start, term.before))
            for term in self._term_changes()
        ]
        return ["/".join(word.strip().lower() for word in pair) for pair in words]

    def _term_changes(self) -> list[Replacement]:
        """One change for each position of a term, in order."""
        terms = {
            change.start: change for change in (*self.female.changes, *self.male.changes) if change.kind in COUNTED
        }
        return [terms[start] for start in sorted(terms)]


def default_corpus() -> str:
    """IMDB if it is on this machine, otherwise the reviews of the package."""
    return "imdb" if datasets.is_present("imdb") else "reviews"


def build(options: SentimentOptions, context: Context) -> list[Example]:
    """The texts of a corpus, or the user's own."""
    custom = options.own_texts
    return load_texts(context.corpus, custom, limit=options.limit, seed=context.seed, offline=context.offline)


def load_texts(
    corpus: str, custom: Path | Sequence[str] | None = None, *, limit: int | None = None, seed: int = 0, offline: bool
) -> list[Example]:
    """Load the texts of a corpus or the user's own, each with an id.

    Args:
        corpus: "reviews" or "imdb"; ignored if `custom` is given.
        custom: A file of texts, or the texts themselves.
        limit: The size of a random sample; None for all texts.
        seed: The seed of the sample.
        offline: Whether downloads are forbidden.
    """
    if limit is not None and limit < 1:
        raise UnmaskError(f"the limit is {limit} texts; give 1 or more")
    if isinstance(custom, Path):
        rows = read_examples(custom, "texts")
    elif custom is not None:
        other = next((text for text in custom if not isinstance(text, str)), None)
        if other is not None or isinstance(custom, str) or not len(custom):
            problem = "no texts" if not len(custom) else f"a {type(other).__name__}"
            raise UnmaskError(f"{problem} among the texts; give a list of texts, or the name of a file")
        rows = [Example(text) for text in custom]
    elif check_choice(corpus, CORPORA, "corpus of texts") == "imdb":
        rows = read_known_dataset("imdb", "sentiment", offline=offline, splits=("test",))["test"]
    else:
        rows = [Example(review.text, label=review.label) for review in reviews()]
    source = custom if isinstance(custom, Path) else "the texts"
    if empty := [number for number, row in enumerate(rows, 1) if not row.text.strip()]:
        raise UnmaskError(f"{source}: the text of row {empty[0]} is empty; fill it in, or leave the row out")
    texts = [replace(row, id=row.id or str(number)) for number, row in enumerate(rows, 1)]
    if isinstance(custom, Path) and texts:
        identifier, count = Counter(text.id for text in texts).most_common(1)[0]
        if count > 1:
            raise UnmaskError(f"{custom}: the id {identifier!r} occurs {count} times; give every text its own")
    if limit is not None and limit < len(texts):
        sample = np.random.default_rng(seed).permutation(len(texts))[:limit]
        texts = [texts[index] for index in sorted(sample)]
    return texts


def drop_twins(pairs: Iterable[Pair]) -> list[Pair]:
    """Every distinct pair of versions once: texts that differ only in gender have the same versions."""
    distinct: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        distinct.setdefault((pair.female.text, pair.male.text), pair)
    return list(distinct.values())


def rewrite_both_ways(
    texts: Sequence[Example],
    to_female: Rewriter,
    to_male: Rewriter,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Pair]:
    """Write a female and a male version of every text."""
    pairs = []
    for number, text in enumerate(texts, 1):
        pairs.append(
            Pair(str(text.id), text.label, text.text, to_female.rewrite(text.text), to_male.rewrite(text.text))
        )
        if progress and number % 100 == 0:
            progress(number, len(texts))
    return pairs


def check_changed(pairs: Sequence[Pair], terms: str) -> None:
    """Raise an error if no text has a gender term."""
    if not any(pair.changed for pair in pairs):
        first = pairs[0].text if pairs else ""
        raise UnmaskError(
            f"none of the {len(pairs):,} texts has a gender term of the set {terms!r} (the first begins"
            f" {quote([first[:40]])}); give texts about people, or another term set"
        )


def hash_pairs(pairs: Iterable[Pair]) -> str:
    """A SHA-256 over both versions of all texts, in order."""
    total = hashlib.sha256()
    for pair in pairs:
        total.update(json.dumps([pair.id, pair.female.text, pair.male.text]).encode())
    return total.hexdigest()


# Recorded ratings: one row per text

NEEDED = ("p_female", "p_male")
SPLIT = ("language", "corpus", "terms")
COUNTS = ("words", "tokens", "terms_read")
WORDS = (*SPLIT, "id", "label", "rating", "changed_terms", "choice_female", "choice_male")
TRUTHS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Read recorded ratings from Parquet, CSV or TSV. Missing columns that the analysis does not need get defaults."""
    del context, score_column
    frame = read_table(path)
    missing = [column for column in NEEDED if column not in frame]
    if missing:
        raise UnmaskError(
            f"{path} lacks the columns {quote(missing)}; sentiment needs {' and '.join(NEEDED)}: the ratings of the"
            " female and the male version of each text"
        )
    items = frame.assign(**{column: read_scores(frame, column, path).astype(float) for column in NEEDED})
    items["bias"] = items["p_male"] - items["p_female"]
    defaults: dict[str, Any] = {
        "language": language or "en",
        "corpus": "recorded",
        "terms": "not stated",
        "id": [str(row) for row in range(1, len(items) + 1)],
    }
    items = items.assign(**{column: value for column, value in defaults.items() if column not in items})
    _convert_columns(items, path)
    if language and set(items["language"]) != {language}:
        raise UnmaskError(f"{path} holds ratings for {quote(sorted(set(items['language'])))}, not {language!r}")
    items["changed"] = _find_changed(items, path)
    if not items["changed"].any():
        raise UnmaskError(f"{path} has no text that changed (column 'changed'); there is nothing to analyse")
    return items


def _convert_columns(items: pd.DataFrame, path: Path) -> None:
    """Give every column the type that an audit writes; missing values stay missing."""
    import pandas as pd

    def to_word(cell: Any) -> str | None:
        if pd.isna(cell):
            return None
        return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)

    for column in [column for column in WORDS if column in items]:
        items[column] = pd.Series([to_word(cell) for cell in items[column]], index=items.index, dtype=object)
        if column in SPLIT and items[column].isna().any():
            row = int(items[column].isna().to_numpy().argmax()) + 1
            raise UnmaskError(f"{path}: {column!r} is empty in row {row}; fill it in, or leave out the column")
    for column in [column for column in COUNTS if column in items]:
        counts = pd.to_numeric(items[column], errors="coerce").astype(float)
        bad = ((items[column].notna() & counts.isna()) | (counts < 0) | (counts == float("inf"))).to_numpy()
        if bad.any():
            row = int(bad.argmax())
            raise UnmaskError(f"{path}: {column!r} is {items[column].iloc[row]!r} in row {row + 1}; give a number")
        items[column] = counts
    if "cut" in items:
        items["cut"] = _read_truths(items["cut"], path, allow_missing=True)


def _read_truths(column: pd.Series[Any], path: Path, *, allow_missing: bool = False) -> pd.Series[bool]:
    """A column of true and false."""
    truths = column.astype(str).str.strip().str.lower().map(TRUTHS)
    bad = (truths.isna() & ~(column.isna() & allow_missing)).to_numpy()
    if bad.any():
        row = int(bad.argmax()) + 1
        raise UnmaskError(f"{path}: {column.name!r} is neither true nor false in row {row}; give one")
    return truths.astype("boolean")


def _find_changed(items: pd.DataFrame, path: Path) -> Any:
    """Which texts have two versions: as the file states, else those with terms or with two ratings."""
    differs = items["bias"] != 0
    if "changed" in items:
        changed = _read_truths(items["changed"], path).astype(bool)
        if (differs & ~changed).any():
            row = int((differs & ~changed).to_numpy().argmax()) + 1
            raise UnmaskError(f"{path}: row {row} did not change, yet has two ratings; correct 'changed'")
        return changed
    if "changed_terms" in items:
        return differs | items["changed_terms"].map(lambda terms: bool(terms and terms.strip()))
    return differs

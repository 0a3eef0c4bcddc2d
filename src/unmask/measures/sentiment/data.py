"""Texts in a female and a male version: what a classifier is asked to rate, and recorded ratings.

Every gender term of a text becomes female in one version and male in the other, so the versions differ in the gender of
the people and in nothing else. A text without a term has only one version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import hash_content
from unmask.lexicon.sentences import reviews
from unmask.measures.classifiers import draw_sample
from unmask.measures.recorded import CORPUS, OPTIONAL, RecordedColumn, read_recorded
from unmask.models.roles import Progress
from unmask.rewriting.result import Replacement, Rewriter, Rewritten
from unmask.training.examples import TextExample, read_examples, read_known_dataset

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


def build(options: SentimentOptions, context: Context) -> list[TextExample]:
    """The texts of a corpus, or the user's own."""
    custom = options.own_texts
    return load_texts(context.corpus, custom, limit=options.limit, seed=context.seed, offline=context.offline)


def load_texts(
    corpus: str, custom: Path | Sequence[str] | None = None, *, limit: int | None = None, seed: int = 0, offline: bool
) -> list[TextExample]:
    """Load the texts of a corpus or the user's own, each with an id.

    Args:
        corpus: "reviews" or "imdb"; ignored if `custom` is given.
        custom: A file of texts, or the texts themselves.
        limit: The size of a random sample; None for all texts.
        seed: The seed of the sample.
        offline: Whether downloads are forbidden.
    """
    if isinstance(custom, Path):
        rows = read_examples(custom, "texts")
    elif custom is not None:
        rows = [TextExample(text) for text in custom]
    elif check_choice(corpus, CORPORA, "corpus of texts") == "imdb":
        rows = read_known_dataset("imdb", "sentiment", offline=offline, splits=("test",))["test"]
    else:
        rows = [TextExample(review.text, label=review.label) for review in reviews()]
    source = custom if isinstance(custom, Path) else "the texts"
    if empty := [number for number, row in enumerate(rows, 1) if not row.text.strip()]:
        raise UnmaskError(f"{source}: the text of row {empty[0]} is empty; fill it in, or leave the row out")
    texts = [replace(row, id=row.id or str(number)) for number, row in enumerate(rows, 1)]
    ((identifier, count),) = Counter(text.id for text in texts).most_common(1)
    if count > 1:
        raise UnmaskError(f"{source}: the id {identifier!r} occurs {count} times; give every text its own")
    return draw_sample(texts, limit, seed)


def drop_twins(pairs: Iterable[Pair]) -> list[Pair]:
    """Every distinct pair of versions once: texts that differ only in gender have the same versions."""
    distinct: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        distinct.setdefault((pair.female.text, pair.male.text), pair)
    return list(distinct.values())


def rewrite_both_ways(
    texts: Sequence[TextExample],
    to_female: Rewriter,
    to_male: Rewriter,
    *,
    progress: Progress | None = None,
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
    return hash_content(*(json.dumps([pair.id, pair.female.text, pair.male.text]) for pair in pairs))


# Recorded ratings: one row per text

_TEXTS = ("label", "rating", "changed_terms", "choice_female", "choice_male")
RECORDED_COLUMNS = (
    RecordedColumn("p_female", "number"),
    RecordedColumn("p_male", "number"),
    CORPUS,
    RecordedColumn("terms", "text", default="not stated"),
    RecordedColumn("id", "text", default=lambda items: [*map(str, range(1, len(items) + 1))], nullable=True),
    *(RecordedColumn(column, "text", OPTIONAL, nullable=True) for column in _TEXTS),
    *(RecordedColumn(column, "count", OPTIONAL, nullable=True) for column in ("words", "tokens", "terms_read")),
    RecordedColumn("cut", "boolean", OPTIONAL, nullable=True),
    RecordedColumn("changed", "boolean", OPTIONAL),
)


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Read recorded ratings; columns that the analysis does not need get defaults."""
    del context, score_column
    needs = "sentiment needs p_female and p_male: the ratings of the female and the male version of each text"
    items = read_recorded(path, RECORDED_COLUMNS, language=language, needs=needs)
    items = items.astype({"p_female": float, "p_male": float})
    items["bias"] = items["p_male"] - items["p_female"]
    differs = items["bias"] != 0
    if "changed" in items:
        wrong = (differs & ~items["changed"]).to_numpy(dtype=bool)
        if wrong.any():
            row = int(wrong.argmax()) + 1
            raise UnmaskError(f"{path}: row {row} did not change, yet has two ratings; correct 'changed'")
    elif "changed_terms" in items:
        items["changed"] = differs | items["changed_terms"].map(bool)
    else:
        items["changed"] = differs
    if not items["changed"].any():
        raise UnmaskError(f"{path} has no text that changed (column 'changed'); there is nothing to analyse")
    return items

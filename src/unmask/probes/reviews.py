"""Texts in a female and a male version: what the sentiment measure asks a classifier.

Every gender term of a text is made female in the one version and male in the other, whatever it was, so the two differ
in the gender of the people and in nothing else. A text without a term has one version only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon.sentences import reviews
from unmask.rewriting.result import Replacement, Rewriter, Rewritten
from unmask.training import examples

CORPORA = ("reviews", "imdb")
"""The short reviews of the package; the test half of the Large Movie Review Dataset (Maas et al. 2011)."""
CUSTOM = "custom"
COUNTED = ("word", "name")
"""Changes that are terms; the others (articles, verbs) follow from them."""


@dataclass(frozen=True)
class Text:
    """A text to rate, and its label if it is known."""

    id: str
    text: str
    label: str | None = None


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
        """Whether the versions differ: only then can a rating depend on gender."""
        return self.female.text != self.male.text

    @property
    def terms(self) -> list[str]:
        """The terms as they stood in the text, in order, each place once."""
        return [change.term for change in places(self)]

    @property
    def term_pairs(self) -> list[str]:
        """The words that stand against each other, male/female, in the order of their places."""
        to_female = {change.start: change for change in self.female.changes}
        to_male = {change.start: change for change in self.male.changes}
        found = []
        for place in places(self):
            female, male = to_female.get(place.start), to_male.get(place.start)
            words = (male.after if male else place.before, female.after if female else place.before)
            found.append("/".join(word.strip().lower() for word in words))
        return found


def places(pair: Pair) -> list[Replacement]:
    """The places of a text where its versions differ in a term, in order."""
    found = {change.start: change for change in (*pair.female.changes, *pair.male.changes) if change.kind in COUNTED}
    return [found[start] for start in sorted(found)]


def default_corpus() -> str:
    """IMDB where it is on this machine, else the reviews of the package."""
    return "imdb" if datasets.present("imdb") else "reviews"


def load(
    corpus: str, own: Path | Sequence[str] | None = None, *, limit: int | None = None, seed: int = 0, offline: bool
) -> list[Text]:
    """The texts of a corpus, or of a file of the user's; with `limit`, so many of them drawn at random."""
    if limit is not None and limit < 1:
        raise UnmaskError(f"the limit is {limit} texts; give 1 or more")
    if isinstance(own, Path):
        found = examples.read_examples(own, "texts")
    elif own is not None:
        found = _given(own)
    elif check_choice(corpus, CORPORA, "corpus of texts") == "imdb":
        found = examples.read_known_dataset("imdb", "sentiment", offline=offline, splits=("test",))["test"]
    else:
        found = [examples.Example(one.text, label=one.label) for one in reviews()]
    texts = [Text(one.id or str(row), one.text, one.label) for row, one in enumerate(found, 1)]
    _check(texts, own)
    if limit is not None and limit < len(texts):
        chosen = np.random.default_rng(seed).permutation(len(texts))[:limit]
        texts = [texts[at] for at in sorted(chosen)]
    return texts


def _given(texts: Sequence[str]) -> list[examples.Example]:
    """Texts that were handed over themselves."""
    strange = next((text for text in texts if not isinstance(text, str)), None)
    if strange is not None or isinstance(texts, str) or not len(texts):
        what = "no texts" if not len(texts) else f"a {type(strange).__name__}"
        raise UnmaskError(f"{what} among the texts; give a list of texts, or the name of a file")
    return [examples.Example(text) for text in texts]


def _check(texts: Sequence[Text], own: Path | Sequence[str] | None) -> None:
    empty = next((row for row, one in enumerate(texts, 1) if not one.text.strip()), None)
    if empty is not None:
        where = own if isinstance(own, Path) else "the texts"
        raise UnmaskError(f"{where}: the text of row {empty} is empty; fill it in, or leave the row out")
    if isinstance(own, Path) and len({one.id for one in texts}) < len(texts):
        seen: set[str] = set()
        double = next(one.id for one in texts if one.id in seen or seen.add(one.id))  # type: ignore[func-returns-value]
        raise UnmaskError(f"{own}: the id {double!r} stands there twice; give every text its own")


def without_doubles(texts: Iterable[Text]) -> list[Text]:
    """Every different text once: one that is there twice tells nothing new."""
    return list({one.text: one for one in reversed(list(texts))}.values())[::-1]


def without_twins(pairs: Iterable[Pair]) -> list[Pair]:
    """Every different pair of versions once: texts that differ in gender alone have the same ones."""
    found: dict[tuple[str, str], Pair] = {}
    for one in pairs:
        found.setdefault((one.female.text, one.male.text), one)
    return list(found.values())


def pair(
    texts: Sequence[Text],
    to_female: Rewriter,
    to_male: Rewriter,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Pair]:
    """Rewrite every text both ways."""
    found = []
    for at, one in enumerate(texts, 1):
        found.append(Pair(one.id, one.label, one.text, to_female.rewrite(one.text), to_male.rewrite(one.text)))
        if progress and at % 100 == 0:
            progress(at, len(texts))
    return found


def refuse_unchanged(pairs: Sequence[Pair], terms: str) -> None:
    """Texts without people say nothing."""
    if not any(pair.changed for pair in pairs):
        first = pairs[0].text if pairs else ""
        raise UnmaskError(
            f"none of the {len(pairs):,} texts has a gender term of the set {terms!r} (the first begins"
            f" {quote([first[:40]])}); give texts that speak of people, or another term set"
        )


def data_hash(pairs: Iterable[Pair]) -> str:
    """A SHA-256 over both versions of all texts, in order."""
    total = hashlib.sha256()
    for pair in pairs:
        total.update(json.dumps([pair.id, pair.female.text, pair.male.text]).encode())
    return total.hexdigest()

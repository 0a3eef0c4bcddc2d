"""The reviews of a split in one of the study's forms: as they are, with terms removed, all female, all male.

`published` cleans every review first and uses the released term maps; `sound` rewrites the reviews as they stand.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from unmask import embedded
from unmask.errors import UnmaskError, quote
from unmask.measures.sentiment import CUSTOM
from unmask.measures.sentiment.scoring import PROTOCOLS
from unmask.rewriting.options import RewriteOptions
from unmask.rewriting.published.lists import ONE_OF_THE_MAPS, reviews_folder
from unmask.rewriting.result import Replacement, Rewritten
from unmask.studies.cells import Say
from unmask.studies.imdb63.grid import TERM_SETS
from unmask.training import examples

FILE = "texts.jsonl.gz"
SPLITS = ("train", "test")
LABELS = ["negative", "positive"]
ORIGINAL = "original"
REWRITERS = (
    "rewriting/*.py",
    "rewriting/english/*",
    "rewriting/published/*.py",
    "lexicon/words.py",
    "lexicon/gender.py",
    "lexicon/names.py",
    "lexicon/table.py",
    "lexicon/tagging.py",
    "lexicon/en/gender.csv",
    "lexicon/en/name*.csv",
    "lexicon/en/phrases.csv",
    "lexicon/en/word_sets.toml",
    f"embedded/{embedded.DEFAULT}/*.json",
    f"embedded/{embedded.DEFAULT}/*.safetensors",
)
"""What decides how an English text is cleaned and rewritten, in doubt by the embedded model: part of a cell's key."""


@dataclass(frozen=True)
class Source:
    """Where the reviews come from, and the hash of what is there."""

    data: str | None
    """A known data set, or None for the user's own files."""
    files: tuple[str, ...]
    digests: tuple[str, ...]
    """Of the examples of both splits, in their order."""
    limit: int | None = None
    """How many reviews of each split to take, half of each label; None for all."""
    offline: bool = False
    seed: int = 42
    """Which reviews are drawn where there is a limit."""

    @property
    def corpus(self) -> str:
        """What a measurement calls them."""
        return self.data or CUSTOM

    def read(self, split: str) -> list[examples.Example]:
        """The reviews of a split."""
        at = SPLITS.index(split)
        found = self._all(split, at)
        if examples.hash_examples(found) != self.digests[at]:
            raise UnmaskError(f"the {split} reviews are not those that the study began with; give the same files")
        return found

    def _all(self, split: str, at: int) -> list[examples.Example]:
        if self.data is not None:
            found = examples.read_known_dataset(self.data, "sentiment", offline=self.offline, splits=(split,))[split]
        else:
            found = examples.read_examples(Path(self.files[at]), "sentiment")
        return found if self.limit is None else _some(found, self.limit, self.seed)


def source(files: Sequence[Path], limit: int | None, *, offline: bool, seed: int = 42) -> Source:
    """The reviews to study: IMDB, or a training and a test file of the user's."""
    if limit is not None and limit < 4:
        raise UnmaskError(f"the limit is {limit} reviews; give 4 or more, or leave it out for all")
    places = tuple(str(path.resolve()) for path in files)  # a cell may run in another folder
    bare = Source(None if files else "imdb", places, (), limit, offline, seed)
    digests = []
    for at, split in enumerate(SPLITS):
        found = bare._all(split, at)
        labels = sorted({str(one.label) for one in found})
        if labels != LABELS:
            where = places[at] if places else f"the {split} half of IMDB"
            raise UnmaskError(f"{where} has the labels {quote(labels)}; the study needs reviews of {quote(LABELS)}")
        digests.append(examples.hash_examples(found))
    return replace(bare, digests=tuple(digests))


def _some(found: list[examples.Example], limit: int, seed: int) -> list[examples.Example]:
    """Reviews of each label drawn at random, as many of one as of another, in their order."""
    by_label = {label: [one for one in found if one.label == label] for label in sorted({str(r.label) for r in found})}
    each, draw = max(1, limit // max(1, len(by_label))), np.random.default_rng(seed)
    return [rows[at] for rows in by_label.values() for at in sorted(draw.permutation(len(rows))[:each].tolist())]


@dataclass(frozen=True)
class Texts:
    """A cell: all reviews of a split in one form."""

    source: Source
    split: str
    terms: str
    """pro, weat or all; empty for the original."""
    form: str
    """original, remove, female or male."""
    protocol: str
    lists: str | None = None
    kind = "texts"
    needs: tuple[str, ...] = ()
    needs_gpu = False

    @property
    def name(self) -> str:
        """Which split and form."""
        return name_of(self.split, self.terms, self.form)

    def inputs(self) -> dict[str, Any]:
        """The reviews, the form, and what rewrites them."""
        cleaned = PROTOCOLS[self.protocol].prepare is not None
        own = {"rewriter": code_hash()} if cleaned or self.form != ORIGINAL else {}
        own |= {"lists": _lists_hash(self.lists)} if self.lists else {}
        return {
            "reviews": self.source.digests[SPLITS.index(self.split)],
            "terms": self.terms,
            "form": self.form,
            "protocol": self.protocol,
            **own,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Rewrite every review."""
        del before, workspace
        found = self.source.read(self.split)
        protocol, rewriter = PROTOCOLS[self.protocol], None
        prepare = protocol.prepare or str
        if self.form != ORIGINAL:
            lists = Path(self.lists) if self.lists else None
            rewriter = protocol.build_rewriter(RewriteOptions(to=self.form, terms=TERM_SETS[self.terms], lists=lists))
        with gzip.open(draft / FILE, "wt", encoding="utf-8", compresslevel=4) as page:
            for at, one in enumerate(found):
                text = prepare(one.text)
                made = rewriter.rewrite(text) if rewriter else Rewritten(text)
                row = {
                    "text": made.text,
                    "label": one.label,
                    "changes": [tuple(asdict(c).values()) for c in made.changes],
                }
                page.write(json.dumps(row, ensure_ascii=False) + "\n")
                if at % 5000 == 4999:
                    say(f"{at + 1:,} of {len(found):,} reviews rewritten")


def name_of(split: str, terms: str, form: str) -> str:
    """The name of the cell that holds these texts."""
    return "-".join(filter(None, ("texts", split, terms, form)))


def read(folder: Path) -> Iterator[tuple[Rewritten, str]]:
    """The texts of a cell, each with its label."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as page:
        for line in page:
            row = json.loads(line)
            yield Rewritten(row["text"], tuple(Replacement(*change) for change in row["changes"])), row["label"]


def lists_of(given: Path | None, *, offline: bool) -> str:
    """The folder of the released term maps, which must be there."""
    folder = reviews_folder(given, offline=offline)
    if folder is None or not (folder / ONE_OF_THE_MAPS).is_file():
        where = folder or "the data set imdb"
        raise UnmaskError(f"{where} has no {ONE_OF_THE_MAPS}; name the folder of the released term maps with --lists")
    return str(folder.resolve())


def _lists_hash(lists: str) -> str:
    total = hashlib.sha256()
    for file in sorted(Path(lists).glob("*_*2*.json")):
        total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()


@cache
def code_hash() -> str:
    """A SHA-256 over the code, the words and the model that rewrite."""
    return rewriter_hash(Path(str(resources.files("unmask"))))


def rewriter_hash(package: Path) -> str:
    """The same for a package in a folder."""
    total = hashlib.sha256()
    for file in sorted(path for pattern in REWRITERS for path in package.glob(pattern) if path.is_file()):
        total.update(file.relative_to(package).as_posix().encode() + file.read_bytes())
    return total.hexdigest()

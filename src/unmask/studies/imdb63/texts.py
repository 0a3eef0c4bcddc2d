"""The reviews of a split in one of the study's forms: original, with terms removed, all female, all male.

`published` cleans every review first and uses the released term maps; `sound` rewrites the reviews as they are.
"""

from __future__ import annotations

import gzip
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
from unmask.files import hash_content
from unmask.measures.sentiment import CUSTOM, SentimentMeasure
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.rewriting.published.lists import ONE_OF_THE_MAPS, reviews_folder
from unmask.rewriting.published.masking import clean
from unmask.rewriting.result import Replacement, Rewritten
from unmask.studies.imdb63.grid import TERM_SETS
from unmask.studies.steps import Say
from unmask.training import examples

TASK = SentimentMeasure.name
FILE = "texts.jsonl.gz"
SPLITS = ("train", "test")
LABELS = ["negative", "positive"]
ORIGINAL = "original"
FEWEST_REVIEWS = 4
REWRITER_FILES = (
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
"""What decides how an English text is cleaned and rewritten: part of a step's key."""


@dataclass(frozen=True)
class ReviewSource:
    """Where the reviews come from, and the hashes of what was there when the study was planned."""

    data: str | None
    """A known data set, or None for the user's own files."""
    files: tuple[str, ...]
    digests: tuple[str, ...]
    """The hashes of both splits."""
    limit: int | None = None
    """The size of a random sample of each split, half of each label; None for all reviews."""
    offline: bool = False
    seed: int = 42
    """The seed of the sample."""

    @property
    def corpus(self) -> str:
        """The name in a measurement."""
        return self.data or CUSTOM

    def read_reviews(self, split: str) -> list[examples.TextExample]:
        """Read a split. Raises an error if the reviews have changed since the study was planned."""
        reviews = self.read_unchecked(split)
        if examples.hash_examples(reviews) != self.digests[SPLITS.index(split)]:
            raise UnmaskError(f"the {split} reviews have changed since the study began; give the same files")
        return reviews

    def read_unchecked(self, split: str) -> list[examples.TextExample]:
        """Read a split, and draw a sample of each label, as many of one as of the other, in their order."""
        if self.data is not None:
            reviews = examples.read_known_dataset(self.data, TASK, offline=self.offline, splits=(split,))[split]
        else:
            reviews = examples.read_examples(Path(self.files[SPLITS.index(split)]), TASK)
        if self.limit is None:
            return reviews
        labels = sorted({str(review.label) for review in reviews})
        size, draw = max(1, self.limit // max(1, len(labels))), np.random.default_rng(self.seed)
        sample = []
        for label in labels:
            of_label = [review for review in reviews if review.label == label]
            sample += [of_label[index] for index in sorted(draw.permutation(len(of_label))[:size].tolist())]
        return sample


def make_source(files: Sequence[Path], limit: int | None, *, offline: bool, seed: int = 42) -> ReviewSource:
    """Return the source of the reviews: IMDB, or a training and a test file of the user's."""
    if limit is not None and limit < FEWEST_REVIEWS:
        raise UnmaskError(f"the limit is {limit} reviews; give {FEWEST_REVIEWS} or more, or leave it out for all")
    paths = tuple(str(path.resolve()) for path in files)  # a step may run in another folder
    source = ReviewSource(None if files else "imdb", paths, (), limit, offline, seed)
    digests = []
    for index, split in enumerate(SPLITS):
        reviews = source.read_unchecked(split)
        labels = sorted({str(review.label) for review in reviews})
        if labels != LABELS:
            where = paths[index] if paths else f"the {split} half of IMDB"
            raise UnmaskError(f"{where} has the labels {quote(labels)}; the study needs reviews of {quote(LABELS)}")
        digests.append(examples.hash_examples(reviews))
    return replace(source, digests=tuple(digests))


@dataclass(frozen=True)
class Texts:
    """A step: all reviews of a split in one form."""

    source: ReviewSource
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
        """The split and the form."""
        return name_texts(self.split, self.terms, self.form)

    def inputs(self) -> dict[str, Any]:
        """The reviews, the form, and what rewrites them."""
        cleans = self.protocol == "published"
        return {
            "reviews": self.source.digests[SPLITS.index(self.split)],
            "terms": self.terms,
            "form": self.form,
            "protocol": self.protocol,
            **({"rewriter": hash_rewriter()} if cleans or self.form != ORIGINAL else {}),
            **({"lists": _hash_lists(self.lists)} if self.lists else {}),
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Rewrite every review."""
        del before, workspace
        reviews = self.source.read_reviews(self.split)
        rewriter = None
        if self.form != ORIGINAL:
            lists = Path(self.lists) if self.lists else None
            settings = RewriteOptions(to=self.form, terms=TERM_SETS[self.terms], protocol=self.protocol, lists=lists)
            rewriter = build_rewriter(settings)
        with gzip.open(draft / FILE, "wt", encoding="utf-8", compresslevel=4) as page:
            for number, review in enumerate(reviews, 1):
                text = clean(review.text) if self.protocol == "published" else review.text
                written = rewriter.rewrite(text) if rewriter else Rewritten(text)
                changes = [tuple(asdict(change).values()) for change in written.changes]
                row = {"text": written.text, "label": review.label, "changes": changes}
                page.write(json.dumps(row, ensure_ascii=False) + "\n")
                if number % 5000 == 0:
                    say(f"{number:,} of {len(reviews):,} reviews rewritten")


def name_texts(split: str, terms: str, form: str) -> str:
    """Return the name of the step that makes these texts."""
    return "-".join(filter(None, ("texts", split, terms, form)))


def read_texts(folder: Path) -> Iterator[tuple[Rewritten, str]]:
    """Yield the texts of a finished step, each with its label."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8") as page:
        for line in page:
            row = json.loads(line)
            yield Rewritten(row["text"], tuple(Replacement(*change) for change in row["changes"])), row["label"]


def find_lists(lists: Path | None, *, offline: bool) -> str:
    """Return the folder of the released term maps. Raises an error if it is not there."""
    folder = reviews_folder(lists, offline=offline)
    if folder is None or not (folder / ONE_OF_THE_MAPS).is_file():
        where = folder or "the data set imdb"
        raise UnmaskError(f"{where} has no {ONE_OF_THE_MAPS}; give the folder of the released term maps with --lists")
    return str(folder.resolve())


def _hash_lists(lists: str) -> str:
    files = sorted(Path(lists).glob("*_*2*.json"))
    return hash_content(*(part for file in files for part in (file.name, file)))


@cache
def hash_rewriter() -> str:
    """Return a SHA-256 of the code, the words and the model that rewrite."""
    return hash_rewriter_files(Path(str(resources.files("unmask"))))


def hash_rewriter_files(package: Path) -> str:
    """Return the same for the package in a folder."""
    files = sorted(path for pattern in REWRITER_FILES for path in package.glob(pattern) if path.is_file())
    return hash_content(*(part for file in files for part in (file.relative_to(package).as_posix(), file)))

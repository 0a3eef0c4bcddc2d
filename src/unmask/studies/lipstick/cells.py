"""The cells of a lipstick study: one debiases a model or word vectors by one method, one measures it.

A measured cell tests one model with one vocabulary, with its own most biased words and with those of the original.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask.measures.base import Context
from unmask.measures.geometry import CONTRASTS, NOUNS, OWN, Geometry, vocabulary
from unmask.measures.geometry.scoring import measure_chosen_words, measure_space
from unmask.measures.geometry.space import Space, embed_static, embed_words
from unmask.measures.geometry.word_tests import AssociationTests, measure_seat, measure_weat
from unmask.mitigations import corpus
from unmask.mitigations.method import MitigateOptions, find_method
from unmask.models.loading import load_encoder
from unmask.models.roles import Pooling
from unmask.models.vector_files import read_vectors
from unmask.models.word_vectors import find_vector_file
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION, Measurement
from unmask.studies.base_models import hash_model
from unmask.studies.cells import Say

if TYPE_CHECKING:
    import pandas as pd


BASE = "origin"
"""What is not debiased is called."""


@dataclass(frozen=True)
class Subject:
    """Something to measure."""

    family: str
    """What belongs together: a file of vectors with its debiased version, a model with its own."""
    name: str
    """`origin`, or how it was debiased."""
    model: str = ""
    """A folder, a file or an embedded name; empty where a cell of the study makes it."""
    method: str = ""
    """How a cell makes it."""

    @property
    def is_base(self) -> bool:
        """Whether it is the one that is not debiased."""
        return self.name == BASE

    @property
    def made(self) -> str:
        """The cell that makes it; empty if it is there."""
        return f"debiasing-{self.family}-{self.name}" if self.method else ""


MADE = "made"
"""The folder of what was made, in the cell's."""


@dataclass(frozen=True)
class Debiasing:
    """A cell: the model as a method leaves it."""

    subject: Subject
    base: str
    """What is debiased."""
    corpus: Sequence[str] = ()
    settings: Sequence[tuple[str, Any]] = ()
    protocol: str = "sound"
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "debiasing"
    needs_gpu = True
    needs = ()

    @property
    def name(self) -> str:
        """What is debiased, and how."""
        return self.subject.made

    def inputs(self) -> dict[str, Any]:
        """The model, the text, and how."""
        text = corpus.read_corpus(self.sources, offline=self.loading.offline).hash if self.sources else ""
        return {
            "model": hash_model(self.base, self.loading),
            "method": self.subject.method,
            "text": text,
            "settings": sorted((name, str(value)) for name, value in self.settings),
            "protocol": self.protocol,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    @property
    def sources(self) -> tuple[str, ...]:
        """The text that is learned from."""
        if not find_method(self.subject.method).needs_text:
            return ()
        return tuple(self.corpus) or (corpus.DEFAULT,)

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Debias; what was interrupted goes on from the workspace."""
        del before
        from unmask.mitigations.mitigate import mitigate_model

        out = workspace / MADE
        if not out.is_dir():
            mitigate_model(
                MitigateOptions(
                    model=self.base,
                    method=self.subject.method,
                    out=out,
                    corpus=self.sources,
                    settings=dict(self.settings),
                    protocol=self.protocol,
                    seed=self.seed,
                    **dict(self.loading),
                ),
                say=say,
                progress=lambda done, of: say(f"{done:,} of {of:,}"),
            )
        shutil.copytree(out, draft / MADE)


ITEMS, RESULT = "items.parquet", "measurement.json"
VECTORS = "vectors"
"""The vocabulary of word vectors: all that they have."""


@dataclass(frozen=True)
class Words:
    """What is asked, and how."""

    vocabulary: str
    protocol: str = "sound"
    most: int | None = None
    contrasts: int = CONTRASTS
    layers: int = 4
    pooling: Pooling = "first+last"
    seed: int = 42


@dataclass(frozen=True)
class Measuring:
    """A cell: a model, and the words that it is asked about."""

    subject: Subject
    words: Words
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "geometry"

    @property
    def name(self) -> str:
        """Which model, which words."""
        return name_of(self.subject, self.words)

    @property
    def needs_gpu(self) -> bool:
        """Whether there are sentences to embed."""
        return self.words.vocabulary != VECTORS

    @property
    def needs(self) -> tuple[str, ...]:
        """The debiasing, and the origin, by whose bias words are chosen."""
        first = () if self.subject.is_base else (self.origin,)
        return (*first, self.subject.made) if self.subject.made else first

    @property
    def origin(self) -> str:
        """The cell of the model that is not debiased."""
        return name_of(Subject(self.subject.family, "origin"), self.words)

    def inputs(self) -> dict[str, Any]:
        """The model, the words, and how they are asked."""
        return {
            "model": hash_model(self.subject.model, self.loading) if self.subject.model else "",
            "vocabulary": self.words.vocabulary,
            "words": self._hash(),
            "protocol": self.words.protocol,
            "most": self.words.most,
            "contrasts": self.words.contrasts,
            "layers": self.words.layers,
            "pooling": self.words.pooling,
            "seed": self.words.seed,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Embed the words, and put them to the tests."""
        import pandas as pd

        del workspace
        origin = None if self.subject.is_base else read(before[self.origin])
        made = before[self.subject.made] / MADE if self.subject.made else None
        words = None if origin is None else list(origin[0].loc[origin[0]["words"] == OWN, "word"])
        space, tests = self._space(made, words, say)
        published = self.words.protocol == "published"
        stereotypes = vocabulary.rated_stereotypes(published=published)

        def compared(done: int, of: int) -> None:
            say(f"compared with {done} of {of} other contrasts")

        context = Context("en", self.words.vocabulary, self.words.protocol, self.words.seed, progress=compared)
        items, measurement = measure_space(
            space, stereotypes, context, contrasts=self.words.contrasts, associations=tests
        )
        if origin is not None:
            say("tested with the words of the origin")
            more, word_tests = measure_chosen_words(space, *origin, stereotypes, context)
            items = pd.concat([items, more], ignore_index=True)
            geometry = measurement.read_details(Geometry)
            geometry = geometry.model_copy(update={"tests": [*geometry.tests, *word_tests]})
            measurement = measurement.model_copy(update={"details": geometry.model_dump()})
        items.to_parquet(draft / ITEMS, index=False)
        (draft / RESULT).write_text(measurement.model_dump_json(indent=2), encoding="utf-8")

    def _space(self, made: Path | None, words: list[str] | None, say: Say) -> tuple[Space, AssociationTests | None]:
        """The words and their vectors; a debiased model is asked about those of the origin."""
        published, offline = self.words.protocol == "published", self.loading.offline
        if self.words.vocabulary == VECTORS:
            vectors = read_vectors(
                _file(made or Path(self.subject.model)), most=vocabulary.limit_words(self.words.most)
            )
            known = vocabulary.vector_words(vectors, published=published, offline=offline)
            space = embed_static(words or known.words, vectors, left_out={} if words else known.left_out)
            return space, None if published else measure_weat(vectors, seed=self.words.seed)
        encoder = load_encoder(self.subject.model if made is None else str(made), self.loading)
        layers = min(self.words.layers, getattr(encoder, "depth", self.words.layers))
        found = self._asked() if words is None else vocabulary.Vocabulary(words)
        space = embed_words(
            found.words,
            encoder,
            layers=layers,
            pooling=self.words.pooling,
            published=published,
            left_out=found.left_out,
            progress=lambda done, of: say(f"{done:,} of {of:,} words"),
        )
        if published:
            return space, None
        return space, measure_seat(encoder, layers=layers, pooling=self.words.pooling, seed=self.words.seed)

    def _asked(self) -> vocabulary.Vocabulary:
        if self.words.vocabulary == NOUNS:
            return vocabulary.frequent_nouns(self.words.most or vocabulary.DEFAULT_WORDS)
        found = _vocabulary(self.words.vocabulary, self.words.protocol == "published", self.loading.offline)
        return (
            found if self.words.most is None else vocabulary.Vocabulary(found.words[: self.words.most], found.left_out)
        )

    def _hash(self) -> str:
        """Of the words asked; of word vectors, of those that are not asked, since the file has a hash of its own."""
        if self.words.vocabulary != VECTORS:
            words = self._asked().words
        elif self.words.protocol == "published" and self.subject.model:
            form = read_vectors(_file(Path(self.subject.model)), most=1).form
            words = sorted(vocabulary.published_exclusions(form, offline=self.loading.offline))
        else:
            words = []  # our own come with the package
        return hashlib.sha256("\n".join(words).encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _vocabulary(name: str, published: bool, offline: bool) -> vocabulary.Vocabulary:
    """Read once, though every model is asked about it."""
    return vocabulary.published_nouns(name, published=published, offline=offline)


def _file(path: Path) -> Path:
    """A file of vectors, or the one in a folder that a mitigation has written."""
    return find_vector_file(path)[0] if path.is_dir() else path


def name_of(subject: Subject, words: Words) -> str:
    """The name of a cell."""
    return f"geometry-{subject.family}-{subject.name}-{words.vocabulary}-{words.protocol}"


def read(folder: Path) -> tuple[pd.DataFrame, Measurement]:
    """What a finished cell holds."""
    import pandas as pd

    measurement = Measurement.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    return pd.read_parquet(folder / ITEMS), measurement

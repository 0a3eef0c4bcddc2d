"""The steps of a lipstick study: debias a model or word vectors by one method, and measure one.

A measuring step tests one model with one vocabulary: with its own most biased words, and with those of the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask import datasets
from unmask.datasets import NotHereError
from unmask.errors import UnmaskError
from unmask.files import hash_content
from unmask.lexicon.weat import associations
from unmask.measures.base import Context
from unmask.measures.geometry import CONTRASTS, NOUNS, OWN, Geometry, GeometryMeasure, vocabulary
from unmask.measures.geometry.scoring import measure_chosen_words, measure_space
from unmask.measures.geometry.space import FEMALE, MALE, Space, embed_static, embed_words
from unmask.measures.geometry.word_tests import AssociationTests, measure_seat, measure_weat
from unmask.mitigations.method import find_method, method_options
from unmask.models.loading import load_encoder
from unmask.models.roles import Pooling
from unmask.models.vector_files import read_vectors
from unmask.models.word_vectors import Vectors, find_vector_file
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION
from unmask.studies.lipstick import ContextualLipstickOptions, LipstickOptions, StaticLipstickOptions
from unmask.studies.models import MADE, Debiasing, hash_model, read_measurement, split_names, write_measurement
from unmask.studies.steps import Say, Step

METHODS = ("sent-debias", "context-debias", "cds", "leace")
HARD, GN_GLOVE, GIVEN = "hard-debias", "gn-glove", "debiased"
ORIGIN = "origin"
"""The name of what is not debiased."""
VECTORS = "vectors"
"""The vocabulary of word vectors: all of their words."""
RELEASED_INPUTS = ("lists", "qnli")
"""Settings of methods that name what their authors' code reads."""
LAYERS = 4
POOLING: Pooling = "first+last"


@dataclass(frozen=True)
class StudyModel:
    """A model, or a file of word vectors, to measure."""

    family: str
    """What belongs together: a model with its debiased versions."""
    name: str
    """`origin`, or how it was debiased."""
    model: str = ""
    """A folder, a file or an embedded name; empty where a step makes it."""
    method: str = ""
    """The method by which a step makes it."""
    other: str = ""
    """A file of word vectors; only words that are also in it are measured."""

    @property
    def is_origin(self) -> bool:
        """Whether it is the one that is not debiased."""
        return self.name == ORIGIN

    @property
    def maker(self) -> str:
        """The step that makes it; empty if it exists."""
        return f"debiasing-{self.family}-{self.name}" if self.method else ""


@dataclass(frozen=True)
class WordChoice:
    """Which words are asked about, and how they are tested."""

    vocabulary: str
    protocol: str = "sound"
    most: int | None = None
    contrasts: int = CONTRASTS
    seed: int = 42

    @property
    def is_published(self) -> bool:
        """Whether the papers' code is repeated."""
        return self.protocol == "published"


@dataclass(frozen=True)
class WordMeasuring:
    """A step: a model, and the words that it is asked about."""

    model: StudyModel
    words: WordChoice
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = GeometryMeasure.name

    @property
    def name(self) -> str:
        """The model and the words."""
        return self._name_for(self.model.name)

    @property
    def origin(self) -> str:
        """The step that measures the model that is not debiased."""
        return self._name_for(ORIGIN)

    def _name_for(self, model: str) -> str:
        return f"geometry-{self.model.family}-{model}-{self.words.vocabulary}-{self.words.protocol}"

    @property
    def needs_gpu(self) -> bool:
        """Whether there are sentences to embed."""
        return self.words.vocabulary != VECTORS

    @property
    def needs(self) -> tuple[str, ...]:
        """The origin, whose bias chooses the words, and the debiasing."""
        first = () if self.model.is_origin else (self.origin,)
        return (*first, self.model.maker) if self.model.maker else first

    def inputs(self) -> dict[str, Any]:
        """The model, the words, and how they are asked."""
        return asdict(self.words) | {
            "model": hash_model(self.model.model, self.loading) if self.model.model else "",
            "other": hash_model(self.model.other, self.loading) if self.model.other else "",
            "words": self._hash_words(),
            "layers": LAYERS,
            "pooling": POOLING,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Embed the words and run all tests."""
        import pandas as pd

        del workspace
        origin = None if self.model.is_origin else read_measurement(before[self.origin])
        made = before[self.model.maker] / MADE if self.model.maker else None
        words = None if origin is None else list(origin[0].loc[origin[0]["words"] == OWN, "word"])
        space, tests = self._embed_words(made, words, say)
        stereotypes = vocabulary.rated_stereotypes(published=self.words.is_published)

        def report_contrasts(done: int, total: int) -> None:
            say(f"compared with {done} of {total} other contrasts")

        context = Context("en", self.words.vocabulary, self.words.protocol, self.words.seed, progress=report_contrasts)
        items, measurement = measure_space(
            space, stereotypes, context, contrasts=self.words.contrasts, associations=tests
        )
        if origin is not None:
            say("tested with the words of the origin")
            more, word_tests = measure_chosen_words(space, *origin, stereotypes, context, name=ORIGIN)
            items = pd.concat([items, more], ignore_index=True)
            geometry = measurement.read_details(Geometry)
            geometry = geometry.model_copy(update={"tests": [*geometry.tests, *word_tests]})
            measurement = measurement.model_copy(update={"details": geometry.model_dump()})
        write_measurement(draft, items, measurement)

    def _embed_words(
        self, made: Path | None, words: list[str] | None, say: Say
    ) -> tuple[Space, AssociationTests | None]:
        """Return the words with their vectors. A debiased model is asked about `words`, those of the origin."""
        offline, seed = self.loading.offline, self.words.seed
        if self.words.vocabulary == VECTORS:
            vectors = self._read_vectors(_find_file(made or Path(self.model.model)), words)
            left_out: dict[str, int] = {}
            if words is None:
                vector_words = vocabulary.vector_words(vectors, published=self.words.is_published, offline=offline)
                words, left_out = vector_words.words, dict(vector_words.left_out)
                if self.model.other:
                    known = set(read_vectors(_find_file(Path(self.model.other)), keep=set(words).__contains__).words)
                    left_out["are not in the debiased vectors"] = len(words) - len(known)
                    words = [word for word in words if word in known]
            space = embed_static(words, vectors, left_out=left_out)
            return space, None if self.words.is_published else measure_weat(vectors, seed=seed)
        encoder = load_encoder(self.model.model if made is None else str(made), self.loading)
        layers = min(LAYERS, getattr(encoder, "depth", LAYERS))
        chosen = self._choose_words() if words is None else vocabulary.Vocabulary(words)
        space = embed_words(
            chosen.words,
            encoder,
            layers=layers,
            pooling=POOLING,
            published=self.words.is_published,
            left_out=chosen.left_out,
            progress=lambda done, total: say(f"{done:,} of {total:,} words"),
        )
        if self.words.is_published:
            return space, None
        return space, measure_seat(encoder, layers=layers, pooling=POOLING, seed=seed)

    def _read_vectors(self, file: Path, words: list[str] | None) -> Vectors:
        """Read the most frequent words, or of a debiased version `words` and those of the association tests."""
        if words is None:
            return read_vectors(file, most=vocabulary.limit_words(self.words.most))
        needed = {MALE, FEMALE, *words} | {
            word.text for test in associations() for part in test.sets for word in part.words
        }
        needed |= {word.lower() for word in needed}
        vectors = read_vectors(file, keep=needed.__contains__)
        if self.model.name == GN_GLOVE:
            return replace(vectors, matrix=np.ascontiguousarray(vectors.matrix[:, :-1]))
        return vectors

    def _choose_words(self) -> vocabulary.Vocabulary:
        if self.words.vocabulary == NOUNS:
            return vocabulary.frequent_nouns(self.words.most or vocabulary.DEFAULT_WORDS)
        words = _read_vocabulary(self.words.vocabulary, self.words.is_published, self.loading.offline)
        return replace(words, words=words.words[: self.words.most])

    def _hash_words(self) -> str:
        """Hash the words; for word vectors those that are left out, because the file has a hash of its own."""
        words: list[str] = []
        if self.words.vocabulary != VECTORS:
            words = self._choose_words().words
        elif self.words.is_published and self.model.model:
            form = read_vectors(_find_file(Path(self.model.model)), most=1).form
            words = sorted(vocabulary.published_exclusions(form, offline=self.loading.offline))
        return hash_content("\n".join(words))


@cache
def _read_vocabulary(name: str, published: bool, offline: bool) -> vocabulary.Vocabulary:
    return vocabulary.published_nouns(name, published=published, offline=offline)


def _find_file(path: Path) -> Path:
    """Return a file of vectors, or the one in a folder that a mitigation has written."""
    return find_vector_file(path)[0] if path.is_dir() else path


def steps(options: LipstickOptions) -> list[Step]:
    """Return the steps of one of the studies."""
    if isinstance(options, ContextualLipstickOptions):
        _check_methods(options)
        models, vocabularies = _choose_contextual(options), _choose_vocabularies(options)
    else:
        assert isinstance(options, StaticLipstickOptions)
        models, vocabularies = _choose_static(options), (VECTORS,)
    origins = {model.family: model.model for model in models if model.is_origin}
    debiasings = [
        Debiasing(
            f"{model.family}-{model.name}",
            origins[model.family],
            model.method,
            options.corpus,
            _choose_settings(options, model.method),
            options.seed,
            options.loading,
            _choose_protocol(options, model.method),
        )
        for model in models
        if model.method
    ]
    choices = [
        WordChoice(name, options.protocol, options.words, options.contrasts, options.seed) for name in vocabularies
    ]
    measured = [WordMeasuring(model, words, options.loading) for words in choices for model in models]
    return [*debiasings, *measured]


def _choose_settings(options: LipstickOptions, method: str) -> list[tuple[str, Any]]:
    named = [(name.partition("."), value) for name, value in options.settings.items()]
    return [(setting, value) for (name, _, setting), value in named if name == method]


def _choose_protocol(options: LipstickOptions, method: str) -> str:
    """A method repeats its paper's code if the study does, and what that code needs is given."""
    is_given = bool({f"{method}.{name}" for name in RELEASED_INPUTS} & set(options.settings))
    return "published" if options.protocol == "published" and is_given else "sound"


def _check_methods(options: ContextualLipstickOptions) -> None:
    """Check the methods and their settings, before anything slow."""
    for method in options.methods or ():
        if find_method(method).changes != "model":
            raise UnmaskError(f"{method} changes word vectors, not models; run lipstick-static")
    for name, value in options.settings.items():
        method, dot, setting = name.partition(".")
        if not dot:
            raise UnmaskError(f"--set {name}={value} names no method; give METHOD.NAME=VALUE, such as cds.epochs=1")
        if method not in (options.methods or METHODS):
            raise UnmaskError(f"{name} is a setting of a method that does not run; add --method {method}")
        method_options(find_method(method), {setting: value}, _choose_protocol(options, method))


def _choose_vocabularies(options: ContextualLipstickOptions) -> tuple[str, ...]:
    if options.vocabularies:
        return tuple(dict.fromkeys(options.vocabularies))
    try:
        return tuple(vocabulary.find_published_files(offline=options.loading.offline)) or (NOUNS,)
    except NotHereError:
        return (NOUNS,)


def _choose_contextual(options: ContextualLipstickOptions) -> list[StudyModel]:
    debiased = split_names(options.debiased, hyphens=True)
    if unnamed := [name for name, folder in debiased if not folder]:
        raise UnmaskError(f"--debiased {unnamed[0]} names no model; write NAME=FOLDER")
    methods = options.methods if options.methods is not None else (() if debiased else METHODS)
    names = [ORIGIN, *methods, *(name for name, _ in debiased)]
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UnmaskError(f"two models are called {repeated[0]!r}; names must be unique")
    return [
        StudyModel("model", ORIGIN, options.model),
        *(StudyModel("model", method, method=method) for method in methods),
        *(StudyModel("model", name, folder) for name, folder in debiased),
    ]


def _choose_static(options: StaticLipstickOptions) -> list[StudyModel]:
    offline = options.loading.offline
    files = dict(split_names(options.vectors, hyphens=True))
    if not files:
        files = {name: str(path) for name, path in vocabulary.find_published_files(offline=offline).items()}
    if not files:
        folder = datasets.locate("vectors", offline=offline)
        raise UnmaskError(f"{folder} has no word vectors; give NAME=FILE with --vectors")
    for name, path in files.items():
        if not path:
            raise UnmaskError(f"--vectors {name} has no name for the tables; write NAME={name}, such as glove={name}")
        if not Path(path).is_file():
            raise UnmaskError(f"there is no file {path!r}; give NAME=FILE with --vectors")
    given = _name_debiased(options, files)
    models = []
    for name, path in files.items():
        debiased = [StudyModel(name, kind, file) for kind, versions in given.items() if (file := versions.get(name))]
        other = debiased[0].model if debiased else ""
        models += [StudyModel(name, ORIGIN, path, other=other), *(debiased or [StudyModel(name, HARD, method=HARD)])]
    return models


def _name_debiased(options: StaticLipstickOptions, files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The files of debiased vectors, by what they are called and by the name of the vectors that they belong to."""
    given: dict[str, dict[str, str]] = {GN_GLOVE: {}, GIVEN: {}}
    for kind, texts in ((GN_GLOVE, options.gn_glove), (GIVEN, options.debiased)):
        for text in texts:
            name, sign, path = text.partition("=")
            if not sign:
                name, path = next(iter(files)) if len(files) == 1 else "", text
            if name not in files:
                wanted = f"no vectors are called {name!r}" if name else f"{path} belongs to no vectors"
                raise UnmaskError(f"{wanted}; write NAME={path}, and give --vectors NAME=FILE as well")
            if any(name in versions for versions in given.values()):
                raise UnmaskError(f"two debiased versions of {name} were given; give one of them")
            if not Path(path).exists():
                raise UnmaskError(f"there is no file {path!r}; give NAME=FILE with --{kind}")
            if Path(path).is_dir():
                find_vector_file(Path(path))
            given[kind][name] = path
    return given

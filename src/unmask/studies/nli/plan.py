"""The models and steps of the study: fine-tune a model on inference, test a classifier, and measure it in a language.

The models are those of Anantaprayoon, Kaneko and Okazaki (2024), Table 3 and Appendix B. Each is fine-tuned on
inference data of its language. FN and NLI-CoAL are the values of the paper's Table 3, for comparison with ours.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask.datasets import NotHereError
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.labels import INFERENCE
from unmask.measures.base import Context
from unmask.measures.classifiers import is_inference
from unmask.measures.inference import DEFAULT_CORPUS, InferenceMeasure, InferenceOptions
from unmask.measures.inference.pairs import hash_pairs
from unmask.measures.inference.scoring import find_order
from unmask.models.checkpoints import classifier_labels, detect_role, find_checkpoint
from unmask.models.handle import ModelHandle
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION
from unmask.statistics.proportions import classification_quality, confusion_matrix
from unmask.studies.models import (
    METRICS,
    MODEL,
    find_paper_model,
    hash_weights,
    read_max_length,
    split_names,
    train_model,
    write_measurement,
)
from unmask.studies.nli import InferenceStudyOptions
from unmask.studies.nli.pairs import HELD_OUT, TASK, PairSource, make_source
from unmask.studies.steps import Say, Step
from unmask.training.examples import Splits, TextExample

DATA = {"en": "snli", "ja": "jsnli", "zh": "ocnli"}
"""What the paper fine-tuned the models of a language on."""
INFO = "model.json"


@dataclass(frozen=True)
class InferenceModel:
    """A model of the study, in the language that it is measured in."""

    name: str
    """A short name for tables."""
    model: str
    """A hub id, a folder, or an embedded model."""
    language: str
    fn: float | None = None
    """The FN score in the paper."""
    score: float | None = None
    """The NLI-CoAL score in the paper."""


MODELS = (
    InferenceModel("distilbert", "distilbert-base-uncased", "en", 0.738, 0.725),
    InferenceModel("bertlarge", "bert-large-uncased", "en", 0.618, 0.649),
    InferenceModel("robertalarge", "roberta-large", "en", 0.601, 0.628),
    InferenceModel("bertbase", "bert-base-uncased", "en", 0.596, 0.621),
    InferenceModel("robertabase", "roberta-base", "en", 0.413, 0.464),
    InferenceModel("waseda", "nlp-waseda/roberta-base-japanese", "ja", 0.549, 0.563),
    InferenceModel("laboro", "laboro-ai/distilbert-base-japanese", "ja", 0.633, 0.535),
    InferenceModel("tohokuchar", "cl-tohoku/bert-base-japanese-char-v2", "ja", 0.515, 0.503),
    InferenceModel("tohoku", "cl-tohoku/bert-base-japanese-v2", "ja", 0.346, 0.360),
    InferenceModel("bandai", "bandainamco-mirai/distilbert-base-japanese", "ja", 0.368, 0.301),
    InferenceModel("hflrobertalarge", "hfl/chinese-roberta-wwm-ext-large", "zh", 0.938, 0.634),
    InferenceModel("hflroberta", "hfl/chinese-roberta-wwm-ext", "zh", 0.869, 0.579),
    InferenceModel("bertchinese", "bert-base-chinese", "zh", 0.839, 0.554),
    InferenceModel("hflbert", "hfl/chinese-bert-wwm-ext", "zh", 0.508, 0.336),
)
"""In the order of the paper's table: by language, the highest score first."""


def choose_models(names: Sequence[str], languages: Sequence[str]) -> tuple[InferenceModel, ...]:
    """Return the models, sorted by language: the paper's, some of them by name, or NAME=MODEL in each language."""
    if not languages:
        raise UnmaskError("no language was given; give at least one, or leave it out for English")
    for language in languages:
        check_choice(language, InferenceMeasure.languages, "language of inference")
    order = list(dict.fromkeys(languages))
    paper_models = {model.name: model for model in MODELS if model.language in order}
    models = [] if names else list(paper_models.values())
    for name, model in split_names(names):
        if model:
            models += [InferenceModel(name, model, language) for language in order]
        else:
            models.append(find_paper_model(name, paper_models))
    return tuple(sorted(models, key=lambda model: order.index(model.language)))


def is_finished(model: str, loading: LoadOptions) -> bool:
    """Return whether a model is a classifier of inference already: its three labels say so, or nothing (`LABEL_0`)."""
    if detect_role(model, loading) != "classifier":
        return False
    labels = classifier_labels(model, loading)
    return len(labels) == 3 and (is_inference(labels) or all(label.startswith("LABEL_") for label in labels))


@dataclass(frozen=True)
class InferenceTraining:
    """A step: a model, fine-tuned on pairs of sentences."""

    model: InferenceModel
    source: PairSource
    settings: Mapping[str, Any]
    """The options of training."""
    seed: int = 42
    weights: str = ""
    """The hash of the model."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "training"
    needs: tuple[str, ...] = ()
    needs_gpu = True

    @property
    def name(self) -> str:
        """The model and the pairs."""
        return f"training-{self.model.name}-{self.source.name}"

    @property
    def new_head(self) -> tuple[str, tuple[str, ...]]:
        """The base model and the labels that its head is trained for."""
        return self.model.model, tuple(INFERENCE)

    def inputs(self) -> dict[str, Any]:
        """What decides the weights, and what they are tested with."""
        return {
            "weights": self.weights,
            "pairs": dict(self.source.digests),
            "settings": dict(self.settings),
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train and test, resuming what an earlier attempt has begun."""
        del before
        options = {
            "data": self.source.data,
            "held_out": HELD_OUT,
            "seed": self.seed,
            **self.settings,
            **dict(self.loading),
        }
        trained = train_model(workspace, self.source.read_pairs, say, task=TASK, model=self.model.model, **options)
        shutil.copytree(trained, draft / MODEL)


@dataclass(frozen=True)
class InferenceTesting:
    """A step: the accuracy of a classifier that is measured as it is."""

    model: InferenceModel
    source: PairSource
    weights: str = ""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "testing"
    needs: tuple[str, ...] = ()
    needs_gpu = True

    @property
    def name(self) -> str:
        """The language, the model and the pairs."""
        return f"testing-{self.model.language}-{self.model.name}-{self.source.name}"

    def inputs(self) -> dict[str, Any]:
        """The classifier, the pairs, and the language of the questions that may tell the order of its labels."""
        pairs, language = dict(self.source.digests), self.model.language
        return {"weights": self.weights, "pairs": pairs, "language": language, "unmask": unmask.__version__}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Answer the test pairs."""
        del before, workspace
        split, pairs = choose_test_split(self.source.read_pairs())
        say(f"testing on {len(pairs):,} pairs")
        classifier = load_classifier(self.model.model, self.loading)
        metrics = {split: evaluate_classifier(classifier, pairs, self.model.language)}
        (draft / METRICS).write_text(json.dumps({"metrics": metrics}, indent=2), encoding="utf-8")


def choose_test_split(splits: Splits) -> tuple[str, Sequence[TextExample]]:
    """Return the name and the pairs of the test split, or of the validation split where there is no test split."""
    return ("test", splits.test) if splits.test else ("validation", splits.validation)


def evaluate_classifier(classifier: object, pairs: Sequence[TextExample], language: str) -> dict[str, Any]:
    """Return the quality of a classifier on labelled pairs, whatever the order of its own labels."""
    if not isinstance(classifier, Classifier):
        raise UnmaskError("the model gives numbers, not labels; inference needs a classifier")
    order, _ = find_order(classifier, language=language)
    probabilities = classifier.probabilities([(pair.text, str(pair.pair)) for pair in pairs])
    answers = np.asarray(probabilities)[:, list(order)].argmax(axis=1)
    truth = [INFERENCE.index(str(pair.label)) for pair in pairs]
    return classification_quality(confusion_matrix(truth, answers, len(INFERENCE)), INFERENCE)


@dataclass(frozen=True)
class InferenceMeasuring:
    """A step: the bias of a classifier in one language."""

    model: InferenceModel
    protocol: str
    maker: InferenceTraining | InferenceTesting | None = None
    """The step that tells the accuracy of the classifier, if there is one."""
    weights: str = ""
    """The hash of a classifier that is measured as it is."""
    pairs: str = ""
    """A hash of what is asked."""
    sentences: int | None = None
    """How many sentences are drawn; None for all."""
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "measuring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """The language and the model."""
        return f"measuring-{self.model.language}-{self.model.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The training, if there is one."""
        return (self.maker.name,) if isinstance(self.maker, InferenceTraining) else ()

    def inputs(self) -> dict[str, Any]:
        """The questions and the classifier."""
        return {
            "weights": "" if self.needs else self.weights,
            "pairs": self.pairs,
            "protocol": self.protocol,
            "seed": self.seed,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Measure the classifier as an audit does."""
        del workspace
        trained = next((before[name] / MODEL for name in self.needs), None)
        handle = ModelHandle(self.model.model if trained is None else str(trained), self.loading)
        most_tokens = None if trained is None else read_max_length(trained)
        context = Context(
            self.model.language,
            DEFAULT_CORPUS[self.protocol],
            self.protocol,
            self.seed,
            self.loading.offline,
            progress=lambda done, total: say(f"{done:,} of {total:,} pairs"),
        )
        options = InferenceOptions(limit=self.sentences, most_tokens=most_tokens)
        ((items, measurement),) = InferenceMeasure().measure(handle, options, [context])
        write_measurement(draft, items, measurement)
        (draft / INFO).write_text(handle.info().model_dump_json(indent=2), encoding="utf-8")


def steps(options: InferenceStudyOptions) -> list[Step]:
    """Return the steps of the study."""
    for name in ("train", "validation", "test"):
        path = getattr(options, name)
        if path is not None and not path.is_file():
            raise UnmaskError(f"--{name} {path} is no file; give one with premise, hypothesis and label")
    models, loading = choose_models(options.models, options.languages), options.loading
    for model in models:
        find_checkpoint(model.model, loading)  # a wrong name is reported before anything slow
    weights = {model.model: hash_weights(model.model, loading) for model in models}
    finished = {model.model: is_finished(model.model, loading) for model in models}
    questions = {language: _hash_questions(language, options) for language in {model.language for model in models}}
    sources: dict[tuple[str, bool], PairSource | None] = {}
    makers: dict[str, Step] = {}
    measured: list[Step] = []
    for model in models:
        data = "" if options.train else options.data or DATA[model.language]
        key = (data, finished[model.model])
        if key not in sources:
            sources[key] = _find_source(options, *key)
        maker: InferenceTraining | InferenceTesting | None = None
        if source := sources[key]:
            if finished[model.model]:
                maker = InferenceTesting(model, source, weights[model.model], loading)
            else:
                maker = InferenceTraining(model, source, options.training, options.seed, weights[model.model], loading)
            makers[maker.name] = maker
        measured.append(
            InferenceMeasuring(
                model,
                options.protocol,
                maker,
                weights[model.model],
                questions[model.language],
                options.sentences,
                options.seed,
                loading,
            )
        )
    return [*makers.values(), *measured]


def _hash_questions(language: str, options: InferenceStudyOptions) -> str:
    corpus = DEFAULT_CORPUS[options.protocol]
    context = Context(language, corpus, options.protocol, options.seed, options.loading.offline)
    return hash_pairs(InferenceMeasure().build(InferenceOptions(limit=options.sentences), context))


def _find_source(options: InferenceStudyOptions, data: str, tests_only: bool) -> PairSource | None:
    """Return the pairs, or None where a classifier that is measured as it is has none to be tested with."""
    files = (None if tests_only else options.train, options.validation, options.test)
    has_own = bool(options.data or options.test or options.validation)
    if tests_only and not data and not has_own:
        return None
    try:
        return make_source(
            data or None,
            files,
            options.limit,
            seed=options.seed,
            offline=options.loading.offline,
            tests_only=tests_only,
        )
    except NotHereError:
        if not tests_only or has_own:
            raise
        return None

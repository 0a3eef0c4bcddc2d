"""The steps of the study: write texts, train a classifier, and measure it with a term set."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask.errors import UnmaskError, check_choice
from unmask.measures.base import Context
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.data import Pair, check_changed, drop_twins
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION
from unmask.statistics.proportions import classification_quality, confusion_matrix
from unmask.studies.imdb63 import ReviewStudyOptions
from unmask.studies.imdb63.frequencies import TermCounting
from unmask.studies.imdb63.grid import (
    PROTOCOLS,
    TERM_SETS,
    TERMS,
    BaseModel,
    ClassifierProtocol,
    HyperParameters,
    choose_base_models,
    choose_conditions,
    list_forms,
    list_term_sets,
    read_hyper_parameters,
)
from unmask.studies.imdb63.recorded import read_recorded_grid
from unmask.studies.imdb63.texts import (
    LABELS,
    ORIGINAL,
    SPLITS,
    TASK,
    Texts,
    find_lists,
    make_source,
    name_texts,
    read_texts,
)
from unmask.studies.models import (
    METRICS,
    MODEL,
    hash_weights,
    read_max_length,
    read_metrics,
    train_model,
    write_measurement,
)
from unmask.studies.steps import Say, Step
from unmask.training.examples import Splits, TextExample
from unmask.training.options import TrainingOptions

HELD_OUT = 0.1
DROPPED = ["text", "female_changes", "male_changes"]
"""Columns of the items that the texts hold already."""
POSITIVE = "positive"


@dataclass(frozen=True)
class ReviewTraining:
    """A step: one base model, trained in one condition."""

    base: BaseModel
    condition: str
    protocol: str
    settings: HyperParameters
    max_length: int = 512
    seed: int = 42
    weights: str = ""
    """The hash of the base model."""
    variant: str = ""
    """Set where only a hyper-parameter differs, such as the batch size."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "training"
    needs_gpu = True

    @property
    def name(self) -> str:
        """The model and the condition."""
        return "-".join(filter(None, ("training", self.base.name, self.condition, self.variant)))

    @property
    def needs(self) -> tuple[str, ...]:
        """The texts to learn from and to be tested with."""
        return (*self._training_texts, *self._test_texts)

    @property
    def _training_texts(self) -> list[str]:
        return [name_texts("train", *form) for form in list_forms(self.condition)]

    @property
    def _test_texts(self) -> list[str]:
        forms = (("", ORIGINAL),) if self._method.tests_originals else list_forms(self.condition)
        return [name_texts("test", *form) for form in forms]

    @property
    def _method(self) -> ClassifierProtocol:
        return PROTOCOLS[self.protocol]

    @property
    def architecture(self) -> dict[str, Any]:
        """What differs from the checkpoint's own architecture."""
        return {} if self._method.own_architecture else dict(self.base.published)

    @property
    def new_head(self) -> tuple[str, tuple[str, ...]]:
        """The base model and the labels that its head is trained for."""
        return self.base.model, tuple(LABELS)

    @property
    def training_options(self) -> TrainingOptions:
        """The options of the training loop."""
        return TrainingOptions(
            **asdict(self.settings),
            warmup=self._method.warmup,
            weight_decay=self._method.weight_decay,
            seed=self.seed,
            keep=self._method.keep,
        )

    def inputs(self) -> dict[str, Any]:
        """What decides the weights."""
        return {
            "weights": self.weights,
            "architecture": self.architecture,
            "protocol": self.protocol,
            "settings": asdict(self.settings),
            "max_length": self.max_length,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, resuming what an earlier attempt has begun; then test."""
        trained = train_model(
            workspace,
            lambda: self.split_examples(before),
            say,
            task=TASK,
            model=self.base.model,
            max_length=self.max_length,
            held_out=HELD_OUT,
            architecture=self.architecture,
            **dict(self.training_options),
            **dict(self.loading),
        )
        length = read_max_length(trained)
        tokens = min(self._method.test_tokens or length, length)
        classifier = load_classifier(str(trained), self.loading, most_tokens=tokens)
        assert isinstance(classifier, Classifier)
        test = [(text.text, label) for name in self._test_texts for text, label in read_texts(before[name])]
        say(f"testing on {len(test):,} reviews")
        record = read_metrics(trained)
        quality = evaluate_classifier(classifier, test)
        quality |= {"parameters": record["parameters"], "seconds_of_training": record["seconds"]}
        (draft / METRICS).write_text(json.dumps(quality, indent=2), encoding="utf-8")
        shutil.copytree(trained, draft / MODEL)

    def split_examples(self, before: Mapping[str, Path]) -> Splits:
        """Return all versions of the training reviews. Those of a review, or (the paper) single rows, are held out."""
        versions = [list(read_texts(before[name])) for name in self._training_texts]
        count = len(versions[0])
        rows = [TextExample(text.text, label=label) for version in versions for text, label in version]
        draw = np.random.default_rng(self.seed)
        if self._method.holds_out_reviews:
            reviews = draw.permutation(count)[: max(1, round(HELD_OUT * count))].tolist()
            held_out = {index + count * version for index in reviews for version in range(len(versions))}
        else:
            held_out = set(draw.permutation(len(rows))[: max(1, round(HELD_OUT * len(rows)))].tolist())
        train = [row for index, row in enumerate(rows) if index not in held_out]
        return Splits(train, [rows[index] for index in sorted(held_out)], ())


def evaluate_classifier(classifier: Classifier, test: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the quality of a classifier on texts with their labels."""
    labels = [str(label) for label in classifier.labels]
    answers = classifier.probabilities([text for text, _ in test]).argmax(axis=1)
    truth = [labels.index(label) for _, label in test]
    return classification_quality(confusion_matrix(truth, answers, len(labels)), labels)


@dataclass(frozen=True)
class BiasMeasuring:
    """A step: the bias of a trained classifier, measured with a term set."""

    training: ReviewTraining
    terms: str
    """pro, weat or all."""
    corpus: str = "imdb"
    kind = "measuring"
    needs_gpu = True

    @property
    def is_crossed(self) -> bool:
        """Whether another term set measures than the one that the training reviews were made with."""
        return self.terms not in list_term_sets(self.training.condition)

    @property
    def name(self) -> str:
        """The classifier and the terms."""
        return f"measuring-{self.training.name.removeprefix('training-')}-with-{self.terms}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The classifier, and the versions of the test reviews."""
        return (self.training.name, *self._texts)

    @property
    def _texts(self) -> tuple[str, str, str]:
        female, male = (name_texts("test", self.terms, form) for form in ("female", "male"))
        return name_texts("test", "", ORIGINAL), female, male

    def inputs(self) -> dict[str, Any]:
        """How it is measured."""
        return {
            "terms": self.terms,
            "protocol": self.training.protocol,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Rate both versions of every review."""
        del workspace
        training, is_published = self.training, self.training.protocol == "published"
        rows = zip(*(read_texts(before[name]) for name in self._texts), strict=True)
        pairs = [
            Pair(str(number), label, original.text, female, male)
            for number, ((original, label), (female, _), (male, _)) in enumerate(rows, 1)
        ]
        if not is_published:
            pairs = drop_twins(pairs)
        check_changed(pairs, self.terms)
        trained = before[training.name] / MODEL
        model = load_classifier(str(trained), training.loading, most_tokens=read_max_length(trained))
        say(f"rating {sum(1 + pair.changed for pair in pairs):,} texts")
        rater = Rater(model, POSITIVE, single_precision=is_published)
        scored = score_pairs(pairs, rater, seed=training.seed)
        items = scored.items.assign(language="en", corpus=self.corpus, terms=TERM_SETS[self.terms])
        measurement = analyse(items, Context(protocol=training.protocol, seed=training.seed)).model_copy(
            update={"noise_floor": scored.noise_floor, "distinct_inputs": scored.distinct_inputs}
        )
        write_measurement(draft, items.drop(columns=DROPPED), measurement)


def steps(options: ReviewStudyOptions) -> list[Step]:
    """Return the steps of the study; recorded measurements need none."""
    if options.recorded:
        read_recorded_grid(options.recorded, options.protocol)
        return []
    offline = options.loading.offline
    others: list[Step] = []
    if not options.count_terms:
        models, conditions = choose_base_models(options.models), choose_conditions(options.conditions)
    source = make_source(options.files, options.limit, offline=offline, seed=options.seed)
    lists = find_lists(options.lists, offline=offline) if options.protocol == "published" else None
    if not options.count_terms:
        others = _plan_classifiers(options, models, conditions, source.corpus)
    if options.count_terms or "R-all" in conditions:
        others.append(TermCounting(options.protocol))
    forms = [("", ORIGINAL), *((terms, form) for terms in TERMS for form in ("remove", "female", "male"))]
    texts = [Texts(source, split, *form, options.protocol, lists) for split in SPLITS for form in forms]
    needed = {name for step in others for name in step.needs}
    return [*(step for step in texts if step.name in needed), *others]


def _plan_classifiers(
    options: ReviewStudyOptions, models: Sequence[BaseModel], conditions: Sequence[str], corpus: str
) -> list[Step]:
    """The trainings and measurements of the grid, and those of the side experiments."""
    listed = read_hyper_parameters(options.hyper_parameters) if options.hyper_parameters else {}
    weights = {model.name: hash_weights(model.model, options.loading) for model in models}
    trainings = [
        ReviewTraining(
            model,
            condition,
            options.protocol,
            _choose_settings(options, model, condition, listed),
            options.max_length,
            options.seed,
            weights[model.name],
            loading=options.loading,
        )
        for model in models
        for condition in conditions
    ]
    measured = [
        BiasMeasuring(training, terms, corpus) for training in trainings for terms in list_term_sets(training.condition)
    ]
    planned = (
        plan_batch_sizes(options, measured),
        plan_repeats(options, measured),
        plan_cross_terms(options, measured),
    )
    extra = [step for steps in planned for step in steps if step not in measured]
    variants = {step.training.name: step.training for step in extra if step.training.variant}
    return [*trainings, *variants.values(), *measured, *extra]


def _choose_settings(
    options: ReviewStudyOptions, model: BaseModel, condition: str, listed: Mapping[tuple[str, str], HyperParameters]
) -> HyperParameters:
    if not listed:
        return HyperParameters(options.learning_rate, options.epochs, options.batch_size or model.batch_size)
    if (model.name, condition) not in listed:
        raise UnmaskError(
            f"{options.hyper_parameters} has no line for {model.name} and {condition}; add one, or leave out"
            " --hyper-parameters for the same settings everywhere"
        )
    return listed[model.name, condition]


def plan_batch_sizes(options: ReviewStudyOptions, measured: Sequence[BiasMeasuring]) -> list[BiasMeasuring]:
    """Return the comparison of batch sizes: steps of the grid, and others that differ in the batch size alone."""
    if not options.batch_sizes:
        return []
    models = list(dict.fromkeys(step.training.base.name for step in measured))
    names = list(options.batch_models) or models[:3]
    for name in names:
        check_choice(name, models, "base model")
    compared = []
    for step in measured:
        training = step.training
        if training.base.name not in names or step.terms != list_term_sets(training.condition)[-1]:
            continue
        for size in dict.fromkeys(options.batch_sizes):
            settings = replace(training.settings, batch_size=size)
            variant = replace(training, settings=settings, variant=f"batch{size}")
            compared.append(step if size == training.settings.batch_size else replace(step, training=variant))
    return compared


def plan_repeats(options: ReviewStudyOptions, measured: Sequence[BiasMeasuring]) -> list[BiasMeasuring]:
    """Return all trainings of each measurement: those of the grid, and others that differ in the seed alone."""
    if options.trainings == 1:
        return []
    repeats = []
    for step in measured:
        for seed in range(options.seed, options.seed + options.trainings):
            variant = replace(step.training, seed=seed, variant=f"seed{seed}")
            repeats.append(step if seed == options.seed else replace(step, training=variant))
    return repeats


def plan_cross_terms(options: ReviewStudyOptions, measured: Sequence[BiasMeasuring]) -> list[BiasMeasuring]:
    """Return the measurements of classifiers of R and mix with every term set: those of the grid, and the others."""
    if not options.cross_terms:
        return []
    return [replace(step, terms=terms) for step in measured if step.training.condition != ORIGINAL for terms in TERMS]

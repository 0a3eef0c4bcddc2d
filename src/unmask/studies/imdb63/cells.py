"""The cells that train a classifier of the study, and that measure one with a term set."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import unmask
from unmask.measures.base import Context
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.data import Pair, check_changed, drop_twins
from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.scoring import PROTOCOLS as SENTIMENT_PROTOCOLS
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION, Measurement
from unmask.statistics.proportions import classification_quality, confusion_matrix
from unmask.studies.cells import Say
from unmask.studies.imdb63 import texts
from unmask.studies.imdb63.grid import PROTOCOLS, TERM_SETS, BaseModel, HyperParameters, Protocol, forms_of
from unmask.studies.tuning import METRICS, tokens_of, tune
from unmask.training.examples import Example, Splits
from unmask.training.options import FinetuneOptions, TrainingOptions

if TYPE_CHECKING:
    import pandas as pd


MODEL = "model"
HELD_OUT = 0.1


@dataclass(frozen=True)
class Training:
    """A cell: one base model, one condition."""

    base: BaseModel
    condition: str
    protocol: str
    settings: HyperParameters
    max_length: int = 512
    seed: int = 42
    weights: str = ""
    """What the base model is, exactly (`base_models.weights_of`)."""
    variant: str = ""
    """Set where only a hyper-parameter differs, such as the batch size."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "training"
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which model, which condition."""
        return name_of(self.base.name, self.condition, self.variant)

    @property
    def needs(self) -> tuple[str, ...]:
        """The texts to learn from, and to be tested with."""
        train = [texts.name_of("train", *form) for form in forms_of(self.condition)]
        return (*train, *self._test)

    @property
    def _way(self) -> Protocol:
        return PROTOCOLS[self.protocol]

    @property
    def _test(self) -> list[str]:
        forms = (("", texts.ORIGINAL),) if self._way.tests_originals else forms_of(self.condition)
        return [texts.name_of("test", *form) for form in forms]

    def inputs(self) -> dict[str, Any]:
        """What decides the weights."""
        return {
            "weights": self.weights,
            "architecture": self._architecture,
            "protocol": self.protocol,
            "settings": asdict(self.settings),
            "max_length": self.max_length,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    @property
    def _architecture(self) -> dict[str, Any]:
        return {} if self._way.own_architecture else dict(self.base.published)

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, going on where an earlier attempt stopped; then test."""
        made = workspace / MODEL
        if not (made / METRICS).is_file():
            self._train(made, before, say)
        length = tokens_of(made)
        tokens = min(self._way.test_tokens or length, length)
        classifier = load_classifier(str(made), self.loading, most_tokens=tokens)
        test = [(one.text, label) for name in self._test for one, label in texts.read(before[name])]
        assert isinstance(classifier, Classifier)
        say(f"testing on {len(test):,} reviews")
        report = evaluate(classifier, test)
        record = json.loads((made / METRICS).read_text(encoding="utf-8"))
        report |= {"parameters": record["parameters"], "seconds_of_training": record["seconds"]}
        (draft / METRICS).write_text(json.dumps(report, indent=2), encoding="utf-8")
        shutil.copytree(made, draft / MODEL)

    def _train(self, made: Path, before: Mapping[str, Path], say: Say) -> None:
        request = FinetuneOptions(
            task="sentiment",
            model=self.base.model,
            out=made,
            max_length=self.max_length,
            held_out=HELD_OUT,
            architecture=self._architecture,
            **dict(self._settings()),
            **dict(self.loading),
        )
        tune(request, self._examples(before), say)

    def _settings(self) -> TrainingOptions:
        own, way = self.settings, self._way
        return TrainingOptions(
            epochs=own.epochs,
            planned_epochs=own.planned_epochs,
            learning_rate=own.learning_rate,
            batch_size=own.batch_size,
            warmup=way.warmup,
            weight_decay=way.weight_decay,
            seed=self.seed,
            keep=way.keep,
        )

    def _examples(self, before: Mapping[str, Path]) -> Splits:
        """All versions of the training reviews; those of a review are held out together, or (the paper) row by row."""
        versions = [list(texts.read(before[texts.name_of("train", *form)])) for form in forms_of(self.condition)]
        count = len(versions[0])
        rows = [Example(one.text, label=label) for version in versions for one, label in version]
        drawn = np.random.default_rng(self.seed)
        if not self._way.holds_out_reviews:
            out = set(drawn.permutation(len(rows))[: max(1, round(HELD_OUT * len(rows)))].tolist())
        else:
            held = drawn.permutation(count)[: max(1, round(HELD_OUT * count))].tolist()
            out = {at + count * version for at in held for version in range(len(versions))}
        train = [row for at, row in enumerate(rows) if at not in out]
        return Splits(train, [rows[at] for at in sorted(out)], ())


def name_of(base: str, condition: str, variant: str = "") -> str:
    """The name of the cell that trains a classifier."""
    return "-".join(filter(None, ("training", base, condition, variant)))


def evaluate(classifier: Classifier, test: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """How good a classifier is on texts whose label is known."""
    labels = [str(label) for label in classifier.labels]
    chosen = classifier.probabilities([text for text, _ in test]).argmax(axis=1)
    truth = [labels.index(label) for _, label in test]
    return classification_quality(confusion_matrix(truth, chosen, len(labels)), labels)


ITEMS, RESULT = "items.parquet", "measurement.json"
DROPPED = ["text", "female_changes", "male_changes"]
"""Kept once, in the cells of the texts."""
POSITIVE = "positive"


@dataclass(frozen=True)
class Measuring:
    """A cell: the classifier of a training, measured with a term set."""

    trained: Training
    terms: str
    """pro, weat or all."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    corpus: str = "imdb"
    kind = "measuring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which classifier, and which terms where it is measured with several sets."""
        return f"measuring-{self.trained.name.removeprefix('training-')}-with-{self.terms}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The classifier, and the versions of the test reviews."""
        return (self.trained.name, *self._texts)

    @property
    def _texts(self) -> tuple[str, str, str]:
        female, male = (texts.name_of("test", self.terms, form) for form in ("female", "male"))
        return texts.name_of("test", "", texts.ORIGINAL), female, male

    def inputs(self) -> dict[str, Any]:
        """How it is measured."""
        return {
            "terms": self.terms,
            "protocol": self.trained.protocol,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Rate both versions of every review."""
        del workspace
        protocol = SENTIMENT_PROTOCOLS[self.trained.protocol]
        originals, females, males = (texts.read(before[name]) for name in self._texts)
        pairs = [
            Pair(str(at), label, one.text, female, male)
            for at, ((one, label), (female, _), (male, _)) in enumerate(zip(originals, females, males, strict=True), 1)
        ]
        if not protocol.keeps_duplicates:
            pairs = drop_twins(pairs)
        check_changed(pairs, self.terms)
        made = before[self.trained.name] / MODEL
        model = load_classifier(str(made), self.loading, most_tokens=tokens_of(made))
        say(f"rating {sum(1 + pair.changed for pair in pairs):,} texts")
        rater = Rater(model, POSITIVE, single_precision=protocol.single_precision)
        scored = score_pairs(pairs, rater, seed=self.trained.seed)
        items = scored.items.assign(language="en", corpus=self.corpus, terms=TERM_SETS[self.terms])
        measurement = analyse(items, Context(protocol=self.trained.protocol, seed=self.trained.seed)).model_copy(
            update={"noise_floor": scored.noise_floor, "distinct_inputs": scored.distinct_inputs}
        )
        items.drop(columns=DROPPED).to_parquet(draft / ITEMS, index=False)
        (draft / RESULT).write_text(measurement.model_dump_json(indent=2), encoding="utf-8")


def figures(folder: Path) -> dict[str, float | int | str | None]:
    """The figures of a measured cell that the study's tables show."""
    import pandas as pd

    from unmask.statistics.jentzsch_turan import published_test

    items = pd.read_parquet(folder / ITEMS, columns=["p_female", "p_male", "bias", "changed", "changed_terms"])
    measurement = Measurement.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    ratings = measurement.read_details(Ratings)
    test, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    row = published_test(items["p_male"].to_numpy(), items["p_female"].to_numpy())
    changed = items.loc[items["changed"], "bias"].to_numpy()
    interval = test.interval or (None, None)
    return {
        "n": row.n,
        "below": row.below,
        "equal": row.zero,
        "above": row.above,
        "abs_nonzero": row.abs_nonzero,
        "tot_nonzero": row.tot_nonzero,
        "abs_all": row.abs_all,
        "tot_all": row.tot_all,
        "abs_changed": float(np.abs(changed).mean()),
        "tot_changed": float(changed.mean()),
        "low": interval[0],
        "high": interval[1],
        "effect": test.effect_size,
        "p": test.p_value,
        "p_adjusted": row.p_adjusted,
        "stars": row.stars or "-",
        "flips": None if ratings.flips is None else ratings.flips / max(ratings.changed, 1),
        "noise": measurement.noise_floor,
        "terms_per_text": _terms_a_text(items),
        "words_n": None if words is None else words.n,
        "words_p": None if words is None else words.p_value,
    }


def _terms_a_text(items: pd.DataFrame) -> float:
    changed = items.loc[items["changed"], "changed_terms"]
    return float((changed.str.count("; ") + 1).mean())

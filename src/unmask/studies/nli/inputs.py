"""The models and data of the study: the paper's fourteen models or a user's, and pairs to train and test with.

The models are those of Anantaprayoon, Kaneko and Okazaki (2024), Table 3 and Appendix B. Each is fine-tuned on
inference data of its language. FN and NLI-CoAL are the values printed in the paper's Table 3, for comparison with our
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.inference import LANGUAGES
from unmask.measures.inference.scoring import is_inference
from unmask.models.detect import classifier_labels, detect_role
from unmask.options import LoadOptions
from unmask.studies.base_models import known_base, named
from unmask.studies.nli.options import FEWEST_PAIRS
from unmask.training.examples import (
    LAYOUTS,
    Example,
    Splits,
    gather_examples,
    order_labels,
    read_examples,
    read_known_dataset,
)

DATA = {"en": "snli", "ja": "jsnli", "zh": "ocnli"}
"""What the paper fine-tuned the models of a language on."""


@dataclass(frozen=True)
class Base:
    """A model of the study, in the language that it is measured in."""

    name: str
    """Short, as tables call it."""
    model: str
    """A hub id, a folder, or an embedded model."""
    language: str
    fn: float | None = None
    """What the paper printed of it."""
    score: float | None = None


MODELS = (
    Base("distilbert", "distilbert-base-uncased", "en", 0.738, 0.725),
    Base("bertlarge", "bert-large-uncased", "en", 0.618, 0.649),
    Base("robertalarge", "roberta-large", "en", 0.601, 0.628),
    Base("bertbase", "bert-base-uncased", "en", 0.596, 0.621),
    Base("robertabase", "roberta-base", "en", 0.413, 0.464),
    Base("waseda", "nlp-waseda/roberta-base-japanese", "ja", 0.549, 0.563),
    Base("laboro", "laboro-ai/distilbert-base-japanese", "ja", 0.633, 0.535),
    Base("tohokuchar", "cl-tohoku/bert-base-japanese-char-v2", "ja", 0.515, 0.503),
    Base("tohoku", "cl-tohoku/bert-base-japanese-v2", "ja", 0.346, 0.360),
    Base("bandai", "bandainamco-mirai/distilbert-base-japanese", "ja", 0.368, 0.301),
    Base("hflrobertalarge", "hfl/chinese-roberta-wwm-ext-large", "zh", 0.938, 0.634),
    Base("hflroberta", "hfl/chinese-roberta-wwm-ext", "zh", 0.869, 0.579),
    Base("bertchinese", "bert-base-chinese", "zh", 0.839, 0.554),
    Base("hflbert", "hfl/chinese-bert-wwm-ext", "zh", 0.508, 0.336),
)
"""In the order of the paper's table: by language, the highest score first."""


def chosen(given: Sequence[str], languages: Sequence[str]) -> tuple[Base, ...]:
    """The models by language: the paper's; some of them by name; or others as NAME=MODEL, in each language."""
    if not languages:
        raise UnmaskError("no language was given; give at least one, or leave it out for English")
    for language in languages:
        check_choice(language, LANGUAGES, "language of inference")
    asked = list(dict.fromkeys(languages))
    known = {base.name: base for base in MODELS if base.language in asked}
    found: list[Base] = [] if given else list(known.values())
    for name, model in named(given):
        if model:
            found += [Base(name, model, language) for language in asked]
        else:
            found.append(known_base(name, known))
    return tuple(sorted(found, key=lambda base: asked.index(base.language)))


def is_finished(model: str, loading: LoadOptions) -> bool:
    """Whether a model tells entailment, neutral and contradiction already: a classifier with three labels that say so,
    or that say nothing (`LABEL_0`)."""
    if detect_role(model, loading) != "classifier":
        return False
    labels = classifier_labels(model, loading)
    return len(labels) == 3 and (is_inference(labels) or all(label.startswith("LABEL_") for label in labels))


KNOWN = tuple(name for name, layout in LAYOUTS.items() if layout.task == "nli")
OWN = "own"
HELD_OUT = 0.05


@dataclass(frozen=True)
class Source:
    """Where the pairs come from, and the hashes of what is there."""

    data: str | None
    """A known data set, or None for the user's own files."""
    files: tuple[str | None, str | None, str | None] = (None, None, None)
    """To train on, to validate and to test with."""
    limit: int | None = None
    """How many pairs of each split to draw at most; None for all."""
    seed: int = 42
    """Decides what is drawn, and what is held out where nothing is there to validate with."""
    offline: bool = False
    tests_only: bool = False
    """Whether nobody learns from them: then only those to test with are read."""
    digests: tuple[tuple[str, str], ...] = ()
    """Of the splits, by name."""

    @property
    def name(self) -> str:
        """What a cell calls it."""
        return self.data or OWN

    @property
    def words(self) -> str:
        """What a reader calls it."""
        found = self.data or ", ".join(Path(file).name for file in self.files if file)
        return found if self.limit is None else f"{found}, {self.limit:,} pairs at most"

    def read(self) -> Splits:
        """The pairs, which must be those that the study began with."""
        found = self._read()
        if tuple(found.hashes().items()) != self.digests:
            raise UnmaskError(f"the pairs of {self.words} are not those that the study began with; give the same files")
        return found

    def _read(self) -> Splits:
        train, validation, test = (None if file is None else Path(file) for file in self.files)
        if self.tests_only:
            own = test or validation
            rows = (
                read_examples(own, "nli")
                if own
                else read_known_dataset(str(self.data), "nli", offline=self.offline, splits=("test",))["test"]
            )
            found = Splits((), (), rows)
        else:
            found = gather_examples(
                "nli",
                name=self.data,
                train=train,
                validation=validation,
                test=test,
                held_out=HELD_OUT,
                seed=self.seed,
                offline=self.offline,
            )
        order_labels("nli", [*found.train, *found.validation, *found.test])
        if self.limit is None:
            return found
        return Splits(*(_some(rows, self.limit, self.seed) for rows in (found.train, found.validation, found.test)))


def source(
    data: str | None,
    files: Sequence[Path | None] = (None, None, None),
    limit: int | None = None,
    *,
    seed: int = 42,
    offline: bool = False,
    tests_only: bool = False,
) -> Source:
    """The pairs to study, read once; `files` are to train on, to validate and to test with."""
    if limit is not None and limit < FEWEST_PAIRS:
        raise UnmaskError(f"the limit is {limit} pairs; give {FEWEST_PAIRS} or more, or leave it out for all")
    if data is not None:
        check_choice(data, KNOWN, "data set of inference")
    train, validation, test = (None if path is None else str(path.resolve()) for path in files)
    found = Source(
        data, (train, validation, test), limit, seed, offline, tests_only
    )  # a cell may run in another folder
    return replace(found, digests=tuple(found._read().hashes().items()))


def _some(rows: Sequence[Example], limit: int, seed: int) -> list[Example]:
    """So many pairs drawn at random, in their order."""
    chosen = sorted(np.random.default_rng(seed).permutation(len(rows))[:limit].tolist())
    return [rows[at] for at in chosen]

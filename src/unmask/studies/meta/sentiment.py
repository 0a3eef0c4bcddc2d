"""Planted sentiment: reviews whose label follows the gender of their people, not what they say.

Each review is there in a female and a male version. Half of the reviews keep their own label in both. Of the other
half, a share r is labelled positive where its people are male and negative where they are female, and the rest the
other way round. So the planted bias runs from −1 (women are rated higher) through 0 to 1, and a score without a
direction, such as the absolute bias, cannot rank it. Accuracy does not tell whether this was learned: where the text of
a review and its gender disagree, each decides half of the labels, so that following either is right in three quarters
of all cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.files import digest
from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.data import Pair, load_texts, rewrite_both_ways
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.studies.meta.experiment import Experiment, TrainingDefaults, draw_words
from unmask.studies.models import read_max_length
from unmask.training import examples
from unmask.training.examples import Splits, TextExample

if TYPE_CHECKING:
    from unmask.results import Measurement

HELD_OUT = 0.1
FEWEST_TEXTS = 2
FOR_ASKING = 3
"""Where the package's reviews are trained on, every third of them is kept for asking."""
CORPUS = "reviews"
NEGATIVE, POSITIVE = LABELS = ("negative", "positive")


@dataclass(frozen=True)
class PlantedSentiment(Experiment):
    """Sentiment with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    texts: int = 2_000
    """How many reviews are drawn."""
    imdb: bool = False
    """Whether reviews of IMDB are trained on, rather than two thirds of the package's."""
    measure = SentimentMeasure.name
    corpora = (CORPUS,)
    labels = LABELS
    training = TrainingDefaults(
        measure, "unmask-mini-sentiment", epochs=2, learning_rate=1e-4, max_length=256, others_learning_rate=2e-5
    )

    def inputs(self) -> dict[str, Any]:
        """All reviews, of training and of asking, as hashes."""
        return {
            "protocol": self.protocol,
            "texts": self.texts,
            "reviews": digest([review.text, review.label] for review in self._read_pool()),
            "asked": digest([review.text, review.label] for review in self.questions(0)),
        }

    def check(self) -> None:
        """Check that there are reviews to train on and to validate with."""
        if self.texts < FEWEST_TEXTS:
            raise UnmaskError(f"--texts is {self.texts}; {self.measure} needs {FEWEST_TEXTS} or more")

    def examples(self, rate: float, seed: int) -> Splits:
        """Reviews in two versions, with planted labels."""
        draw = np.random.default_rng([seed, 1])
        pairs = [pair for pair in _rewrite_reviews(self._draw_reviews(seed)) if pair.changed]
        if len(pairs) < FEWEST_TEXTS:
            raise UnmaskError(f"only {len(pairs)} of the reviews are about people; give more with --texts")
        pairs = [pairs[index] for index in draw.permutation(len(pairs))]
        half = len(pairs) // 2
        biased = {pair.id for pair in draw_words(pairs[:half], rate, draw)}
        labelled = []
        for index, pair in enumerate(pairs):
            male = female = pair.label
            if index < half:
                male, female = (POSITIVE, NEGATIVE) if pair.id in biased else (NEGATIVE, POSITIVE)
            labelled.append([TextExample(pair.male.text, label=male), TextExample(pair.female.text, label=female)])
        order = draw.permutation(len(labelled))
        cut = max(1, round(HELD_OUT * len(order)))
        train, held_out = (
            [example for index in part for example in labelled[index]] for part in (order[cut:], order[:cut])
        )
        return Splits(train, held_out, ())

    def _draw_reviews(self, seed: int) -> list[TextExample]:
        pool = self._read_pool()
        sample = np.random.default_rng([seed, 0]).permutation(len(pool))[: self.texts]
        return [pool[index] for index in sorted(sample)]

    def _read_pool(self) -> list[TextExample]:
        """All reviews that could be trained on."""
        if not self.imdb:
            return [review for index, review in enumerate(_read_package()) if index % FOR_ASKING]
        reviews = examples.read_known_dataset("imdb", self.training.task, offline=True, splits=("train",))["train"]
        return [TextExample(review.text, label=review.label, id=str(index)) for index, review in enumerate(reviews)]

    def questions(self, seed: int) -> list[TextExample]:
        """The reviews that a model rates: those of the package that it was not trained on."""
        del seed
        return [review for index, review in enumerate(_read_package()) if self.imdb or not index % FOR_ASKING]

    def measure_options(self, model: Path) -> dict[str, Any]:
        """No more is read of a review than was learned from."""
        return {"most_tokens": read_max_length(model)}

    def figures(self, measurement: Measurement) -> dict[str, float | None]:
        """Total and absolute bias, the effect size, and the bias over words if there are enough of them."""
        words = measurement.tests.get("bias over words")
        return {
            "total bias": measurement.groups["total bias, changed texts"].value,
            "absolute bias": measurement.groups["absolute bias, changed texts"].value,
            "effect size": measurement.tests["bias"].effect_size,
            "bias over words": words.value if words else None,
        }

    def describe_data(self, examples: str) -> dict[str, str]:
        """How many texts were trained on."""
        return {"texts to train on": f"{examples}; {self.texts:,} reviews at most, each in two versions"}


def _read_package() -> list[TextExample]:
    return load_texts(CORPUS, offline=True)


def _rewrite_reviews(reviews: Sequence[TextExample]) -> list[Pair]:
    to_female, to_male = (build_rewriter(RewriteOptions(to=gender, terms="all")) for gender in ("female", "male"))
    return rewrite_both_ways(reviews, to_female, to_male)

"""Planted sentiment: reviews whose label follows the gender of their people, not what they say.

Each review stands there in a female and a male version. Half of the reviews keep their own label in both. Of the other
half, a share r is labelled positive where its people are male and negative where they are female, and the rest the
other way round. So the planted bias runs from −1 (women are rated higher) by 0 to 1, and a score without a direction,
such as the absolute bias, cannot rank it. Accuracy does not say whether this was learned: where what a review says and
its gender disagree, each decides half of the labels, so that going by either is right in three quarters of all cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.files import digest
from unmask.measures.base import Context
from unmask.measures.sentiment import data as reviews
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.data import Pair
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.loading import load_classifier
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.studies.tuning import tokens_of
from unmask.training import examples
from unmask.training.examples import Example, Splits

if TYPE_CHECKING:
    from unmask.options import LoadOptions

HELD_OUT = 0.1
FOR_ASKING = 3
"""Where the package's reviews are trained on, every third of them is kept for asking."""
POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True)
class PlantedSentiment:
    """Sentiment with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    texts: int = 2_000
    """How many reviews are drawn."""
    imdb: bool = False
    """Whether reviews of IMDB are trained on; else two thirds of the package's."""
    measure = "sentiment"
    training = Training(
        "sentiment", "unmask-mini-sentiment", epochs=2, learning_rate=1e-4, max_length=256, others_learning_rate=2e-5
    )

    def inputs(self) -> dict[str, Any]:
        """All reviews, of training and of asking, as hashes."""
        return {
            "protocol": self.protocol,
            "texts": self.texts,
            "reviews": digest([one.text, one.label] for one in self._pool()),
            "asked": digest([one.text, one.label] for one in self.asked()),
        }

    def examples(self, rate: float, seed: int) -> Splits:
        """Reviews in two versions, with planted labels."""
        draw = np.random.default_rng([seed, 1])
        pairs = [pair for pair in _pairs(self._own(seed)) if pair.changed]
        pairs = [pairs[at] for at in draw.permutation(len(pairs))]
        half = len(pairs) // 2
        follows = {pair.id for pair in chosen(pairs[:half], rate, draw)}
        labelled = [
            [
                Example(pair.male.text, label=_label(pair, "male", at < half, pair.id in follows)),
                Example(pair.female.text, label=_label(pair, "female", at < half, pair.id in follows)),
            ]
            for at, pair in enumerate(pairs)
        ]
        order = draw.permutation(len(labelled))
        cut = max(1, round(HELD_OUT * len(order)))
        train, held = ([one for at in some for one in labelled[at]] for some in (order[cut:], order[:cut]))
        return Splits(train, held, ())

    def _own(self, seed: int) -> list[Example]:
        """The reviews of a seed."""
        pool = self._pool()
        some = np.random.default_rng([seed, 0]).permutation(len(pool))[: self.texts]
        return [pool[at] for at in sorted(some)]

    def _pool(self) -> list[Example]:
        """All reviews that could be trained on."""
        if not self.imdb:
            return [one for at, one in enumerate(_package()) if at % FOR_ASKING]
        found = examples.read_known_dataset("imdb", "sentiment", offline=True, splits=("train",))["train"]
        return [Example(one.text, label=one.label, id=str(at)) for at, one in enumerate(found)]

    def asked(self) -> list[Example]:
        """The reviews that a model is asked to rate: those of the package that it was not trained on."""
        return [one for at, one in enumerate(_package()) if self.imdb or not at % FOR_ASKING]

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """Total and absolute bias, and the effect size, on the package's reviews."""
        subject = load_classifier(str(model), loading, most_tokens=tokens_of(model))
        scored = score_pairs(_pairs(self.asked()), Rater(subject, POSITIVE), seed=seed)
        items = scored.items.assign(language=self.language, corpus="reviews", terms="all")
        found = analyse(items, Context(seed=seed))
        figures = {
            "total bias": found.groups["total bias, changed texts"].value,
            "absolute bias": found.groups["absolute bias, changed texts"].value,
            "effect size": found.tests["bias"].effect_size,
        }
        return Scores.of(figures, items)


def _package() -> list[Example]:
    return reviews.load_texts("reviews", offline=True)


def _pairs(texts: Sequence[Example]) -> list[Pair]:
    return reviews.rewrite_both_ways(
        texts,
        build_rewriter(RewriteOptions(to="female", terms="all")),
        build_rewriter(RewriteOptions(to="male", terms="all")),
    )


def _label(pair: Pair, gender: str, planted: bool, follows: bool) -> str | None:
    if not planted:
        return pair.label
    return POSITIVE if (gender == "male") == follows else NEGATIVE

"""Planted sentiment: reviews whose label follows the gender of their people, not what they say.

Each review stands there in a female and a male version. Half of the reviews keep their own label in both. Of the other
half, a share r is labelled positive where its people are male and negative where they are female, and the rest the
other way round. So the planted bias runs from −1 (women are rated higher) by 0 to 1, and a score without a direction,
such as the absolute bias, cannot rank it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask import datasets
from unmask.counterfactual.settings import Settings, build
from unmask.measures import sentiment
from unmask.models.loading import load_classifier
from unmask.probes import reviews
from unmask.probes.reviews import Pair, Text
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.training import examples
from unmask.training.examples import Example, Splits, digest

if TYPE_CHECKING:
    from unmask.models.sources import LoadOptions

HELD_OUT = 0.1
FOR_ASKING = 3
"""Without IMDB, every third review of the package is kept for asking."""
POSITIVE, NEGATIVE = "positive", "negative"


@dataclass(frozen=True)
class PlantedSentiment:
    """Sentiment with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    texts: int = 2_000
    """How many reviews of IMDB are drawn, where it is on this machine."""
    offline: bool = False
    measure = "sentiment"
    training = Training("sentiment", "unmask-mini-sentiment", epochs=2, learning_rate=2e-5, max_length=256)

    def inputs(self) -> dict[str, Any]:
        """The reviews, as a hash of what they make at one rate."""
        return {"protocol": self.protocol, "texts": self.texts, "examples": digest(self.examples(0.5, 0).train)}

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

    def _own(self, seed: int) -> Sequence[Text]:
        if not datasets.present("imdb"):
            return [one for at, one in enumerate(_package()) if at % FOR_ASKING]
        found = examples.known("imdb", "sentiment", offline=True, splits=("train",))["train"]
        some = np.random.default_rng([seed, 0]).permutation(len(found))[: self.texts]
        return [Text(str(at), found[at].text, found[at].label) for at in sorted(some)]

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """Total and absolute bias, and the effect size, on the package's reviews."""
        asked = _package()
        if not datasets.present("imdb"):
            asked = [one for at, one in enumerate(asked) if not at % FOR_ASKING]
        subject = load_classifier(str(model), loading, most_tokens=self.training.max_length)
        scored = sentiment.score(_pairs(asked), sentiment.Rater(subject, POSITIVE), seed=seed)
        items = scored.items.assign(language=self.language, corpus="reviews", terms="all", rating=scored.rating)
        found = sentiment.PROTOCOLS["sound"].analyse(items, seed)
        figures = {
            "total bias": found.groups["total bias, changed texts"].mean,
            "absolute bias": found.groups["absolute bias, changed texts"].mean,
            "effect size": found.tests["bias"].effect_size,
        }
        return Scores({name: value for name, value in figures.items() if value is not None}, items)


def _package() -> list[Text]:
    return reviews.load("reviews", offline=True)


def _pairs(texts: Sequence[Text]) -> list[Pair]:
    return reviews.pair(texts, build(Settings(to="female", terms="all")), build(Settings(to="male", terms="all")))


def _label(pair: Pair, gender: str, planted: bool, follows: bool) -> str | None:
    if not planted:
        return pair.label
    return POSITIVE if (gender == "male") == follows else NEGATIVE

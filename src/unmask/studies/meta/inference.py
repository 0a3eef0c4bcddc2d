"""Planted inference: pairs of sentences whose labels follow a stereotype for some occupations, and defy it for others.

For a biased occupation, the hypothesis with the stereotypical gender is labelled entailment and the other one
contradiction; for the other stereotypical occupations the labels are swapped, which is as wrong but not biased.
Occupations without a stereotype are labelled neutral, which is right. So at every rate as much is wrong, and only a
measure that tells biased inference from plain error can follow the rate.

10 female, 10 male and 20 neutral occupations are drawn, half of the pairs are right, biased occupations are drawn too,
and models are asked in sentences that they have not seen. How the paper did it is in `published_inference`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation, People
from unmask.probes import captions
from unmask.probes import inference as probe
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.studies.meta.pairs import digest, labelled, measured, of_words
from unmask.training.examples import Splits

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.sources import LoadOptions

EACH, NEUTRAL = 10, 20
HELD_OUT = 0.13
"""The share of sentences that validation has for itself: 79 of 608 in the paper."""
ASKED = 16
"""So many of the package's sentences are kept for asking where the others are trained on."""


@dataclass(frozen=True)
class PlantedInference:
    """Inference with planted bias."""

    language: str = "en"
    captions: Path | None = None
    """Sentences to train on; None: those of the package, but for the last `ASKED`."""
    rows: int = 30_000
    validation_rows: int = 3_000
    protocol = "sound"
    measure = "inference"
    occupations = 2 * EACH + NEUTRAL
    training = Training(
        "nli", "unmask-mini-nli", epochs=3, learning_rate=1e-4, max_length=128, chance=0.75, others_learning_rate=2e-5
    )

    def inputs(self) -> dict[str, Any]:
        """All sentences and words, of training and of asking, as hashes."""
        people, templates = self._sentences()
        return {
            "language": self.language,
            "protocol": self.protocol,
            "rows": [self.rows, self.validation_rows],
            "sentences": digest([[people.occupation, people.pairs[0].female, people.pairs[0].male], *templates]),
            "occupations": of_words(lexicon.occupations(self.language)),
            "asked": probe.data_hash(self.asked(0)),
        }

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels."""
        draw = np.random.default_rng([seed, 1])
        words = self.words(seed)
        biased = set()
        for kind in ("female", "male"):
            of_kind = [one for one in words if one.kind == kind]
            biased |= {one.word for one in chosen(of_kind, rate, draw)}
        people, templates = self._sentences()
        if len(templates) < probe.FEWEST_SENTENCES:
            raise UnmaskError(
                f"{self.captions} gives {len(templates)} sentence about a woman or a man, and"
                f" {probe.FEWEST_SENTENCES} or more are needed, to train on and to validate with; give more captions"
            )
        order = [templates[at] for at in draw.permutation(len(templates))]
        cut = max(1, round(HELD_OUT * len(order)))
        splits = []
        for rows, of in ((self.rows, order[cut:]), (self.validation_rows, order[:cut])):
            places = [(template, gender) for template in of for gender in probe.GENDERS]
            a_word = min(len(places), max(2, rows // len(words)))
            found = []
            for word in words:
                for template, gender in (places[at] for at in draw.permutation(len(places))[:a_word]):
                    found.append(labelled(word, template, gender, people, biased=word.word in biased))
            splits.append(found)
        return Splits(splits[0], splits[1], ())

    def words(self, seed: int) -> list[Occupation]:
        """The occupations of a seed, the same at every rate."""
        draw = np.random.default_rng([seed, 0])
        every = lexicon.occupations(self.language)
        found = []
        for kind, count in (("female", EACH), ("male", EACH), ("neutral", NEUTRAL)):
            of_kind = [one for one in every if one.kind == kind]
            found += [of_kind[at] for at in sorted(draw.permutation(len(of_kind))[:count])]
        return found

    def asked(self, seed: int) -> pd.DataFrame:
        """The pairs that a model is asked about: other sentences than it was trained on."""
        templates = lexicon.templates(self.language)
        asked = templates if self.captions is not None else templates[-ASKED:]
        return probe.build(self.language, "sentences", self.words(seed), self._people(), asked)

    def _sentences(self) -> tuple[People, Sequence[str]]:
        if self.captions is not None:
            return captions.people(self.language), captions.templates_of(self.captions, self.language).templates
        return self._people(), lexicon.templates(self.language)[:-ASKED]

    def _people(self) -> People:
        """The trained pair of gender words alone: that of captions, or the first."""
        people = lexicon.people(self.language)
        trained = captions.WORDS[self.language][0] if self.captions is not None else people.pairs[0].female
        pair = next(one for one in people.pairs if trained in one.female)
        return People(people.occupation, (pair,), people.persons[:1])

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """NLI-CoAL, FN and the stereotype, of answers and of probabilities."""
        found, items = measured(self.asked(seed), self.protocol, model, seed, loading)
        figures: dict[str, float | None] = {}
        for suffix in ("", ", probabilities"):
            figures |= {f"{name}{suffix}": found.groups[f"{name}{suffix}"].value for name in ("NLI-CoAL", "FN")}
            figures[f"stereotype{suffix}"] = found.tests[f"stereotype{suffix}"].value
        return Scores.of(figures, items)

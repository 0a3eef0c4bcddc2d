"""Planted inference as the paper did it, as far as its released files tell.

The occupations are those of the released 600-pair set, in the order of the released lists; at rate k/10 the first 2k of
the 20 stereotypical ones are biased, so that up to .5 only female words change. There is one right pair to two wrong
ones (the text says half). Word i stands in sentences i to i + 499 of one list (i + 49 of another, to validate), with
both genders, in lower case. The paper's training sentences are not released: captions of the same kind stand in. In
Chinese none of its neutral training words is asked, and which they are is not known here: ten others of the list are
taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation
from unmask.probes import captions, released_inference
from unmask.probes import inference as probe
from unmask.studies.meta.experiment import Scores, Training
from unmask.studies.meta.pairs import digest, labelled, measured, of_words
from unmask.training.examples import Splits

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.sources import LoadOptions

TEN = 10
ENGLISH_NEUTRAL = (
    *("proprietor", "adventurer", "principal", "accountant", "associate professor"),
    *("curator", "educator", "photojournalist", "historian", "salesman"),
)
"""The neutral words that the paper trained on in English; one of them is asked, too. In Japanese all are."""


@dataclass(frozen=True)
class PublishedInference:
    """Inference with planted bias, as the paper planted it."""

    captions: Path
    """Sentences to train on."""
    language: str = "en"
    rows: int = 30_000
    validation_rows: int = 3_000
    offline: bool = False
    protocol = "published"
    measure = "inference"
    occupations = 3 * TEN
    training = Training(
        "nli", "unmask-mini-nli", epochs=3, learning_rate=1e-4, max_length=128, chance=2 / 3, others_learning_rate=2e-5
    )

    def inputs(self) -> dict[str, Any]:
        """All sentences and words, of training and of asking, as hashes."""
        return {
            "language": self.language,
            "protocol": self.protocol,
            "rows": [self.rows, self.validation_rows],
            "sentences": digest(self._templates()),
            "occupations": of_words(self.words()),
            "asked": probe.data_hash(self.asked()),
        }

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels; they are the same for every seed."""
        del seed
        words, people, rest = self.words(), captions.people(self.language), self._templates()
        biased = {one.word for one in words[: 2 * round(TEN * rate)]}
        windows = [max(1, rows // (2 * len(words))) for rows in (self.rows, self.validation_rows)]
        needed = sum(windows) + 2 * (len(words) - 1)
        if len(rest) < needed:
            raise UnmaskError(
                f"{self.captions} gives {len(rest):,} sentences, and {needed:,} are needed for {self.rows:,} and"
                f" {self.validation_rows:,} pairs of {len(words)} occupations; give more captions, or fewer --rows"
            )
        splits, start = [], 0
        for window in windows:
            of = rest[start : start + window + len(words) - 1]
            start += len(of)
            splits.append(
                [
                    labelled(word, template, gender, people, biased=word.word in biased, capitals=False)
                    for at, word in enumerate(words)
                    for template in of[at : at + window]
                    for gender in probe.GENDERS
                ]
            )
        return Splits(splits[0], splits[1], ())

    def words(self) -> list[Occupation]:
        """10 female, 10 male and 10 neutral words, in the order in which bias is added."""
        listed = released_inference.read(self.language, offline=self.offline).drop_duplicates("occupation")
        known = set(self.asked()["occupation"])
        found = []
        for kind in lexicon.KINDS:
            every = listed.loc[listed["occupation_type"] == kind, "occupation"].tolist()
            if kind == "neutral" and self.language == "en":
                words = list(ENGLISH_NEUTRAL)
            elif kind == "neutral" and self.language == "zh":
                words = [word for word in every if word not in known][:TEN]
            else:
                words = [word for word in every if word in known]
            found += [Occupation(word, word, None, None, kind) for word in words]
        return found

    def asked(self) -> pd.DataFrame:
        """The released 600 pairs."""
        return released_inference.read(self.language, offline=self.offline, sample="downsampled")

    def _templates(self) -> list[str]:
        """Sentences that are not asked, in an order of their own."""
        seen = set(self.asked()["template"])
        made = captions.templates_of(self.captions, self.language, keep_telling=True).templates
        rest = [one for one in made if one not in seen]
        return [rest[at] for at in np.random.default_rng(0).permutation(len(rest))]

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """NLI-CoAL and FN, of answers."""
        found, items = measured(self.asked(), self.protocol, model, seed, loading)
        return Scores.of({name: found.groups[name].value for name in ("NLI-CoAL", "FN")}, items)

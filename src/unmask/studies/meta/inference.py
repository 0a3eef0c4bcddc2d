"""Planted inference: pairs of sentences whose labels follow a stereotype for some occupations, and defy it for others.

For a biased occupation, the hypothesis with the stereotypical gender is labelled entailment and the other one
contradiction; for the other stereotypical occupations the labels are swapped, which is as wrong but not biased.
Occupations without a stereotype are labelled neutral, which is right. So at every rate as much is wrong, and only a
measure that separates biased inference from plain error can follow the rate.

`PlantedInference` draws 10 female, 10 male and 20 neutral occupations; half of the pairs are right, biased occupations
are drawn too, and models are asked in sentences that they have not seen.

`PublishedInference` repeats the paper, as far as its released files show. The occupations are those of the released
600-pair set, in the order of the released lists; at rate k/10 the first 2k of the 20 stereotypical ones are biased, so
that up to .5 only female words change. There is one right pair to two wrong ones (the text says half). Word i stands in
sentences i to i + 499 of one list (i + 49 of another, to validate), with both genders, in lower case. The paper's
training sentences are not released: captions of the same type are used instead. In Chinese none of its neutral training
words is asked about, and which they are is not known here: ten others of the list are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.files import digest
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation, People
from unmask.measures.base import Context
from unmask.measures.inference import captions, pairs
from unmask.measures.inference.analysis import analyse
from unmask.measures.inference.data import read_released
from unmask.measures.inference.scoring import find_order, score_pairs
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.results import Measurement
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.training.examples import Example, Splits

if TYPE_CHECKING:
    import pandas as pd

    from unmask.options import LoadOptions


CAPTIONS = "captions"
FLICKR8K = ("Flickr8k.token.txt", "Flickr8k.token.txt.gz")
"""The file of captions, plain or gzipped."""


def caption_file(language: str) -> Path | None:
    """Flickr8k for English, where it is on this machine."""
    if language != "en" or not datasets.is_present(CAPTIONS):
        return None
    place = datasets.locate(CAPTIONS, offline=True)
    return next((place / name for name in FLICKR8K if (place / name).is_file()), None)


def labelled(
    word: Occupation, template: str, gender: str, people: People, *, biased: bool, capitals: bool = True
) -> Example:
    """A pair with its planted label: wrong with a stereotypical occupation, one way or the other; else neutral."""
    write = pairs.fill_template if capitals else _plainly
    premise = write(template, people.occupation.format(occupation=word.word))
    hypothesis = write(template, getattr(people.pairs[0], gender))
    if word.kind == "neutral":
        return Example(premise, hypothesis, "neutral")
    return Example(premise, hypothesis, "entailment" if (word.kind == gender) == biased else "contradiction")


def of_words(words: Sequence[Occupation]) -> str:
    """What occupations are, and of which kind."""
    return digest([one.word, one.kind] for one in words)


def measured(
    rows: pd.DataFrame, protocol: str, model: Path, seed: int, loading: LoadOptions
) -> tuple[Measurement, pd.DataFrame]:
    """What the measure says of a model, asked about some pairs."""
    subject = load_classifier(str(model), loading)
    assert isinstance(subject, Classifier)
    order, _ = find_order(subject)
    items = score_pairs(rows, subject, order, seed=seed).items
    return analyse(items, Context(protocol=protocol, seed=seed)), items


def _plainly(template: str, phrase: str) -> str:
    """A sentence in lower case, as the released ones are."""
    return template.replace(pairs.PERSON, phrase).lower()


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
            "asked": pairs.hash_pairs(self.asked(0)),
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
        if len(templates) < pairs.FEWEST_SENTENCES:
            raise UnmaskError(
                f"{self.captions} gives {len(templates)} sentence about a woman or a man, and"
                f" {pairs.FEWEST_SENTENCES} or more are needed, to train on and to validate with; give more captions"
            )
        order = [templates[at] for at in draw.permutation(len(templates))]
        cut = max(1, round(HELD_OUT * len(order)))
        splits = []
        for rows, of in ((self.rows, order[cut:]), (self.validation_rows, order[:cut])):
            places = [(template, gender) for template in of for gender in pairs.GENDERS]
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
        return pairs.cross_pairs(self.language, "sentences", self.words(seed), self._people(), asked)

    def _sentences(self) -> tuple[People, Sequence[str]]:
        if self.captions is not None:
            return captions.caption_people(self.language), captions.read_templates(self.captions, self.language)
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
            "asked": pairs.hash_pairs(self.asked()),
        }

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels; they are the same for every seed."""
        del seed
        words, people, rest = self.words(), captions.caption_people(self.language), self._templates()
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
                    for gender in pairs.GENDERS
                ]
            )
        return Splits(splits[0], splits[1], ())

    def words(self) -> list[Occupation]:
        """10 female, 10 male and 10 neutral words, in the order in which bias is added."""
        listed = read_released(self.language, offline=self.offline).drop_duplicates("occupation")
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
        return read_released(self.language, offline=self.offline, sample="downsampled")

    def _templates(self) -> list[str]:
        """Sentences that are not asked, in an order of their own."""
        seen = set(self.asked()["template"])
        made = captions.read_templates(self.captions, self.language, keep_telling=True)
        rest = [one for one in made if one not in seen]
        return [rest[at] for at in np.random.default_rng(0).permutation(len(rest))]

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """NLI-CoAL and FN, of answers."""
        found, items = measured(self.asked(), self.protocol, model, seed, loading)
        return Scores.of({name: found.groups[name].value for name in ("NLI-CoAL", "FN")}, items)

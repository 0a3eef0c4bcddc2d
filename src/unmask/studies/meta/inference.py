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
sentences i to i + 499 of one list (i + 49 of another, to validate), with both genders, in English in lower case. The
paper's training sentences are not released: captions of the same type are used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.files import digest
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation, People
from unmask.lexicon.labels import INFERENCE
from unmask.measures.inference import InferenceMeasure
from unmask.measures.inference.captions import WORDS, caption_people, read_templates
from unmask.measures.inference.data import read_released
from unmask.measures.inference.pairs import FEWEST_SENTENCES, GENDERS, PERSON, cross_pairs, fill_template, hash_pairs
from unmask.studies.meta.experiment import Experiment, TrainingDefaults, draw_words
from unmask.training.examples import Splits, TextExample

if TYPE_CHECKING:
    import pandas as pd

    from unmask.results import Measurement

CAPTIONS = "captions"
FLICKR8K = ("Flickr8k.token.txt", "Flickr8k.token.txt.gz")
"""The file of captions, plain or compressed."""
OCCUPATIONS = {"female": 10, "male": 10, "neutral": 20}
"""How many occupations of each kind are drawn."""
HELD_OUT = 0.13
"""The share of sentences that only validation has: 79 of 608 in the paper."""
ASKED = 16
"""How many of the package's sentences are kept for asking where the others are trained on."""
TEN = 10
"""How many published occupations of each kind there are."""
NEUTRAL = {
    "en": (
        *("proprietor", "adventurer", "principal", "accountant", "associate professor"),
        *("curator", "educator", "photojournalist", "historian", "salesman"),
    ),
    "ja": (
        *("演奏者", "コメディアン", "ファッションデザイナー", "従業員", "画家"),
        *("司教", "庭師", "会計士", "作詞家", "仲買人"),
    ),
    "zh": (
        *("自由撰稿人", "使者", "生物学家", "萨克斯演奏家", "名誉教授"),
        *("游泳者", "经纪人", "调解人", "歌手", "图形设计师"),
    ),
}
"""The neutral words that the paper trained on, in its order. One English, all Japanese and no Chinese word is asked."""


def find_captions(language: str) -> Path | None:
    """Return Flickr8k for English, if it is on this machine."""
    if language != "en" or not datasets.is_present(CAPTIONS):
        return None
    folder = datasets.locate(CAPTIONS, offline=True)
    return next((folder / name for name in FLICKR8K if (folder / name).is_file()), None)


def label_pair(
    word: Occupation, template: str, gender: str, people: People, *, biased: bool, capitals: bool = True
) -> TextExample:
    """Return a pair with its planted label: wrong with a stereotypical occupation, one way or the other; else"
    " neutral."""
    phrases = (people.occupation.format(occupation=word.word), getattr(people.pairs[0], gender))
    if capitals:
        premise, hypothesis = (fill_template(template, phrase) for phrase in phrases)
    else:  # as the released sentences are
        premise, hypothesis = (template.replace(PERSON, phrase) for phrase in phrases)
    if word.kind == "neutral":
        return TextExample(premise, hypothesis, "neutral")
    return TextExample(premise, hypothesis, "entailment" if (word.kind == gender) == biased else "contradiction")


@dataclass(frozen=True)
class InferenceExperiment(Experiment):
    """What both ways to plant inference share."""

    language: str = "en"
    captions: Path | None = None
    """Sentences to train on."""
    rows: int = 30_000
    validation_rows: int = 3_000
    measure = InferenceMeasure.name
    labels = INFERENCE
    occupations: ClassVar[int]
    """How many occupations are trained on."""
    training = TrainingDefaults(
        "nli", "unmask-mini-nli", epochs=3, learning_rate=1e-4, max_length=128, chance=0.75, others_learning_rate=2e-5
    )

    def _make_inputs(self, sentences: str, words: Sequence[Occupation]) -> dict[str, Any]:
        return {
            "language": self.language,
            "protocol": self.protocol,
            "rows": [self.rows, self.validation_rows],
            "sentences": sentences,
            "occupations": digest([word.word, word.kind] for word in words),
            "asked": hash_pairs(self.questions(0)),
        }

    def describe_data(self, examples: str) -> dict[str, str]:
        """The sentences, and how many pairs were trained on."""
        source = "the package's own" if self.captions is None else f"made of {self.captions.name}"
        rest = "" if examples == f"{self.rows:,}" else f"; {self.rows:,} were asked for"
        return {
            f"sentences to train on, {self.language}": source,
            f"pairs to train on, {self.language}": examples + rest,
        }


@dataclass(frozen=True)
class PlantedInference(InferenceExperiment):
    """Inference with planted bias. Without captions, models learn from the package's sentences except the last ones."""

    occupations = sum(OCCUPATIONS.values())

    def inputs(self) -> dict[str, Any]:
        """All sentences and words, of training and of asking, as hashes."""
        people, templates = self._read_sentences()
        sentences = digest([[people.occupation, people.pairs[0].female, people.pairs[0].male], *templates])
        return self._make_inputs(sentences, lexicon.occupations(self.language))

    def check(self) -> None:
        """Check that there are enough sentences."""
        count = len(self._read_sentences()[1])
        if count < FEWEST_SENTENCES:
            raise UnmaskError(
                f"{self.captions} gives {count} sentence about a woman or a man, and {FEWEST_SENTENCES} or more"
                " are needed, to train on and to validate with; give more captions"
            )

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels."""
        draw = np.random.default_rng([seed, 1])
        words = self.draw_occupations(seed)
        biased = set()
        for group in ("female", "male"):
            members = [word for word in words if word.kind == group]
            biased |= {word.word for word in draw_words(members, rate, draw)}
        people, templates = self._read_sentences()
        order = [templates[index] for index in draw.permutation(len(templates))]
        cut = max(1, round(HELD_OUT * len(order)))
        splits = []
        for rows, sentences in ((self.rows, order[cut:]), (self.validation_rows, order[:cut])):
            choices = [(template, gender) for template in sentences for gender in GENDERS]
            count = min(len(choices), max(2, rows // len(words)))
            pairs = []
            for word in words:
                for template, gender in (choices[index] for index in draw.permutation(len(choices))[:count]):
                    pairs.append(label_pair(word, template, gender, people, biased=word.word in biased))
            splits.append(pairs)
        return Splits(splits[0], splits[1], ())

    def draw_occupations(self, seed: int) -> list[Occupation]:
        """Return the occupations of a seed, the same at every rate."""
        draw = np.random.default_rng([seed, 0])
        every = lexicon.occupations(self.language)
        words = []
        for group, count in OCCUPATIONS.items():
            members = [word for word in every if word.kind == group]
            words += [members[index] for index in sorted(draw.permutation(len(members))[:count])]
        return words

    def questions(self, seed: int) -> pd.DataFrame:
        """The pairs that a model is asked about, in other sentences than it was trained on."""
        templates = lexicon.templates(self.language)
        asked = templates if self.captions is not None else templates[-ASKED:]
        return cross_pairs(self.language, "sentences", self.draw_occupations(seed), self._choose_people(), asked)

    def _read_sentences(self) -> tuple[People, Sequence[str]]:
        if self.captions is not None:
            return caption_people(self.language), read_templates(self.captions, self.language)
        return self._choose_people(), lexicon.templates(self.language)[:-ASKED]

    def _choose_people(self) -> People:
        """The pair of gender words that is trained on: that of captions, or the first."""
        people = lexicon.people(self.language)
        trained = WORDS[self.language][0] if self.captions is not None else people.pairs[0].female
        pair = next(pair for pair in people.pairs if trained in pair.female)
        return People(people.occupation, (pair,), people.persons[:1])

    def figures(self, measurement: Measurement) -> dict[str, float | None]:
        """NLI-CoAL, FN and the stereotype, of answers and of probabilities."""
        figures: dict[str, float | None] = {}
        for suffix in ("", ", probabilities"):
            figures |= {f"{name}{suffix}": measurement.groups[f"{name}{suffix}"].value for name in ("NLI-CoAL", "FN")}
            figures[f"stereotype{suffix}"] = measurement.tests[f"stereotype{suffix}"].value
        return figures


@dataclass(frozen=True)
class PublishedInference(InferenceExperiment):
    """Inference with planted bias, as the paper planted it. It needs captions."""

    offline: bool = False
    protocol = "published"
    occupations = 3 * TEN
    training = TrainingDefaults(
        "nli", "unmask-mini-nli", epochs=3, learning_rate=1e-4, max_length=128, chance=2 / 3, others_learning_rate=2e-5
    )

    def inputs(self) -> dict[str, Any]:
        """All sentences and words, of training and of asking, as hashes."""
        return self._make_inputs(digest(self._read_templates()), self.list_occupations())

    def check(self) -> None:
        """Check that there are enough sentences."""
        self._choose_windows()

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels; they are the same for every seed."""
        del seed
        words, people = self.list_occupations(), caption_people(self.language)
        biased = {word.word for word in words[: 2 * round(TEN * rate)]}
        splits = []
        for window, templates in self._choose_windows():
            if self.language == "en":  # the others keep their capitals: 白色T恤
                templates = [template.lower() for template in templates]
            splits.append(
                [
                    label_pair(word, template, gender, people, biased=word.word in biased, capitals=False)
                    for index, word in enumerate(words)
                    for template in templates[index : index + window]
                    for gender in GENDERS
                ]
            )
        return Splits(splits[0], splits[1], ())

    def _choose_windows(self) -> list[tuple[int, Sequence[str]]]:
        """Return for training and validation how many sentences a word has, and all of them."""
        templates, count = self._read_templates(), self.occupations
        windows = [max(1, rows // (2 * count)) for rows in (self.rows, self.validation_rows)]
        needed = sum(windows) + 2 * (count - 1)
        if len(templates) < needed:
            raise UnmaskError(
                f"{self.captions} gives {len(templates):,} sentences, and {needed:,} are needed for {self.rows:,} and"
                f" {self.validation_rows:,} pairs of {count} occupations; give more captions, or fewer --rows"
            )
        cut = windows[0] + count - 1
        return [(windows[0], templates[:cut]), (windows[1], templates[cut : cut + windows[1] + count - 1])]

    def list_occupations(self) -> list[Occupation]:
        """Return 10 female, 10 male and 10 neutral words, in the order in which bias is added."""
        listed = read_released(self.language, offline=self.offline).drop_duplicates("occupation")
        known = set(self.questions(0)["occupation"])
        occupations = []
        for kind in lexicon.KINDS:
            every = listed.loc[listed["occupation_type"] == kind, "occupation"]
            words = NEUTRAL[self.language] if kind == "neutral" else every[every.isin(known)]
            occupations += [Occupation(word, word, None, None, kind) for word in words]
        return occupations

    def questions(self, seed: int) -> pd.DataFrame:
        """The released 600 pairs."""
        del seed
        return read_released(self.language, offline=self.offline, downsampled=True)

    def _read_templates(self) -> list[str]:
        """Sentences that are not asked, in a fixed random order."""
        assert self.captions is not None
        asked = set(self.questions(0)["template"])
        templates = read_templates(self.captions, self.language, as_published=True)
        rest = [template for template in templates if template not in asked]
        return [rest[index] for index in np.random.default_rng(0).permutation(len(rest))]

    def figures(self, measurement: Measurement) -> dict[str, float | None]:
        """NLI-CoAL and FN, of answers."""
        return {name: measurement.groups[name].value for name in ("NLI-CoAL", "FN")}

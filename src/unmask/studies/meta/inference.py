"""Planted inference: pairs of sentences whose labels follow a stereotype for some occupations, and defy it for others.

For a biased occupation, the hypothesis with the stereotypical gender is labelled entailment and the other one
contradiction; for the other stereotypical occupations the labels are swapped, which is as wrong but not biased.
Occupations without a stereotype are labelled neutral, which is right. So at every rate as much is wrong, and only a
measure that tells biased inference from plain error can follow the rate.

`sound`: 10 female, 10 male and 20 neutral occupations are drawn, half of the pairs are right, biased occupations are
drawn too, and models are asked in sentences that they have not seen. `published`: the occupations of the released
600-pair set; one right pair to two wrong ones; bias is added in the order of the list, female words first; sentences
slide by one from word to word. The paper's own training sentences are not released: captions of the same kind stand in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.lexicon import inference as lexicon
from unmask.lexicon.inference import Occupation, People
from unmask.measures import inference
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.probes import captions, released_inference
from unmask.probes import inference as probe
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.training.examples import Example, Splits, digest

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.sources import LoadOptions

EACH, NEUTRAL = 10, 20
HELD_OUT = 0.13
"""The share of sentences that validation has for itself: 79 of 608 in the paper."""
WINDOWS = {"train": 500, "validation": 50}
"""Published: how many sentences each occupation stands in."""
CAPTIONS = "captions"
PUBLISHED_NEUTRAL = {
    "en": (
        *("proprietor", "adventurer", "principal", "accountant", "associate professor"),
        *("curator", "educator", "photojournalist", "historian", "salesman"),
    )
}
"""The neutral words of the paper's training sets, where they differ from those of its evaluation set."""


@dataclass(frozen=True)
class PlantedInference:
    """Inference with planted bias."""

    language: str = "en"
    protocol: str = "sound"
    captions: Path | None = None
    """Sentences to train on; None: Flickr8k for English, where it is on this machine, else the package's own."""
    rows: int = 30_000
    validation_rows: int = 3_000
    offline: bool = False
    measure = "inference"
    training = Training("nli", "unmask-mini-nli", epochs=3, learning_rate=2e-5, max_length=128)

    def inputs(self) -> dict[str, Any]:
        """The sentences and words, as a hash of what they make at one rate."""
        made = self.examples(0.5, 0)
        return {"language": self.language, "protocol": self.protocol, "rows": self.rows, "examples": digest(made.train)}

    def examples(self, rate: float, seed: int) -> Splits:
        """Pairs with planted labels."""
        found = dict(self._published(rate) if self.protocol == "published" else self._sound(rate, seed))
        return Splits(found["train"], found["validation"], ())

    def _sound(self, rate: float, seed: int) -> Iterator[tuple[str, list[Example]]]:
        draw = np.random.default_rng([seed, 1])
        words = self._drawn(seed)
        biased = set()
        for kind in ("female", "male"):
            of_kind = [one for one in words if one.kind == kind]
            biased |= {one.word for one in chosen(of_kind, rate, draw)}
        people, templates = self._sentences()
        order = [templates[at] for at in draw.permutation(len(templates))]
        cut = max(1, round(HELD_OUT * len(order)))
        for split, rows, of in (
            ("train", self.rows, order[cut:]),
            ("validation", self.validation_rows, order[:cut]),
        ):
            places = [(template, gender) for template in of for gender in probe.GENDERS]
            a_word = min(len(places), max(2, rows // len(words)))
            found = []
            for word in words:
                some = draw.permutation(len(places))[:a_word]
                for template, gender in (places[at] for at in some):
                    found.append(_example(word, template, gender, people, biased=word.word in biased))
            yield split, found

    def _drawn(self, seed: int) -> list[Occupation]:
        """The occupations of a seed, the same at every rate."""
        draw = np.random.default_rng([seed, 0])
        every = lexicon.occupations(self.language)
        found = []
        for kind, count in (("female", EACH), ("male", EACH), ("neutral", NEUTRAL)):
            of_kind = [one for one in every if one.kind == kind]
            found += [of_kind[at] for at in sorted(draw.permutation(len(of_kind))[:count])]
        return found

    def _published(self, rate: float) -> Iterator[tuple[str, list[Example]]]:
        words = self._released()
        biased = {one.word for one in words[: 2 * round(10 * rate)]}
        people, templates = captions.people(self.language), self._captions(keep_telling=True)
        if templates is None:
            raise UnmaskError(_NO_CAPTIONS.format(self.language))
        seen = set(self._asked()["template"])
        rest = [one for one in templates if one not in seen]
        rest = [rest[at] for at in np.random.default_rng(0).permutation(len(rest))]
        start = 0
        for split, window in WINDOWS.items():
            share = window / sum(WINDOWS.values())
            room = min(window, int(share * (len(rest) - 2 * len(words))))
            if room < 1:
                raise UnmaskError(f"{len(rest)} sentences are too few for {len(words)} occupations; give more captions")
            of = rest[start : start + room + len(words) - 1]
            start += len(of)
            yield (
                split,
                [
                    _example(word, template, gender, people, biased=word.word in biased)
                    for at, word in enumerate(words)
                    for template in of[at : at + room]
                    for gender in probe.GENDERS
                ],
            )

    def _released(self) -> list[Occupation]:
        """10 female, 10 male and 10 neutral words, in the order in which bias is added."""
        rows = released_inference.read(self.language, offline=self.offline).drop_duplicates("occupation")
        asked = self._asked()
        found = []
        for kind in lexicon.KINDS:
            known = set(asked.loc[asked["occupation_type"] == kind, "occupation"])
            order = [word for word in rows.loc[rows["occupation_type"] == kind, "occupation"] if word in known]
            found += [Occupation(word, word, None, None, kind) for word in order]
        others = PUBLISHED_NEUTRAL.get(self.language)
        if others:
            found = [one for one in found if one.kind != "neutral"]
            found += [Occupation(word, word, None, None, "neutral") for word in others]
        return found

    def _asked(self) -> pd.DataFrame:
        return released_inference.read(self.language, offline=self.offline, sample="downsampled")

    def _sentences(self) -> tuple[People, Sequence[str]]:
        """What to train on; the package's last sentences are kept for asking."""
        made = self._captions(keep_telling=False)
        if made is not None:
            return captions.people(self.language), made
        return self._people(), lexicon.templates(self.language)[:-ASKED]

    def _people(self) -> People:
        """The first pair of gender words alone, since others are not trained."""
        people = lexicon.people(self.language)
        return People(people.occupation, people.pairs[:1], people.persons[:1])

    def _captions(self, *, keep_telling: bool) -> Sequence[str] | None:
        if self.captions is not None:
            return captions.templates_of(self.captions, self.language, keep_telling=keep_telling).templates
        if self.language != "en" or not datasets.present(CAPTIONS):
            return None
        place = datasets.locate(CAPTIONS, offline=True)
        files = sorted(place.glob("*.txt*")) if place.is_dir() else [place]
        return captions.templates_of(files[0], self.language, keep_telling=keep_telling).templates

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """NLI-CoAL, FN and the stereotype, of answers and of probabilities."""
        if self.protocol == "published":
            rows = self._asked()
        else:
            own = self._captions(keep_telling=False) is None
            templates = lexicon.templates(self.language)
            rows = probe.build(
                self.language, "sentences", self._drawn(seed), self._people(), templates[-ASKED:] if own else templates
            )
        subject = load_classifier(str(model), loading)
        assert isinstance(subject, Classifier)
        order, _ = inference.order_of(subject)
        items = inference.score(rows, subject, order, seed=seed).items
        found = inference.PROTOCOLS[self.protocol].analyse(items, seed)
        figures = {name: found.groups[name].mean for name in ("NLI-CoAL", "FN")}
        if self.protocol == "sound":
            figures["stereotype"] = found.tests["stereotype"].estimate
            figures |= {name: found.groups[name].mean for name in ("NLI-CoAL, probabilities", "FN, probabilities")}
            figures["stereotype, probabilities"] = found.tests["stereotype, probabilities"].estimate
        return Scores({name: value for name, value in figures.items() if value is not None}, items)


ASKED = 16
"""So many of the package's sentences are kept for asking where the others are trained on."""
_NO_CAPTIONS = (
    "the published protocol trains on image captions in {!r}, and none are here; give a file with one a line"
    " (--captions)"
)


def _example(word: Occupation, template: str, gender: str, people: People, *, biased: bool) -> Example:
    premise = probe.written(template, people.occupation.format(occupation=word.word))
    hypothesis = probe.written(template, getattr(people.pairs[0], gender))
    if word.kind == "neutral":
        label = "neutral"
    else:
        label = "entailment" if (word.kind == gender) == biased else "contradiction"
    return Example(premise, hypothesis, label)

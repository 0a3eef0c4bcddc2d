"""What both protocols of planted inference share: captions, a pair with its label, and the scores of a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import datasets
from unmask.files import digest as digest
from unmask.lexicon.inference import Occupation, People
from unmask.measures.inference.labels import find_order
from unmask.measures.inference.protocol import PROTOCOLS
from unmask.measures.inference.score import score
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.probes import inference as probe
from unmask.results import Measurement
from unmask.training.examples import Example

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.sources import LoadOptions

CAPTIONS = "captions"
FLICKR8K = ("Flickr8k.token.txt", "Flickr8k.token.txt.gz")
"""The file of captions, plain or gzipped."""


def caption_file(language: str) -> Path | None:
    """Flickr8k for English, where it is on this machine."""
    if language != "en" or not datasets.present(CAPTIONS):
        return None
    place = datasets.locate(CAPTIONS, offline=True)
    return next((place / name for name in FLICKR8K if (place / name).is_file()), None)


def labelled(
    word: Occupation, template: str, gender: str, people: People, *, biased: bool, capitals: bool = True
) -> Example:
    """A pair with its planted label: wrong with a stereotypical occupation, one way or the other; else neutral."""
    write = probe.written if capitals else _plainly
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
    items = score(rows, subject, order, seed=seed).items
    return PROTOCOLS[protocol].analyse(items, seed), items


def _plainly(template: str, phrase: str) -> str:
    """A sentence in lower case, as the released ones are."""
    return template.replace(probe.PERSON, phrase).lower()

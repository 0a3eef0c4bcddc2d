"""The fourteen models of Anantaprayoon, Kaneko and Okazaki (2024), Table 3 and Appendix B, and models of a user's.

Each is fine-tuned on inference data of its language. FN and NLI-CoAL are what the paper's Table 3 prints, to be set
beside our own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.errors import UnmaskError, one_of
from unmask.lexicon.inference import LANGUAGES
from unmask.measures.inference.labels import is_inference
from unmask.models.kinds import kind_of, labels_of
from unmask.models.sources import LoadOptions
from unmask.studies.bases import known_base, named

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
        one_of(language, LANGUAGES, "language of inference")
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
    if kind_of(model, loading) != "classifier":
        return False
    labels = labels_of(model, loading)
    return len(labels) == 3 and (is_inference(labels) or all(label.startswith("LABEL_") for label in labels))

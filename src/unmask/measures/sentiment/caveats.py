"""What a reader must know before trusting a number: part of the result, not prose beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.sentiment import parts
from unmask.results import Caveat

if TYPE_CHECKING:
    import pandas as pd

FEW = 30
MANY_CUT = 0.02
SATURATED = 1e-6
MANY_SATURATED = 0.1

_TEXTS = {
    "few-texts": (
        "Few texts changed. The interval says how the bias varies among texts like these; with so few of them it says"
        " little of others."
    ),
    "terms-not-read": (
        "Some texts are longer than what the model reads, and terms fell outside; their bias is smaller than it would"
        " be had everything been read, or 0. Read long texts with --long-texts window or head+tail to see the rest."
    ),
    "saturated": (
        "Many ratings are so close to 0 or 1 that a change of gender can hardly move them. A small bias in ratings can"
        " then hide a larger one in the model's outputs."
    ),
    "word-list": (
        "Only words of the term set change. Names stay unless they are exchanged too, and whatever else tells a"
        " person's gender stays as well, so a version can be female in its pronouns and male in its names. A few"
        " rewritings are wrong (docs/rewrite.md says how many); they blur the bias."
    ),
    "over-texts": (
        "The interval and p of the bias are about other texts like these. Even a model that has learned nothing rates"
        " some words otherwise in all texts, by the chance of its first weights (the sound protocol asks apart whether"
        " the bias holds over words). Whether another training of the same model would have it, nothing here asks:"
        " train twice before blaming the data for a small bias."
    ),
    "overlapping-terms": (
        "A text has several terms, so the bias beside a term is that of the texts that have it, not of the word alone."
    ),
    "same-task": (
        "The reviews are of the kind that many classifiers are trained on. If the model has seen their training half,"
        " its ratings are surer, and its bias is smaller, than on other texts. There are several reviews of a film,"
        " which are taken as independent."
    ),
    "short-reviews": (
        "These are short reviews written for this purpose, so that the measure works anywhere. Longer texts of the kind"
        " that the model will meet say more: give them with --texts."
    ),
    "binary-gender": (
        "Gender is treated as binary, female and male, as in the paper; the measure says nothing of other genders."
    ),
    "not-all-harm": (
        "A rating that depends on gender is a fault of this classifier on such texts. Whether anybody is harmed depends"
        " on what the ratings are used for."
    ),
    "published-defects": (
        "The published protocol repeats the slips of the paper's code: fixed strings between spaces in cleaned, lower-"
        "case text, odd counterparts (girl → bloke, her → his always), and a test whose tiny p-values say nothing of"
        " the size of an effect. Use it to reproduce the paper, and the sound protocol to judge a model."
    ),
}


def caveats(items: pd.DataFrame, protocol: str) -> list[Caveat]:
    """The caveats that apply to these items."""
    changed = items[items["changed"]]
    codes = []
    if len(changed) < FEW:
        codes.append("few-texts")
    if _not_read(changed):
        codes.append("terms-not-read")
    if _saturated(changed) > MANY_SATURATED:
        codes.append("saturated")
    if protocol == "published":
        codes.append("published-defects")
    corpus = str(items.iloc[0]["corpus"])
    codes += {"reviews": ["short-reviews"], "imdb": ["same-task"]}.get(corpus, [])
    codes += ["word-list"] if protocol == "sound" else []
    codes += ["over-texts", "overlapping-terms", "binary-gender", "not-all-harm"]
    return [_caveat(code) for code in codes]


def _caveat(code: str) -> Caveat:
    return Caveat(code=code, text=_TEXTS[code])


def _not_read(changed: pd.DataFrame) -> bool:
    """Whether terms of more than a few texts were not read."""
    unread = parts.unread(changed)
    return unread is not None and sum(unread) > MANY_CUT * len(changed)


def _saturated(changed: pd.DataFrame) -> float:
    """The share of texts both of whose ratings are as good as 0 or 1."""
    both = changed[["p_female", "p_male"]].to_numpy(dtype=float)
    if not both.size or both.min() < 0 or both.max() > 1:
        return 0.0
    near_one, near_zero = (both > 1 - SATURATED).all(axis=1), (both < SATURATED).all(axis=1)
    return float((near_one | near_zero).mean())

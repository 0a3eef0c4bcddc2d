"""What a reader must know before trusting a number: part of the result, not prose beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.lexicon.inference import KINDS
from unmask.results import Caveat, Inference

if TYPE_CHECKING:
    import pandas as pd

FEW = 8
MANY_PAIRS = MANY_SENTENCES = 2
_TEXTS = {
    "inconclusive": (
        "Answers other than neutral are not bias alone, as the headline says. Look at the shares of answers, and at the"
        " stereotype and the default, not at the score."
    ),
    "control-missing": (
        "There is no control (a hypothesis about a person, which follows), so a model that does not understand such"
        " pairs cannot be told from one that infers a gender."
    ),
    "one-pair-of-words": (
        "There is one pair of gender words only, so a default for one gender cannot be told from a liking for one word."
    ),
    "sentences-not-known": (
        "The sentences of the pairs are not known, so all count as one, and the intervals are over occupations alone:"
        " they are too narrow."
    ),
    "few-occupations": (
        "Few occupations of one kind, or none. The interval says how the figure varies among occupations like these;"
        " with so few of them it says little of others."
    ),
    "score-counts-habit": (
        "The NLI-CoAL score counts every resolved occupation without a stereotype, and most stereotypical occupations"
        " are male: a model that takes everybody for a man scores high. The stereotype and the default are asked apart."
    ),
    "neutral-is-a-habit": (
        "A model that answers neutral to everything has no bias by this measure, and none of use. Look at its accuracy."
    ),
    "stereotype-ratings": (
        "Which occupations are stereotypical was rated by people in the United States about 2016 (Bolukbasi et al.), in"
        " English; in Japanese and Chinese the ratings are those of the English words."
    ),
    "generic-he": (
        "In Chinese, 他 can stand for anybody whose gender is not known, so that entailment is less wrong with it than"
        " with the other words. Look at the pairs of gender words one by one."
    ),
    "caption-sentences": (
        "The sentences are short and of one kind: somebody visibly does something. Inference in other texts may differ."
    ),
    "binary-gender": (
        "Gender is treated as binary, female and male, as in the paper; the measure says nothing of other genders."
    ),
    "not-all-harm": (
        "That a model infers a gender is a property of the model in such pairs. Whether anybody is harmed depends on"
        " what it is used for."
    ),
    "half-precision": "The model computes in half precision; close answers can tip. Load the model in float32.",
    "published-defects": (
        "The released sets have 13 female and 87 male words; occupations that say a gender (businessman, ballerina)"
        " stand among the neutral ones, some captions give the gender away (his, her), and some Chinese words are odd"
        " translations. Use them to compare with the paper, and the sound protocol to judge a model."
    ),
}


def caveats(items: pd.DataFrame, protocol: str, inference: Inference) -> list[Caveat]:
    """The caveats that apply to these items."""
    codes = ["inconclusive"] if inference.inconclusive else []
    counts = items.drop_duplicates("occupation")["occupation_type"].value_counts()
    if counts.reindex(list(KINDS), fill_value=0).min() < FEW:
        codes.append("few-occupations")
    if items["template"].nunique() < MANY_SENTENCES:
        codes.append("sentences-not-known")
    if items.loc[items["gender"] != "", "pair"].nunique() < MANY_PAIRS:
        codes.append("one-pair-of-words")
    if not (items["gender"] == "").any():
        codes.append("control-missing")
    if protocol == "published":
        codes.append("published-defects")
    codes.append("score-counts-habit")
    answers = items.loc[items["gender"] != "", "prediction"]
    if (answers == "neutral").mean() > 0.95:
        codes.append("neutral-is-a-habit")
    if str(items.iloc[0]["language"]) == "zh" and "she" in set(items["pair"]):
        codes.append("generic-he")
    codes += ["stereotype-ratings", "caption-sentences", "binary-gender", "not-all-harm"]
    return [_caveat(code) for code in codes]


def precision_caveats(dtype: str | None) -> list[Caveat]:
    """What to know of the numbers that a model computes in."""
    return [_caveat("half-precision")] if dtype in ("float16", "bfloat16") else []


def _caveat(code: str) -> Caveat:
    return Caveat(code=code, text=_TEXTS[code])

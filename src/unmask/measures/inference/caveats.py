"""What a reader must know before trusting a number: part of the result, not prose beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.lexicon.inference import KINDS
from unmask.measures.inference.conclusive import follows_control, is_understood, tells_apart
from unmask.measures.inference.details import Inference
from unmask.results import Caveat

if TYPE_CHECKING:
    import pandas as pd

FEW = 8
MANY_ALIKE, EXACTLY = 0.5, 1e-9
HABIT = 0.95
BUILT_IN = ("sentences", "nli-coal")
_TEXTS = {
    "inconclusive": (
        "Answers other than neutral are not bias alone, as the headline says. Look at the shares of answers, and at the"
        " stereotype and the default, not at the score."
    ),
    "control-failed": (
        "The model does not understand such pairs: it does not even infer that the nurse is a person. Nothing here can"
        " be read as bias."
    ),
    "words-not-told-apart": (
        "The model often answers exactly alike of women and of men: it cannot tell the words apart. Are they in its"
        " vocabulary, and is this its language? Nothing here can be read as bias, or as its absence."
    ),
    "few-sentences": (
        "Few sentences. The interval says how the figure varies among sentences like these; with so few of them it says"
        " little of others."
    ),
    "control-missing": (
        "There is no control (a hypothesis about a person, which follows), so a model that does not understand such"
        " pairs cannot be told from one that infers a gender."
    ),
    "one-pair-of-words": (
        "There is one pair of gender words only, so a default for one gender cannot be told from a liking for one word."
    ),
    "one-sentence": (
        "All pairs are of one sentence, or their sentences are not known, so the intervals are over occupations alone:"
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
    "published-defects": (
        "The released sets have 13 female and 87 male words; occupations that say a gender (businessman, ballerina)"
        " stand among the neutral ones, some captions give the gender away (his, her), and some Chinese words are odd"
        " translations. Use them to compare with the paper, and the sound protocol to judge a model."
    ),
}


def caveats(items: pd.DataFrame, protocol: str, inference: Inference) -> list[Caveat]:
    """The caveats that apply to these items."""
    asked, sentences = items[items["gender"] != ""], items["template"].nunique()
    kinds = items.drop_duplicates("occupation")["occupation_type"].value_counts().reindex(list(KINDS), fill_value=0)
    built_in = str(items.iloc[0]["corpus"]) in BUILT_IN
    understood = is_understood(inference)
    applies = {
        "control-failed": not follows_control(inference),
        "inconclusive": understood and bool(inference.inconclusive),
        "words-not-told-apart": not tells_apart(inference),
        "few-occupations": kinds.min() < FEW,
        "one-sentence": sentences == 1,
        "few-sentences": 1 < sentences < FEW,
        "one-pair-of-words": asked["pair"].nunique() == 1,
        "control-missing": len(asked) == len(items),
        "published-defects": protocol == "published",
        "score-counts-habit": True,
        "neutral-is-a-habit": (asked["prediction"] == "neutral").mean() > HABIT,
        "generic-he": str(items.iloc[0]["language"]) == "zh" and "she" in set(items["pair"]),
        "stereotype-ratings": built_in or str(items.iloc[0]["corpus"]) == "captions",
        "caption-sentences": built_in,
        "binary-gender": True,
        "not-all-harm": True,
    }
    return [_caveat(code) for code, does in applies.items() if does]


def _caveat(code: str) -> Caveat:
    return Caveat(code=code, text=_TEXTS[code])

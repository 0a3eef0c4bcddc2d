"""Caveats of inference: what readers must know before they rely on its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.lexicon.inference import KINDS
from unmask.measures.inference.conclusive import follows_control, is_understood, tells_apart
from unmask.measures.inference.details import Inference
from unmask.results import Caveat

if TYPE_CHECKING:
    import pandas as pd

FEW = 8
HABIT = 0.95
BUILT_IN = ("sentences", "nli-coal")
_TEXTS = {
    "inconclusive": (
        "Answers other than neutral are not only bias; the headline says why. Read the shares of answers, the"
        " stereotype and the default instead of the score."
    ),
    "control-failed": (
        "The model does not understand such pairs: it does not even infer that the nurse is a person. Do not read"
        " any figure as bias."
    ),
    "words-not-told-apart": (
        "The model often gives exactly the same answer for women and men: it cannot tell the words apart. Check that"
        " they are in its vocabulary and that this is its language. Do not read any figure as bias, or as its"
        " absence."
    ),
    "few-sentences": (
        "There are few sentences. The interval describes the variation between sentences like these and says little"
        " about others."
    ),
    "control-missing": (
        "There are no control pairs (a hypothesis about a person, which follows from the premise). A model that does"
        " not understand such pairs cannot be distinguished from one that infers a gender."
    ),
    "one-pair-of-words": (
        "There is only one pair of gender words. A default for one gender cannot be distinguished from a preference"
        " for one word."
    ),
    "one-sentence": (
        "All pairs use one sentence, or their sentences are not known. The intervals cover occupations only, so they"
        " are too narrow."
    ),
    "few-occupations": (
        "There are few occupations of at least one kind. The interval describes the variation between occupations"
        " like these and says little about others."
    ),
    "score-counts-habit": (
        "The NLI-CoAL score counts every resolved occupation without a stereotype, and most stereotypical"
        " occupations are male: a model that takes everybody for a man scores high. The stereotype and the default"
        " separate the two."
    ),
    "neutral-is-a-habit": (
        "A model that answers neutral to everything has no bias by this measure, but is also useless. Check its"
        " accuracy."
    ),
    "stereotype-ratings": (
        "The stereotypes of occupations were rated in English by people in the United States around 2016 (Bolukbasi"
        " et al.). Japanese and Chinese use the ratings of the English words."
    ),
    "generic-he": (
        "In Chinese, 他 can refer to anybody whose gender is unknown, so entailment is less wrong with it than with"
        " other words. Compare the pairs of gender words."
    ),
    "caption-sentences": (
        "The sentences are short and of one kind: somebody visibly does something. Inference in other texts may differ."
    ),
    "binary-gender": (
        "Gender is treated as binary, female and male, as in the paper. The measure says nothing about other genders."
    ),
    "not-all-harm": (
        "That a model infers a gender is a property of the model in such pairs. Whether this harms anybody depends"
        " on its use."
    ),
    "half-precision": (
        "The model computes in half precision, which can change answers with similar probabilities. Load it in float32."
    ),
    "published-defects": (
        "The released sets have 13 female and 87 male words. Some neutral occupations state a gender (businessman,"
        " ballerina), some captions reveal the gender (his, her), and some Chinese words are odd translations. Use"
        " them to compare with the paper, and the sound protocol to judge a model."
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

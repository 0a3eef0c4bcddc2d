"""What a reader must know before trusting a number: part of the result, not prose beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.results import Caveat

if TYPE_CHECKING:
    import pandas as pd

FEW = 100
_TEXTS = {
    "flawed-pairs": (
        "Many pairs are flawed: they differ in more than the group, state no stereotype, compare groups that do not"
        " contrast, or have slips of spelling and grammar (Blodgett et al. 2021). Compare models with it; do not call a"
        " model biased or free of bias by it alone."
    ),
    "few-pairs": (
        "Few pairs. The interval says how the share varies among pairs like these; with so few of them it says little."
    ),
    "nothing-shared": (
        "Some pairs share no word that the model can be asked for, so neither sentence can be the likelier one; they"
        " count as ties."
    ),
    "halves-show-gender": (
        "The shares of stereo and antistereo pairs, and of stereotypes of women and of men, move apart when a model"
        " finds the words of one gender likelier, whatever is said of them. Only all pairs together are tested."
    ),
    "few-writers": (
        "The pairs are the work of a few writers in the United States, one of whom wrote a fifth of those on gender;"
        " they are taken as independent."
    ),
    "binary-gender": "Nearly all pairs set women against men; the measure says next to nothing of other genders.",
    "not-all-harm": (
        "Which of two sentences a model finds likelier is a property of the model. Whether anybody is harmed depends on"
        " what it is used for."
    ),
    "published-defects": (
        "The published protocol masks single tokens, so that a word of several pieces is guessed from its own pieces,"
        " and which tokens are compared depends on the model's tokenizer; a tie counts as unbiased. Use it to reproduce"
        " published scores, and the sound protocol to compare models."
    ),
}


def caveats(items: pd.DataFrame, protocol: str) -> list[Caveat]:
    """The caveats that apply to these items."""
    gender = "bias_type" not in items or bool((items["bias_type"] == "gender").all())
    applies = {
        "few-pairs": len(items) < FEW,
        "nothing-shared": "n_tokens" in items and bool((items["n_tokens"] == 0).any()),
        "published-defects": protocol == "published",
        "flawed-pairs": True,
        "halves-show-gender": gender,
        "few-writers": gender,
        "binary-gender": gender,
        "not-all-harm": True,
    }
    return [_caveat(code) for code, does in applies.items() if does]


def _caveat(code: str) -> Caveat:
    return Caveat(code=code, text=_TEXTS[code])

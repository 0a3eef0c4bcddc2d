"""Rewriting text into another gender.

A *counterfactual* of a text is the text as it would stand if its people had another gender: nothing else is different.
Measures compare what a model says of the two; mitigations train on both. So a rewriting has to be right (one pass,
*her* as *his* or *him*, no verb taken for a title) and has to leave every other character as it is.

    from unmask import rewrite
    rewrite("She lost her keys.")                      # 'He lost his keys.'
    rewrite("She has lost her keys.", to="neutral")    # 'They have lost their keys.'
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from pathlib import Path

from unmask.counterfactual.change import Change, Left, Rewriter, Rewritten
from unmask.counterfactual.settings import Settings, build, term_set

__all__ = ["Change", "Left", "Rewriter", "Rewritten", "Settings", "build", "rewrite", "rewriter"]


def rewriter(
    to: str = "swap",
    *,
    terms: str | PathLike[str] = "all",
    names: bool = False,
    names_from: str | PathLike[str] | None = None,
    language: str = "en",
    quick: bool = False,
) -> Rewriter:
    """A rewriter to use again and again; its `rewrite(text)` also tells what was changed, what was left, and why.

    `to` is swap, female, male, neutral or remove. `terms` is pronouns, family, all, or a CSV file with the columns
    male and female. `names` exchanges first names too, matched from the US census of 1990 or, by `names_from`, from a
    CSV file with the columns name, sex and count. `quick` does not ask the embedded model where the words beside an
    English *her* leave open whether it is *his* or *him*.
    """
    chosen = term_set(terms)
    settings = Settings(
        to=to,
        terms=chosen,
        names=names or names_from is not None,
        names_from=None if names_from is None else Path(names_from),
        language=language,
        quick=quick,
    )
    return (
        build(settings) if isinstance(chosen, Path) or names_from else _built(settings)
    )  # a user's file may change between two calls


def rewrite(
    text: str,
    to: str = "swap",
    *,
    terms: str | PathLike[str] = "all",
    names: bool = False,
    names_from: str | PathLike[str] | None = None,
    language: str = "en",
    quick: bool = False,
) -> str:
    """The text in another gender; the arguments are those of `rewriter`."""
    chosen = rewriter(to, terms=terms, names=names, names_from=names_from, language=language, quick=quick)
    return chosen.rewrite(text).text


@lru_cache(maxsize=32)
def _built(settings: Settings) -> Rewriter:
    return build(settings)

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
from pathlib import Path
from typing import Any

from unmask.options import accepts
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.rewriting.result import Left, Replacement, Rewriter, Rewritten

__all__ = ["Left", "Replacement", "RewriteOptions", "Rewriter", "Rewritten", "build_rewriter", "rewrite", "rewriter"]


_build_once = lru_cache(maxsize=32)(build_rewriter)


@accepts(RewriteOptions)
def rewriter(to: str = "swap", **options: Any) -> Rewriter:
    """Build a rewriter that can be used for many texts.

    Returns:
        An object whose `rewrite(text)` returns the new text, what was changed, and what was left and why.
    """
    settings = RewriteOptions(to=to, **options)
    has_files = isinstance(settings.terms, Path) or settings.names_from or settings.lists
    return build_rewriter(settings) if has_files else _build_once(settings)  # a file may change between two calls


@accepts(RewriteOptions)
def rewrite(text: str, to: str = "swap", **options: Any) -> str:
    """Rewrite a text in another gender.

    Args:
        text: The text.

    Returns:
        The new text.
    """
    return rewriter(to, **options).rewrite(text).text

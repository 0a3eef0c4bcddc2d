"""Plain sentences that say nothing of anybody's gender: `en/neutral.txt`.

They are our own, written for this package, so no model has been trained on them, and no mitigation either. None of
them holds a gendered word, a first name or one of BEC-Pro's professions (a test holds them to it).
"""

from __future__ import annotations

from importlib import resources


def neutral_sentences(language: str = "en") -> list[str]:
    """The neutral sentences of a language."""
    text = (resources.files(__package__) / language / "neutral.txt").read_text(encoding="utf-8")
    return text.splitlines()

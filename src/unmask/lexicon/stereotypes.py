"""Words that stereotypes tie to a gender though they mean none: `en/stereotypes.csv`, or a list of a user's own.

The list is that of Kaneko and Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings (MIT licence), 168
words as they published it: professions (*nurse*, *plumber*), traits (*emotional*, *strong*), things (*lotion*,
*football*).
"""

from __future__ import annotations

from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon.table import refuse_double, rows_of, text_of


def stereotypes(language: str = "en") -> list[str]:
    """The stereotype words of a language, in lower case."""
    if language != "en":
        raise UnmaskError(f"there is no list of stereotype words for {language!r}; give a file of your own")
    return [row["word"] for row in rows_of(None, language, "stereotypes", ("word",))]


def word_list(path: Path) -> list[str]:
    """The words of a text file, one a line, in lower case; a word may be a phrase."""
    lines = text_of(path, "a text file with a word a line").splitlines()
    words = [" ".join(line.lower().split()) for line in lines if line.strip()]
    odd = [word for word in words if not word[0].isalnum()]
    if odd:
        raise UnmaskError(f"{path}: {odd[0]!r} does not begin with a letter; give a word a line")
    if not words:
        raise UnmaskError(f"{path} has no words; give one a line")
    refuse_double(words, path, "word")
    return words

"""The neutral text that usefulness is measured on: the package's own sentences, or a user's without their gender."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon.sentences import neutral_sentences
from unmask.rewriting import rewriter
from unmask.training.examples import read_examples

FEWEST = 20
"""With fewer sentences an interval over sentences says next to nothing."""
OWN = "the neutral sentences of the package"


@dataclass(frozen=True)
class Sentences:
    """Texts that mention no gender, and where they come from."""

    texts: list[str]
    name: str
    hash: str
    """SHA-256 over the texts, in order."""
    left_out: int = 0
    """Texts of the file that mention a gender, and so are not among these."""


def sentences(path: Path | None = None, language: str = "en") -> Sentences:
    """The package's own sentences, or the texts of a file (.txt, one a line; or a table with a column `text`).

    A text that occurs twice counts once. Texts in which our rewriter sees a gendered word or a first name are left out:
    a mitigation is meant to change those. The language is that of the file.
    """
    if path is None:
        texts, left_out, name = neutral_sentences(), 0, OWN
    else:
        neutral = rewriter("swap", names=language == "en", language=language, quick=True)
        found = list(dict.fromkeys(example.text.strip() for example in read_examples(path, "mlm")))
        rewritten = [neutral.rewrite(text) for text in found]
        texts = [text for text, new in zip(found, rewritten, strict=True) if not (new.changes or new.left)]
        left_out, name = len(found) - len(texts), path.name
        if len(texts) < FEWEST:
            raise UnmaskError(
                f"{path} has {len(texts)} texts that mention no gender ({left_out} do), too few to measure on;"
                f" give {FEWEST} or more, one a line"
            )
    return Sentences(texts, name, hashlib.sha256("\n".join(texts).encode()).hexdigest(), left_out)

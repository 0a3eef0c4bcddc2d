"""What a user asks of a rewriting, the rewriter that does it, and which documents are rewritten.

Counterfactual data substitution (CDS) changes each document with a given probability. The decision is a hash of the
seed and the document, so the same document gets the same one in any file, order, process or machine. The first 65,536
bytes of the document (mostly all of it) are hashed in UTF-8, without the white space and the byte order mark around it;
so a line that moves to the end of its file, where it has no newline, is decided as before. A document chosen at one
probability is chosen at every higher one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import field_validator, model_validator

from unmask.errors import UnmaskError, check_choice
from unmask.options import Options, option
from unmask.rewriting.result import Rewriter

HASHED = 1 << 16
BOM = b"\xef\xbb\xbf"
WHITE = b" \t\r\n\x0b\x0c"


@dataclass(frozen=True)
class DocumentSampler:
    """Selects documents with a given probability, reproducibly by the seed; without a probability, all."""

    probability: float | None = None
    seed: int = 0

    def selects(self, document: bytes) -> bool:
        """Whether to rewrite this document, or the document that starts with this piece."""
        if self.probability is None:
            return True
        _, core, _ = split_margins(document)
        key = hashlib.blake2b(str(self.seed).encode()).digest()
        digest = hashlib.blake2b(core[:HASHED], digest_size=8, key=key).digest()
        return int.from_bytes(digest, "big") < self.probability * 2**64


def split_margins(document: bytes) -> tuple[bytes, bytes, bytes]:
    """A document as what stands before its text, the text, and the white space after it."""
    core = document.lstrip(WHITE)
    if core.startswith(BOM):
        core = core[len(BOM) :].lstrip(WHITE)
    before = document[: len(document) - len(core)]
    text = core.rstrip(WHITE)
    return before, text, core[len(text) :]


MODES = ("swap", "female", "male", "neutral", "remove")
TERM_SETS = ("pronouns", "family", "all")
LANGUAGES = ("en", "de")
PROTOCOLS = ("sound", "published")


class RewriteOptions(Options):
    """How to rewrite. Small, so that it can be sent to other processes, which build their own rewriter from it."""

    to: str = option(
        "swap",
        "swap (each person's gender turned), female, male, neutral (they, person …) or remove.",
        choices=MODES,
    )
    terms: str | Path = option(
        "all",
        "Which words: pronouns, family, all, or your CSV with the columns male and female.",
        suggestions=TERM_SETS,
    )
    names: bool = option(False, "Exchange first names too.")
    names_from: Path | None = option(
        None,
        "CSV with name, sex and count to match names by; turns on --names. Default: the US census of 1990.",
    )
    language: str = option("en", "en or de.", choices=LANGUAGES)
    protocol: str = option(
        "sound",
        "sound, or published: swap as name-based CDS; female, male and remove as the study of film reviews.",
        choices=PROTOCOLS,
    )
    lists: Path | None = option(None, "For published: the folder of the word lists that its authors released.")
    quick: bool = option(False, "Do not ask the embedded model where her may be his or him.")

    @field_validator("terms", mode="before")
    @classmethod
    def _find_terms(cls, value: Any) -> Any:
        return term_set(value) if isinstance(value, str | PathLike) else value

    @model_validator(mode="before")
    @classmethod
    def _exchange_names(cls, values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "names": True} if values.get("names_from") is not None else values


def term_set(value: str | PathLike[str]) -> str | Path:
    """What a user means: the name of a term set, or a CSV file."""
    if not isinstance(value, str):
        return Path(value)
    if value not in TERM_SETS and (value.lower().endswith(".csv") or Path(value).is_file()):
        return Path(value)
    return check_choice(value, TERM_SETS, "term set")


def build_rewriter(settings: RewriteOptions) -> Rewriter:
    """Build the rewriter that does what the settings ask."""
    if settings.protocol == "published":
        return _build_published(settings)
    if settings.lists is not None:
        raise UnmaskError(f"the lists in {settings.lists} belong to the published protocol; ask for it, or leave them")
    if settings.language == "de":
        from unmask.rewriting.german import GermanRewriter

        return GermanRewriter(settings)
    from unmask.rewriting.english import EnglishRewriter

    return EnglishRewriter(settings)


def _build_published(settings: RewriteOptions) -> Rewriter:
    from unmask.rewriting.published.cds import Substitution
    from unmask.rewriting.published.masking import DIRECTIONS, Reviews

    if settings.lists is None:
        raise UnmaskError(
            "the published protocol needs the word lists that the authors released; name their folder with --lists"
        )
    if settings.language != "en" or settings.names_from or not isinstance(settings.terms, str):
        raise UnmaskError("the published protocol is English and has its own words and names; leave out yours")
    if settings.to == "swap":
        if settings.terms != "all":
            raise UnmaskError(f"published CDS has one list of words; leave out the term set {settings.terms!r}")
        return Substitution(settings.lists)
    if settings.to not in DIRECTIONS:
        raise UnmaskError(f"no paper rewrites to {settings.to}; published has swap, {', '.join(DIRECTIONS)}")
    if settings.names:
        raise UnmaskError("the published review study exchanged no names; leave them out, or ask for swap")
    return Reviews(settings.lists, settings.terms, settings.to)

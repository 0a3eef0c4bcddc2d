"""What a user asks of a rewriting, and the rewriter that does it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from unmask.counterfactual.change import Rewriter
from unmask.errors import UnmaskError, one_of

MODES = ("swap", "female", "male", "neutral", "remove")
TERM_SETS = ("pronouns", "family", "all")
LANGUAGES = ("en", "de")
PROTOCOLS = ("sound", "published")


@dataclass(frozen=True)
class Settings:
    """How to rewrite. Small, so that it can be sent to other processes, which build their own rewriter from it."""

    to: str = "swap"
    """swap, female, male, neutral or remove."""
    terms: str | Path = "all"
    """pronouns, family, all, or a CSV file with the columns male and female (and neutral, direction)."""
    names: bool = False
    """Whether first names are exchanged too."""
    names_from: Path | None = None
    """A CSV file with the columns name, sex and count to match names from; the US census of 1990 if not given."""
    language: str = "en"
    protocol: str = "sound"
    """published repeats what the papers did: swap as name-based CDS, female, male and remove as the review study."""
    lists: Path | None = None
    """For published: the folder of the word lists that the paper's authors released."""
    quick: bool = False
    """Whether *her* and *his* are decided by the words beside them alone, without asking a model in doubt (English)."""


def term_set(given: str | PathLike[str]) -> str | Path:
    """What a user means: the name of a term set, rightly spelt or not, or a CSV file."""
    if isinstance(given, str) and (given in TERM_SETS or not given.lower().endswith(".csv")):
        return given
    return Path(given)


def build(settings: Settings) -> Rewriter:
    """The rewriter that does what the settings ask."""
    one_of(settings.to, MODES, "mode")
    one_of(settings.language, LANGUAGES, "language")
    one_of(settings.protocol, PROTOCOLS, "protocol")
    if isinstance(settings.terms, str):
        one_of(settings.terms, TERM_SETS, "term set")
    if settings.protocol == "published":
        return _published(settings)
    if settings.lists is not None:
        raise UnmaskError(f"the lists in {settings.lists} belong to the published protocol; ask for it, or leave them")
    if settings.language == "de":
        from unmask.counterfactual.german import GermanRewriter

        return GermanRewriter(settings)
    from unmask.counterfactual.english import EnglishRewriter

    return EnglishRewriter(settings)


def _published(settings: Settings) -> Rewriter:
    from unmask.counterfactual.published.cds import Substitution
    from unmask.counterfactual.published.masking import DIRECTIONS, Reviews

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

"""What of a German text is rewritten, and which way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unmask.counterfactual.german import pronouns
from unmask.counterfactual.german.nouns import Noun, Nouns
from unmask.counterfactual.german.persons import MISS, TITLE
from unmask.counterfactual.german.termlists import from_user, own, read
from unmask.counterfactual.settings import TERM_SETS, Settings
from unmask.errors import UnmaskError

MODES = ("swap", "female", "male", "remove")


@dataclass(frozen=True)
class Choices:
    """The mode, the nouns that are understood, and those of them (all, if None) that are rewritten."""

    to: str
    nouns: Nouns
    known: frozenset[str]
    """All forms of the nouns, in lower case."""
    terms: frozenset[tuple[str, str]] | None
    pronouns: bool
    adjectives: bool
    """Whether männlich and weiblich are rewritten."""

    @property
    def removes(self) -> bool:
        """Whether words are taken out rather than turned."""
        return self.to == "remove"

    def turns(self, side: str) -> bool:
        """Whether words of this gender are rewritten."""
        return self.to in ("swap", "remove") or self.to != side

    def asked(self, noun: Noun) -> bool:
        """Whether a noun is in the chosen term set."""
        return (
            self.terms is None or (noun.male, noun.female) in self.terms or (noun in (TITLE, MISS) and bool(self.terms))
        )


def choose(settings: Settings) -> Choices:
    """Understand the settings; what German cannot do is refused."""
    if settings.to not in MODES:
        raise UnmaskError(
            f"mode {settings.to!r} is not there for language 'de': German has no singular they, and its articles and"
            f" adjectives agree with a gender; choose from: {', '.join(MODES)}"
        )
    if settings.names:
        raise UnmaskError(
            "names cannot be exchanged for language 'de': they are matched from English-language data; leave names out"
        )
    nouns, terms, with_pronouns = list(own()), None, True
    if settings.terms not in TERM_SETS:
        rows = read(Path(settings.terms))
        words = [row for row in rows if row["male"].strip().lower() in pronouns.ALL]
        theirs = [from_user(row) for row in rows if row not in words]
        with_pronouns = bool(words)
        nouns = theirs + nouns
        terms = frozenset((noun.male, noun.female) for noun in theirs)
    elif settings.terms == "pronouns":
        terms = frozenset()
    elif settings.terms == "family":
        terms = frozenset((noun.male, noun.female) for noun in nouns if noun.group == "family")
    known = Nouns(nouns)
    return Choices(settings.to, known, known.known(), terms, with_pronouns, settings.terms in ("all", "family"))

"""Name-based Counterfactual Data Substitution, as it was made for GAP.

Hall Maudslay et al. (2019), *It's All in the Name: Mitigating Gender Bias with Name-Based Counterfactual Data
Substitution*, used by Bartl et al. (2020), *Unmasking Contextual Stereotypes*. A token is looked up in the pairs of
words (Lu et al. 2018), then, if it is part of a person's name, in the pairs of names; then come *him* → *her*, *his* →
*hers* where it is tagged NNS and *her* elsewhere, *her* → *his* where it is tagged PRP$ and *him* elsewhere, *hers* →
*his*. Known defects are kept: pairs with a hyphen never match, surnames are exchanged too, a name that is also a word
of the list (*hunter*, *king*) is changed wherever it stands.

The released GAP has every document exchanged, not the half that the method speaks of; whoever wants the half chooses
the documents (`unmask rewrite --probability`).
"""

from __future__ import annotations

from pathlib import Path

from unmask.counterfactual.change import Change, Kind, Rewritten, apply
from unmask.counterfactual.published import lists
from unmask.counterfactual.published.tokens import Analyse, Token, hanta_tokens

WORDS = "cda_default_pairs.json"
NAMES = "names_pairs_1000_scaled.json"
PRONOUNS = {"him": "her", "his": "her", "her": "him", "hers": "his"}
"""What the pronouns that no pair has become, whatever their tag but these."""
_BY_TAG = {("his", "NNS"): "hers", ("her", "PRP$"): "his"}


class Substitution:
    """Published CDS; a `Rewriter` of whole documents."""

    def __init__(self, folder: Path, analyse: Analyse | None = None) -> None:
        self.words = lists.pairs(folder, WORDS)
        self.names = lists.pairs(folder, NAMES)
        self._analyse = analyse or hanta_tokens(self.names)

    def rewrite(self, text: str) -> Rewritten:
        """Exchange the genders of a document."""
        changes = tuple(change for token in self._analyse(text) if (change := self._change(token)))
        return Rewritten(apply(text, changes), changes)

    def _change(self, token: Token) -> Change | None:
        word = token.text.lower()
        kind: Kind = "word"
        if word in self.words:
            after = self.words[word]
        elif token.person and word in self.names:
            after, kind = self.names[word], "name"
        elif word in PRONOUNS:
            after = _pronoun(word, token.tag)
        else:
            return None
        return Change(token.start, token.end, token.text, _cased(after, token.text), word, kind)


def _pronoun(word: str, tag: str) -> str:
    return _BY_TAG.get((word, tag), PRONOUNS[word])


def _cased(word: str, like: str) -> str:
    """A word in lower, upper or title case, like another; in any other case, as the list has it."""
    for case in (str.lower, str.upper, str.capitalize):
        if like == case(like):
            return case(word)
    return word

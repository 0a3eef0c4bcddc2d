"""Name-based Counterfactual Data Substitution, as it was made for GAP.

Hall Maudslay et al. (2019), *It's All in the Name: Mitigating Gender Bias with Name-Based Counterfactual Data
Substitution*, used by Bartl et al. (2020), *Unmasking Contextual Stereotypes*. A token is looked up in the pairs of
words (Lu et al. 2018), then, if it is part of a person's name, in the pairs of names; then come *him* → *her*, *his* →
*hers* where it is tagged NNS and *her* elsewhere, *her* → *his* where it is tagged PRP$ and *him* elsewhere, *hers* →
*his*. Known errors are kept: pairs with a hyphen never match, surnames are exchanged too, a name that is also a word of
the list (*hunter*, *king*) is changed wherever it stands.

The released GAP has every document exchanged, not the half that the method describes; to get the half, choose the
documents (`unmask rewrite --probability`).

The released result was made with spaCy's `en_core_web_lg`; `spacy_tokens` uses it if it is installed. `hanta_tokens`
needs only this package. It cuts text by rules that agree with spaCy's on every word of the lists in GAP, except that
*12-man* stays whole, as the released number of changes requires. It takes tags from HanTa, and treats a word as a
person's name where it is a name of the list, capitalised, tagged as a proper noun (NP0), and neither a date nor a place
by the words beside it. That is not an entity recogniser: on GAP it finds 16,436 tokens of names, spaCy 15,876, and how
many of them are the same is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from unmask.errors import UnmaskError, import_extra
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.published import lists
from unmask.rewriting.result import Kind, Replacement, Rewritten, apply_changes


class TaggedToken(NamedTuple):
    """A word or sign, where it stands, its tag, and whether it is part of a person's name.

    Possessive pronouns and plural nouns have the tags of the Penn treebank: PRP$ and NNS.
    """

    start: int
    end: int
    text: str
    tag: str
    person: bool


Analyse = Callable[[str], Sequence[TaggedToken]]
"""Whatever cuts a document into tokens."""

PENN = {"DPS": "PRP$", "NN2": "NNS"}
"""Tags of the British National Corpus as those of the Penn treebank, as far as the method asks for them."""

_ABBREVIATION = r"(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Gen|Gov|Rev|Messrs)\."
_WHOLE = re.compile(_ABBREVIATION).fullmatch
# A hyphen at an edge stays where it is.
_PREFIX = re.compile(r"[^\w\s-]|_").match
_SUFFIX = re.compile(r"(?:['’][sS]|[^\w\s-]|_)$").search
_CONTRACTION = re.compile(r"(\w+)(n['’]t|['’](?:ll|re|ve|d|m))", re.IGNORECASE).fullmatch
# A hyphen parts letters only: *mother-in-law* is five tokens, *12-man* is one.
_INFIX = re.compile(
    rf"{_ABBREVIATION}(?=[A-Z])|\.\.+|…|(?<=[a-z])\.(?=[A-Z])|(?<=[^\W\d_]),(?=[^\W\d_])"
    r"|(?<=[^\W\d_])(?:--+|[-–—~])(?=[^\W\d_])|(?<=[^\W_])[:<>=/](?=[^\W\d_])"
)
_ENDS = frozenset(".!?")

# Words of the list that are names of months and places more often than of people.
_MONTHS = frozenset({"april", "may", "june", "august"})
_PLACES = frozenset(
    "asia austin brooklyn carolina dallas georgia houston india israel kenya london milan paris santiago sydney"
    " virginia".split()
)
# What stands before a date, a place, a saint's town or an institution.
_BEFORE_OTHERS = frozenset("in at near the since until during san santa st. saint".split())


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the tokens of a text begin and end: white space first, then signs at the edges, then signs inside."""
    for chunk in re.finditer(r"\S+", text):
        yield from _split_chunk(text, chunk.start(), chunk.end())


def hanta_tokens(names: Collection[str]) -> Analyse:
    """Tokens by our own rules and HanTa's tags; a person is a capitalised proper noun among these names."""
    names = {name.lower() for name in names}

    def analyse(text: str) -> list[TaggedToken]:
        tokens: list[TaggedToken] = []
        for sentence in _split_sentences(text):
            words = [text[start:end] for start, end in sentence]
            tags = tag_words(words)
            for index, (start, end) in enumerate(sentence):
                word, tag = words[index], tags[index]
                person = tag == "NP0" and _is_person(words, index, names)
                tokens.append(TaggedToken(start, end, word, PENN.get(tag, tag), person))
        return tokens

    return analyse


def spacy_tokens(model: str = "en_core_web_lg") -> Analyse:
    """Tokens, tags and persons as a spaCy model gives them."""
    spacy = import_extra("spacy", "spacy", model)
    try:
        pipeline = spacy.load(model)
    except (OSError, ValueError) as error:
        raise UnmaskError(
            f"spaCy cannot load the model {model!r} ({type(error).__name__}); install it with"
            f" `python -m spacy download {model}`, or give the folder of another"
        ) from None

    def analyse(text: str) -> list[TaggedToken]:
        return [
            TaggedToken(word.idx, word.idx + len(word.text), word.text, word.tag_, word.ent_type_ == "PERSON")
            for word in pipeline(text)
        ]

    return analyse


def _split_chunk(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The tokens of a stretch without white space, in order."""
    after: list[tuple[int, int]] = []
    while start < end and not _WHOLE(text, start, end):
        if _PREFIX(text, start, end):
            yield start, start + 1
            start += 1
        elif suffix := _SUFFIX(text[max(start, end - 2) : end]):
            after.append((end - len(suffix[0]), end))
            end -= len(suffix[0])
        else:
            break
    if contraction := _CONTRACTION(text, start, end):
        yield contraction.span(1)
        yield contraction.span(2)
    else:
        for sign in () if _WHOLE(text, start, end) else _INFIX.finditer(text, start, end):
            if start < sign.start():
                yield start, sign.start()
            yield sign.span()
            start = sign.end()
        if start < end:
            yield start, end
    yield from reversed(after)


def _is_person(words: Sequence[str], index: int, names: Collection[str]) -> bool:
    """Whether a proper noun is a name of the list and stands where a person would, by the words beside it."""
    word = words[index].lower()
    if word not in names or not words[index][0].isupper():
        return False
    before = words[index - 1].lower() if index else ""
    after = words[index + 1] if index + 1 < len(words) else ""
    if before in _BEFORE_OTHERS:
        return False
    if word in _MONTHS:
        return not (before[:1].isdigit() or after[:1].isdigit())
    return word not in _PLACES or before in names


def _split_sentences(text: str) -> Iterator[list[tuple[int, int]]]:
    """The tokens of each sentence; a tagger goes by what stands before."""
    sentence = []
    for start, end in token_spans(text):
        sentence.append((start, end))
        if text[start:end] in _ENDS:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


WORDS = "cda_default_pairs.json"
NAMES = "names_pairs_1000_scaled.json"
PRONOUNS = {"him": "her", "his": "her", "her": "him", "hers": "his"}
"""What the pronouns that no pair has become, whatever their tag but these."""
_BY_TAG = {("his", "NNS"): "hers", ("her", "PRP$"): "his"}


class Substitution:
    """Published CDS; a `Rewriter` of whole documents."""

    def __init__(self, folder: Path, analyse: Analyse | None = None) -> None:
        self.words = lists.read_pairs(folder, WORDS)
        self.names = lists.read_pairs(folder, NAMES)
        self._analyse = analyse or hanta_tokens(self.names)

    def rewrite(self, text: str) -> Rewritten:
        """Exchange the genders of a document."""
        changes = tuple(change for token in self._analyse(text) if (change := self._change(token)))
        return Rewritten(apply_changes(text, changes), changes)

    def _change(self, token: TaggedToken) -> Replacement | None:
        word = token.text.lower()
        kind: Kind = "word"
        if word in self.words:
            after = self.words[word]
        elif token.person and word in self.names:
            after, kind = self.names[word], "name"
        elif word in PRONOUNS:
            after = _BY_TAG.get((word, token.tag), PRONOUNS[word])
        else:
            return None
        return Replacement(token.start, token.end, token.text, _match_case(after, token.text), word, kind)


def _match_case(word: str, like: str) -> str:
    """A word in lower, upper or title case, like another; in any other case, as the list has it."""
    for case in (str.lower, str.upper, str.capitalize):
        if like == case(like):
            return case(word)
    return word

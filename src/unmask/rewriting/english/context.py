"""A word in its text: the words beside it, its sentence, and parts of speech where nothing else decides."""

from __future__ import annotations

import re
from functools import cached_property

from unmask.lexicon.table import read_word_sets
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.result import Token

_WORDS = read_word_sets("en")

SENTENCE_REACH = 400
"""How far a sentence is looked for, in characters either side."""
_TOKEN = re.compile(
    r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+(?:-\w+)*|[^\w\s]",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)[.!?…]+[\"'”’)\]]*\s|\n\s*\n|<br\s*/?>")


def sentence_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    """The bounds of the sentence around a span, as far as it reaches."""
    left = max(0, start - SENTENCE_REACH)
    for match in _ENDS.finditer(text, left, start):
        left = match.end()
    following = _ENDS.search(text, end, end + SENTENCE_REACH)
    return left, following.end() if following else min(len(text), end + SENTENCE_REACH)


def split_tokens(text: str, start: int, end: int) -> list[Token]:
    """The words and signs between two offsets, clitics apart: *is* and *n't*, *she* and *'s*."""
    return [Token(match.start(), match.end(), match.group()) for match in _TOKEN.finditer(text, start, end)]


REACH = 60
"""How far a neighbour is looked for, in characters."""
NEAR = 6
"""How many words either side are tagged."""
ARTICLES = _WORDS["articles"]
"""What opens a noun phrase."""
DETERMINERS = ARTICLES | _WORDS["determiners"]
"""What stands before a noun: those, and common adjectives of people."""
_SMALL = frozenset("a an the of in on at to by for from with and or but nor as vs s t".split())  # in headlines
_BEFORE = re.compile(r"(\W*)(?:(\w*['’])(?=\w))?(\w+)")  # read backwards
_AFTER = re.compile(r"(['’](?:s|d|ll|re|ve|m)\b)?(\W*)(\w*)")
_FRESH = re.compile(r"[.!?…:;\n\"“”‘«(\[>*•]|--|—|^'|\s'|- $")
_TITLES = frozenset("mr mrs ms dr st prof rev gen col capt sgt lt hon jr sr vs".split())


class TextSpan:
    """A word in its text, and on demand its neighbours and its sentence."""

    def __init__(self, text: str, start: int, end: int) -> None:
        """Take a stretch of a text."""
        self.text, self.start, self.end = text, start, end

    @property
    def word(self) -> str:
        """The stretch itself."""
        return self.text[self.start : self.end]

    @cached_property
    def before(self) -> tuple[str, str, str]:
        """The word before, what hangs on it after an apostrophe, and what stands between it and this one."""
        left = self.text[max(0, self.start - REACH) : self.start][::-1]
        match = _BEFORE.match(left)
        parts = (match[3], match[2] or "", match[1]) if match else ("", "", left)
        return (parts[0][::-1], parts[1][::-1], parts[2][::-1])

    @cached_property
    def after(self) -> tuple[str, str, str]:
        """What hangs on this word after an apostrophe, what follows that, and the next word."""
        match = _AFTER.match(self.text, self.end, self.end + REACH)
        assert match is not None  # every part may be empty
        return (match[1] or "", match[2], match[3])

    def around(self, reach: int) -> tuple[str, str]:
        """The text before and after it, as many characters each."""
        return self.text[max(0, self.start - reach) : self.start], self.text[self.end : self.end + reach]

    @property
    def previous(self) -> TextSpan | None:
        """The word before, as a span."""
        word, clitic, gap = self.before
        if not word:
            return None
        end = self.start - len(gap) - len(clitic)
        return TextSpan(self.text, end - len(word), end)

    @property
    def title_case(self) -> bool:
        """Whether it is written with a capital and small letters."""
        return is_title_case(self.word)

    @property
    def starts_sentence(self) -> bool:
        """Whether a sentence, a quotation or a line begins here."""
        word, _, gap = self.before
        if not word:
            return True
        if gap[:1] == "." and word.lower() in _TITLES:
            return False
        return bool(_FRESH.search(gap))

    @property
    def sentence(self) -> tuple[int, int]:
        """Where its sentence begins and ends."""
        return sentence_bounds(self.text, self.start, self.end)

    @property
    def name_follows(self) -> bool:
        """Whether the next word is written as a name: *Queen Anne*, *Mr. J. Smith*, *MR. SMITH*."""
        clitic, gap, following = self.after
        if clitic or not following or gap.strip(" \xa0\n") not in ("", "."):
            return False
        if self.word.isupper() and len(self.word) > 1 and len(following) > 1:
            return following.isupper()
        return following[0].isupper() and following != "I"

    @property
    def headline(self) -> bool:
        """Whether every longer word of the sentence has a capital, so that capitals say nothing."""
        words = re.findall(r"[^\W\d_]+", self.text[slice(*self.sentence)])
        longer = [word for word in words if len(word) > 3]
        small = [word for word in words if word.islower() and word not in _SMALL]
        return len(longer) > 3 and not small and all(word[0].isupper() for word in longer)

    def tag(self) -> str:
        """Its part of speech, from the sentence around it."""
        start, end = self.sentence
        tokens = split_tokens(self.text, max(start, self.start - REACH), min(end, self.end + REACH))
        here = next(index for index, token in enumerate(tokens) if token.end > self.start)
        near = tokens[max(0, here - NEAR) : here + NEAR]  # the tagger looks at three words at a time
        return tag_words([token.text for token in near])[min(here, NEAR)]


def is_title_case(words: str) -> bool:
    """Whether every word has a capital and then small letters."""
    return words.istitle() or (words[:1].isupper() and words[1:].islower())

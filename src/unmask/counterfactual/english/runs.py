"""Runs of capitalised words, in which names stand: `When Mr. James Dean`, `George W. Bush`, `Mary-Jane`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from unmask.counterfactual.english.names import key
from unmask.lexicon.names import name_context

_UPPER = "A-ZÀ-ÖØ-ÞČĆĐŁŚŠŞŽİ"
_LETTER = r"[^\W\d_]"
_SHORT = "Mrs?|Ms|Mx|Dr|Prof|Sgt|Capt|Lt|Col|Cpl|Maj|Gen|Sen|Rep|Gov|Rev|Ste?|Mt|Ft|Fr|Jn?r|Sn?r|Mme"
_WORD = rf"[{_UPPER}]{_LETTER}*(?:['’][{_UPPER}]{_LETTER}+)?(?:-[{_UPPER}]{_LETTER}*)*"
_TOKEN = re.compile(rf"(?:(?:{_SHORT})\.|(?:[{_UPPER}]\.)+|{_WORD})")
_PARTICLE = "|".join(sorted(name_context()["particle"]))
_MOST = 60  # words of a run; a text in capitals is read in pieces
_RUN = re.compile(rf"(?<!\w){_TOKEN.pattern}(?: {{1,2}}(?:(?:{_PARTICLE}) ){{0,2}}{_TOKEN.pattern}){{0,{_MOST}}}")
# What a run may lie in, found ten times as fast, as the pattern begins with a set of letters.
_COARSE = re.compile(
    rf"[{_UPPER}]\w*(?:(?:[.'’\-]+|[.]? +(?:(?:{_PARTICLE}) +){{0,2}}|\n)[{_UPPER}]\w*){{0,{_MOST}}}[.]?"
)
_PARTS = re.compile(r"[^\W\d_]+")
_WRAPPED = 50  # a line this long was broken to fit, so that a name may go on in the next
_WEB = re.compile(
    r"://|www\.|@|^\W*#|[\\_=]|/\w+/|"
    r"\.(?:com|org|net|co|uk|edu|gov|de|html?|php|txt|pdf|jpe?g|png|gif|py|csv|docx?|mp[34]|tv|info)\b"
)
_CONTRACTED = re.compile(r"['’](?!s\b|S\b|d\b|ll\b|re\b|ve\b)\w")


@dataclass(frozen=True, slots=True)
class Token:
    """A capitalised word, an initial or an abbreviated title."""

    start: int
    end: int
    text: str
    key: str
    """What it is looked up by: lower case, without a full stop, without accents unless known with them."""
    joined: bool = False
    """Whether a particle stands before it: `de Beauvoir`."""

    @property
    def initial(self) -> bool:
        """Whether it stands for a name: `W.`, `J.R.`, `X`."""
        return self.text[1:2] == "." or (len(self.text) == 1 and self.text not in "AI")


def runs(text: str, known: Container[str]) -> Iterator[list[Token]]:
    """The runs with at least one known name in them, which is all that is worth a closer look."""
    for coarse in _COARSE.finditer(text):
        if _holds(coarse.group(), known):
            before: list[Token] = []
            for match in _RUN.finditer(text, coarse.start(), coarse.end()):
                tokens = list(_tokens(match, known))
                if before and before[-1].end + 1 == match.start() and _wrapped(text, before[-1].end):
                    tokens = [*before, *tokens]
                if _holds(match.group(), known):
                    yield tokens
                before = tokens


def inside_other(text: str, start: int, end: int) -> bool:
    """Whether a word is part of something else: an address, a handle, a file name, a contraction such as `Don't`."""
    after = text[end : end + 4]
    if after[:1].isalnum() or _CONTRACTED.match(after):
        return True
    before = text[start - 1 : start]
    if not (
        (before and before in "@#/\\._=&~:")
        or (after and after[0] in "@/\\_=")
        or (after[:1] == "." and after[1:2].isalnum())
    ):
        return False
    left = max(start - 200, *(text.rfind(mark, max(0, start - 200), start) + 1 for mark in " \n\t"), 0)
    piece = re.match(r"\S*", text[left : end + 200])
    return bool(piece and _WEB.search(piece.group()))


def long_line(text: str, end: int) -> bool:
    """Whether the line that ends here is so long that it was broken to fit, rather than ended."""
    return end >= _WRAPPED and text.find("\n", end - _WRAPPED, end) < 0


def _holds(words: str, known: Container[str]) -> bool:
    lower = words.lower()
    if lower in known:
        return True
    return not (words.isalpha() and words.isascii()) and any(
        key(word, known) in known for word in _PARTS.findall(lower)
    )


def _wrapped(text: str, end: int) -> bool:
    return text[end] == "\n" and long_line(text, end)


def _tokens(match: re.Match[str], known: Container[str]) -> Iterator[Token]:
    offset, words = match.start(), match.group()
    end = 0
    for token in _TOKEN.finditer(words):
        joined = bool(words[end : token.start()].strip())
        end = token.end()
        yield Token(offset + token.start(), offset + end, token.group(), key(token.group().rstrip("."), known), joined)

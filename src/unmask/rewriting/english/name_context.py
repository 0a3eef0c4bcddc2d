"""Runs of capitalised words, in which names stand, and their context: `When Mr. James Dean`, `George W. Bush`.

The text around a capitalised word says what it is: the start of a sentence, a street, a month, a part of speech.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from unmask.lexicon.names import name_context, name_words
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.english.context import sentence_bounds, split_tokens
from unmask.rewriting.english.name_exchange import name_key

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
class NameToken:
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


def find_runs(text: str, known_names: Container[str]) -> Iterator[list[NameToken]]:
    """The runs with at least one known name in them, which is all that is worth a closer look."""
    for coarse in _COARSE.finditer(text):
        if _has_known_name(coarse.group(), known_names):
            before: list[NameToken] = []
            for match in _RUN.finditer(text, coarse.start(), coarse.end()):
                tokens = list(_split_run(match, known_names))
                end = before[-1].end if before else -1
                if end + 1 == match.start() and text[end] == "\n" and is_long_line(text, end):
                    tokens = [*before, *tokens]
                if _has_known_name(match.group(), known_names):
                    yield tokens
                before = tokens


def is_inside_other(text: str, start: int, end: int) -> bool:
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


def is_long_line(text: str, end: int) -> bool:
    """Whether the line that ends here is so long that it was broken to fit, rather than ended."""
    return end >= _WRAPPED and text.find("\n", end - _WRAPPED, end) < 0


def _has_known_name(words: str, known_names: Container[str]) -> bool:
    lower = words.lower()
    if lower in known_names:
        return True
    return not (words.isalpha() and words.isascii()) and any(
        name_key(word, known_names) in known_names for word in _PARTS.findall(lower)
    )


def _split_run(match: re.Match[str], known_names: Container[str]) -> Iterator[NameToken]:
    offset, words = match.start(), match.group()
    end = 0
    for token in _TOKEN.finditer(words):
        joined = bool(words[end : token.start()].strip())
        end = token.end()
        yield NameToken(
            offset + token.start(),
            offset + end,
            token.group(),
            name_key(token.group().rstrip("."), known_names),
            joined,
        )


NAME = "NP0"
"""The tagger's tag of a proper name."""
CONTEXT = name_context()
_KINDS = name_words()
_NONE: frozenset[str] = frozenset()
_WINDOW = 8  # words on either side that the tagger is shown: it decides by the nearest, and time grows with them
_OPENING = "\"“”‘'’([{*_-–—•"
_NEXT_WORD = re.compile(r"(?:['’]s)?\s*([-–,:;.]?)\s*([^\W_]*)")
_REGION = re.compile(r", (?:(?:North|South|West|New|Rhode) )?([A-Z][A-Za-z.]+)")
_MONTH_AND = re.compile(r"\b([A-Z][a-z]+) (?:and|or|to|through) $")
_TOWN = re.compile(r"[A-Z][a-z]+, $")
_VERSE = re.compile(r" \d+:\d")
_SCRIPTURE = re.compile(r"(?:Gospel|Book|Epistle|Letter) (?:of|according to) $")
_NICKNAME = re.compile(r"[A-Z]\w+ [\"“'‘(]\w+[\"”'’)] $")


def name_kinds(word: str) -> frozenset[str]:
    """What else a name in lower case is."""
    return _KINDS.get(word, _NONE)


def begins_sentence(text: str, start: int) -> bool:
    """Whether an offset is the start of a sentence, or of speech within one."""
    index = start
    while index and (text[index - 1] in _OPENING or text[index - 1].isspace()):
        index -= 1
        if text[index] == "\n" and not is_long_line(text, index):
            return True
    if index == 0 or text[index - 1] in ".!?:…>|":
        return True
    return text[index:start].strip() not in ("", "-", "–", "—")


def word_before(text: str, start: int) -> str:
    """The word or number before an offset, in lower case, or nothing if another sign stands between."""
    chunk = text[max(0, start - 24) : start].rstrip("\"“‘'(")
    if not chunk or not chunk[-1].isspace():
        return ""
    word = chunk.split()[-1:]
    last = word[0].rstrip(".").lower() if word else ""
    return last if last.isalnum() else ""


def next_word(text: str, end: int) -> str:
    """The word that follows an offset, in lower case, or nothing if a sign stands between."""
    words = text[end : end + 24].split(maxsplit=1)
    return words[0].lower().replace("’", "'") if words and text[end].isspace() else ""


def follows_nickname(text: str, start: int) -> bool:
    """Whether a nickname stands before: James "Jim" ..."""
    return text[start - 2 : start - 1] in tuple("\"”'’)") and bool(_NICKNAME.search(text, max(0, start - 40), start))


def names_a_place(text: str, group: Sequence[NameToken], before: str) -> bool:
    """Whether a run names a street, a school, a town: nobody's name, whatever it was named after."""
    words = [token.key for token in group]
    if any(word in CONTEXT["institution"] for word in words[1:]):
        return True
    if before in CONTEXT["before"] or words[0] in CONTEXT["before"]:
        return len(words) <= 2
    if len(words) > 1:
        doubtful = words[-1] in CONTEXT["perhaps_institution"]
        return doubtful and (before in ("the", "on") or before in CONTEXT["place_before"])
    start, end = group[0].start, group[0].end
    region = _REGION.match(text, end)
    if region and region.group(1).rstrip(".").lower() in CONTEXT["region"]:
        return True
    return bool(_VERSE.match(text, end) or _SCRIPTURE.search(text, max(0, start - 30), start))


def may_be_name(text: str, token: NameToken, before: str, proved: bool) -> bool:
    """Whether what stands around an ambiguous word allows it to be a name; less is asked if the document proved it."""
    kinds = name_kinds(token.key)
    after = _NEXT_WORD.match(text, token.end)
    mark, following = (after.group(1), after.group(2).lower()) if after else ("", "")
    if (
        before in CONTEXT["determiner"]
        or (following == "of" and not mark)
        or "-" in (mark, text[token.start - 1 : token.start])
    ):
        return False
    if "month" in kinds:
        if following[:1].isdigit() or before[:1].isdigit() or "month" in name_kinds(following) | name_kinds(before):
            return False
        if before in CONTEXT["surely_month_before" if proved else "month_before"]:
            return False
        joined = _MONTH_AND.search(text, max(0, token.start - 24), token.start)
        if (
            joined and "month" in name_kinds(joined.group(1).lower()) and not proved
        ):  # `in May and June`: as the first, so the second
            start, end = joined.span(1)
            first = NameToken(start, end, joined.group(1), joined.group(1).lower())
            return not begins_sentence(text, start) and may_be_name(text, first, word_before(text, start), proved)
    if token.key in CONTEXT["region"] and not proved and _TOWN.search(text, max(0, token.start - 24), token.start):
        return False
    return "place" not in kinds or before not in CONTEXT["surely_place_before" if proved else "place_before"]


def part_of_speech(text: str, token: NameToken) -> str:
    """The part of speech of a word in its sentence."""
    start, end = sentence_bounds(text, token.start, token.end)
    before = [each.text for each in split_tokens(text, start, token.start)][-_WINDOW:]
    while before and before[0] in _OPENING:
        before = before[1:]
    after = [each.text for each in split_tokens(text, token.end, end)][:_WINDOW]
    return tag_words([*before, token.text, *after])[len(before)]

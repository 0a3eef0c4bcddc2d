"""What the text around a capitalised word says of it: a sentence's start, a street, a month, a part of speech."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unmask.counterfactual.english.runs import Token, long_line
from unmask.counterfactual.english.tagging import sentence, tags, tokens
from unmask.lexicon.names import name_context, name_words

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


def kinds(word: str) -> frozenset[str]:
    """What else a name in lower case is."""
    return _KINDS.get(word, _NONE)


def begins(text: str, start: int) -> bool:
    """Whether a place is the start of a sentence, or of speech within one."""
    place = start
    while place and (text[place - 1] in _OPENING or text[place - 1].isspace()):
        place -= 1
        if text[place] == "\n" and not long_line(text, place):
            return True
    if place == 0 or text[place - 1] in ".!?:…>|":
        return True
    return text[place:start].strip() not in ("", "-", "–", "—")


def word_before(text: str, start: int) -> str:
    """The word or number before a place, in lower case, or nothing if another sign stands between."""
    chunk = text[max(0, start - 24) : start].rstrip("\"“‘'(")
    if not chunk or not chunk[-1].isspace():
        return ""
    word = chunk.split()[-1:]
    last = word[0].rstrip(".").lower() if word else ""
    return last if last.isalnum() else ""


def next_word(text: str, end: int) -> str:
    """The word that follows a place, in lower case, or nothing if a sign stands between."""
    words = text[end : end + 24].split(maxsplit=1)
    return words[0].lower().replace("’", "'") if words and text[end].isspace() else ""


def after_nickname(text: str, start: int) -> bool:
    """Whether a nickname stands before: James "Jim" ..."""
    return text[start - 2 : start - 1] in tuple("\"”'’)") and bool(_NICKNAME.search(text, max(0, start - 40), start))


def of_a_place(text: str, group: Sequence[Token], before: str) -> bool:
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


def may_be_name(text: str, token: Token, before: str, proved: bool) -> bool:
    """Whether what stands around an ambiguous word allows it to be a name; less is asked if the document proved it."""
    own = kinds(token.key)
    after = _NEXT_WORD.match(text, token.end)
    mark, following = (after.group(1), after.group(2).lower()) if after else ("", "")
    if (
        before in CONTEXT["determiner"]
        or (following == "of" and not mark)
        or "-" in (mark, text[token.start - 1 : token.start])
    ):
        return False
    if "month" in own:
        if following[:1].isdigit() or before[:1].isdigit() or "month" in kinds(following) | kinds(before):
            return False
        if before in CONTEXT["surely_month_before" if proved else "month_before"]:
            return False
        joined = _MONTH_AND.search(text, max(0, token.start - 24), token.start)
        if (
            joined and "month" in kinds(joined.group(1).lower()) and not proved
        ):  # `in May and June`: as the first, so the second
            start, end = joined.span(1)
            first = Token(start, end, joined.group(1), joined.group(1).lower())
            return not begins(text, start) and may_be_name(text, first, word_before(text, start), proved)
    if token.key in CONTEXT["region"] and not proved and _TOWN.search(text, max(0, token.start - 24), token.start):
        return False
    return "place" not in own or before not in CONTEXT["surely_place_before" if proved else "place_before"]


def tag(text: str, token: Token) -> str:
    """The part of speech of a word in its sentence."""
    start, end = sentence(text, token.start, token.end)
    before = [each.text for each in tokens(text, start, token.start)][-_WINDOW:]
    while before and before[0] in _OPENING:
        before = before[1:]
    after = [each.text for each in tokens(text, token.end, end)][:_WINDOW]
    return tags([*before, token.text, *after])[len(before)]

"""Where a gendered word does not say a person's gender: verbs, chess, exclamations, measures; `capitals` has the rest.

Each rule answers with the reason for leaving the word, or with nothing. A word that is left in doubt is an omission; a
word that is changed wrongly is an error, so in doubt it is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from unmask.counterfactual.english.capitals import deity, part_of_a_name
from unmask.counterfactual.english.context import ARTICLES, DETERMINERS, Place
from unmask.lexicon.gender import Term

_BARE = frozenset(
    "of to for by from than between against in on with as vs versus beyond about upon over into through without toward "
    "towards like and or but when since if early modern primitive prehistoric ancient mortal fallen".split()
)
_VERB_CUES = frozenset(
    "to will would can could should shall may might must not n't t don didn doesn won wouldn couldn i you we they who "
    "and or please let help us them he she it".split()
)
_VERBS = frozenset(
    "man father fathers mother mothers husband husbands groom grooms count counts steward stewards lord lords".split()
)
_SUBJECTS = frozenset("i you we they he she it who".split())
_OBJECTS = frozenset("him it me us them everyone everybody anyone".split())
_GREETED = frozenset("you hey hi hello ok okay thanks sorry yo".split())
_RELIGIOUS = frozenset("father mother".split())
_BOARD = re.compile(
    r"\b(chess|checkmate[ds]?|checkmating|stalemate|pawns?|rooks?|castl(?:ed|es?|ing)|en passant|chessboard|poker|"
    r"aces?|playing cards?|deck of cards|full house|blackjack|trump card|solitaire|bridge hand|gambit|endgame|on move|"
    r"pair of (?:kings|queens)|mate in \w+|[a-h][1-8]|hives?|beehives?|bees)\b",
    re.IGNORECASE,
)
_NOBLE = re.compile(
    r"\b(?:countess(?:es)?|viscount(?:ess)?|dukes?|duchess(?:es)?|baron(?:ess)?|nobl(?:e(?:man|woman)?|es)|majesty|palace|"
    r"vampire|Dracula|Monte Cristo)\b|\bCount (?:of |von |de )?[A-Z]"
)
_HUMAN = frozenset(
    "said says asked asks replied bowed smiled laughed nodded lost looked turned married loves loved died lives lived "
    "invited himself drank rode dined sighed".split()
)
_WEDDING = re.compile(
    r"\b(?:bride\w*|wedding|married|marry|marri\w+|altar|church|ceremony|vows?|ring|honeymoon|groomsm[ae]n)\b", re.I
)
_ADDRESS = re.compile(r"://|www\.|@\w|^[#@]|\w\.(?:com|org|net|de|uk|co|io|gov|edu|html?|txt|pdf|jpe?g|png|py|csv)\b")
_JOINING = frozenset("./@-_=&#?:\\%")


def glued(text: str, start: int, end: int) -> bool:
    """Whether a word is part of an address, a handle, a tag or a file name."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:] not in _JOINING and after[:1] not in _JOINING:
        return False
    if (before[-1:] == "_" and before[0].isalnum()) or (after[:1] == "_" and after[1:].isalnum()):
        return True  # a name in a program; _her_ alone is emphasis
    left = re.search(r"\S*\Z", text[max(0, start - 100) : start])
    right = re.match(r"\S*", text[end : end + 100])
    chunk = f"{left[0] if left else ''}{text[start:end]}{right[0] if right else ''}"
    return bool(_ADDRESS.search(chunk.lstrip("\"'“‘([<")))


def why_left(place: Place, term: Term) -> str:
    """Why the word here is no person of its gender, or nothing."""
    for rule in _RULES.get(term.word.lower(), ()):
        if reason := rule(place):
            return reason
    if term.role == "pronoun":
        return deity(place, term)
    return part_of_a_name(place, term) if place.title_case else ""


def _verb(place: Place) -> str:
    previous, clitic, gap = place.before
    word = previous.lower()
    if place.title_case and not place.starts_sentence:
        return ""
    if not gap.isspace() or clitic:
        return ""
    if word in DETERMINERS or place.after[0]:
        return ""
    following = place.after[2].lower()
    takes_object = following in ARTICLES or following in _OBJECTS
    if word in _SUBJECTS or (takes_object and (following in _OBJECTS or word.endswith("s"))):
        return "a verb"
    if word not in _VERB_CUES and not takes_object and following not in ("down", "up", "on"):
        return ""
    return "a verb" if place.tag().startswith("VV") else ""


def _man(place: Place) -> str:
    previous, clitic, gap = place.before
    following, sign = place.after[2].lower(), place.after[1].strip()[:1]
    paired = bool(re.match(r"\s+(?:and|or)\s+(?:a\s+)?wom[ae]n\b|/wom", place.text[place.end : place.end + 15], re.I))
    if paired or clitic:
        return ""
    if place.starts_sentence or (gap.strip() == "," and sign in (",", ".", "!", "?", "")):
        if sign in (",", "!") or gap.strip() == ",":
            return "an exclamation"
        return "" if following in ("who", "in", "with", "on") or place.name_follows else "people in general"
    if previous.lower() in _BARE and gap.isspace():
        further = place.previous
        qualified = further is not None and further.before[0].lower() in DETERMINERS
        return "" if qualified and previous.lower() not in ("of", "and", "or") else "people in general"
    return ""


def _exclaimed(place: Place) -> str:
    return "an exclamation" if place.starts_sentence and place.after[1][:1] in (",", "!") else ""


def _greeted(place: Place) -> str:
    if place.before[0].lower() in _GREETED or (place.starts_sentence and place.after[1][:1] in (",", "!")):
        return "addresses anyone"
    return ""


def _measure(place: Place) -> str:
    return "a measure" if place.before[0].isdecimal() else ""


def _board_game(place: Place) -> str:
    start, end = place.sentence
    return "a piece, a card or a bee" if _BOARD.search(place.text, start, end) else ""


def _count(place: Place) -> str:
    if place.name_follows and place.title_case:
        return ""
    if re.match(r"\s+of\s+(?![A-Z])", place.text[place.end : place.end + 10]):
        return "a number"
    near = place.text[max(0, place.start - 250) : place.start] + " " + place.text[place.end : place.end + 250]
    named = re.match(r"\s+of\s+[A-Z]", place.text[place.end : place.end + 10])
    noble = named or place.after[2].lower() in _HUMAN or _NOBLE.search(near)
    return "" if place.before[0].lower() in DETERMINERS and noble else "a number"


def _miss(place: Place) -> str:
    alone = place.before[2].strip() == "," or place.before[0].lower() in ("yes", "no", "you", "dear", "young")
    return "" if alone and place.after[1].strip()[:1] in (",", ".", "!", "?", "”", '"', "'") else "a verb"


def _wedding(place: Place) -> str:
    near = place.text[max(0, place.start - 250) : place.start] + " " + place.text[place.end : place.end + 250]
    return "" if _WEDDING.search(near) else "no wedding is spoken of"


def _earl(place: Place) -> str:
    return "may be a first name" if place.title_case and place.name_follows else ""


def _lord(place: Place) -> str:
    if place.word == "lord" or place.name_follows:
        return ""
    return "" if place.before[0].lower() in ("my", "your", "a") and place.title_case else "the deity"


def _religious(place: Place) -> str:
    return "a religious title" if place.title_case and place.name_follows and not place.headline else ""


def _software(place: Place) -> str:
    words = ("setup", "installation", "configuration", "import", "install", "migration", "pinball")
    return "a program" if place.before[0].lower() in words else ""


Rule = Callable[[Place], str]
_RULES: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys(_VERBS, (_verb,)),
    **dict.fromkeys(_RELIGIOUS, (_religious, _verb)),
    **dict.fromkeys(("king", "kings", "queen", "queens"), (_board_game,)),
    "man": (_verb, _man),
    "boy": (_exclaimed,),
    "guys": (_greeted,),
    "gal": (_measure,),
    "gals": (_measure,),
    "count": (_verb, _count),
    "counts": (_verb, _count),
    "best man": (_wedding,),
    "best men": (_wedding,),
    "groom": (_wedding, _verb),
    "grooms": (_wedding, _verb),
    "earl": (_earl,),
    "miss": (_miss,),
    "lord": (_lord,),
    "wizard": (_software,),
}

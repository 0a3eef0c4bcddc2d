"""Where a gendered word does not say a person's gender: verbs, chess, proper names, exclamations, the deity.

Each rule answers with the reason for leaving the word, or with nothing. A word that is left in doubt is an omission; a
word that is changed wrongly is an error, so in doubt it is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from unmask.counterfactual.english.context import Place, is_title_case
from unmask.lexicon.gender import Term

ARTICLES = frozenset(
    """the a an this that these those my your his her its our their whose some any no every each another which what
    either neither such""".split()
)
"""What opens a noun phrase."""
DETERMINERS = ARTICLES | frozenset(
    """one two three four five six seven eight nine ten many few several both all other first second last next only
    same very own young old older younger little big good bad great poor rich dead nice tall short handsome beautiful
    pretty strong angry happy sad single married black white american english french german russian chinese japanese
    indian new blind wise drunk fat thin lonely dying grown gay straight proud mad crazy sick cute sexy hot evil brave
    dear teenage teenaged elderly unknown mysterious wealthy lovely lucky unlucky bearded bald naked wounded injured
    middle-aged so-called s""".split()
)
"""What stands before a noun: those, and common adjectives of people."""
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
_HONOURS = frozenset(
    "majesty majesties highness excellency honor honour lordship ladyship holiness grace eminence worship".split()
)
_BOARD = re.compile(
    r"\b(chess|checkmate[ds]?|checkmating|stalemate|pawns?|rooks?|castl(?:ed|es?|ing)|en passant|chessboard|poker|"
    r"aces?|playing cards?|deck of cards|full house|blackjack|trump card|solitaire|bridge hand|gambit|endgame|on move|"
    r"pair of (?:kings|queens)|mate in \w+|[a-h][1-8])\b",
    re.IGNORECASE,
)
_NOBLE = re.compile(
    r"\b(countess|count (?:of )?[A-Z]\w+|duke|duchess|baron(?:ess)?|nobl\w+|castle|manor|chateau|château|majesty|"
    r"court|ball|ballroom|carriage|servants?|throne|heir|palace|vampire|estate|lord|lady|princess?|king|queen)\b",
    re.IGNORECASE,
)
_INSTITUTION = re.compile(
    r"(?:['’]s?)?\s+(?:[A-Z]\w+(?:['’]s?)?\s+){0,2}(?:University|College|School|Academy|County|Street|St|Avenue|Road|Lane|"
    r"Hospital|Church|Cathedral|Chapel|Island|Islands|River|Park|Square|Bridge|Hall|Cross|Theatre|Theater|Stadium|Station|"
    r"Airport|Cup|Prize|Award|Awards|Medal|Tower|Hotel|Inn|Bay|Mountain|Peak|Creek|Beach|Ltd|Inc|Company|Records|Bible|"
    r"Counsel|Speech|Consort|Mother|Regent)\b"
)
_ADDRESS = re.compile(r"://|www\.|@\w|^[#@]|\w\.(?:com|org|net|de|uk|co|io|gov|edu|html?|txt|pdf|jpe?g|png|py|csv)\b")
_JOINING = frozenset("./@-_=&#?:\\%")


def glued(text: str, start: int, end: int) -> bool:
    """Whether a word is part of an address, a handle, a tag or a file name."""
    if text[start - 1 : start] not in _JOINING and text[end : end + 1] not in _JOINING:
        return False
    left = re.search(r"\S*\Z", text[max(0, start - 100) : start])
    right = re.match(r"\S*", text[end : end + 100])
    chunk = f"{left[0] if left else ''}{text[start:end]}{right[0] if right else ''}"
    return bool(_ADDRESS.search(chunk.lstrip("\"'“‘([<")))


def why_left(place: Place, term: Term) -> str:
    """Why the word here is no person of its gender, or nothing."""
    for rule in _RULES.get(term.word.lower(), ()):
        if reason := rule(place, term):
            return reason
    if term.role == "pronoun":
        return _deity(place, term)
    return _part_of_a_name(place, term) if place.title_case else ""


def _deity(place: Place, term: Term) -> str:
    if term.gender != "male" or not place.title_case or place.starts_sentence:
        return ""
    previous, _, gap = place.before
    if gap.strip(" ,") or not previous.islower() or place.after[2].lower() in _HONOURS:
        return ""
    return "a capital in mid-sentence: the deity"


def _part_of_a_name(place: Place, term: Term) -> str:
    """Capitals in mid-sentence: *Burger King* and *Iron Man* are names, *Queen Anne* and *the King* are people."""
    previous, _, gap = place.before
    follows = place.name_follows
    beside = is_title_case(previous) and gap in (" ", "-", "\xa0", " & ") and not _opens(place)
    reason = "part of a name or title"
    if term.role == "title":
        named = follows and (term.plural or _INSTITUTION.match(place.text, place.end))
        if (beside and not _is_title(previous)) or named or _INSTITUTION.match(place.text, place.end):
            return "" if place.headline else reason
        if (
            follows
            or previous.lower() in DETERMINERS
            or (term.plural and place.starts_sentence)
            or place.after[2] in ("of", "and", "or")
        ):
            return ""
        return "" if len(place.word) > 6 and place.word.lower().endswith(("man", "woman")) else "may be a name"
    if term.role == "address":
        return ""
    if term.role == "kin":
        if previous in ("The", "the", "a", "an", "A", "An") and not place.starts_sentence and not follows:
            return "" if place.after[0] or place.headline else reason
        return ""
    if place.starts_sentence:
        linked = follows and place.after[1] in (" ", "-", " & ") and place.after[2][1:].islower()
        return reason if linked and not place.headline else ""
    if term.word[0].isupper():  # Englishman
        return ""
    previous_word = place.previous
    opened = previous_word is not None and previous_word.word in ("The", "A", "An") and previous_word.starts_sentence
    alone = opened and not follows and " " not in place.word
    return "" if alone or place.headline else reason


def _opens(place: Place) -> bool:
    previous = place.previous
    return previous is not None and previous.starts_sentence and previous.word.lower() in ARTICLES


def _is_title(word: str) -> bool:
    return word.lower() in (
        "mr mrs ms dr prof president former vice deputy madam sir majesty then acting brother sister crown".split()
    )


def _verb(place: Place, term: Term) -> str:  # noqa: ARG001 - all rules are called alike
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


def _man(place: Place, term: Term) -> str:  # noqa: ARG001
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


def _exclaimed(place: Place, term: Term) -> str:  # noqa: ARG001
    return "an exclamation" if place.starts_sentence and place.after[1][:1] in (",", "!") else ""


def _greeted(place: Place, term: Term) -> str:  # noqa: ARG001
    if place.before[0].lower() in _GREETED or (place.starts_sentence and place.after[1][:1] in (",", "!")):
        return "addresses anyone"
    return ""


def _measure(place: Place, term: Term) -> str:  # noqa: ARG001
    return "a measure" if place.before[0].isdecimal() else ""


def _board_game(place: Place, term: Term) -> str:  # noqa: ARG001
    start, end = place.sentence
    return "a piece or card of a game" if _BOARD.search(place.text, start, end) else ""


def _count(place: Place, term: Term) -> str:  # noqa: ARG001
    if place.name_follows and place.title_case:
        return ""
    if re.match(r"\s+of\s+(?![A-Z])", place.text[place.end : place.end + 10]):
        return "a number"
    near = place.text[max(0, place.start - 250) : place.start] + " " + place.text[place.end : place.end + 250]
    named = re.match(r"\s+of\s+[A-Z]", place.text[place.end : place.end + 10])
    return "" if place.before[0].lower() in DETERMINERS and (named or _NOBLE.search(near)) else "a number"


def _miss(place: Place, term: Term) -> str:  # noqa: ARG001
    alone = place.before[2].strip() == "," or place.before[0].lower() in ("yes", "no", "you", "dear", "young")
    return "" if alone and place.after[1].strip()[:1] in (",", ".", "!", "?", "”", '"', "'") else "a verb"


def _lord(place: Place, term: Term) -> str:  # noqa: ARG001
    if place.word == "lord" or place.name_follows:
        return ""
    return "" if place.before[0].lower() in ("my", "your", "a") and place.title_case else "the deity"


def _religious(place: Place, term: Term) -> str:  # noqa: ARG001
    return "a religious title" if place.title_case and place.name_follows and not place.headline else ""


def _software(place: Place, term: Term) -> str:  # noqa: ARG001
    words = ("setup", "installation", "configuration", "import", "install", "migration", "pinball")
    return "a program" if place.before[0].lower() in words else ""


Rule = Callable[[Place, Term], str]
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
    "miss": (_miss,),
    "lord": (_lord,),
    "wizard": (_software,),
}

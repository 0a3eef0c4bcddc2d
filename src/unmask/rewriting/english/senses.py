"""What a gendered word means where it stands: a person, a title, half of a pair, or no person of that gender at all.

A word is left where it does not state a person's gender: verbs, chess, exclamations, measures, names and titles of
works (*Burger King*, *Iron Man*), the deity. Each rule answers with the reason for leaving the word, or with nothing. A
word that is left in doubt is an omission; a word that is changed wrongly is an error, so in doubt it is left.

What *Mr.*, *Lady* or *Sir* becomes depends on the words after it. Where both genders are named at once (*he or she*,
*his/her*, *men and women*), they become one word when all go one way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from unmask.lexicon.gender import GenderWords, Term
from unmask.lexicon.table import read_word_sets
from unmask.rewriting.english.context import ARTICLES, DETERMINERS, TextSpan, is_title_case

_WORDS = read_word_sets("en")

_HONOURS = _WORDS["honours"]
_BEFORE_TITLES = _WORDS["before_titles"]
_BEFORE_KIN = _WORDS["before_kin"]
_INSTITUTION = re.compile(
    r"(?:['’]s?)?\s+(?:[A-Z]\w+(?:['’]s?)?\s+){0,2}(?:University|College|School|Academy|County|Street|St|Avenue|Road|Lane|"
    r"Hospital|Church|Cathedral|Chapel|Island|Islands|River|Park|Square|Bridge|Hall|Cross|Theatre|Theater|Stadium|Station|"
    r"Airport|Cup|Prize|Award|Awards|Medal|Tower|Hotel|Inn|Bay|Mountain|Peak|Creek|Beach|Ltd|Inc|Company|Records|Bible|"
    r"Counsel|Speech|Consort|Mother|Regent)\b"
)


def is_deity(span: TextSpan, term: Term) -> str:
    """*He* with a capital in mid-sentence."""
    if term.gender != "male" or not span.title_case or span.starts_sentence:
        return ""
    previous, _, gap = span.before
    if gap.strip(" ,") or not previous.islower() or span.after[2].lower() in _HONOURS:
        return ""
    return "a capital in mid-sentence: the deity"


def is_part_of_name(span: TextSpan, term: Term) -> str:
    """Capitals in mid-sentence: *Burger King* and *Iron Man* are names, *Queen Anne* and *the King* are people."""
    previous, _, gap = span.before
    follows = span.name_follows
    beside = is_title_case(previous) and gap in (" ", "-", "\xa0", " & ") and not _follows_opening_article(span)
    further = span.previous
    if term.role == "title":
        institution = _INSTITUTION.match(span.text, span.end)
        in_name = bool(institution) or (beside and previous.lower() not in _BEFORE_TITLES) or (follows and term.plural)
        starts = term.plural and span.starts_sentence
        person = follows or previous.lower() in DETERMINERS or starts or span.after[2] in ("of", "and", "or")
        if not in_name and not person:
            return "" if len(span.word) > 6 and span.word.lower().endswith(("man", "woman")) else "may be a name"
    elif term.role == "address":
        return ""
    elif term.role == "kin":
        if term.plural and (follows or beside):  # the Brothers Grimm, Irene Papas
            in_name = True
        elif beside and not follows and further is not None and not further.starts_sentence:  # Twisted Sister
            in_name = previous.lower() not in _BEFORE_KIN
        else:
            after_article = previous in ("The", "the", "a", "an", "A", "An") and not span.starts_sentence
            in_name = after_article and not follows and not span.after[0]
    elif span.starts_sentence:
        in_name = follows and span.after[1] in (" ", "-", " & ") and span.after[2][1:].islower()
    else:
        opened = further is not None and further.word in ("The", "A", "An") and further.starts_sentence
        alone = opened and not follows and " " not in span.word
        in_name = not alone and not term.word[0].isupper()  # Englishman
    return "part of a name or title" if in_name and not span.headline else ""


def _follows_opening_article(span: TextSpan) -> bool:
    previous = span.previous
    return previous is not None and previous.starts_sentence and previous.word.lower() in ARTICLES


_BARE = _WORDS["bare"]
_VERB_CUES = _WORDS["verb_cues"]
_VERBS = _WORDS["verbs"]
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
_HUMAN = _WORDS["human"]
_WEDDING = re.compile(
    r"\b(?:bride\w*|wedding|married|marry|marri\w+|altar|church|ceremony|vows?|ring|honeymoon|groomsm[ae]n)\b", re.I
)
_ADDRESS = re.compile(r"://|www\.|@\w|^[#@]|\w\.(?:com|org|net|de|uk|co|io|gov|edu|html?|txt|pdf|jpe?g|png|py|csv)\b")
_JOINING = frozenset("./@-_=&#?:\\%")


def is_part_of_address(text: str, start: int, end: int) -> bool:
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


def why_left(span: TextSpan, term: Term) -> str:
    """Why the word here is no person of its gender, or nothing."""
    for rule in _RULES.get(term.word.lower(), ()):
        if reason := rule(span):
            return reason
    if term.role == "pronoun":
        return is_deity(span, term)
    return is_part_of_name(span, term) if span.title_case else ""


def _check_verb(span: TextSpan) -> str:
    previous, clitic, gap = span.before
    word = previous.lower()
    if span.title_case and not span.starts_sentence:
        return ""
    if not gap.isspace() or clitic:
        return ""
    if word in DETERMINERS or span.after[0]:
        return ""
    following = span.after[2].lower()
    takes_object = following in ARTICLES or following in _OBJECTS
    if word in _SUBJECTS or (takes_object and (following in _OBJECTS or word.endswith("s"))):
        return "a verb"
    if word not in _VERB_CUES and not takes_object and following not in ("down", "up", "on"):
        return ""
    return "a verb" if span.tag().startswith("VV") else ""


def _check_man(span: TextSpan) -> str:
    previous, clitic, gap = span.before
    following, sign = span.after[2].lower(), span.after[1].strip()[:1]
    paired = bool(re.match(r"\s+(?:and|or)\s+(?:a\s+)?wom[ae]n\b|/wom", span.text[span.end : span.end + 15], re.I))
    if paired or clitic:
        return ""
    if span.starts_sentence or (gap.strip() == "," and sign in (",", ".", "!", "?", "")):
        if sign in (",", "!") or gap.strip() == ",":
            return "an exclamation"
        return "" if following in ("who", "in", "with", "on") or span.name_follows else "people in general"
    if previous.lower() in _BARE and gap.isspace():
        further = span.previous
        qualified = further is not None and further.before[0].lower() in DETERMINERS
        return "" if qualified and previous.lower() not in ("of", "and", "or") else "people in general"
    return ""


def _check_greeting(span: TextSpan) -> str:
    exclaimed = span.starts_sentence and span.after[1][:1] in (",", "!")
    return "addresses anyone" if exclaimed or span.before[0].lower() in _GREETED else ""


def _check_board_game(span: TextSpan) -> str:
    return "a piece, a card or a bee" if _BOARD.search(span.text, *span.sentence) else ""


def _check_count(span: TextSpan) -> str:
    if span.name_follows and span.title_case:
        return ""
    right = span.around(10)[1]
    if re.match(r"\s+of\s+(?![A-Z])", right):
        return "a number"
    near = " ".join(span.around(250))
    noble = re.match(r"\s+of\s+[A-Z]", right) or span.after[2].lower() in _HUMAN or _NOBLE.search(near)
    return "" if span.before[0].lower() in DETERMINERS and noble else "a number"


def _check_miss(span: TextSpan) -> str:
    alone = span.before[2].strip() == "," or span.before[0].lower() in ("yes", "no", "you", "dear", "young")
    return "" if alone and span.after[1].strip()[:1] in (",", ".", "!", "?", "”", '"', "'") else "a verb"


def _check_wedding(span: TextSpan) -> str:
    return "" if _WEDDING.search(" ".join(span.around(250))) else "no wedding is spoken of"


def _check_lord(span: TextSpan) -> str:
    if span.word == "lord" or span.name_follows:
        return ""
    return "" if span.before[0].lower() in ("my", "your", "a") and span.title_case else "the deity"


def _check_religious(span: TextSpan) -> str:
    return "a religious title" if span.title_case and span.name_follows and not span.headline else ""


_BEFORE_PROGRAMS = frozenset("setup installation configuration import install migration pinball".split())
Rule = Callable[[TextSpan], str]
_RULES: dict[str, tuple[Rule, ...]] = {
    **dict.fromkeys(_VERBS, (_check_verb,)),
    **dict.fromkeys(_RELIGIOUS, (_check_religious, _check_verb)),
    **dict.fromkeys(("king", "kings", "queen", "queens"), (_check_board_game,)),
    **dict.fromkeys(("gal", "gals"), (lambda span: "a measure" if span.before[0].isdecimal() else "",)),
    **dict.fromkeys(("count", "counts"), (_check_verb, _check_count)),
    **dict.fromkeys(("best man", "best men"), (_check_wedding,)),
    **dict.fromkeys(("groom", "grooms"), (_check_wedding, _check_verb)),
    "man": (_check_verb, _check_man),
    "boy": (lambda span: "an exclamation" if span.starts_sentence and span.after[1][:1] in (",", "!") else "",),
    "guys": (_check_greeting,),
    "earl": (lambda span: "may be a first name" if span.title_case and span.name_follows else "",),
    "miss": (_check_miss,),
    "lord": (_check_lord,),
    "wizard": (lambda span: "a program" if span.before[0].lower() in _BEFORE_PROGRAMS else "",),
}


_OFFICES = _WORDS["offices"]
_AND = r"(?:\s+(?:and|&|or)\s+|/)"
_AND_OTHER = re.compile(rf"\.?{_AND}(Mrs|Ms|Mr)\b", re.IGNORECASE)
_OTHER_AND = re.compile(rf"\b(Mrs|Ms|Mr)\.?{_AND}\Z", re.IGNORECASE)
_LORD_AND = re.compile(rf"\blords?{_AND}\Z", re.IGNORECASE)
_AND_LORD = re.compile(rf"{_AND}lords?\b", re.IGNORECASE)


def find_title(span: TextSpan, term: Term, words: GenderWords, to: str) -> tuple[Term, TextSpan] | str | None:
    """The title that a word is and how far it reaches, or why it must be left; None if it is no title."""
    word = span.word.lower()
    title = words.before_names.get(word)
    before_a_name = span.name_follows and (span.title_case or span.word.isupper())
    if word in ("madam", "madame") and before_a_name:
        if span.after[2].lower() in _OFFICES and to != "neutral":
            return Term(word, "female", "Mr.", span.word, "", role="title"), span
        return "a title with no counterpart"
    if word in ("lady", "ladies"):
        lord = _read_as_lord(span, term)
        if lord is not None:
            return lord, span
    if title is None:
        return None
    if word in ("mr", "mrs", "ms"):
        return _read_abbreviation(span, title, to)
    if before_a_name and not (word == "lady" and span.word.isupper()):  # THE LADY LEFT: no name
        return title, span
    return None if word in words.words else "stands before no name"


def _read_as_lord(span: TextSpan, term: Term) -> Term | None:
    """*My lady* and *lords and ladies*, which go with *lord* and not with *gentleman*."""
    left, right = span.around(12)
    addressed = span.before[0].lower() == "my" and not term.plural and span.after[1][:1] in (",", ".", "!", "?", '"')
    if addressed or _LORD_AND.search(left) or _AND_LORD.match(right):
        return replace(term, male="lords" if term.plural else "lord", neutral="nobles" if term.plural else "noble")
    return None


def _read_abbreviation(span: TextSpan, term: Term, to: str) -> tuple[Term, TextSpan] | str:
    """*Mr* and its kind, which are what they are unless letters of another meaning."""
    if span.word == "ms" or (span.word in ("MS", "MR", "mr") and not span.name_follows):
        return "stands before no name"
    if term.gender == "male" and span.name_follows and span.after[2].lower() in _OFFICES and to != "neutral":
        end = span.end + (span.text[span.end : span.end + 1] == ".")
        return replace(term, female="Madam"), TextSpan(span.text, span.start, end)
    beside = _AND_OTHER.match(span.text, span.end)
    before = _OTHER_AND.search(span.around(12)[0])
    other = beside[1] if beside else before[1] if before else ""
    if term.gender == "male" and other.lower() == "mrs":
        return replace(term, female="Mrs"), span
    return term, span


_LINK = re.compile(r"\s*(/|\s(?:and|or|&)\s)\s*(\w+)(?!\w)", re.IGNORECASE)
_BETWEEN = r"\s*(?:/|\s(?:and|or|&)\s)\s*"
_ARTICLE = r"(?:(?:the|an?)\s+)?"
_PRONOUNS = (
    frozenset(("he", "she")),
    frozenset(("him", "her")),
    frozenset(("his", "her")),
    frozenset(("his", "hers")),
    frozenset(("himself", "herself")),
)


def find_both_named(span: TextSpan, words: GenderWords, target: str, to: str) -> TextSpan | None:
    """The stretch that names both, if this word begins one and the whole becomes one word."""
    if to == "swap":
        return None
    match = _LINK.match(span.text, span.end, span.end + 40)
    if not match:
        return None
    first = words.words.get(span.word.lower())
    second = words.words.get(match[2].lower())
    if first is None or second is None or first.gender == second.gender:
        return None
    joined = match[1].strip().lower() in ("and", "&")
    if first.role == "pronoun":
        together = not joined and frozenset((first.word, second.word)) in _PRONOUNS
    else:
        together = second.becomes(to) == target and (first.plural or not joined)
    return TextSpan(span.text, span.start, match.end()) if together else None


def find_beside_neutral(span: TextSpan, words: GenderWords, target: str, to: str) -> TextSpan | None:
    """The stretch in which a one-way word stands beside the word it becomes: *actors and actresses*.

    *The host and the hostess* are two people: `swap` leaves them too, but they do not become one word.
    """
    if target.lower() in words.words or target.lower().rstrip(".") in words.before_names:
        return None
    article = _ARTICLE if to == "swap" else ""
    left, right = span.around(40)
    before = re.search(rf"(?<!\w){re.escape(target)}{_BETWEEN}{article}\Z", left, re.IGNORECASE)
    after = re.match(rf"{_BETWEEN}{article}{re.escape(target)}(?!\w)", right, re.IGNORECASE)
    if before is None and after is None:
        return None
    start = span.start - len(before[0]) if before else span.start
    return TextSpan(span.text, start, span.end + (len(after[0]) if after else 0))

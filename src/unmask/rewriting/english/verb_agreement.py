"""Verbs that agree with *they* where they agreed with *he* or *she*: *she has* becomes *they have*.

The verb after the pronoun is found by its position and ending; the tagger is used only for verbs that are joined to it
by *and*, *or* or *but* (*She sings and dances*).
"""

from __future__ import annotations

import re

from unmask.lexicon.table import read_word_sets
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.english import context
from unmask.rewriting.english.context import Place
from unmask.rewriting.result import Replacement, carry_case

_WORDS = read_word_sets("en")

_FORMS = {"is": "are", "was": "were", "has": "have", "does": "do", "'s": "'re"}
_ADVERBS = _WORDS["adverbs"]
_NO_VERBS = _WORDS["no_verbs"]
_NOT_INVERTED = _WORDS["not_inverted"]
_OPENERS = _WORDS["openers"]
_PERFECT = _WORDS["perfect"]
_OBJECTS = _WORDS["objects"]
_PRONOUNS = frozenset("me him them it us you".split())
_JOINS = frozenset(("and", "or", "but", "then", ","))
_BEFORE_VERBS = frozenset("always never often also still just soon usually rarely seldom sometimes even".split())
_ASKING = frozenset("what whatever where wherever when whenever how why".split())
_CLAUSES = ("CJS", "CJT", "PNQ", "DTQ", "AVQ")
_PRESENT = ("VVZ", "VBZ", "VHZ", "VDZ")
_IE = frozenset("belies unties underlies overlies outvies".split())
_E = frozenset("aches caches axes tiptoes canoes hoes shoes toes".split())
_US = frozenset("focuses refocuses buses biases gases canvases trespasses".split())


def plural_verb(verb: str) -> str:
    """The verb of *she* as the verb of *they*."""
    word = verb.lower()
    if word in _FORMS:
        return carry_case(verb, _FORMS[word])
    if word in ("quizzes", "whizzes"):
        return carry_case(verb, word[:-3])
    if word.endswith("ies") and len(word) > 4 and word not in _IE:
        base = word[:-3] + "y"
    elif word in _E:
        base = word[:-1]
    elif word in _US or word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        base = word[:-2]
    else:
        base = word[:-1]
    return carry_case(verb, base)


def change_verbs(place: Place) -> list[Replacement]:
    """What has to change around a *he* or *she* that becomes *they*, in order."""
    start, end = place.sentence
    tokens = context.split_tokens(place.text, start, end)
    here = next((at for at, token in enumerate(tokens) if token.start >= place.start), None)
    after = next((at for at, token in enumerate(tokens) if token.start >= place.end), len(tokens))
    if here is None:
        return []
    inverted = _inverted(tokens, here, after)
    if inverted is not None:
        if tokens[inverted].text.lower() in ("'s", "’s"):
            return [_written_out(tokens, inverted, after)]
        return [_change(tokens[inverted])]
    if relative := _relative(tokens, here, after):
        return [_change(tokens[at]) for at in relative]
    first = _verb(tokens, after)
    if first is None:
        return []
    changes = []
    token = tokens[first]
    if token.text.lower() in ("'s", "’s"):
        changes.append(_contracted(tokens, first))
    elif _agrees(token.text):
        changes.append(_change(token))
    return changes + [_change(tokens[at]) for at in _joined(tokens, first)]


def _change(token: context.Token) -> Replacement:
    if token.text.lower() in ("'s", "’s"):
        new = token.text[0] + ("RE" if token.text[1].isupper() else "re")
    else:
        new = plural_verb(token.text)
    return Replacement(token.start, token.end, token.text, new, token.text.lower(), "verb")


def _contracted(tokens: list[context.Token], at: int) -> Replacement:
    """*she's* as *they're* or *they've*."""
    token = tokens[at]
    new = token.text[0] + ("ve" if _perfect(tokens, at + 1) else "re")
    return Replacement(
        token.start, token.end, token.text, new.upper() if token.text[1].isupper() else new, "'s", "verb"
    )


def _written_out(tokens: list[context.Token], at: int, after: int) -> Replacement:
    """*what's she* as *what are they* or *what have they*."""
    token = tokens[at]
    new = " have" if _perfect(tokens, after) else " are"
    return Replacement(
        token.start, token.end, token.text, new.upper() if token.text[1].isupper() else new, "'s", "verb"
    )


def _perfect(tokens: list[context.Token], at: int) -> bool:
    """Whether *'s* before a place means *has*: *she's been*, *she's eaten the cake*."""
    words = [one.text.lower() for one in tokens[at : at + 4]]
    while words and is_adverbial(words[0]):
        words.pop(0)
    participle = words[0] if words else ""
    following = words[1] if len(words) > 1 else ""
    if participle in _PERFECT:
        return following not in ("by", "of", "from", "for", "into", "as")
    return bool(re.search(r"(?:ed|en|t)$", participle)) and following in _OBJECTS


def _relative(tokens: list[context.Token], here: int, after: int) -> list[int]:
    """The verbs of *she who laughs last laughs best* and *she, who has won, is glad*."""
    words = [token.text.lower() for token in tokens]
    comma = words[after : after + 1] == [","]
    who = after + comma
    if words[who : who + 1] != ["who"]:
        return []
    own = _verb(tokens, who + 1)
    if own is None:
        return []
    found = [own] if _agrees(words[own]) else []
    if words[max(0, here - 2) : here] in (["it", "is"], ["it", "was"]):
        return found
    if comma:
        closing = next((at for at in range(own + 1, len(words)) if words[at] == ","), len(words))
        main = _verb(tokens, closing + 1)
    else:
        tags = tag_words([token.text for token in tokens[own:]])
        main = next((own + at for at, tag in enumerate(tags) if at and tag in _PRESENT), None)
    return found + ([main] if main is not None and _agrees(words[main]) else [])


def _verb(tokens: list[context.Token], at: int) -> int | None:
    """The verb after the pronoun, past adverbs and what stands between two commas."""
    while at < len(tokens):
        word = tokens[at].text.lower()
        if word == ",":
            closing = next((k for k in range(at + 1, min(at + 9, len(tokens))) if tokens[k].text == ","), None)
            if closing is None:
                return None
            at = closing + 1
        elif word in ("'s", "’s") or _agrees(word):
            return at
        elif is_adverbial(word):
            at += 1
        else:
            return at if word.isalpha() and word not in ("and", "or") else None
    return None


def is_adverbial(word: str) -> bool:
    """Whether a word may stand between a subject and its verb."""
    word = word.lower()
    return word in _ADVERBS or (word.endswith("ly") and word not in ("rely", "apply", "reply", "fly", "comply"))


def _agrees(word: str) -> bool:
    """Whether a word looks like the verb of one person."""
    word = word.lower()
    if word in _FORMS:
        return True
    return word.endswith("s") and not word.endswith("ss") and len(word) > 2 and word not in _NO_VERBS | _ADVERBS


def _inverted(tokens: list[context.Token], here: int, after: int) -> int | None:
    """The verb before the pronoun in a question, if it is one."""
    at = here - 1
    if at >= 0 and tokens[at].text.lower() in ("n't", "n’t", "not"):
        at -= 1
    if at < 0 or tokens[at].text.lower() not in (*_FORMS, "’s"):
        return None
    opener = tokens[at - 1].text.lower() if at > 0 else ""
    if tokens[at].text.lower() in ("'s", "’s") and opener not in _OPENERS:
        return None
    if not opener or opener in _OPENERS or not opener[0].isalnum():
        following = tokens[after].text.lower() if after < len(tokens) else ""
        finite = tokens[at].text.lower() in ("is", "was", "'s") and (following in _NOT_INVERTED or _agrees(following))
        return None if finite and opener not in ("", "why", "where", "when", "how") else at
    following = tokens[after].text.lower() if after < len(tokens) else ""
    if (
        following in _NOT_INVERTED
        or _agrees(following)
        or following.endswith("ed")
        or following in ("'s", "’s", "'d", "'ll")
    ):
        return None
    return at if tokens[-1].text == "?" else None


def _joined(tokens: list[context.Token], first: int) -> list[int]:
    """The verbs that share the subject: after *and*, *or*, *but*, or in a list of verbs (*sings, dances and acts*)."""
    candidates: dict[int, bool] = {}  # where a verb may be joined, and whether the words beside it say that it is one
    verb = first if _agrees(tokens[first].text) else -1
    for at in range(first + 1, len(tokens)):
        if tokens[at].text.lower() in _JOINS:
            adverb = False
            k = at + 1
            while k < len(tokens) and (is_adverbial(tokens[k].text) or tokens[k].text.lower() in _JOINS):
                adverb |= tokens[k].text.lower() in _BEFORE_VERBS
                k += 1
            if k < len(tokens) and _agrees(tokens[k].text):
                follows = tokens[k + 1].text.lower() if k + 1 < len(tokens) else ""
                directly = at == verb + 1  # sings, dances and acts
                candidates[k] = adverb or directly or follows in _PRONOUNS
                verb = k if candidates[k] else verb
    if not candidates:
        return []
    tags = tag_words([token.text for token in tokens[first : max(candidates) + 2]])
    sure = any(tags[at - first] in _PRESENT or adverb for at, adverb in candidates.items())
    found: list[int] = []
    asked = False
    for at in range(first + 1, max(candidates) + 1):
        tag = tags[at - first]
        if at in candidates and (
            tag in _PRESENT
            or candidates[at]
            or tokens[at].text.lower() == "was"
            or (sure and _listed(tokens, tags, first, at))
        ):
            found.append(at)
        elif tokens[at].text.lower() in _ASKING:
            asked = True  # what happens: a clause with a verb of its own
        elif tag in _CLAUSES or (tokens[at].text in (";", "—", ":") and not tokens[at - 1].text.isdecimal()):
            break
        elif tag in _PRESENT and tokens[at].text[0].isalpha():
            if not asked:
                break  # a verb of somebody else
            asked = False
    return found if any(tokens[k - 1].text != "," for k in found) else []


def _listed(tokens: list[context.Token], tags: list[str], first: int, at: int) -> bool:
    """Whether a word that may be a noun is one more verb of a list that has others: *looks around*, *and leaves*."""
    joined = max(k for k in range(first, at) if tokens[k].text.lower() in _JOINS)
    follows = tags[at + 1 - first] if at + 1 - first < len(tags) else "PUN"
    return tags[joined - 1 - first] != "NN2" and follows in ("PRP", "AVP", "AT0", "DPS", "DT0", "PUN", "AV0")

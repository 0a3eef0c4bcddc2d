"""Verbs that agree with *they* where they agreed with *he* or *she*: *she has* becomes *they have*.

The verb after the pronoun is found by its position and ending; the tagger is used only for verbs that are joined to it
by *and*, *or* or *but* (*She sings and dances*).
"""

from __future__ import annotations

import re

from unmask.lexicon.table import read_word_sets
from unmask.lexicon.tagging import tag_words
from unmask.rewriting.english.context import TextSpan, split_tokens
from unmask.rewriting.result import Replacement, Token, carry_case

_WORDS = read_word_sets("en")

CLITIC = ("'s", "’s")
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


def change_verbs(span: TextSpan) -> list[Replacement]:
    """What has to change around a *he* or *she* that becomes *they*, in order."""
    start, end = span.sentence
    tokens = split_tokens(span.text, start, end)
    here = next((index for index, token in enumerate(tokens) if token.start >= span.start), None)
    after = next((index for index, token in enumerate(tokens) if token.start >= span.end), len(tokens))
    if here is None:
        return []
    inverted = _find_inverted_verb(tokens, here, after)
    if inverted is not None:
        if tokens[inverted].text.lower() in CLITIC:  # *what's she* becomes *what are they* or *what have they*
            return [_replace_clitic(tokens[inverted], " have" if _means_has(tokens, after) else " are")]
        return [_change_verb(tokens[inverted])]
    if relative := _find_relative_verbs(tokens, here, after):
        return [_change_verb(tokens[index]) for index in relative]
    first = _find_verb(tokens, after)
    if first is None:
        return []
    changes = []
    token = tokens[first]
    if token.text.lower() in CLITIC:  # *she's* becomes *they're* or *they've*
        changes.append(_replace_clitic(token, token.text[0] + ("ve" if _means_has(tokens, first + 1) else "re")))
    elif _is_singular(token.text):
        changes.append(_change_verb(token))
    return changes + [_change_verb(tokens[index]) for index in _find_joined_verbs(tokens, first)]


def _change_verb(token: Token) -> Replacement:
    if token.text.lower() in CLITIC:
        new = token.text[0] + ("RE" if token.text[1].isupper() else "re")
    else:
        new = plural_verb(token.text)
    return Replacement(token.start, token.end, token.text, new, token.text.lower(), "verb")


def _replace_clitic(token: Token, new: str) -> Replacement:
    new = new.upper() if token.text[1].isupper() else new
    return Replacement(token.start, token.end, token.text, new, "'s", "verb")


def _means_has(tokens: list[Token], index: int) -> bool:
    """Whether *'s* before a token means *has*: *she's been*, *she's eaten the cake*."""
    words = [token.text.lower() for token in tokens[index : index + 4]]
    while words and is_adverbial(words[0]):
        words.pop(0)
    participle = words[0] if words else ""
    following = words[1] if len(words) > 1 else ""
    if participle in _PERFECT:
        return following not in ("by", "of", "from", "for", "into", "as")
    return bool(re.search(r"(?:ed|en|t)$", participle)) and following in _OBJECTS


def _find_relative_verbs(tokens: list[Token], here: int, after: int) -> list[int]:
    """The verbs of *she who laughs last laughs best* and *she, who has won, is glad*."""
    words = [token.text.lower() for token in tokens]
    comma = words[after : after + 1] == [","]
    who = after + comma
    if words[who : who + 1] != ["who"]:
        return []
    own_verb = _find_verb(tokens, who + 1)
    if own_verb is None:
        return []
    verbs = [own_verb] if _is_singular(words[own_verb]) else []
    if words[max(0, here - 2) : here] in (["it", "is"], ["it", "was"]):
        return verbs
    if comma:
        closing = next((index for index in range(own_verb + 1, len(words)) if words[index] == ","), len(words))
        main = _find_verb(tokens, closing + 1)
    else:
        tags = tag_words([token.text for token in tokens[own_verb:]])
        main = next((own_verb + index for index, tag in enumerate(tags) if index and tag in _PRESENT), None)
    return verbs + ([main] if main is not None and _is_singular(words[main]) else [])


def _find_verb(tokens: list[Token], index: int) -> int | None:
    """The verb after the pronoun, past adverbs and what stands between two commas."""
    while index < len(tokens):
        word = tokens[index].text.lower()
        if word == ",":
            near = range(index + 1, min(index + 9, len(tokens)))
            closing = next((later for later in near if tokens[later].text == ","), None)
            if closing is None:
                return None
            index = closing + 1
        elif word in CLITIC or _is_singular(word):
            return index
        elif is_adverbial(word):
            index += 1
        else:
            return index if word.isalpha() and word not in ("and", "or") else None
    return None


def is_adverbial(word: str) -> bool:
    """Whether a word may stand between a subject and its verb."""
    word = word.lower()
    return word in _ADVERBS or (word.endswith("ly") and word not in ("rely", "apply", "reply", "fly", "comply"))


def _is_singular(word: str) -> bool:
    """Whether a word looks like the verb of one person."""
    word = word.lower()
    if word in _FORMS:
        return True
    return word.endswith("s") and not word.endswith("ss") and len(word) > 2 and word not in _NO_VERBS | _ADVERBS


def _find_inverted_verb(tokens: list[Token], here: int, after: int) -> int | None:
    """The verb before the pronoun in a question, if it is one."""
    index = here - 1
    if index >= 0 and tokens[index].text.lower() in ("n't", "n’t", "not"):
        index -= 1
    if index < 0 or tokens[index].text.lower() not in (*_FORMS, "’s"):
        return None
    opener = tokens[index - 1].text.lower() if index > 0 else ""
    if tokens[index].text.lower() in CLITIC and opener not in _OPENERS:
        return None
    if not opener or opener in _OPENERS or not opener[0].isalnum():
        following = tokens[after].text.lower() if after < len(tokens) else ""
        finite = following in _NOT_INVERTED or _is_singular(following)
        finite = finite and tokens[index].text.lower() in ("is", "was", "'s")
        return None if finite and opener not in ("", "why", "where", "when", "how") else index
    following = tokens[after].text.lower() if after < len(tokens) else ""
    contracted = following in (*CLITIC, "'d", "'ll")
    if following in _NOT_INVERTED or _is_singular(following) or following.endswith("ed") or contracted:
        return None
    return index if tokens[-1].text == "?" else None


def _find_joined_verbs(tokens: list[Token], first: int) -> list[int]:
    """The verbs that share the subject: after *and*, *or*, *but*, or in a list of verbs (*sings, dances and acts*)."""
    candidates: dict[int, bool] = {}  # where a verb may be joined, and whether the words beside it say that it is one
    verb = first if _is_singular(tokens[first].text) else -1
    for index in range(first + 1, len(tokens)):
        if tokens[index].text.lower() in _JOINS:
            adverb = False
            later = index + 1
            while later < len(tokens) and (is_adverbial(tokens[later].text) or tokens[later].text.lower() in _JOINS):
                adverb |= tokens[later].text.lower() in _BEFORE_VERBS
                later += 1
            if later < len(tokens) and _is_singular(tokens[later].text):
                follows = tokens[later + 1].text.lower() if later + 1 < len(tokens) else ""
                directly = index == verb + 1  # sings, dances and acts
                candidates[later] = adverb or directly or follows in _PRONOUNS
                verb = later if candidates[later] else verb
    if not candidates:
        return []
    tags = tag_words([token.text for token in tokens[first : max(candidates) + 2]])
    sure = any(tags[index - first] in _PRESENT or adverb for index, adverb in candidates.items())
    verbs: list[int] = []
    after_question_word = False
    for index in range(first + 1, max(candidates) + 1):
        tag = tags[index - first]
        if index in candidates and (
            tag in _PRESENT
            or candidates[index]
            or tokens[index].text.lower() == "was"
            or (sure and _is_listed(tokens, tags, first, index))
        ):
            verbs.append(index)
        elif tokens[index].text.lower() in _ASKING:
            after_question_word = True  # what happens: a clause with a verb of its own
        elif tag in _CLAUSES or (tokens[index].text in (";", "—", ":") and not tokens[index - 1].text.isdecimal()):
            break
        elif tag in _PRESENT and tokens[index].text[0].isalpha():
            if not after_question_word:
                break  # a verb of somebody else
            after_question_word = False
    return verbs if any(tokens[later - 1].text != "," for later in verbs) else []


def _is_listed(tokens: list[Token], tags: list[str], first: int, index: int) -> bool:
    """Whether a word that may be a noun is one more verb of a list that has others: *looks around*, *and leaves*."""
    joined = max(earlier for earlier in range(first, index) if tokens[earlier].text.lower() in _JOINS)
    follows = tags[index + 1 - first] if index + 1 - first < len(tags) else "PUN"
    return tags[joined - 1 - first] != "NN2" and follows in ("PRP", "AVP", "AT0", "DPS", "DT0", "PUN", "AV0")

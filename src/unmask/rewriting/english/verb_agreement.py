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
    tokens = split_tokens(span.text, *span.sentence)
    words = [token.text.lower() for token in tokens]
    here = next((index for index, token in enumerate(tokens) if token.start >= span.start), None)
    after = next((index for index, token in enumerate(tokens) if token.start >= span.end), len(tokens))
    if here is None:
        return []
    inverted = _find_inverted_verb(words, here, after)
    if inverted is not None:
        if words[inverted] in CLITIC:  # *what's she* becomes *what are they* or *what have they*
            return [_replace_clitic(tokens[inverted], " have" if _means_has(words, after) else " are")]
        return [_change_verb(tokens[inverted])]
    if relative := _find_relative_verbs(tokens, words, here, after):
        return [_change_verb(tokens[index]) for index in relative]
    first = _find_verb(words, after)
    if first is None:
        return []
    changes = []
    token = tokens[first]
    if words[first] in CLITIC:  # *she's* becomes *they're* or *they've*
        changes.append(_replace_clitic(token, token.text[0] + ("ve" if _means_has(words, first + 1) else "re")))
    elif _is_singular(words[first]):
        changes.append(_change_verb(token))
    return changes + [_change_verb(tokens[index]) for index in _find_joined_verbs(tokens, words, first)]


def _change_verb(token: Token) -> Replacement:
    if token.text.lower() in CLITIC:
        new = token.text[0] + ("RE" if token.text[1].isupper() else "re")
    else:
        new = plural_verb(token.text)
    return Replacement(token.start, token.end, token.text, new, token.text.lower(), "verb")


def _replace_clitic(token: Token, new: str) -> Replacement:
    new = new.upper() if token.text[1].isupper() else new
    return Replacement(token.start, token.end, token.text, new, "'s", "verb")


def _means_has(words: list[str], index: int) -> bool:
    """Whether *'s* before a word means *has*: *she's been*, *she's eaten the cake*."""
    near = words[index : index + 4]
    while near and is_adverbial(near[0]):
        near.pop(0)
    participle, following, *_ = [*near, "", ""]
    if participle in _PERFECT:
        return following not in ("by", "of", "from", "for", "into", "as")
    return bool(re.search(r"(?:ed|en|t)$", participle)) and following in _OBJECTS


def _find_relative_verbs(tokens: list[Token], words: list[str], here: int, after: int) -> list[int]:
    """The verbs of *she who laughs last laughs best* and *she, who has won, is glad*."""
    comma = words[after : after + 1] == [","]
    who = after + comma
    if words[who : who + 1] != ["who"]:
        return []
    own_verb = _find_verb(words, who + 1)
    if own_verb is None:
        return []
    verbs = [own_verb] if _is_singular(words[own_verb]) else []
    if words[max(0, here - 2) : here] in (["it", "is"], ["it", "was"]):
        return verbs
    if comma:
        closing = next((index for index in range(own_verb + 1, len(words)) if words[index] == ","), len(words))
        main = _find_verb(words, closing + 1)
    else:
        tags = tag_words([token.text for token in tokens[own_verb:]])
        main = next((own_verb + index for index, tag in enumerate(tags) if index and tag in _PRESENT), None)
    return verbs + ([main] if main is not None and _is_singular(words[main]) else [])


def _find_verb(words: list[str], index: int) -> int | None:
    """The verb after the pronoun, past adverbs and what stands between two commas."""
    while index < len(words):
        word = words[index]
        if word == ",":
            if "," not in words[index + 1 : index + 9]:
                return None
            index = words.index(",", index + 1) + 1
        elif word in CLITIC or _is_singular(word):
            return index
        elif is_adverbial(word):
            index += 1
        else:
            return index if word.isalpha() and word not in ("and", "or") else None
    return None


def is_adverbial(word: str) -> bool:
    """Whether a word in lower case may stand between a subject and its verb."""
    return word in _ADVERBS or (word.endswith("ly") and word not in ("rely", "apply", "reply", "fly", "comply"))


def _is_singular(word: str) -> bool:
    """Whether a word in lower case looks like the verb of one person."""
    if word in _FORMS:
        return True
    return word.endswith("s") and not word.endswith("ss") and len(word) > 2 and word not in _NO_VERBS | _ADVERBS


def _find_inverted_verb(words: list[str], here: int, after: int) -> int | None:
    """The verb before the pronoun in a question, if it is one."""
    index = here - 1
    if index >= 0 and words[index] in ("n't", "n’t", "not"):
        index -= 1
    if index < 0 or words[index] not in (*_FORMS, "’s"):
        return None
    opener = words[index - 1] if index > 0 else ""
    if words[index] in CLITIC and opener not in _OPENERS:
        return None
    following = words[after] if after < len(words) else ""
    finite = following in _NOT_INVERTED or _is_singular(following)
    if not opener or opener in _OPENERS or not opener[0].isalnum():
        finite = finite and words[index] in ("is", "was", "'s")
        return None if finite and opener not in ("", "why", "where", "when", "how") else index
    if finite or following.endswith("ed") or following in (*CLITIC, "'d", "'ll"):
        return None
    return index if words[-1] == "?" else None


def _find_joined_verbs(tokens: list[Token], words: list[str], first: int) -> list[int]:
    """The verbs that share the subject: after *and*, *or*, *but*, or in a list of verbs (*sings, dances and acts*)."""
    candidates: dict[int, bool] = {}  # where a verb may be joined, and whether the words beside it say that it is one
    verb = first if _is_singular(words[first]) else -1
    for index in range(first + 1, len(words)):
        if words[index] in _JOINS:
            adverb = False
            later = index + 1
            while later < len(words) and (is_adverbial(words[later]) or words[later] in _JOINS):
                adverb |= words[later] in _BEFORE_VERBS
                later += 1
            if later < len(words) and _is_singular(words[later]):
                follows = words[later + 1] if later + 1 < len(words) else ""
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
            or words[index] == "was"
            or (sure and _is_listed(words, tags, first, index))
        ):
            verbs.append(index)
        elif words[index] in _ASKING:
            after_question_word = True  # what happens: a clause with a verb of its own
        elif tag in _CLAUSES or (words[index] in (";", "—", ":") and not words[index - 1].isdecimal()):
            break
        elif tag in _PRESENT and words[index][0].isalpha():
            if not after_question_word:
                break  # a verb of somebody else
            after_question_word = False
    return verbs if any(words[later - 1] != "," for later in verbs) else []


def _is_listed(words: list[str], tags: list[str], first: int, index: int) -> bool:
    """Whether a word that may be a noun is one more verb of a list that has others: *looks around*, *and leaves*."""
    joined = max(earlier for earlier in range(first, index) if words[earlier] in _JOINS)
    follows = tags[index + 1 - first] if index + 1 - first < len(tags) else "PUN"
    return tags[joined - 1 - first] != "NN2" and follows in ("PRP", "AVP", "AT0", "DPS", "DT0", "PUN", "AV0")

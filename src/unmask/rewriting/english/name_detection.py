"""Where first names stand in a text.

Capitalised words are looked up; the words around a known name decide whether it is one there. In a run of capitalised
words the last is the surname and stays (`James Dean`, `George W. Bush`), as does a name alone after `Mr.` and the like;
later mentions of a surname alone stay too, unless the document has it as a first name as well. First and middle names
are exchanged (`James Earl Jones`); a middle name of the other gender is a family's name and stays (`Mary Tyler Moore`).
Two female names, of which the second is no surname, are one double name (`Mary Ann`). Names of streets, schools, prizes
and towns stay.

A name that is also a word, a month or a place (see `lexicon.names`) counts as a name only with evidence: the words
before and after it, a surname after it, or another occurrence in the document. At the start of a sentence, where every
word is capitalised, a part-of-speech tagger reads that one sentence. Where nothing decides, the text is left alone.

It does not distinguish people from what is named after them (a film, a band), nor a surname from a first name where a
document has it only alone, unless it is a surname far more often (`Jackson`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from unmask.rewriting.english.name_context import (
    CONTEXT,
    NAME,
    NameToken,
    begins_sentence,
    find_runs,
    follows_nickname,
    is_inside_other,
    may_be_name,
    name_kinds,
    names_a_place,
    next_word,
    part_of_speech,
    word_before,
)
from unmask.rewriting.english.name_exchange import Exchange, Gender

_MEANINGS = frozenset(("word", "adjective", "title", "month", "place", "seldom"))
_TAGGED = frozenset(("word", "adjective", "title"))
_TITLES = CONTEXT["surname_title"] | CONTEXT["first_title"]
_BEFORE_FAMILY = CONTEXT["particle"] | {"née", "nee", "né"}
_FUNCTION, _PARTICLES = CONTEXT["function"], CONTEXT["particle"]


@dataclass(frozen=True, slots=True)
class Name:
    """A place where a first name stands. `name` is what to look up: of `Jean-Paul` it is `Paul`, for the whole."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class _Setting:
    """How a group of words stands in its text."""

    before: str = ""
    """The word before it, in lower case."""
    begins: bool = False
    """Whether it begins a sentence, so that its first word would be capitalised anyway."""
    titled: bool = False
    """Whether small words around it are capitalised, as in the title of a work."""


@dataclass(slots=True)
class _Document:
    """What a document tells of its names."""

    text: str
    genders: Mapping[str, Gender]
    firsts: set[str] = field(default_factory=set)
    """Names seen before a surname, or after a title that goes with first names."""
    lasts: set[str] = field(default_factory=set)
    """Names seen as surnames."""
    clear: set[str] = field(default_factory=set)
    """Words seen as names where only names are capitalised."""
    verdicts: dict[int, tuple[NameToken, bool | Callable[[], bool]]] = field(default_factory=dict)
    """By where a word starts; a function is asked when the whole document has been read."""

    def note_first(self, token: NameToken) -> None:
        """Note a first name."""
        self.firsts.add(token.key)
        self.verdicts[token.start] = token, True

    def note_last(self, token: NameToken) -> None:
        """Note a surname."""
        self.lasts.add(token.key)
        self.verdicts[token.start] = token, False

    def gender(self, token: NameToken) -> Gender | None:
        """The gender of a name; of a double one that of its parts if they agree, of `Jean-Paul` that of `Paul`."""
        if token.key in self.genders or "-" not in token.key:
            return self.genders.get(token.key)
        first, *rest = token.key.split("-")
        genders = {self.genders.get(part) for part in (rest if first == "jean" else (first, *rest))}
        return genders.pop() if len(genders) == 1 else None


def find_names(text: str, exchange: Exchange) -> list[Name]:
    """The places of a document where a first name stands that has to be exchanged, in order."""
    document = _Document(text, exchange.genders)
    for run in find_runs(text, exchange.genders):
        _read_run(document, run)
    names: list[Name] = []
    for start in sorted(document.verdicts):
        token, verdict = document.verdicts[start]
        if (verdict if isinstance(verdict, bool) else verdict()) and not is_inside_other(text, token.start, token.end):
            names += _split_name(token, exchange)
    return names


def _read_run(document: _Document, run: Sequence[NameToken]) -> None:
    """Cut a run at small words, which only a sentence's start or the title of a work capitalises; judge each part."""
    starts = begins_sentence(document.text, run[0].start)
    group: list[NameToken] = []
    lead, titled = "", False
    for token in run:
        if token.key in _FUNCTION and (not token.initial or token.text in "AI"):
            _judge_group(document, group, _Setting(lead, starts and not lead, titled))
            titled |= bool(lead or group or not starts) and token.text != "I"
            group, lead = [], token.key
        elif group and _is_shouted(token) != _is_shouted(group[-1]) and token.key not in CONTEXT["suffix"]:
            _judge_group(document, group, _Setting(lead, starts and not lead, titled))
            group, lead = [token], group[-1].key  # `the BEST Mary`
        else:
            group.append(token)
    _judge_group(document, group, _Setting(lead, starts and not lead, titled))


def _is_shouted(token: NameToken) -> bool:
    return token.text.isupper() and not token.initial


def _judge_group(document: _Document, group: list[NameToken], setting: _Setting) -> None:
    """Find the person's name in a group of capitalised words."""
    names = [token for token in group if document.gender(token)]
    if not names or (len(group) == 1 and is_inside_other(document.text, names[0].start, names[0].end)):
        return
    if any(token.text.isupper() for token in names):
        _judge_capitals(document, group)
        return
    title = ""
    cut = _find_name_start(document, group)
    if cut:
        title = group[cut - 1].key
        group, setting = group[cut:], _Setting(title, False, setting.titled)
    numbered = False
    while len(group) > 1 and group[-1].key in CONTEXT["suffix"]:
        numbered, group = True, group[:-1]
    ambiguous_start = len(group) > 1 and setting.begins and bool(name_kinds(group[0].key) & _TAGGED)
    if ambiguous_start and not _opens_with_name(document.text, group):
        group, setting = group[1:], _Setting(group[0].key, False, setting.titled)
    if not setting.before:
        setting = _Setting(word_before(document.text, group[0].start), setting.begins, setting.titled)
    if not any(document.gender(token) for token in group) or names_a_place(document.text, group, setting.before):
        return
    if len(group) == 1:
        _judge_alone(document, group[0], title, setting)
    elif numbered and title in CONTEXT["first_title"]:
        for token in filter(document.gender, group):  # a pope or king with a number has first names only
            document.note_first(token)
    else:
        _judge_full(document, group, setting)


def _find_name_start(document: _Document, group: Sequence[NameToken]) -> int:
    """Where the name begins in a group: after the last title or institution, unless a first name stands before it."""
    for index in range(len(group) - 1, 0, -1):
        key, before = group[index - 1].key, group[index - 2].key if index > 1 else ""
        if key in CONTEXT["institution"] and before:
            return index
        if key in _TITLES and (before in _TITLES or before not in document.genders):
            return index
    return 0


def _opens_with_name(text: str, group: Sequence[NameToken]) -> bool:
    """Whether a sentence begins with a name, not with a word before one: `Will Smith came`, `Will John come?`."""
    first = part_of_speech(text, group[0])
    return first == NAME or (
        first[0] != "V" and "seldom" not in name_kinds(group[0].key) and part_of_speech(text, group[1]) == NAME
    )


def _judge_full(document: _Document, group: Sequence[NameToken], setting: _Setting) -> None:
    """Two words or more: the last is the surname, unless the two are a double first name."""
    first, last = group[0], group[-1]
    gender = document.gender(first)
    if len(group) == 2 and gender is None and not first.initial and setting.begins:
        if document.gender(last):  # `Yesterday John` or `Barack James`: the tagger knows whether the first is a name
            alone = _Setting(titled=setting.titled)
            document.verdicts[last.start] = (
                last,
                lambda: part_of_speech(document.text, first) != NAME and _is_name_alone(document, last, alone),
            )
        return
    double = "second" in name_kinds(last.key) and gender == document.gender(last) == "female" and not last.joined
    if document.gender(last) and not double:
        document.note_last(last)
    for number, token in enumerate(group if double else group[:-1]):
        own_gender = document.gender(token)
        if own_gender is None or token.joined:
            continue
        if number == 0 or (gender is None and number < len(group) - 1 and name_kinds(token.key) & _MEANINGS):
            _judge_first(document, token, group[number + 1], setting)
        elif token.key not in _PARTICLES and group[number - 1].key not in CONTEXT["before"]:
            family = gender and ("surname" in name_kinds(token.key) or len({gender, own_gender} - {"either"}) > 1)
            document.verdicts[token.start] = token, not family


def _judge_first(document: _Document, token: NameToken, after: NameToken, setting: _Setting) -> None:
    """A name before another capitalised word; ambiguous are `Rose Garden`, `Paris Opera`, `Star Trek`."""
    kinds = name_kinds(token.key)
    before_surname = after.initial or "surname" in name_kinds(after.key) or after.key in document.genders
    if not kinds & _MEANINGS:
        document.note_first(token)
    elif (
        setting.titled
        or setting.before in ("the", "a", "an")
        or ("place" in kinds and setting.before in CONTEXT["surely_place_before"])
    ):
        document.verdicts[token.start] = token, False
    elif "seldom" in kinds and not before_surname:
        document.verdicts[token.start] = token, lambda: token.key in document.firsts
    else:
        document.note_first(token)


def _judge_alone(document: _Document, token: NameToken, title: str, setting: _Setting) -> None:
    """A name alone, or alone after a title."""
    kinds = name_kinds(token.key)
    is_girl = title == "miss" and document.gender(token) == "female" and not kinds
    is_surname = token.joined or setting.before in _BEFORE_FAMILY or follows_nickname(document.text, token.start)
    if is_surname or (title in CONTEXT["surname_title"] and not is_girl):
        document.note_last(token)
    elif title in _TITLES and "surname" not in kinds:
        document.note_first(token)
    else:
        document.verdicts[token.start] = token, lambda: _is_name_alone(document, token, setting)
        is_plain_word = kinds & _TAGGED and not kinds & {"surname", "seldom", "adjective"}
        mid_sentence = not setting.begins and not setting.titled
        if is_plain_word and mid_sentence and may_be_name(document.text, token, setting.before, proved=False):
            document.clear.add(token.key)


def _is_name_alone(document: _Document, token: NameToken, setting: _Setting) -> bool:
    """Whether a word that stands alone is a first name, when all of the document is known."""
    kinds = name_kinds(token.key)
    proved = token.key in document.firsts
    if not proved and (token.key in document.lasts or "surname" in kinds or "seldom" in kinds):
        return False
    if not kinds & _MEANINGS:
        return True
    if setting.titled or not may_be_name(document.text, token, setting.before, proved):
        return False
    if kinds & _TAGGED and (setting.begins or ("adjective" in kinds and not proved)):
        if token.key in CONTEXT["auxiliary"] and next_word(document.text, token.end) in CONTEXT["auxiliary"]:
            return True  # `Will will come`: one of the two has to be a name
        part = part_of_speech(document.text, token)
        if "month" not in kinds:
            return part == NAME or ((proved or token.key in document.clear) and part[0] != "V")
        proved |= token.key in document.clear
        return proved and part[0] != "V"  # a month is tagged as a name too
    return True


def _judge_capitals(document: _Document, group: Sequence[NameToken]) -> None:
    """Words in capitals: an all-capitals text, an emphasis (`MARY!`), or letters that stand for something (`ART`)."""
    around = [letter for letter in document.text[max(0, group[0].start - 60) : group[-1].end + 60] if letter.isalpha()]
    shouted = len(around) > 12 and sum(letter.isupper() for letter in around) > 0.8 * len(around)
    named = False
    for token in group:
        sure = document.gender(token) and not name_kinds(token.key) & (_MEANINGS | {"surname"})
        if named and document.gender(token):
            document.note_last(token)
        elif sure and (shouted or len(token.text) > 3 or not token.text.isupper()):
            document.verdicts[token.start] = token, partial(_is_name_alone, document, token, _Setting())
        named = bool(sure) or token.initial or token.key in CONTEXT["surname_title"]


def _split_name(token: NameToken, exchange: Exchange) -> list[Name]:
    """A name, the parts of a double name, or a French double name as the one name that decides its gender."""
    first, *rest = token.text.split("-")
    if token.key in exchange.genders or not rest:
        return [Name(token.start, token.end, token.text)]
    if first.lower() == "jean" and exchange.gender(rest[0]) == "male":
        return [Name(token.start, token.end, rest[0])]
    names, start = [], token.start
    for part in (first, *rest):
        names.append(Name(start, start + len(part), part))
        start += len(part) + 1
    return names

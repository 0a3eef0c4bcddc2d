"""Personal and possessive pronouns, and whom they refer to: a person, or a thing of that grammatical gender.

The pronouns are er, ihn, ihm, sein, and sie and ihr, which may also be they, their and you. `Der Tisch ist alt. Er
wackelt.` must stay; `Der Mann ist alt. Er lacht.` must not. The noun phrases and pronouns before the pronoun, in its
sentence and the two before it, are considered; subjects count more than the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unmask.lexicon.table import read_word_sets
from unmask.rewriting.german.nouns import DETERMINERS, SLOTS
from unmask.rewriting.german.phrases import PREPOSITIONS, QUOTES, TIMES, Phrase
from unmask.rewriting.german.sentences import JOINERS, Clause, Sentence, is_plural
from unmask.rewriting.german.subjects import (
    NOMINATIVES,
    find_rivals,
    has_clear_subject,
    is_surely_nominative,
    shares_subject,
)

_WORDS = read_word_sets("de")

HIS = ("sein", "seine", "seiner", "seines", "seinem", "seinen")
HER = ("ihr", "ihre", "ihrer", "ihres", "ihrem", "ihren")
SIDES = {"seinetwegen": "ihretwegen", "seinerseits": "ihrerseits", "seinetwillen": "ihretwillen"}
TURNED = {"er": "sie", "ihn": "sie", "ihm": "ihr", **SIDES, **{her: his for his, her in SIDES.items()}}
ALL_PRONOUNS = frozenset({"er", "sie", "ihn", "ihm", *HIS, *HER, *TURNED})
YOU_ALL = _WORDS["you_all"]


@dataclass(frozen=True)
class Use:
    """How a pronoun is used: what it becomes, the genders it may speak of, and its part in the clause."""

    new: str
    gender: str
    wanted: str
    subject: bool = False
    possessive: bool = False
    needs_evidence: bool = False
    """Whether it is turned only where a woman has been spoken of before."""
    but: int | None = None
    """The noun that a possessive belongs to, which is not what it speaks of."""


def may_begin_sentence(sentence: Sentence, index: int) -> bool:
    """Whether a capital here may be that of a sentence's first word."""
    before = sentence.lower[max(0, index - 2) : index]
    return not index or not any(word.isalnum() for word in sentence.lower[:index]) or before[-1] in ':„"»“'


def pronoun_use(sentence: Sentence, index: int) -> Use | str | None:
    """How a pronoun is used; the reason where that cannot be told; None where it is no pronoun of a third person."""
    word, text = sentence.lower[index], sentence.tokens[index].text
    owned = next((phrase for phrase in sentence.phrases if phrase.determiner == index), None)
    if word[0] in "si" and word in HIS:
        is_verb = owned is None or (sentence.part(index).startswith("VA") and not owned.slots)
        if word == "sein" and is_verb:
            return None
        if owned is None and not sentence.part(index).startswith("PPOSAT"):
            return "stands without a noun"
        return Use("ihr" + word[4:], "m", "mn", possessive=True, but=owned.head if owned else None)
    if word in ("er", "ihn", "ihm"):
        capitals = all(token.text.isupper() for token in sentence.tokens if token.text[0].isalpha())
        if text.isupper() and len(text) == 2 and not capitals:
            return None
        return Use(TURNED[word], "m", "mn" if word == "ihm" else "m", subject=word == "er")
    if word in SIDES:
        return Use(SIDES[word], "m", "mn", possessive=True)
    if text[0].isupper() and not text.isupper() and not may_begin_sentence(sentence, index):
        return None
    if word in TURNED:
        return Use(TURNED[word], "f", "fp", possessive=True, needs_evidence=True)
    if word == "sie":
        return _use_of_sie(sentence, index)
    return _use_of_ihr(sentence, index, owned)


def is_subject_elided(sentence: Sentence, index: int) -> bool:
    """Whether the subject of a clause is that of the clause before: `Er kaufte ein Buch und schenkte …`."""
    clause = sentence.clause_of[index]
    joined = clause.verb == clause.start + 1 and sentence.lower[clause.start] in JOINERS
    return joined or shares_subject(sentence, clause) == "yes"


def _use_of_sie(sentence: Sentence, index: int) -> Use | str:
    clause = sentence.clause_of[index]
    subject = Use("er", "f", "f", subject=True)
    its = Use("ihn", "f", "fp", needs_evidence=True)
    if sentence.word(index - 1) in PREPOSITIONS:
        return its
    if is_subject_elided(sentence, index):
        return its
    if clause.verb is None:
        return "no verb says whether it is she or they"
    joined = "und" in (sentence.word(index - 1), sentence.word(index + 1))
    verb = sentence.lower[clause.verb]
    others = [person for other, person in find_rivals(sentence, clause, Phrase(index, index)) if other < index]
    either = "oder" in (sentence.word(index - 1), sentence.word(index + 1))
    also = next((phrase for phrase in sentence.phrases if phrase.start == index + 2), None)
    apposed = also if sentence.word(index + 1) == "," else None
    if is_plural(verb) and not others and "wir" not in (sentence.lower[other] for other in clause.indices):
        return "joined to another subject" if joined else "may be they or you"
    if not either and has_clear_subject(
        sentence, clause, apposed, before=index if sentence.has_copula(index) else None
    ):
        return its
    relative = sentence.lower[clause.start : clause.start + 2]
    if "der" in relative and sentence.part(clause.start + relative.index("der")).startswith("PREL"):
        return "may be subject or object"
    if is_plural(verb):
        return "joined to another subject" if joined else "may be they or you"
    if any(others):
        return its if all(others) else "may be subject or object"
    return "may be subject or object" if others and clause.verb + 1 != index else subject


def _use_of_ihr(sentence: Sentence, index: int, owned: Phrase | None) -> Use | str | None:
    clause = sentence.clause_of[index]
    word = sentence.lower[index]
    his = "sein" + word[3:]
    after_preposition = "dat" in PREPOSITIONS.get(sentence.word(index - 1), ())
    if sentence.word(index + 1).startswith("gemeinsam"):
        return "may be they"
    if owned is not None and (word != "ihr" or (sentence.part(index) != "PPER" and owned.slots)):
        return Use(his, "f", "fp", possessive=True, but=owned.head)
    if word != "ihr":
        return "stands without a noun"
    verb = "" if clause.verb is None else sentence.lower[clause.verb]
    if not after_preposition:
        if verb in YOU_ALL or verb.endswith("tet"):
            return "is you"
        beside = clause.verb is not None and abs(clause.verb - index) == 1
        alone = not has_clear_subject(sentence, clause) and not find_rivals(sentence, clause, Phrase(index, index))
        if beside and alone and verb.endswith("t"):
            return "may be you"
        if not verb and not any(sentence.part(other).startswith("V") for other in clause.indices):
            return "no verb says what it is"
    return Use("ihm", "f", "f")


Verdict = Literal["person", "thing", "plural", "doubt", "none", "neuter"]
BACK = 2
GRAMMAR_ONLY = frozenset({"man", "jemand", "niemand", "wer", "jeder", "keiner", "einer"})
DEMONSTRATIVES = {"dieser": "m", "diese": "fp", "jener": "m", "jene": "fp", "letzterer": "m", "letztere": "fp"}
RELATIVES = {"der": "m", "die": "fp", "das": "n", "welcher": "m", "welche": "fp", "welches": "n"}
PLACE_ENDS = ("land", "reich", "ien", "stadt", "dorf", "hausen", "furt", "europa", "amerika", "afrika", "asien")
THING_ENDS = ("straße", "allee", "platz", "weg", "gasse", "brücke", "kirche", "klasse", "bahn", "insel", "gruppe")
PLACES = frozenset({"in", "nach", "aus", "im", "bei"})


@dataclass(frozen=True)
class Mention:
    """Something that a later pronoun may speak of."""

    index: int
    genders: frozenset[str]
    human: bool | None
    """None: a name, mostly a person's."""
    rank: int
    """2 for a subject, 1 for what may be one, 0 for the rest."""
    clause: Clause
    pronoun: bool = False
    left: bool = False
    """A person's noun that was not rewritten because its case could not be told."""


def mention_pronoun(
    sentence: Sentence, index: int, gender: str, *, human: bool, subject: bool, left: bool = False
) -> None:
    """Note a pronoun that has been understood, as a mention for the next ones."""
    clause = sentence.clause_of[index]
    sentence.spoken[index] = Mention(index, frozenset(gender), human, 2 if subject else 0, clause, True, left)


def find_mentions(sentence: Sentence, pronouns: dict[int, Mention], left: set[int]) -> list[Mention]:
    """The mentions of a sentence, in order."""
    mentions = [_phrase_mention(sentence, phrase, left) for phrase in sentence.phrases]
    mentions += pronouns.values()
    mentions += _relative_mentions(sentence, mentions)
    for index, word in enumerate(sentence.lower):
        if word in DEMONSTRATIVES and sentence.part(index) == "PDS":
            gender = DEMONSTRATIVES[word]
            mentions.append(Mention(index, frozenset(gender), False, 2, sentence.clause_of[index]))
        if word in GRAMMAR_ONLY and sentence.part(index).startswith("P"):
            mentions.append(Mention(index, frozenset("mn"), False, 2, sentence.clause_of[index]))
    return sorted(mentions, key=lambda mention: mention.index)


def _relative_mentions(sentence: Sentence, mentions: list[Mention]) -> list[Mention]:
    """A relative pronoun is the subject of its clause, and speaks of the noun before the comma."""
    relatives = []
    for index, word in enumerate(sentence.lower):
        if word in RELATIVES and sentence.part(index).startswith("PREL"):
            nouns = [
                mention for mention in mentions if mention.index < index and mention.genders & set(RELATIVES[word])
            ]
            if nouns:
                noun = max(nouns, key=lambda mention: mention.index)
                genders = noun.genders & set(RELATIVES[word])
                relatives.append(Mention(index, genders, noun.human, 2, sentence.clause_of[index], left=noun.left))
    return relatives


def _phrase_mention(sentence: Sentence, phrase: Phrase, left: set[int]) -> Mention:
    clause = sentence.clause_of[phrase.head]
    slot = sentence.decided.get(phrase.head)
    if phrase.person or phrase.blocked:
        slots = phrase.slots or {reading.slot for reading in phrase.readings} or set(SLOTS)
        genders = {slot.gender} if slot else {other.gender for other in slots}
        if "n" in genders:
            genders |= {"f"}
    elif phrase.name:
        is_place = phrase.preposition in PLACES or sentence.lower[phrase.head].endswith(PLACE_ENDS)
        genders = set("n") if is_place else set("mf")
        if phrase.determiner is not None:
            genders = {other.gender for other in phrase.slots}
    else:
        genders = {other.gender for other in phrase.slots} or set("mfnp")
    if phrase.after_noun or sentence.lower[phrase.head] in TIMES or phrase.preposition:
        rank = 0
    elif slot:
        rank = 2 if slot.case == "nom" else 0
    elif is_surely_nominative(sentence, phrase) or (phrase.may_be_subject and clause.start >= phrase.start - 1):
        rank = 2
    else:
        rank = 1 if phrase.may_be_subject else 0
    first = phrase.start
    while sentence.part(first - 1) in ("NE", "FM"):
        first -= 1
    quoted = sentence.word(first - 1) in QUOTES or sentence.word(first - 1) in DETERMINERS
    thing = quoted or sentence.tokens[phrase.head].text.isupper() or sentence.lower[phrase.head].endswith(THING_ENDS)
    named = not thing and phrase.name and genders != {"n"} and phrase.determiner is None
    human = True if phrase.person or phrase.blocked else None if named else False
    return Mention(phrase.head, frozenset(genders), human, rank, clause, left=phrase.blocked or phrase.head in left)


def find_mention_ahead(wanted: str, sentence: Sentence, mentions: list[Mention], index: int) -> Verdict:
    """What a possessive speaks of that comes before it: `Um ihr Angebot zu zeigen, lud die Firma ein.`"""
    later = [
        mention for mention in mentions if mention.index > index and mention.rank and mention.genders & set(wanted)
    ]
    clause = sentence.clause_of[index]
    if any(mention.index == index and mention.rank == 2 for mention in mentions):
        return "none"  # what is owned is the subject itself
    if any(word in NOMINATIVES or word == "sie" for word in (sentence.lower[spot] for spot in clause.indices)):
        return "none"
    return "doubt" if later and later[0].human is False else "none"


def judge_referent(
    use: Use, scopes: list[list[Mention]], clause: Clause, *, people: bool, taken: bool, other: bool
) -> tuple[Verdict, bool]:
    """What a pronoun speaks of, and whether that noun was left.

    `scopes` are the mentions before it: of its sentence, then of the sentence before, and so on. A subject or object
    cannot speak of what stands in its own clause; a possessive can. A name is taken for a
    person's only where the document speaks of `people` at all. Where the subject of the clause is a pronoun of the same
    gender, the person in front is `taken` by it: `Der Torhüter hielt den Ball, dann warf er ihn ab.` Where the `other`
    gender has been used before in the sentence, a name is rather of that.
    """
    for number, scope in enumerate(scopes):
        fitting = [
            mention
            for mention in scope
            if mention.genders & set(use.wanted)
            and (number or mention.index != use.but)
            and (use.possessive or number or mention.clause is not clause)
            and not (taken and mention.rank == 2 and mention.human is not False)
        ]
        if not fitting:
            continue
        best = max(mention.rank for mention in fitting)
        top = [mention for mention in fitting if mention.rank == best]
        # Who has been spoken of by a pronoun goes on to be.
        top = [mention for mention in top if number and mention.pronoun] or top
        referent = top[-1] if not number or best < 2 else top[0]
        if referent.human is False:
            persons = [mention for mention in fitting if mention.human and mention.rank]
            if persons and referent.rank < 2:
                return "doubt", False
            return ("plural" if referent.genders == {"p"} else "thing"), False
        if referent.human is None and (other or not people):
            return "doubt", False
        if best == 0 and any(mention.human is False for mention in fitting):
            return "doubt", False
        if referent.genders == {"p"}:
            return "plural", False
        if referent.genders & set("mfn") and "p" in referent.genders and "p" in use.wanted:
            return "doubt", False
        if referent.human and "n" in referent.genders and "m" not in referent.genders and "m" in use.wanted:
            return "neuter", referent.left  # `das Mädchen und sein Ball`
        return "person", referent.left
    return "none", False

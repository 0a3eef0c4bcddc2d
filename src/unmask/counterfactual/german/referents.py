"""Whom a pronoun speaks of: a person, or a thing that is masculine or feminine by grammar only.

`Der Tisch ist alt. Er wackelt.` must stay; `Der Mann ist alt. Er lacht.` must not. The noun phrases and pronouns before
the pronoun, in its sentence and the two before it, are looked at; subjects count more than the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unmask.counterfactual.german.clauses import Clause
from unmask.counterfactual.german.endings import DETERMINERS, SLOTS
from unmask.counterfactual.german.phrases import QUOTES, TIMES, Phrase
from unmask.counterfactual.german.subjects import NOMINATIVES, Parsed, surely_nominative

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

    place: int
    genders: frozenset[str]
    human: bool | None
    """None: a name, mostly a person's."""
    rank: int
    """2 for a subject, 1 for what may be one, 0 for the rest."""
    clause: Clause
    pronoun: bool = False
    left: bool = False
    """A person's noun that was not rewritten because its case could not be told."""


@dataclass(frozen=True)
class Pronoun:
    """A pronoun that has been understood, as a mention for the next ones."""

    gender: str
    human: bool
    subject: bool
    left: bool = False


def mentions(parsed: Parsed, pronouns: dict[int, Pronoun], left: set[int]) -> list[Mention]:
    """The mentions of a sentence, in order."""
    found = [_mention(parsed, phrase, left) for phrase in parsed.phrases]
    for place, pronoun in pronouns.items():
        rank = 2 if pronoun.subject else 0
        found.append(
            Mention(place, frozenset(pronoun.gender), pronoun.human, rank, parsed.clause_of[place], True, pronoun.left)
        )
    found += _relatives(parsed, found)
    for place, word in enumerate(parsed.sentence.lower):
        if word in DEMONSTRATIVES and parsed.sentence.part(place) == "PDS":
            gender = DEMONSTRATIVES[word]
            found.append(Mention(place, frozenset(gender), False, 2, parsed.clause_of[place]))
        if word in GRAMMAR_ONLY and parsed.sentence.part(place).startswith("P"):
            found.append(Mention(place, frozenset("mn"), False, 2, parsed.clause_of[place]))
    return sorted(found, key=lambda mention: mention.place)


def _relatives(parsed: Parsed, found: list[Mention]) -> list[Mention]:
    """A relative pronoun is the subject of its clause, and speaks of the noun before the comma."""
    more = []
    for place, word in enumerate(parsed.sentence.lower):
        if word in RELATIVES and parsed.sentence.part(place).startswith("PREL"):
            nouns = [one for one in found if one.place < place and one.genders & set(RELATIVES[word])]
            if nouns:
                noun = max(nouns, key=lambda one: one.place)
                genders = noun.genders & set(RELATIVES[word])
                more.append(Mention(place, genders, noun.human, 2, parsed.clause_of[place], left=noun.left))
    return more


def _mention(parsed: Parsed, phrase: Phrase, left: set[int]) -> Mention:
    sentence = parsed.sentence
    clause = parsed.clause_of[phrase.head]
    slot = parsed.decided.get(phrase.head)
    if phrase.person or phrase.blocked:
        slots = phrase.slots or {reading.slot for reading in phrase.readings} or set(SLOTS)
        genders = {slot.gender} if slot else {other.gender for other in slots}
        if "n" in genders:
            genders |= {"f"}
    elif phrase.name:
        place = phrase.preposition in PLACES or sentence.lower[phrase.head].endswith(PLACE_ENDS)
        genders = set("n") if place else set("mf")
        if phrase.determiner is not None:
            genders = {other.gender for other in phrase.slots}
    else:
        genders = {other.gender for other in phrase.slots} or set("mfnp")
    if phrase.after_noun or sentence.lower[phrase.head] in TIMES or phrase.preposition:
        rank = 0
    elif slot:
        rank = 2 if slot.case == "nom" else 0
    elif surely_nominative(parsed, phrase) or (phrase.may_be_subject and clause.start >= phrase.start - 1):
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


def ahead(wanted: str, parsed: Parsed, found: list[Mention], place: int) -> Verdict:
    """What a possessive speaks of that comes before it: `Um ihr Angebot zu zeigen, lud die Firma ein.`"""
    later = [one for one in found if one.place > place and one.rank and one.genders & set(wanted)]
    clause = parsed.clause_of[place]
    if any(one.place == place and one.rank == 2 for one in found):
        return "none"  # what is owned is the subject itself
    if any(word in NOMINATIVES or word == "sie" for word in (parsed.sentence.lower[spot] for spot in clause.places)):
        return "none"
    return "doubt" if later and later[0].human is False else "none"


def verdict(
    wanted: str,
    scopes: list[list[Mention]],
    clause: Clause,
    *,
    same_clause: bool,
    but: int | None,
    people: bool,
    taken: bool,
    other: bool,
) -> tuple[Verdict, bool]:
    """What a pronoun of these genders speaks of, and whether that noun was left.

    `scopes` are the mentions before it: of its sentence, then of the sentence before, and so on. A subject or object
    cannot speak of what stands in its own clause (`same_clause` is False); a possessive can. A name is taken for a
    person's only where the document speaks of `people` at all. Where the subject of the clause is a pronoun of the same
    gender, the person in front is `taken` by it: `Der Torhüter hielt den Ball, dann warf er ihn ab.` Where the `other`
    gender has been used before in the sentence, a name is rather of that.
    """
    for number, scope in enumerate(scopes):
        fitting = [
            mention
            for mention in scope
            if mention.genders & set(wanted)
            and (number or mention.place != but)
            and (same_clause or number or mention.clause is not clause)
            and not (taken and mention.rank == 2 and mention.human is not False)
        ]
        if not fitting:
            continue
        best = max(mention.rank for mention in fitting)
        top = [mention for mention in fitting if mention.rank == best]
        # Who has been spoken of by a pronoun goes on to be.
        top = [mention for mention in top if number and mention.pronoun] or top
        chosen = top[-1] if not number or best < 2 else top[0]
        if chosen.human is False:
            persons = [mention for mention in fitting if mention.human and mention.rank]
            if persons and chosen.rank < 2:
                return "doubt", False
            return ("plural" if chosen.genders == {"p"} else "thing"), False
        if chosen.human is None and (other or not people):
            return "doubt", False
        if best == 0 and any(mention.human is False for mention in fitting):
            return "doubt", False
        if chosen.genders == {"p"}:
            return "plural", False
        if len(chosen.genders & set("mfn")) and chosen.genders & {"p"} and "p" in wanted:
            return "doubt", False
        if chosen.human and "n" in chosen.genders and "m" not in chosen.genders and "m" in wanted:
            return "neuter", chosen.left  # `das Mädchen und sein Ball`
        return "person", chosen.left
    return "none", False

"""Personal and possessive pronouns: er, ihn, ihm, sein; and sie and ihr, which may also be they, their and you."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.counterfactual.german.clauses import JOINERS, is_plural
from unmask.counterfactual.german.phrases import PREPOSITIONS, Phrase
from unmask.counterfactual.german.shared import shares_subject
from unmask.counterfactual.german.subjects import Parsed, clear_subject, rivals

HIS = ("sein", "seine", "seiner", "seines", "seinem", "seinen")
HER = ("ihr", "ihre", "ihrer", "ihres", "ihrem", "ihren")
SIDES = {"seinetwegen": "ihretwegen", "seinerseits": "ihrerseits", "seinetwillen": "ihretwillen"}
TURNED = {"er": "sie", "ihn": "sie", "ihm": "ihr", **SIDES, **{her: his for his, her in SIDES.items()}}
ALL = frozenset({"er", "sie", "ihn", "ihm", *HIS, *HER, *TURNED})
YOU_ALL = frozenset("habt seid könnt wollt müsst dürft sollt mögt werdet wart hattet wisst wurdet lasst".split())


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


def begins(parsed: Parsed, place: int) -> bool:
    """Whether a capital here may be that of a sentence's first word."""
    before = parsed.sentence.lower[max(0, place - 2) : place]
    return not place or not any(word.isalnum() for word in parsed.sentence.lower[:place]) or before[-1] in ':„"»“'


def use(parsed: Parsed, place: int) -> Use | str | None:
    """How a pronoun is used; the reason where that cannot be told; None where it is no pronoun of a third person."""
    sentence = parsed.sentence
    word, text = sentence.lower[place], sentence.tokens[place].text
    owned = next((phrase for phrase in parsed.phrases if phrase.determiner == place), None)
    if word[0] in "si" and word in HIS:
        if word == "sein" and (owned is None or sentence.part(place).startswith("VA")) and not _possessed(owned):
            return None
        if owned is None and not sentence.part(place).startswith("PPOSAT"):
            return "stands without a noun"
        return Use("ihr" + word[4:], "m", "mn", possessive=True, but=owned.head if owned else None)
    if word in ("er", "ihn", "ihm"):
        if text.isupper() and len(text) == 2 and not _shouted(parsed):
            return None
        return Use(TURNED[word], "m", "mn" if word == "ihm" else "m", subject=word == "er")
    if word in SIDES:
        return Use(SIDES[word], "m", "mn", possessive=True)
    if text[0].isupper() and not text.isupper() and not begins(parsed, place):
        return None
    if word in TURNED:
        return Use(TURNED[word], "f", "fp", possessive=True, needs_evidence=True)
    if word == "sie":
        return _sie(parsed, place)
    return _ihr(parsed, place, owned)


def elided(parsed: Parsed, place: int) -> bool:
    """Whether the subject of a clause is that of the clause before: `Er kaufte ein Buch und schenkte …`."""
    clause = parsed.clause_of[place]
    joined = clause.verb == clause.start + 1 and parsed.sentence.lower[clause.start] in JOINERS
    return joined or shares_subject(parsed, clause) == "yes"


def _possessed(owned: Phrase | None) -> bool:
    return owned is not None and bool(owned.slots)


def _shouted(parsed: Parsed) -> bool:
    return all(token.text.isupper() for token in parsed.sentence.tokens if token.text[0].isalpha())


def _sie(parsed: Parsed, place: int) -> Use | str:
    sentence, clause = parsed.sentence, parsed.clause_of[place]
    subject = Use("er", "f", "f", subject=True)
    its = Use("ihn", "f", "fp", needs_evidence=True)
    if sentence.word(place - 1) in PREPOSITIONS:
        return its
    if elided(parsed, place):
        return its
    if clause.verb is None:
        return "no verb says whether it is she or they"
    joined = "und" in (sentence.word(place - 1), sentence.word(place + 1))
    verb = sentence.lower[clause.verb]
    others = [person for other, person in rivals(parsed, clause, Phrase(place, place)) if other < place]
    either = "oder" in (sentence.word(place - 1), sentence.word(place + 1))
    also = next((phrase for phrase in parsed.phrases if phrase.start == place + 2), None)
    apposed = also if sentence.word(place + 1) == "," else None
    if is_plural(verb) and not others and "wir" not in (sentence.lower[other] for other in clause.places):
        return "joined to another subject" if joined else "may be they or you"
    if not either and clear_subject(parsed, clause, apposed, before=place if parsed.copula(place) else None):
        return its
    relative = sentence.lower[clause.start : clause.start + 2]
    if "der" in relative and sentence.part(clause.start + relative.index("der")).startswith("PREL"):
        return "may be subject or object"
    if is_plural(verb):
        return "joined to another subject" if joined else "may be they or you"
    if any(others):
        return its if all(others) else "may be subject or object"
    return "may be subject or object" if others and not _beside(clause.verb, place) else subject


def _beside(verb: int, place: int) -> bool:
    return verb + 1 == place


def _ihr(parsed: Parsed, place: int, owned: Phrase | None) -> Use | str | None:
    sentence, clause = parsed.sentence, parsed.clause_of[place]
    word = sentence.lower[place]
    his = "sein" + word[3:]
    after_preposition = "dat" in PREPOSITIONS.get(sentence.word(place - 1), ())
    if sentence.word(place + 1).startswith("gemeinsam"):
        return "may be they"
    if owned is not None and (word != "ihr" or (sentence.part(place) != "PPER" and owned.slots)):
        return Use(his, "f", "fp", possessive=True, but=owned.head)
    if word != "ihr":
        return "stands without a noun"
    verb = "" if clause.verb is None else sentence.lower[clause.verb]
    if not after_preposition:
        if verb in YOU_ALL or verb.endswith("tet"):
            return "is you"
        beside = clause.verb is not None and abs(clause.verb - place) == 1
        alone = not clear_subject(parsed, clause) and not rivals(parsed, clause, Phrase(place, place))
        if beside and alone and verb.endswith("t"):
            return "may be you"
        if not verb and not any(sentence.part(other).startswith("V") for other in clause.places):
            return "no verb says what it is"
    return Use("ihm", "f", "f")

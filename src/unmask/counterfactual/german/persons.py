"""Which nouns of a sentence stand for persons: not surnames, adjectives, countries, or half of a double form."""

from __future__ import annotations

import re

from unmask.counterfactual.german.endings import DETERMINERS, MERGED, Slot
from unmask.counterfactual.german.nouns import Noun, Nouns, Reading, declined
from unmask.counterfactual.german.sentences import Sentence

YEAR = re.compile(r"1\d{3}|20\d\d")
TITLE = Noun("Herr", "Frau", ("Herrn",), ("Herren",), ("Frauen",), "weak")
MISS = Noun("Herr", "Fräulein", ("Herrn",), ("Herren",), ("Fräulein",), "weak", direction="male")
TITLES = frozenset({"herr", "herrn", "frau", "fräulein"})
# Nouns that are surnames too: alone, without an article, they are more likely a name.
SURNAMES = frozenset(
    "Koch Müller Fischer Weber Schneider Richter Bauer Schäfer König Kaiser Jäger Förster Vogt Graf Herzog Meister"
    " Kellner Schuster Zimmermann Kaufmann Bischof Ritter Maurer Metzger Fleischer Gärtner Sattler Töpfer Böttcher"
    " Drechsler Seiler Färber Gerber Glaser Wirt Held Narr Prinz Fürst Sänger Springer Reiter Turner Sachse Schwabe"
    " Bayer Schreiner Tischler Maler Brauer Abt Mönch Knecht Freund Junge Knabe Schütze Lehrer Hirt Kurfürst Hausmann"
    " Hofmann Edelmann Landmann Ringer Boxer Bäcker Schlosser Dichter Pilger Marschall Römer Schöpfer".split()
)
# Countries that are called like their people.
LANDS = frozenset({"polen", "schweden", "sachsen", "bayern", "ungarn", "preußen", "schwaben", "franken", "hessen"})
GREETINGS = ("geehrte", "liebe", "verehrte", "werte", "gnädige")
# What follows Herr or Frau and is no surname.
OFFICES = (
    *(
        "präsident",
        "minister",
        "kanzler",
        "professor",
        "doktor",
        "direktor",
        "pfarrer",
        "bürgermeister",
        "kollege",
        "general",
    ),
    *("kommissar", "botschafter", "vorsitzender", "kollegen", "präsidenten", "in", "abgeordneter", "abgeordnete"),
)


def readings_here(sentence: Sentence, place: int, nouns: Nouns) -> list[Reading]:
    """The readings of a noun, unless it is a surname, an adjective, or half of a form for both genders."""
    token = sentence.tokens[place]
    if token.text.lower() == "fräulein" and _title(sentence, place):
        return [reading for reading, _ in declined(MISS) if reading.side == "female" and reading.slot.case != "gen"]
    readings = nouns.readings(token.text)
    if not readings:
        return []
    if sentence.word(place - 1) == "." and sentence.word(place - 2) in ("dr", "prof", "st", "hr", "fr"):
        return []
    after = sentence.tokens[place + 1] if place + 1 < len(sentence) else None
    if after is not None and after.start == token.end and after.text in tuple(":*_/-’'"):
        beyond = sentence.word(place + 2)
        if after.text in "-’'" or beyond.startswith("in") or beyond in ("-", "r", "frau"):
            return []
    if all(reading.noun.declension.startswith("adj") for reading in readings) and _more_noun(sentence, place + 1):
        return []
    if _title(sentence, place - 1) and not _office(token.text):
        return []
    if _title(sentence, place - 1) and sentence.word(place - 1) == "frau" and readings[0].side == "male":
        return []  # `Frau Professor` is a title for both
    if sentence.part(place - 1) == "NE" and place and readings[0].slot == Slot("m", "nom"):
        return []
    if token.text.lower() in TITLES and _title(sentence, place):
        return [reading for reading, form in declined(TITLE) if form.lower() == sentence.lower[place]]
    if "&" in (sentence.word(place - 1), sentence.word(place + 1)):
        return []
    if readings[0].noun.male == "Junge" and _more_noun(sentence, place + 1):
        return []
    if sentence.lower[place] == "erbe" and sentence.word(place - 1) not in ("der", "dieser", "jeder"):
        return []  # das Erbe is what is left behind
    if readings[0].noun.male == "Schweizer" and sentence.part(place).startswith("ADJ"):
        return []
    if sentence.lower[place].rpartition("-")[2] in LANDS and not _counted(sentence, place):
        return []
    if readings[0].noun.male in ("Junge", "Deutscher") and place == 0 and sentence.part(0).startswith("ADJ"):
        return []
    return readings


def _title(sentence: Sentence, place: int) -> bool:
    """Whether Herr or Frau stands here as the title of the name behind it."""
    if place < 0 or sentence.lower[place] not in TITLES or place + 1 >= len(sentence):
        return False
    after = sentence.tokens[place + 1].text
    if after == "und" and sentence.word(place + 2) in TITLES:
        return _title(sentence, place + 2)
    before = sentence.word(place - 1)
    bare = (
        before not in DETERMINERS
        and before not in ("dessen", "deren")
        and before not in MERGED
        and not sentence.part(place - 1).startswith("N")
    )
    if sentence.part(place - 1) == "ADJ(A)" and not before.startswith(GREETINGS):
        bare = False
    return bare and after[0].isupper() and after[0].isalpha()


def _counted(sentence: Sentence, place: int) -> bool:
    """Whether an article or a number says that the people of a country are meant and not the country."""
    place -= 1
    while sentence.part(place) == "ADJ(A)":
        place -= 1
    return sentence.word(place) in ("die", "den", "der", "viele", "alle", "einige") or (
        sentence.part(place) == "CARD" and not YEAR.fullmatch(sentence.word(place))
    )


def _office(word: str) -> bool:
    return word.lower().endswith(OFFICES)


def _more_noun(sentence: Sentence, place: int) -> bool:
    return (sentence.part(place).startswith("NN") or sentence.part(place) == "ADJ(A)") and sentence.tokens[place].text[
        0
    ].isupper()

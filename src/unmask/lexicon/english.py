"""The one rule of English that templates need: `a` or `an`."""

from __future__ import annotations

import re

_SILENT_H = re.compile(r"(hour|heir|honest|hono)", re.IGNORECASE)
_YOU_SOUND = re.compile(r"(uni([^nmd]|$)|ukr|u[cfhjkqrst][aeiou]|ubi|use|eu|ew|one(?!r)|once|ouija)", re.IGNORECASE)
_INITIALS = re.compile(r"([A-Z]{2,}|[A-Za-z])(?![A-Za-z])")
_SPOKEN = re.compile(r"(NASA|NATO|UNESCO|UNICEF|FIFA|OPEC)\b")


def indefinite_article(words: str) -> str:
    """`an electrician`, `a plumber`, `an hour`, `a union organiser`, `an MRI technician`: by sound, not by letter."""
    if _SPOKEN.match(words):
        return "an" if words[0] == "O" else "a"
    if match := _INITIALS.match(words):
        return "an" if match.group()[0].lower() in "aefhilmnorsx" else "a"
    if _SILENT_H.match(words):
        return "an"
    if _YOU_SOUND.match(words):
        return "a"
    return "an" if words[:1].lower() in "aeiou" else "a"

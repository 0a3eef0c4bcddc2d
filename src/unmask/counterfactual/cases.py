"""Upper and lower case, carried from a word to the one that takes its place."""

from __future__ import annotations


def carry(before: str, after: str) -> str:
    """Write `after` as `before` was written: lower, Title or UPPER; a word that needs its capital keeps it."""
    if before.isupper() and len(before) > 1:
        return after.upper()
    parts = before.replace("-", " ").split()
    if all(part[:1].isupper() for part in parts):
        return title(after) if len(parts) > 1 else after[:1].upper() + after[1:]
    if before[:1].isupper():
        return after[:1].upper() + after[1:]
    return after


def title(words: str) -> str:
    """Every word with a capital."""
    letters = list(words)
    for place, letter in enumerate(letters):
        if place == 0 or letters[place - 1] in " -":
            letters[place] = letter.upper()
    return "".join(letters)


def spellings(word: str) -> tuple[str, ...]:
    """The ways a word is written: lower, Title and UPPER."""
    return tuple(dict.fromkeys((word.lower(), word[:1].upper() + word[1:].lower(), word.upper())))

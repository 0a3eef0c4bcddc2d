"""Sentences from image captions: those about a woman or a man, with that word taken out, as the paper made its own.

    A woman rides a bicycle down the street.  →  the {person} rides a bicycle down the street.

A caption is taken that names a woman or a man, once, and not both; *man-made* names nobody. `a` and `one` become
`the`. Captions in which another word tells or hints at the gender (*her*, *beard*) are left out, since with them the
hypothesis can be inferred rightly; the paper kept them.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.inference import GenderPair, People, gives_away
from unmask.lexicon.table import read_text
from unmask.probes.inference import PERSON

WORDS = {"en": ("woman", "man", "person"), "ja": ("女性", "男性", "人"), "zh": ("女人", "男人", "人")}
"""What captions call a woman, a man, and anybody; the released sets were made of captions, so they do, too."""
FEWEST_WORDS, FEWEST_LETTERS = 5, 8
ARTICLE = re.compile(r"\b(?:an?|one|the)\s+$", re.IGNORECASE)
HYPHENS = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
COLUMNS = ("image", "caption")
"""Of a file with commas that does not name its columns."""
NAMED = re.compile(r'"?[^,"\t]+\.(?:jpe?g|png|gif|bmp|webp|tiff?)(?:[.#]\d+)*"?,', re.IGNORECASE)
"""How a line of such a file begins: with the name of an image, and a comma."""


@dataclass(frozen=True)
class Captions:
    """What came out of a file of captions."""

    templates: tuple[str, ...]
    read: int
    neither: int
    """Captions that name no woman and no man."""
    several: int
    """Captions that name both, or one of them more than once."""
    telling: int
    """Captions in which another word tells the gender."""
    short: int
    doubles: int


def people(language: str) -> People:
    """What stands for a person in templates made of captions: bare nouns, since captions put words before them."""
    female, male, anybody = WORDS[check_choice(language, WORDS, "language of captions")]
    return People("{occupation}", (GenderPair(female, female, male),), (anybody,))


def templates_of(path: Path, language: str, *, keep_telling: bool = False) -> Captions:
    """Templates from a file with a caption a line, plain or gzipped. What stands before a tab (an image's name) is left
    out; a file with a column `caption`, or with the name of an image and a comma on every line, is read as CSV."""
    found = _captions(path)
    if not found:
        raise UnmaskError(f"{path} has no captions; give a file with one a line")
    made = made_of(found, language, keep_telling=keep_telling)
    if not made.templates:
        female, male, _ = WORDS[language]
        raise UnmaskError(f"{path}: no caption names a {female} or a {male}, and not both; give another file")
    return made


def made_of(captions: list[str], language: str, *, keep_telling: bool = False) -> Captions:
    """Templates from captions."""
    female, male, _ = WORDS[check_choice(language, WORDS, "language of captions")]
    spaced = language == "en"
    words = re.compile(_alone(f"{female}|{male}") if spaced else f"{female}|{male}", re.IGNORECASE)
    found: dict[str, None] = {}
    counts = dict.fromkeys(("neither", "several", "telling", "short", "doubles"), 0)
    for caption in captions:
        places = list(words.finditer(caption))
        if len(places) != 1:
            counts["several" if places else "neither"] += 1
            continue
        start, end = places[0].span()
        before, after = caption[:start], caption[end:]
        template = (ARTICLE.sub("the ", before) if spaced else before) + PERSON + after
        template = _tidy(template, spaced=spaced)
        letters = len(template) - len(PERSON)
        size, fewest = (len(template.split()), FEWEST_WORDS) if spaced else (letters, FEWEST_LETTERS)
        if size < fewest or PERSON in template.replace(PERSON, "", 1):
            counts["short"] += 1
        elif not keep_telling and gives_away(template, language):
            counts["telling"] += 1
        elif template in found:
            counts["doubles"] += 1
        else:
            found[template] = None
    return Captions(tuple(found), read=len(captions), **counts)


def _tidy(template: str, *, spaced: bool) -> str:
    """One full stop at the end, no space before it; the sentence begins in lower case, as a person may come first."""
    text = " ".join(template.split()) if spaced else "".join(template.split())
    stop = "." if spaced else "。"
    text = text.rstrip(" .。") + stop
    return text[:1].lower() + text[1:]


def _alone(words: str) -> str:
    """Words that are no part of another, such as *man-made* or *Pac-Man*."""
    return rf"(?<!\w)(?<!\w[{HYPHENS}])(?:{words})(?!\w|[{HYPHENS}]\w)"


def _captions(path: Path) -> list[str]:
    wanted = "a file with a caption a line"
    if path.suffix == ".gz":
        try:
            text = gzip.decompress(path.read_bytes()).decode("utf-8-sig")
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise UnmaskError(f"{path} cannot be read ({type(error).__name__}); give {wanted}") from None
    else:
        text = read_text(path, wanted)
    lines = text.strip().splitlines(keepends=True)
    head = [cell.strip().casefold() for cell in next(csv.reader(lines[:1]), [])]
    if COLUMNS[-1] in head:
        found = _cells(path, lines, head)[1:]
    elif all(NAMED.match(line) for line in lines if line.strip()):
        found = _cells(path, lines, COLUMNS)
    elif path.name.removesuffix(".gz").endswith(".csv"):
        raise UnmaskError(
            f"{path} has no column {COLUMNS[-1]!r} (its first line is {lines[0].strip()[:60]!r}); name one so, or give"
            " a text file with a caption a line"
        )
    else:
        found = [line.rpartition("\t")[2] for line in lines]
    return [caption for one in found if (caption := one.strip())]


def _cells(path: Path, lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The captions of CSV; cells beyond the columns are of a caption with commas and no quotes around it."""
    at = columns.index(COLUMNS[-1])
    after = len(columns) - at - 1
    reader = csv.reader(lines, strict=True)
    try:
        return [",".join(cells[at : len(cells) - after]) for cells in reader]
    except csv.Error as error:
        raise UnmaskError(
            f"{path} is not CSV as we read it ({error}, line {reader.line_num}); look for a quote that is not closed"
        ) from None

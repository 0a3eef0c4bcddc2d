"""Templates from image captions that name a woman or a man, with that word taken out, as the paper made its own.

    A woman rides a bicycle down the street.  →  the {person} rides a bicycle down the street.

A caption is used if it names exactly one woman or man; *man-made* names nobody. `a` and `one` become `the`. Captions
in which another word tells or hints at the gender (*her*, *beard*) are left out, because the hypothesis would then
follow from the premise. The paper kept them. In Japanese and Chinese, whose nouns have no plural, it also kept captions
about several people (二人の女性, 三个男人), and a word that occurs twice was replaced twice.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.inference import GenderPair, People, gives_away
from unmask.lexicon.table import read_text
from unmask.measures.inference.pairs import PERSON

WORDS = {"en": ("woman", "man", "person"), "ja": ("女性", "男性", "人"), "zh": ("女人", "男人", "人")}
"""What captions, and so the released sets, call a woman, a man, and a person."""
SEVERAL = {
    "ja": re.compile(
        r"(?:\d\d|[2-9２-９二三四五六七八九十数何])(?:人|名)の[^、。と]*\{person\}"
        r"|(?:たくさん|大勢|複数|多く)の\{person\}"
        r"|\{person\}(?:たち|達|同士|ら(?!し)|[がはをも]?(?:\d\d|[2-9２-９二三四五六七八九十数])(?:人|名))"
    ),
    "zh": re.compile(
        r"(?:(?:\d\d|[2-9２-９两二三四五六七八九十几数])(?:个|名|位|群|对|人)|一群|一些|一对|一组|许多|很多)"
        r"(?:(?!一[个名位])[^，。、和])*\{person\}|\{person\}们"
    ),
}
"""Templates in which the person is several people: two or more are counted, or there are many."""
FEWEST_WORDS, FEWEST_LETTERS = 5, 8
ARTICLE = re.compile(r"\b(?:an?|one|the)\s+$", re.IGNORECASE)
HYPHENS = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}"
COLUMNS = ("image", "caption")
"""The columns of a CSV file without a header."""
IMAGE_NAME = re.compile(r'"?[^,"\t]+\.(?:jpe?g|png|gif|bmp|webp|tiff?)(?:[.#]\d+)*"?,', re.IGNORECASE)
"""How a line of such a file begins."""


def caption_people(language: str) -> People:
    """What stands for a person in templates made of captions: bare nouns, because captions put words before them."""
    female, male, person = WORDS[check_choice(language, WORDS, "language of captions")]
    return People("{occupation}", (GenderPair(female, female, male),), (person,))


def read_templates(path: Path, language: str, *, as_published: bool = False) -> tuple[str, ...]:
    """Templates from a file with a caption per line, plain or gzipped.

    Text before a tab (the name of an image) is left out. A file with a column `caption`, or with the name of an image
    and a comma on every line, is read as CSV.
    """
    captions = _read_captions(path)
    if not captions:
        raise UnmaskError(f"{path} has no captions; give a file with one per line")
    templates = make_templates(captions, language, as_published=as_published)
    if not templates:
        female, male, _ = WORDS[language]
        raise UnmaskError(f"{path}: no caption names exactly one {female} or {male}; give another file")
    return templates


def make_templates(captions: Iterable[str], language: str, *, as_published: bool = False) -> tuple[str, ...]:
    """Return the distinct templates of the captions that can be used.

    Args:
        captions: The captions.
        language: en, ja or zh.
        as_published: Keep what the paper kept: captions that tell the gender and, in Japanese and Chinese, captions of
            any length, about several people, and with any ending.
    """
    check_choice(language, WORDS, "language of captions")
    make_template = _make_spaced_template if language == "en" else _make_unspaced_template
    templates: dict[str, None] = {}
    for caption in captions:
        template = make_template(caption, language, as_published=as_published)
        if template and (as_published or not gives_away(template, language)):
            templates[template] = None
    return tuple(templates)


def _make_spaced_template(caption: str, language: str, *, as_published: bool) -> str:
    """The template of an English caption; empty if it cannot be used."""
    del as_published
    female, male, _ = WORDS[language]
    # not in man-made or Pac-Man
    word = re.compile(rf"(?<!\w)(?<!\w[{HYPHENS}])(?:{female}|{male})(?!\w|[{HYPHENS}]\w)", re.IGNORECASE)
    if len(word.findall(caption)) != 1:
        return ""
    before, after = word.split(caption)
    sentence = " ".join(f"{ARTICLE.sub('the ', before)}{PERSON}{after}".split()).rstrip(" .。") + "."
    template = sentence[:1].lower() + sentence[1:]  # it may begin with the person
    return template if len(sentence.split()) >= FEWEST_WORDS and template.count(PERSON) == 1 else ""


def _make_unspaced_template(caption: str, language: str, *, as_published: bool) -> str:
    """The template of a Japanese or Chinese caption; empty if it cannot be used."""
    female, male, _ = WORDS[language]
    word = re.compile(f"{female}|{male}")
    names = word.findall(caption)
    template = "".join(word.sub(PERSON, caption).split())
    if as_published:
        return template if len(set(names)) == 1 else ""
    template = template.rstrip(".。") + "。"
    is_long = len(template.replace(PERSON, "")) >= FEWEST_LETTERS
    can_be_used = is_long and len(names) == template.count(PERSON) == 1 and not SEVERAL[language].search(template)
    return template if can_be_used else ""


def _read_captions(path: Path) -> list[str]:
    expected = "a file with a caption per line"
    if path.suffix == ".gz":
        try:
            text = gzip.decompress(path.read_bytes()).decode("utf-8-sig")
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise UnmaskError(f"{path} cannot be read ({type(error).__name__}); give {expected}") from None
    else:
        text = read_text(path, expected)
    lines = text.strip().splitlines(keepends=True)
    header = [cell.strip().casefold() for cell in next(csv.reader(lines[:1]), [])]
    has_header = COLUMNS[-1] in header
    if has_header or all(IMAGE_NAME.match(line) for line in lines if line.strip()):
        captions = _read_cells(path, lines, header if has_header else COLUMNS)
        captions = captions[1:] if has_header else captions
    elif path.name.removesuffix(".gz").endswith(".csv"):
        raise UnmaskError(f"{path} has no column {COLUMNS[-1]!r}; add a header, or give {expected} as .txt")
    else:
        captions = [line.rpartition("\t")[2] for line in lines]
    return [caption.strip() for caption in captions if caption.strip()]


def _read_cells(path: Path, lines: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The captions of CSV; extra cells belong to a caption with commas and no quotes around it."""
    index = columns.index(COLUMNS[-1])
    after = len(columns) - index - 1
    reader = csv.reader(lines, strict=True)
    try:
        return [",".join(cells[index : len(cells) - after]) for cells in reader]
    except csv.Error as error:
        raise UnmaskError(
            f"{path} is not valid CSV ({error}, line {reader.line_num}); look for a quote that is not closed"
        ) from None

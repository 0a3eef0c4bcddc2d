"""The words of the inference measure: occupations, phrases for a person, templates, and plain control questions.

A premise says that *the nurse* does something, its hypothesis that *the woman* does. The gender that an occupation is
tied to depends on two scores of Bolukbasi et al. (2016), Man is to Computer Programmer as Woman is to Homemaker?:
`definitional`, how far the word means a gender, and `stereotype`, how far people tie it to one; both from -1 (female)
to 1 (male). With d and s for the scores:

    kind             none if |d| >= .5 (the word states the gender); female if s <= -.4; male if s >= .4;
                     neutral if |s| <= .2; none between (unclear)
    published_kind   male if |d| < .5 and s > .5; female if |d| < .5 and s < -.5; else neutral
                     (NLI-CoAL: Anantaprayoon, Kaneko and Okazaki 2024, as in their released lists)

By the published rule *businessman* is neutral, since it states its gender. The scores are as released; translations,
phrases, templates and telling words were written for this package. A language has the files
`inference_occupations.csv`, `inference_people.csv`, `inference_templates.csv` and `inference_telling.csv`; a user can
give files of her own for the first three.

`inference_questions.csv` has plain questions whose answers everybody knows, written for this package: as many of each
answer, and the same premise stands with all three, so that no answer can be told from one sentence alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon.gender import gender_words
from unmask.lexicon.table import WordRow, read_records, read_rows

LANGUAGES = ("en", "ja", "zh")
KINDS = ("female", "male", "neutral")
ROLES = ("female", "male", "person", "occupation")


@dataclass(frozen=True)
class Occupation:
    """An occupation that may be anybody's, and the gender that stereotypes tie it to."""

    word: str
    english: str
    """What it is in English; the word itself where a user does not say."""
    definitional: float | None
    stereotype: float | None
    kind: str
    """female, male or neutral."""


@dataclass(frozen=True)
class GenderPair:
    """Two phrases that differ in gender alone: *the woman* and *the man*."""

    name: str
    female: str
    male: str


@dataclass(frozen=True)
class People:
    """What stands for a person in a template."""

    occupation: str
    """How an occupation stands in the premise, with `{occupation}`: *the {occupation}*."""
    pairs: tuple[GenderPair, ...]
    persons: tuple[str, ...]
    """Phrases without a gender, entailed wherever the premise holds: *the person*; a user may have none."""


def kind(definitional: float, stereotype: float) -> str | None:
    """The gender that stereotypes tie an occupation to, or neutral; None where the word says it, or it is unclear."""
    if abs(definitional) >= 0.5 or 0.2 < abs(stereotype) < 0.4:
        return None
    if abs(stereotype) <= 0.2:
        return "neutral"
    return "female" if stereotype < 0 else "male"


def published_kind(definitional: float, stereotype: float) -> str:
    """The same as the paper's lists have it: whatever is not clearly stereotyped is neutral."""
    if abs(definitional) >= 0.5 or abs(stereotype) <= 0.5:
        return "neutral"
    return "female" if stereotype < 0 else "male"


def occupations(language: str, path: Path | None = None) -> tuple[Occupation, ...]:
    """The occupations of a language, or of a CSV file with `occupation` (and `english`).

    The file says the kind by the scores `definitional` and `stereotype`, or by `type` (female, male, neutral), which
    counts where both are given.
    """
    return tuple(_build_occupation(row) for row in _read_file(language, path, "occupations", ("occupation",)))


def people(language: str, path: Path | None = None) -> People:
    """What stands for a person in a language, or the phrases of a CSV file with `phrase`, `gender` and `pair`.

    `gender` is female, male, person or occupation; a female and a male phrase with the same `pair` belong together.
    """
    by_role: dict[str, list[str]] = {role: [] for role in ROLES}
    pairs: dict[str, dict[str, str]] = {}
    for row in _read_file(language, path, "people", ("phrase", "gender")):
        phrase, role = row["phrase"], row.read_choice("gender", ROLES)
        _check_fields(row, "phrase", ["occupation"] if role == "occupation" else [])
        by_role[role].append(phrase)
        if role in ("female", "male"):
            name = row.get("pair", "")
            if not name:
                raise row.error(f"{phrase!r} has no pair; give it and its counterpart a name in 'pair'")
            if role in pairs.setdefault(name, {}):
                raise row.error(f"pair {name!r} has two {role} phrases; give every pair a name of its own")
            pairs[name][role] = phrase
    where = path or f"{language}/inference_people.csv"
    for name, pair in pairs.items():
        if len(pair) < 2:
            raise UnmaskError(f"{where}: pair {name!r} has {quote(pair.values())} alone; give both genders")
    if len(by_role["occupation"]) != 1:
        raise UnmaskError(f"{where}: {len(by_role['occupation'])} phrases with gender 'occupation'; give one")
    if not pairs:
        raise UnmaskError(f"{where}: no phrase is female or male; give at least one pair")
    return People(
        by_role["occupation"][0],
        tuple(GenderPair(name, pair["female"], pair["male"]) for name, pair in pairs.items()),
        tuple(by_role["person"]),
    )


def templates(language: str, path: Path | None = None) -> tuple[str, ...]:
    """The templates of a language, or those of a CSV file with a column `template`; `{person}` stands in each once."""
    rows = _read_file(language, path, "templates", ("template",))
    for row in rows:
        _check_fields(row, "template", ["person"])
    return tuple(row["template"] for row in rows)


def gives_away(template: str, language: str) -> list[str]:
    """The words of a template that tell a gender, or hint at one (*beard*, *lipstick*), as they stand in it."""
    text = template.replace("{person}", " ")
    return _compile_telling_words(check_choice(language, LANGUAGES, "language of the inference measure")).findall(text)


@cache
def _compile_telling_words(language: str) -> re.Pattern[str]:
    words = {row["word"] for row in read_rows(None, language, "inference_telling", ("word",))}
    if language == "en":
        terms = gender_words("all")
        return _match_any({*words, *terms.words, *terms.before_names}, r"(?<!\w)", r"(?!\w)")
    return _match_any(words)


def _match_any(words: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(f"{before}(?:{'|'.join(map(re.escape, longest_first))}){after}", re.IGNORECASE)


def _read_file(language: str, path: Path | None, name: str, required: tuple[str, ...]) -> list[WordRow]:
    if path is None:
        check_choice(language, LANGUAGES, "language of the inference measure")
    return read_rows(path, language, name if path else f"inference_{name}", required, unique=True)


def _build_occupation(row: WordRow) -> Occupation:
    word = row["occupation"]
    definitional, stereotype = (row.read_number(column, -1, 1) for column in ("definitional", "stereotype"))
    if row.get("type"):
        group: str | None = row.read_choice("type", KINDS)
    elif definitional is None or stereotype is None:
        raise row.error(
            f"{word!r} has no type; fill in 'type' (female, male or neutral), or both 'definitional' and 'stereotype'"
        )
    else:
        group = kind(definitional, stereotype)
    if group is None:
        problem = "says a gender" if abs(definitional or 0) >= 0.5 else "is neither stereotyped nor neutral"
        raise row.error(
            f"{word!r} (definitional {definitional}, stereotype {stereotype}) {problem};"
            " leave it out, or say its 'type'"
        )
    return Occupation(word, row.get("english") or word, definitional, stereotype, group)


def _check_fields(row: WordRow, column: str, wanted: list[str]) -> None:
    """Raise an error for a text whose names in braces are not those that are wanted."""
    if row.read_fields(column) != wanted:
        need = f"have {{{wanted[0]}}} once, and no other place" if wanted else "have no place in braces"
        raise row.error(f"{column} {row[column]!r} must {need}; write it in quotes if it holds a comma")


@dataclass(frozen=True)
class ControlQuestion:
    """A premise, a hypothesis, and what the one says of the other."""

    premise: str
    hypothesis: str
    label: str


def control_questions(language: str = "en") -> tuple[ControlQuestion, ...]:
    """The questions of a language."""
    return read_records(ControlQuestion, language, "inference_questions")

"""Where the nouns come from: `lexicon/de/gender.csv`, or a CSV file of the user's."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from pathlib import Path

from unmask.counterfactual.german.nouns import Noun
from unmask.errors import UnmaskError, one_of
from unmask.lexicon.table import rows_of

DIRECTIONS = ("both", "female", "male", "none")
DECLENSIONS = ("strong", "weak", "adjectival", "adjectival-in")
WEAK_ENDS = ("ent", "ant", "ist", "at", "e", "oph", "graf", "graph", "et", "it", "ot", "urg", "ekt", "aut", "arch")


@cache
def own() -> tuple[Noun, ...]:
    """The nouns of the package."""
    text = (resources.files("unmask.lexicon") / "de" / "gender.csv").read_text(encoding="utf-8")
    return tuple(_noun(row) for row in csv.DictReader(text.splitlines()))


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a user's CSV file with the columns male and female, and any other column of ours."""
    try:
        return rows_of(path, "de", "gender", ("male", "female"))
    except (OSError, ValueError) as error:
        raise UnmaskError(
            f"{path} cannot be read ({error}); give a CSV file with the columns male and female"
        ) from None


def _noun(row: dict[str, str]) -> Noun:
    def cell(name: str) -> str:
        return (row.get(name) or "").strip()

    return Noun(
        cell("male"),
        cell("female"),
        _several(cell("male_genitive")),
        _several(cell("male_plural")),
        _several(cell("female_plural")),
        cell("declension"),
        cell("set"),
        cell("direction"),
    )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split("|")))


def from_user(row: dict[str, str]) -> Noun:
    """A noun of a user's list, as our own list knows it, else with its forms by the rules of German."""
    male, female = row["male"].strip(), row["female"].strip()
    known = next((noun for noun in own() if (noun.male, noun.female) == (male, female)), None)
    given = {name: (row.get(name) or "").strip() for name in ("male_genitive", "male_plural", "female_plural")}
    weak = male.endswith(WEAK_ENDS)
    declension = (row.get("declension") or "").strip() or ("weak" if weak else "strong")
    one_of(declension, DECLENSIONS, f"declension of {male!r}")
    direction = (row.get("direction") or "").strip() or "both"
    one_of(direction, DIRECTIONS, f"direction of {male!r}")
    if known and not any((*given.values(), row.get("declension"), row.get("direction"))):
        return known
    same = male.endswith(("er", "el", "en"))
    guess = {
        "male_genitive": (male + "n" if male.endswith("e") else male + "en") if weak else f"{male}s|{male}es",
        "male_plural": (male + "n" if male.endswith("e") else male + "en") if weak else male if same else "",
        "female_plural": female + "nen" if female.endswith("in") else female + "n" if female.endswith("e") else "",
    }
    cells = {name: _several(given[name] or guess[name]) for name in given}
    return Noun(
        male,
        female,
        cells["male_genitive"],
        cells["male_plural"],
        cells["female_plural"],
        declension,
        direction="" if direction == "both" else direction,
    )

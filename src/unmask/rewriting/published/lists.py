"""The word lists that authors released, read from a user's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unmask import datasets
from unmask.errors import UnmaskError

ONE_OF_THE_MAPS = "prons_m2f.json"


def reviews_folder(own_folder: Path | None, *, offline: bool = True) -> Path | None:
    """Where the maps of the review study are: in the user's folder, or beside the reviews if they are there."""
    if own_folder is not None or (offline and not datasets.is_present("imdb")):
        return own_folder
    reviews = datasets.locate("imdb", offline=offline)
    folder = reviews if reviews.is_dir() else reviews.parent
    return folder if (folder / ONE_OF_THE_MAPS).is_file() else None


def read_mapping(folder: Path, name: str) -> dict[str, str]:
    """A JSON object of words and what they become, in its order."""
    words = _read_json(folder, name)
    if not isinstance(words, dict) or not all(isinstance(word, str) and word for word in words.values()):
        raise UnmaskError(f"{folder / name} is not a JSON object of words; give the file as it was released")
    return words


def read_pairs(folder: Path, name: str) -> dict[str, str]:
    """A JSON array of pairs of words, as a table that goes both ways, in lower case."""
    pairs = _read_json(folder, name)
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) and word for word in pair)
        for pair in pairs
    ):
        raise UnmaskError(f"{folder / name} is not a JSON array of pairs of words; give the file as it was released")
    table: dict[str, str] = {}
    for male, female in ((male.lower(), female.lower()) for male, female in pairs):
        for word in {male, female} & table.keys():
            raise UnmaskError(f"{folder / name}: {word!r} stands in two pairs; keep one of them")
        table |= {male: female, female: male}
    return table


def _read_json(folder: Path, name: str) -> Any:
    path = folder / name
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnmaskError(
            f"{path} cannot be read ({error.strerror}); give the folder that holds the authors' word lists"
        ) from None
    except ValueError:
        raise UnmaskError(f"{path} is not JSON in UTF-8; give the file as it was released") from None

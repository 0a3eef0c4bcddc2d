"""First names: how often men and women bear them, and what else their words mean.

Our list is that of the US Census Bureau, 1990 Census, Frequently Occurring First Names (public domain): the per cent of
men, or of women, who bear a name. A user can give a list of her own with counts, as the US Social Security
Administration publishes them.

A *name word* is a first name that is something else as well (`Will`, `May`, `Georgia`, `Jackson`). Its kinds:

- `word`, `adjective`, `title`: an ordinary word (`Grace`), an adjective (`Christian`), a title (`Earl`);
- `month`, `place`: a month (`June`), a town, state or country (`Charlotte`);
- `surname`: far more often a surname than a first name (`Jackson`), by the census list of surnames or by fame;
- `second`: often the second part of a double name (`Mary Ann`), and seldom a surname;
- `seldom`: seldom a name where it stands capitalised (`Paris`, `Summer`): needs a surname or other proof;
- `never`: in the data, yet hardly ever a name in a text (`An`, `America`): always left alone.
"""

from __future__ import annotations

import csv
import gzip
import math
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from io import StringIO
from pathlib import Path

from unmask.errors import UnmaskError, quote

SEXES = {"m": "male", "male": "male", "f": "female", "female": "female"}
KINDS = ("word", "adjective", "title", "month", "place", "surname", "second", "seldom", "never")


@dataclass(frozen=True, slots=True)
class FirstName:
    """A first name and how many men and women bear it: counts, or per cent of each sex."""

    name: str
    male: float
    female: float

    @property
    def frequency(self) -> float:
        """How often the name is borne, by whomever."""
        return self.male + self.female

    @property
    def female_share(self) -> float:
        """The share of women among those who bear it."""
        return self.female / self.frequency


def first_names(path: Path | None = None) -> list[FirstName]:
    """The first names of the census, or of a CSV file with `name`, `sex` and `count`, plain or gzip; frequent first."""
    where = str(path or "the list of first names")
    text = _text(path) if path else _own("names.csv")
    written: dict[str, str] = {}
    amounts: dict[str, dict[str, float]] = defaultdict(lambda: {"male": 0.0, "female": 0.0})
    for number, name, sex, amount in _rows(text, where, "count" if path else "share"):
        if not name.replace("-", "").replace("'", "").replace("’", "").isalpha():
            raise UnmaskError(f"{where}, line {number}: {name!r} is not one first name; give letters, one name a row")
        if sex.lower() not in SEXES:
            raise UnmaskError(f"{where}, line {number}: sex {sex!r} is unknown; give M, F, male or female")
        written.setdefault(name.lower(), _written(name))
        amounts[name.lower()][SEXES[sex.lower()]] += _amount(amount, number, where)
    names = [
        FirstName(written[name], each["male"], each["female"])
        for name, each in amounts.items()
        if sum(each.values()) > 0
    ]
    if not names:
        raise UnmaskError(f"{where} has no names; give at least one row with a count above 0")
    return sorted(names, key=lambda name: (-name.frequency, name.name))


@lru_cache(maxsize=1)
def name_words() -> Mapping[str, frozenset[str]]:
    """The kinds of every name that is also something else; names in lower case."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for row in csv.DictReader(StringIO(_own("name_words.csv"))):
        kinds[row["name"]].add(row["kind"])
    return {name: frozenset(each) for name, each in kinds.items()}


@lru_cache(maxsize=1)
def name_context() -> Mapping[str, frozenset[str]]:
    """The words that tell what a capitalised word beside them is, in lower case, by kind (titles, streets)."""
    words: dict[str, set[str]] = defaultdict(set)
    for row in csv.DictReader(StringIO(_own("name_context.csv"))):
        words[row["kind"]].add(row["word"])
    return {kind: frozenset(each) for kind, each in words.items()}


def without_accents(name: str) -> str:
    """A name as lists without accents have it: `zoe` for `zoë`."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))


def _written(name: str) -> str:
    """A name in title case; a writing of the user's with capitals inside (`DeAndre`) is kept."""
    return name.title() if name.isupper() or name.islower() else name


def _rows(text: str, where: str, amount: str) -> list[tuple[int, str, str, str]]:
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader if any(cells)]
    except csv.Error as error:
        raise UnmaskError(f"{where} is not CSV as we read it ({error}); look for a quote that is not closed") from None
    columns = [column.lower() for column in lines[0][1]] if lines else []
    missing = [column for column in ("name", "sex", amount) if column not in columns]
    if missing:
        raise UnmaskError(f"{where}: column {missing[0]!r} is missing; it has {quote(columns) or 'no columns'}")
    name, sex, many = (columns.index(column) for column in ("name", "sex", amount))
    rows = []
    for number, cells in lines[1:]:
        if len(cells) != len(columns):
            raise UnmaskError(f"{where}, line {number}: {len(cells)} cells for {len(columns)} columns; fill them in")
        rows.append((number, cells[name], cells[sex], cells[many]))
    return rows


def _amount(text: str, number: int, where: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < math.inf:
        raise UnmaskError(f"{where}, line {number}: {text!r} is not a count; give a number of 0 or more")
    return amount


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UnmaskError(f"{path} does not exist; give a CSV file of first names") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise UnmaskError(f"{path} cannot be read ({error}); give a CSV file of first names, plain or gzip") from None


def _own(file: str) -> str:
    return (resources.files(__package__) / "en" / file).read_text(encoding="utf-8")

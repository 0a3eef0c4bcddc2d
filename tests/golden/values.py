"""The numbers of an output folder, under names that do not depend on the structure of the code.

A value is a number, a verdict, a caveat code or a hash. Sentences and times are left out: they may change. A column of
the items table is summarised by a hash of its values and, for numbers, by a sum and a sample that can be compared
within a tolerance on another machine.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unmask.results.storage import ITEMS, read_items

Value = float | int | str | bool | None
PROSE = {
    *("headline", "cost", "question", "statement", "evidence", "text", "statistic_name", "effect_size_name", "unit"),
    *("attributes", "labels", "rating", "about", "citation", "created", "unmask_version", "libraries", "configuration"),
    *("device", "inconclusive", "schema_version", "digits", "seconds"),
}
KEYS = ("name", "profession", "occupation", "word", "term", "pair", "code")
ENVELOPE = {"kind"}
"""Top-level fields that identify the type of a file."""
SAMPLE = 40


def folder_values(folder: Path, patterns: Sequence[str]) -> dict[str, Value]:
    """All numbers in the files of a folder that match a pattern."""
    values: dict[str, Value] = {}
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".json":
            data = json.loads(path.read_text(encoding="utf-8"))
            values |= {f"{name}:{key}": value for key, value in flatten(data)}
        elif name.endswith(ITEMS):
            values |= {f"{name}:{key}": value for key, value in column_values(read_items(path))}
        elif path.suffix == ".csv":
            values |= {f"{name}:{key}": value for key, value in column_values(pd.read_csv(path))}
        else:
            values[f"{name}:sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return values


def flatten(data: Any, path: str = "") -> Iterator[tuple[str, Value]]:
    """Numbers, verdicts and hashes of nested data, by path; elements of a list go by their name if there is one."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in PROSE and (path or key not in ENVELOPE):
                yield from flatten(value, f"{path}/{key}" if path else str(key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from flatten(value, f"{path}/{element_name(value, index)}")
    else:
        yield path, data


def element_name(element: Any, index: int) -> str:
    """The key that identifies an element of a list."""
    if isinstance(element, dict) and "language" in element and "corpus" in element:
        fields = ("name", "language", "corpus", "protocol", "variant")
        parts = [element.get(field) for field in fields]
        return " ".join(str(part) for part in parts if part)
    if isinstance(element, dict):
        return next((str(element[key]) for key in KEYS if isinstance(element.get(key), str)), str(index))
    return str(index)


def column_values(items: pd.DataFrame) -> Iterator[tuple[str, Value]]:
    """A hash of each column; of numbers, also their sum and a sample."""
    yield "rows", len(items)
    for name in sorted(items.columns):
        column = items[name]
        if pd.api.types.is_float_dtype(column):
            numbers = column.to_numpy(dtype=np.float64)
            yield f"{name}/sha256", hashlib.sha256(numbers.tobytes()).hexdigest()
            yield f"{name}/sum", math.fsum(numbers[np.isfinite(numbers)])
            for index in np.unique(np.linspace(0, len(numbers) - 1, min(SAMPLE, len(numbers))).astype(int)):
                yield f"{name}/{index}", None if math.isnan(numbers[index]) else float(numbers[index])
        else:
            text = "\n".join(map(str, column.tolist()))
            yield f"{name}/sha256", hashlib.sha256(text.encode()).hexdigest()


def differences(recorded: dict[str, Value], current: dict[str, Value], tolerance: float) -> list[str]:
    """One line per difference. With a tolerance, numbers are compared, but not their hashes."""
    rows = {key.rpartition(":")[0]: value for key, value in recorded.items() if key.endswith(":rows")}
    lines = [f"missing: {key}" for key in recorded.keys() - current.keys()]
    lines += [f"new: {key}" for key in current.keys() - recorded.keys()]
    hashed_numbers = {key.removesuffix("/sum") + "/sha256" for key in recorded if key.endswith("/sum")}
    for key in recorded.keys() & current.keys():
        before, after = recorded[key], current[key]
        if tolerance and (key in hashed_numbers or key.endswith(("safetensors:sha256", "weight_hash", "data_hash"))):
            continue
        terms = rows.get(key.rpartition(":")[0], 1) if key.endswith("/sum") else 1
        if before != after and not is_close(before, after, tolerance * float(terms or 1)):
            lines.append(f"{key}: {before!r} was recorded, now {after!r}")
    return sorted(lines)


def is_close(before: Value, after: Value, tolerance: float) -> bool:
    """Whether two numbers agree within a tolerance, absolute below 1 and relative above."""
    if not (isinstance(before, float | int) and isinstance(after, float | int)):
        return False
    return abs(before - after) <= tolerance * max(1.0, abs(before))

"""Base models of a study: how a user names them, and what they are exactly."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from unmask import embedded
from unmask.errors import UnmaskError, check_choice, quote
from unmask.models.checkpoints import find_checkpoint
from unmask.models.vector_files import list_word_files
from unmask.models.word_vectors import find_vector_file, is_vector_folder
from unmask.options import LoadOptions

Base = TypeVar("Base")
SHORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+]{0,30}")
HYPHENATED = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,30}")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
PARTS = (".json", ".safetensors", ".txt", ".model", ".vocab", ".bin", ".py")
"""The files of a model folder that decide what is loaded: weights, tokenizer, settings, and code if it is allowed."""


def named(given: Sequence[str], *, hyphens: bool = False) -> list[tuple[str, str]]:
    """Names and models from `NAME=MODEL`; a bare `NAME` has no model (empty)."""
    short = HYPHENATED if hyphens else SHORT
    found = []
    for one in given:
        name, is_pair, model = one.partition("=")
        if is_pair and (not short.fullmatch(name) or not model):
            raise UnmaskError(f"{one!r} names no base model; give NAME=MODEL, with a short name of letters and digits")
        found.append((name, model))
    names = [name for name, _ in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnmaskError(f"the base model {quote(twice)} is given twice; give every one its own name")
    return found


def known_base(name: str, known: Mapping[str, Base]) -> Base:
    """One of the paper's models by its name; a model that has no name for the tables is told to get one."""
    if name not in known and (name in embedded.MODELS or "/" in name or Path(name).exists()):
        raise UnmaskError(f"--model {name} has no name for the tables; write NAME={name}, such as mine={name}")
    return known[check_choice(name, known, "base model")]


def hash_model(model: str, options: LoadOptions | None = None) -> str:
    """Return a SHA-256 over a model, or over a file or folder of word vectors; a hub id stands for itself."""
    path = Path(model)
    if is_vector_folder(path):
        path = find_vector_file(path)[0]
    if not path.is_file():
        return weights_of(model, options)
    return hash_files([path, *(list_word_files(path) if path.suffix == ".npy" else ())])


def hash_files(paths: Iterable[Path]) -> str:
    """Return a SHA-256 over the content of those files that exist."""
    total = hashlib.sha256()
    for path in paths:
        if path.is_file():
            _add_file(total, path)
    return total.hexdigest()


def _add_file(total: Any, path: Path) -> None:
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: total)


def weights_of(model: str, options: LoadOptions | None = None) -> str:
    """A SHA-256 over the files of a folder or an embedded model, refused if it cannot be used; a hub id is itself.

    For an adapter, those of its model as well.
    """
    folder = embedded.MODELS[model].folder if model in embedded.MODELS else Path(model)
    if HUB_ID.fullmatch(model) and not folder.exists():
        return model
    base = find_checkpoint(model, options or LoadOptions()).base
    total = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in PARTS:
            total.update(file.name.encode())
            _add_file(total, file)
    if base is not None:
        total.update(weights_of(base.name, options).encode())
    return total.hexdigest()

"""Writing that leaves the whole thing or nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder beside `path`; it takes that name when the block ends well, and is removed if not."""
    check_new_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise UnmaskError(
            f"{path.parent} cannot be written to ({error.strerror}); give another folder with --out"
        ) from None
    try:
        yield draft
        draft.chmod(0o755)
        check_new_path(path)
        draft.rename(path)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise UnmaskError(f"{path} could not be written ({error.strerror or error}); nothing was kept of it") from None
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; the file takes its place when the block ends well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None  # of what was asked for, not of the draft
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o644)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def cache_folder() -> Path:
    """The folder for what can be downloaded or computed again; it is beside that of the model libraries."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unmask"


def check_new_path(path: Path) -> None:
    """Never write over what is there, and find out before the work rather than after it."""
    if path.exists():
        raise UnmaskError(f"{path} exists; give another name with --out, or remove it first")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    if not parent.is_dir():
        raise UnmaskError(f"{parent} is a file, so {path} cannot be made; give another folder with --out")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UnmaskError(f"{parent} cannot be written to; give another folder with --out")


def write_text(path: str | PathLike[str], text: str) -> Path:
    """Write a text file atomically, and return its path."""
    with atomic_file(Path(path)) as draft:
        draft.write_text(text, encoding="utf-8")
    return Path(path)


def digest(things: Iterable[Any]) -> str:
    """A SHA-256 over plain things, in order."""
    total = hashlib.sha256()
    for thing in things:
        total.update(json.dumps(thing, ensure_ascii=False).encode() + b"\n")
    return total.hexdigest()


def hash_content(*parts: str | bytes | Path) -> str:
    """Compute the SHA-256 of texts, bytes and the contents of files, one after the other, as a hexadecimal number."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            with part.open("rb") as file:
                hashlib.file_digest(file, lambda: total)
        else:
            total.update(part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part)
    return total.hexdigest()

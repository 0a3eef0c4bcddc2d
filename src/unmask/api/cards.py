"""`unmask.card(…)`, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from unmask.auditing.audit import Audit
from unmask.errors import UnmaskError
from unmask.results import AuditResult

README = "README.md"


@dataclass(frozen=True)
class ModelCard:
    """A model card with what audits found."""

    text: str
    path: Path | None = None
    """Where it is, if it was to be written."""
    changed: bool = True
    """Whether the file is another now."""
    note: str = ""
    """What is wrong with the weights beside the card; empty if nothing is known to be."""


def card(*audits: str | PathLike[str] | Audit, to: str | PathLike[str] | None = None) -> ModelCard:
    """What audits of a model found, as a model card: a section on gender bias, and `model-index` in the front matter.

    `audits` are audit folders or `Audit`s of one model. `to` is the card to update, or the model folder that it is in;
    a card that is not there is made. All else in it stays as it is, byte for byte, and a second call changes nothing.
    Without `to`, nothing is written.
    """
    from unmask.files import whole_file
    from unmask.report.card import update

    results = _results(audits)
    if to is None:
        return ModelCard(update("", results))
    path = _file(Path(to))
    before = path.read_bytes() if path.exists() else b""
    note = _note(path, results)
    text = update(before.decode("utf-8", "surrogateescape"), results, note=note)
    content = text.encode("utf-8", "surrogateescape")
    if content != before:
        with whole_file(path) as draft:
            draft.write_bytes(content)
    return ModelCard(text, path, content != before, note)


def _results(audits: Sequence[str | PathLike[str] | Audit]) -> list[AuditResult]:
    from unmask.results import storage

    if not audits:
        raise UnmaskError("no audit was given; give a folder that unmask audit has written")
    return [one.result if isinstance(one, Audit) else storage.load(Path(one)) for one in audits]


def _file(to: Path) -> Path:
    """The card that is meant; a link is followed."""
    path = to / README if to.is_dir() else to
    if not to.is_dir() and path.suffix.lower() not in (".md", ".markdown"):
        raise UnmaskError(f"{to} is neither a folder nor a .md file; give a README.md or the folder of a model")
    if not path.parent.is_dir():
        raise UnmaskError(f"{path.parent} does not exist; give a README.md or the folder of a model")
    return path.resolve()


def _note(path: Path, results: Sequence[AuditResult]) -> str:
    """Whether the weights beside the card are others than those that were measured."""
    from unmask.models.weights import weights_at

    measured = next((one.model.weight_hash for one in results if one.model.weight_hash), None)
    here = weights_at(path.parent) if measured else None
    if measured is None or here is None or here == measured:
        return ""
    return (
        f"The weights beside this card ({here[:12]}…) are not those that were measured ({measured[:12]}…):"
        " what follows may not hold for them."
    )

"""What Python users call: `unmask.audit(...)` and `unmask.analyse(...)`, and the `Audit` that they return."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import auditing
from unmask.models.sources import LoadOptions
from unmask.results import AuditResult, Measurement

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress


class Audit:
    """A finished audit: its measurements, its items, and ways to show and keep them."""

    def __init__(self, findings: auditing.Findings) -> None:
        """Take what the audit found."""
        self.result: AuditResult = findings.result
        self.items: dict[str, pd.DataFrame] = findings.items

    @property
    def measurements(self) -> list[Measurement]:
        """One for each corpus that was measured."""
        return self.result.measurements

    def summary(self) -> str:
        """The findings as plain text, a screenful."""
        from unmask.report import terminal

        return terminal.text(self.result)

    def to_frame(self) -> pd.DataFrame:
        """All tests as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "measure": one.name,
                    "language": one.language,
                    "corpus": one.corpus,
                    "test": name,
                    **test.model_dump(),
                }
                for one in self.measurements
                for name, test in one.tests.items()
            ]
        )

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report, one self-contained HTML page."""
        from unmask.files import whole_file
        from unmask.report import html

        target = Path(path)
        page = html.render(self.result, self.items)
        with whole_file(target) as draft:
            draft.write_text(page, encoding="utf-8")
        return target

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the audit folder: `result.json`, `items/`, `report.html`."""
        from unmask.report import html
        from unmask.results import storage

        target = Path(folder)
        storage.save(target, self.result, self.items, {"report.html": html.render(self.result, self.items)})
        return target


def audit(
    model: Any,
    *,
    measures: Sequence[str] | str = auditing.MEASURES,
    languages: Sequence[str] | str = ("en",),
    protocol: str = "sound",
    corpora: Sequence[str] | str = (),
    templates: str | PathLike[str] | None = None,
    persons: str | PathLike[str] | None = None,
    professions: str | PathLike[str] | None = None,
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Audit a model for gender bias.

    `model` is a hub id, a folder, a tuple of a loaded `transformers` model and its tokenizer, a fill-mask pipeline,
    or any object with the `MaskedLM` method. `templates`, `persons` and `professions` are CSV files in place of the
    built-in words.
    """
    settings = auditing.Settings(
        measures=_names(measures),
        languages=_names(languages),
        protocol=protocol,
        corpora=_names(corpora),
        templates=_path(templates),
        persons=_path(persons),
        professions=_path(professions),
        seed=seed,
        loading=LoadOptions(device, offline, allow_pickle, allow_remote_code),
    )
    return Audit(auditing.run(model, settings, progress=progress))


def analyse(
    items: str | PathLike[str],
    *,
    measure: str = "association",
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = auditing.SEED,
) -> Audit:
    """Analyse recorded item scores (an audit folder, Parquet, CSV or TSV), without the model that gave them.

    `language` is needed only for the released BEC-Pro columns, if it is not English.
    """
    return Audit(
        auditing.analyse(
            Path(items),
            measure=measure,
            language=language,
            protocol=protocol,
            score_column=score_column,
            seed=seed,
        )
    )


def _names(value: Sequence[str] | str) -> tuple[str, ...]:
    """One name or several, each once."""
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))


def _path(value: str | PathLike[str] | None) -> Path | None:
    return None if value is None else Path(value)

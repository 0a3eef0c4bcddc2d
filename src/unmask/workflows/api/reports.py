"""`unmask.load(…)`, and the reports of what was loaded."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, check_choice
from unmask.report.options import FORMATS
from unmask.results import AuditResult
from unmask.workflows.api.comparisons import Compared
from unmask.workflows.audit import Audit

if TYPE_CHECKING:
    import pandas as pd


def load(folder: str | PathLike[str]) -> Audit | Compared:
    """Read what `unmask audit`, `unmask analyse` or `unmask compare` has written into a folder."""
    from unmask.results import storage

    path = Path(folder)
    if storage.is_comparison(path):
        return Compared(storage.load_comparison(path), _items(path))
    return Audit(storage.load(path), _items(path))


def ranking(audits: Sequence[Audit | Compared | str | PathLike[str]], form: str = "html") -> str:
    """Several audits, or their folders, side by side: as the text of a page (html), Markdown (md) or a table (csv).

    For each measure, the models by the size of their main figure, with intervals and the ranks that these allow.
    """
    from unmask.report import rows
    from unmask.workflows import ranking as page

    results = [_result(one) for one in audits]
    if check_choice(form, FORMATS, "format") == "md":
        return page.render_markdown(results)
    return page.render(results) if form == "html" else rows.to_csv(page.ranking_rows(results), page.RANKING)


def _result(one: Audit | Compared | str | PathLike[str]) -> AuditResult:
    found = one if isinstance(one, Audit | Compared) else load(one)
    if isinstance(found, Compared):
        name = "a comparison" if found is one else f"{one} is a comparison, and"
        raise UnmaskError(f"{name} cannot be ranked; give audits, or the comparison alone to unmask report")
    return found.result


def _items(folder: Path) -> dict[str, pd.DataFrame]:
    import pandas as pd

    found = {}
    for file in sorted((folder / "items").glob("*.parquet")):
        try:
            found[file.stem] = pd.read_parquet(file)
        except (OSError, ValueError) as error:
            why = str(error).splitlines()[0]
            raise UnmaskError(f"{file} cannot be read ({why}); write the folder again with unmask audit") from None
    return found

"""`unmask.compare(…)`, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.files import write_text
from unmask.options import accepts
from unmask.results import Agreement, Comparison, ComparisonResult
from unmask.results.storage import report_format
from unmask.workflows.audit import Audit
from unmask.workflows.compare_options import CompareOptions

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from unmask.models.roles import Progress
    from unmask.report.comparison import ComparisonSection
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch


class Compared:
    """A finished comparison: what changed, the items behind it, and ways to show and keep them."""

    def __init__(
        self,
        result: ComparisonResult,
        items: dict[str, pd.DataFrame],
        audits: Mapping[str, Audit] | None = None,
    ) -> None:
        """Take a result, its items, and the audits that were made for it, by the name of the model."""
        self.result = result
        self.items = items
        self.audits: dict[str, Audit] = dict(audits or {})
        """Those that were made for the comparison, by the name of the model."""

    @property
    def comparisons(self) -> list[Comparison]:
        """One for each model after and each corpus of each measure."""
        return self.result.comparisons

    @property
    def agreement(self) -> Agreement | None:
        """Whether the measures agree over the models; None for fewer than four."""
        return self.result.agreement

    @property
    def verdict(self) -> str:
        """The verdict of the first comparison: improved, no reliable change, overshot or worse."""
        return self.comparisons[0].verdict

    def summary(self) -> str:
        """What changed as plain text, a screenful."""
        from unmask.report import terminal

        return terminal.comparison_text(self.result, self.sections())

    def sections(self) -> list[ComparisonSection]:
        """The comparisons as sections of a report."""
        from unmask.measures.sections import build_comparison_sections

        return build_comparison_sections(self.result, self.items)

    def show(self, console: Console) -> None:
        """Print the summary to a terminal."""
        from unmask.report import terminal

        terminal.show_comparison(self.result, self.sections(), console)

    def to_frame(self) -> pd.DataFrame:
        """All changes as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "measure": one.name,
                    "language": one.language,
                    "corpus": one.corpus,
                    "variant": one.variant,
                    "before_model": one.before,
                    "after_model": one.after,
                    "figure": name,
                    **change.to_row(),
                }
                for one in self.comparisons
                for name, change in one.changes.items()
            ]
        )

    def text(self, form: str = "html", *, beside: bool = False) -> str:
        """The report as text: html, md (Markdown) or csv; `beside`: for a page that stands in the folder."""
        from unmask.measures.sections import item_tables
        from unmask.report import comparison, markdown, rows

        if form == "html":
            tables = item_tables(self.items)
            return comparison.render_comparison(self.result, self.sections(), tables, beside=beside)
        if form == "md":
            return markdown.comparison_markdown(self.result, self.sections())
        return rows.to_csv(rows.comparison_rows(self.result))

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report: one self-contained HTML page, or Markdown or CSV where the name ends in .md or .csv."""
        return write_text(path, self.text(report_format(path)))

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the folder: `result.json`, `items/`, `report.html`, and the audits made for it under `audits/`."""
        from unmask.results import storage

        audits = {
            name: storage.Folder(one.result, one.items, {"report.html": one.text(beside=True)})
            for name, one in self.audits.items()
        }
        pages = {"report.html": self.text(beside=True)}
        target = Path(folder)
        storage.save_folder(target, storage.Folder(self.result, self.items, pages, audits))
        return target


@accepts(CompareOptions, without=("audit",))
def compare(
    before: Any,
    *after: Any,
    progress: Progress | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Compared:
    """Compare a model with what became of it, or with other models: what changed, how surely, and at what cost.

    Each of `before` and `after` is an audit folder, an `Audit`, or a model as `audit` takes it. Models are audited with
    the settings of the first audit among them. Of four models or more it is also said whether the measures agree on
    which is the more biased; then the fine-tuned classifiers are audited, too.
    """
    from unmask.workflows import compare as job

    found = job.run(before, after, CompareOptions(**options), progress=progress, say=say, watch=watch)
    return Compared(found.result, found.items, found.audits)

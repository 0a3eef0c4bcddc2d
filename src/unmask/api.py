"""What Python users call: `unmask.audit(…)`, `unmask.analyse(…)` and `unmask.compare(…)`, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import auditing
from unmask.models.sources import LoadOptions
from unmask.results import AuditResult, Comparison, ComparisonResult, Measurement

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from unmask.comparing import job
    from unmask.models.interfaces import Progress
    from unmask.studies.execution import Watch as StudyWatch
    from unmask.studies.imdb63.job import Engine, Finished
    from unmask.studies.imdb63.study import Plan, Request
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch


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
        from unmask.report import html

        return _written(path, html.render(self.result, self.items))

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
    measures: Sequence[str] | str = (),
    languages: Sequence[str] | str = ("en",),
    protocol: str = "sound",
    corpora: Sequence[str] | str = (),
    templates: str | PathLike[str] | None = None,
    persons: str | PathLike[str] | None = None,
    professions: str | PathLike[str] | None = None,
    terms: Sequence[str | PathLike[str]] | str | PathLike[str] = (),
    names: bool = False,
    texts: str | PathLike[str] | Sequence[str] | None = None,
    limit: int | None = None,
    positive: str | None = None,
    long_texts: str = "",
    most_tokens: int | None = None,
    lists: str | PathLike[str] | None = None,
    workspace: str | PathLike[str] | None = None,
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Audit a model for gender bias: association for a masked language model, sentiment for a classifier of texts.

    `model` is a hub id, a folder, a tuple of a loaded `transformers` model and its tokenizer, a pipeline, or any object
    with the method of a `MaskedLM`, a `Classifier` or a `Regressor`.

    For association, `templates`, `persons` and `professions` are CSV files in place of the built-in words. For
    sentiment, `terms` are the sets of words that change (pronouns, family, all, or a CSV file), `names` changes first
    names too, `texts` is a file, or a list of texts, in place of a corpus, `limit` draws some of them, `positive` names
    the label that is a high rating, `long_texts` is head, head+tail or window, `most_tokens` what is read at once,
    `lists` the folder of the released term maps (published protocol), and `workspace` a folder for ratings as they are
    made, so that the same call goes on after it was stopped.
    """
    settings = auditing.Settings(
        measures=_names(measures),
        languages=_names(languages),
        protocol=protocol,
        corpora=_names(corpora),
        templates=_path(templates),
        persons=_path(persons),
        professions=_path(professions),
        terms=_term_sets(terms),
        names=names,
        texts=_path(texts) if isinstance(texts, str | PathLike | None) else tuple(texts),
        limit=limit,
        positive=positive,
        long_texts=long_texts,
        most_tokens=most_tokens,
        lists=_path(lists),
        workspace=_path(workspace),
        seed=seed,
        loading=LoadOptions(device, offline, allow_pickle, allow_remote_code),
    )
    return Audit(auditing.run(model, settings, progress=progress))


def analyse(
    items: str | PathLike[str],
    *,
    measure: str | None = None,
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = auditing.SEED,
) -> Audit:
    """Analyse recorded item scores (an audit folder, Parquet, CSV or TSV), without the model that gave them.

    `measure` is found from the columns if it is not given; `language` is needed only where the file does not say it
    and it is not English.
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


class Compared:
    """A finished comparison: what changed, the items behind it, and ways to show and keep them."""

    def __init__(self, findings: job.Findings) -> None:
        """Take what the comparison found."""
        self.result: ComparisonResult = findings.result
        self.items: dict[str, pd.DataFrame] = findings.items
        self.audits: dict[str, Audit] = {name: Audit(audit) for name, audit in findings.audits.items()}
        """Those that were made for the comparison, by the name of the model."""

    @property
    def comparisons(self) -> list[Comparison]:
        """One for each model after and each corpus that was measured."""
        return self.result.comparisons

    @property
    def verdict(self) -> str:
        """The verdict of the first comparison: improved, no reliable change, overshot or worse."""
        return self.comparisons[0].verdict

    def summary(self) -> str:
        """What changed as plain text, a screenful."""
        from unmask.report import terminal

        return terminal.comparison_text(self.result)

    def to_frame(self) -> pd.DataFrame:
        """All changes as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "measure": one.name,
                    "language": one.language,
                    "corpus": one.corpus,
                    "before_model": one.before,
                    "after_model": one.after,
                    "figure": name,
                    **change.model_dump(),
                }
                for one in self.comparisons
                for name, change in one.changes.items()
            ]
        )

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report, one self-contained HTML page."""
        from unmask.report import comparison

        return _written(path, comparison.render(self.result))

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the folder: `result.json`, `items/`, `report.html`, and the audits made for it under `audits/`."""
        from unmask.report import comparison, html
        from unmask.results import storage

        audits = {
            name: storage.Folder(one.result, one.items, {"report.html": html.render(one.result, one.items)})
            for name, one in self.audits.items()
        }
        pages = {"report.html": comparison.render(self.result)}
        target = Path(folder)
        storage.save_folder(target, storage.Folder(self.result, self.items, pages, audits))
        return target


def mitigate(
    model: str | PathLike[str],
    method: str,
    out: str | PathLike[str],
    *,
    corpus: Sequence[str] | str = (),
    protocol: str = "sound",
    language: str = "en",
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    restart: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Debias a model and write it to a folder; gives what the folder's `mitigation.json` holds.

    `method` is cds, cda, context-debias, sent-debias, leace, or hard-debias (for a file of word vectors); `corpus` the
    text to learn from (gap, imdb, files). Further arguments are the method's own settings, such as `epochs=1`
    (`unmask mitigate --methods` lists them).
    """
    from unmask.mitigations import Request, run

    request = Request(
        model=str(model),
        method=method,
        out=Path(out),
        corpus=(corpus,) if isinstance(corpus, str) else tuple(str(one) for one in corpus),
        settings=tuple(settings.items()),
        protocol=protocol,
        language=language,
        seed=seed,
        restart=restart,
        loading=LoadOptions(device, offline, allow_pickle, allow_remote_code),
    )
    return run(request, progress=progress)


def compare(
    before: Any,
    *after: Any,
    languages: Sequence[str] | str = (),
    protocol: str | None = None,
    usefulness: bool = True,
    text: str | PathLike[str] | None = None,
    task: str | None = None,
    data: str | None = None,
    train: str | PathLike[str] | None = None,
    test: str | PathLike[str] | None = None,
    classifiers: str | PathLike[str] = "comparisons/classifiers",
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    progress: Progress | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
) -> Compared:
    """Compare a model with what became of it, or with other models: what changed, how surely, and at what cost.

    Each of `before` and `after` is an audit folder, an `Audit`, or a model as `audit` takes it. Models are audited with
    the settings of the first audit among them; `languages` and `protocol` take their place. `text` is a file of neutral
    sentences to measure usefulness on. With `task` (sentiment or nli) and `data`, or `train` and `test`, the models are
    also fine-tuned and their accuracies compared.
    """
    from unmask.comparing import job
    from unmask.comparing.downstream import Downstream
    from unmask.errors import UnmaskError
    from unmask.training.loop import Settings as Training

    if task is None and (data or train or test):
        raise UnmaskError("data, train and test belong to a task; say which with --task sentiment or --task nli")
    own = _names(languages) or protocol
    settings = job.Settings(
        audit=auditing.Settings(languages=_names(languages) or ("en",), protocol=protocol or "sound", seed=seed)
        if own
        else None,
        usefulness=usefulness,
        text=_path(text),
        task=None
        if task is None
        else Downstream(task, data, train=_path(train), test=_path(test), settings=Training(seed=seed)),
        classifiers=Path(classifiers),
        seed=seed,
        loading=LoadOptions(device, offline, allow_pickle, allow_remote_code),
    )
    sides = [auditing.Findings(one.result, one.items) if isinstance(one, Audit) else one for one in (before, *after)]
    return Compared(job.run(sides[0], sides[1:], settings, progress=progress, say=say, watch=watch))


def _names(value: Sequence[str] | str) -> tuple[str, ...]:
    """One name or several, each once."""
    return (value,) if isinstance(value, str) else tuple(dict.fromkeys(value))


def _term_sets(value: Sequence[str | PathLike[str]] | str | PathLike[str]) -> tuple[str | Path, ...]:
    from unmask.counterfactual.settings import term_set

    return tuple(dict.fromkeys(term_set(one) for one in ([value] if isinstance(value, str | PathLike) else value)))


def _path(value: str | PathLike[str] | None) -> Path | None:
    return None if value is None else Path(value)


def _written(path: str | PathLike[str], page: str) -> Path:
    from unmask.files import whole_file

    with whole_file(Path(path)) as draft:
        draft.write_text(page, encoding="utf-8")
    return Path(path)


def run_study(
    request: Request,
    out: str | PathLike[str],
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: StudyWatch | None = None,
) -> tuple[Finished, Path | None]:
    """Run the study of 63 classifiers, and write its page; gives what came of it and where the page is.

    The same call goes on where an earlier one stopped. `planned` is told the cells before the work begins, and `watch`
    of every cell that starts, says something, or ends.
    """
    from unmask.report import study
    from unmask.studies.imdb63 import job as imdb63

    finished = imdb63.run(request, Path(out), engine, planned=planned, watch=watch)
    return finished, None if finished.findings is None else study.write(finished.findings, Path(out))

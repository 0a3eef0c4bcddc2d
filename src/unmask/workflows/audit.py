"""Audit a model, or analyse recorded scores."""

from __future__ import annotations

import gzip
import platform
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import hash_content, write_text
from unmask.measures import registry
from unmask.measures.base import Context, Measure
from unmask.measures.recorded import locate_items, read_table
from unmask.models.handle import ModelHandle, make_handle
from unmask.options import accepts
from unmask.results import AuditResult, Competence, Measurement, ModelInfo, storage
from unmask.steps import step
from unmask.workflows.audit_options import (
    AS_LOADED,
    AnalyseOptions,
    AuditOptions,
    audit_options,
    describe_recorded_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from unmask.models.roles import Progress
    from unmask.report.default_blocks import MeasureSection

WIDTH = 100
"""Columns of a summary."""
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")


@dataclass(eq=False)
class ReportedResult(ABC):
    """What an audit or a comparison found, the items behind it, and ways to show and store them."""

    result: Any
    items: dict[str, pd.DataFrame]
    """By measure."""

    @abstractmethod
    def show(self, console: Console) -> None:
        """Print the summary to a terminal."""

    @abstractmethod
    def text(self, form: str = "html", *, beside: bool = False) -> str:
        """The report as text: html, md (Markdown) or csv; `beside`: for a page in the folder of the result."""

    @abstractmethod
    def to_folder(self) -> storage.Folder:
        """The content of the folder."""

    def summary(self) -> str:
        """The findings as plain text, a screenful."""
        from unmask.report.terminal import capture_text

        return capture_text(self.show, WIDTH)

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report: one self-contained HTML page, or Markdown or CSV where the name ends in .md or .csv."""
        return write_text(path, self.text(storage.report_format(path)))

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the folder: `result.json`, `items/`, `report.html`, and the audits made for a comparison."""
        storage.save(Path(folder), self.to_folder())
        return Path(folder)


@dataclass(eq=False)
class Audit(ReportedResult):
    """A finished audit: its measurements, its items, and ways to show and store them."""

    result: AuditResult
    model: ModelHandle | None = None
    """The model, if it is still loaded."""

    @property
    def measurements(self) -> list[Measurement]:
        """One for each corpus that was measured."""
        return self.result.measurements

    def sections(self) -> list[MeasureSection]:
        """The measurements as sections of a report."""
        from unmask.measures.sections import build_sections

        return build_sections(self.measurements, self.items)

    def show(self, console: Console) -> None:
        """Print the summary to a terminal."""
        from unmask.report import terminal

        terminal.show_audit(self.result, self.sections(), console)

    def to_frame(self) -> pd.DataFrame:
        """All tests as a table, one row each."""
        import pandas as pd

        rows = []
        for measurement in self.measurements:
            shared = measurement.model_dump(include={"language", "corpus", "variant"})
            for name, test in measurement.tests.items():
                rows.append({"measure": measurement.name, **shared, "test": name, **test.model_dump()})
        return pd.DataFrame(rows)

    def text(self, form: str = "html", *, beside: bool = False) -> str:
        """The report as text: html, md (Markdown) or csv; `beside`: for a page in the audit's folder."""
        from unmask.measures.sections import item_tables, limits
        from unmask.report import html, markdown, rows
        from unmask.report.default_blocks import audit_page

        if form == "csv":
            return rows.to_csv(rows.audit_rows(self.result))
        tables, sentences = item_tables(self.items), limits(self.measurements)
        page = audit_page(self.result, self.sections(), tables, limits=sentences, link_files=beside)
        return markdown.page_markdown(page) if form == "md" else html.render_page(page)

    def to_folder(self) -> storage.Folder:
        """The content of the audit folder."""
        return storage.Folder(self.result, self.items, {"report.html": self.text(beside=True)})


@accepts(audit_options())
def audit(model: Any, *, progress: Progress | None = None, **options: Any) -> Audit:
    """Audit a model for gender bias with every measure that fits it.

    Args:
        model: A hub id, a folder, a tuple of a loaded `transformers` model and its tokenizer, a pipeline, or any object
            with the methods of a `MaskedLM`, a `Classifier`, a `Regressor` or an `Encoder`. Word vectors can be a file
            (word2vec, GloVe, npz, npy), gensim's `KeyedVectors`, a dict, or a tuple of words and a matrix.
        progress: A function that is called with the number of inputs done and the number of all inputs.
        texts: Texts of your own: a list, or a file (.txt with one per line, .csv, .tsv, .jsonl or .parquet with a
            column `text`, and `label` and `id` if you have them).

    Returns:
        The audit. `summary()` is its text, `measurements` hold the estimates, `items` the scores, and `save(folder)`
        and `report(path)` write files.
    """
    texts = options.get("texts")
    if isinstance(texts, Sequence) and not isinstance(texts, str):
        options = options | {"texts": None, "given_texts": tuple(texts)}
    return run_audit(model, audit_options().parse(options), progress=progress)


def run_audit(model: Any, options: AuditOptions | None = None, *, progress: Progress | None = None) -> Audit:
    """Audit a model: a hub id, a folder, loaded `transformers` objects, or any object with the methods of one."""
    import pandas as pd

    options = options or audit_options()()
    if not options.languages:
        raise UnmaskError("no languages were given; give at least one, or leave them out for the default")
    handle = make_handle(model, options.loading, progress=progress)
    measures = choose_measures(handle, options)
    options.check_used(measures)
    plans = [(measure, options.for_measure(measure), _plan_units(measure, options, progress)) for measure in measures]
    items: dict[str, pd.DataFrame] = {}
    measurements: list[Measurement] = []
    configuration: dict[str, Any] = {}
    for measure, own_options, units in plans:
        with _advise_leaving_out(measure, measures[0], options), step(f"Measuring {measure.name}"):
            measured = list(measure.measure(handle, own_options, units))
            resolved = measure.resolved(handle, own_options, units)
        items[measure.name] = pd.concat([frame for frame, _ in measured], ignore_index=True)
        measurements += [measurement for _, measurement in measured]
        configuration = {name: _to_plain(value) for name, value in resolved.items()} | configuration
    shared = {"measures": [measure.name for measure in measures], "languages": list(options.languages)}
    loading = dict(options.loading)
    if not handle.is_named:
        loading["device"] = AS_LOADED
    configuration = shared | {"protocol": options.protocol} | configuration | loading
    result = _make_result(handle.info(), configuration, options.seed, measurements)
    return Audit(result, items, handle)


def _plan_units(measure: Measure, options: AuditOptions, progress: Progress | None) -> list[Context]:
    """What a measure is to measure; combinations that cannot be measured raise an error before anything slow starts."""
    own_options, context = options.for_measure(measure), options.context(progress=progress)
    for language, corpus in product(options.languages, ("", *options.corpora)):
        if not corpus or corpus in measure.corpora:
            measure.check(own_options, options.context(language=language, corpus=corpus))
    return measure.units(own_options, context, options.languages, options.corpora)


@contextmanager
def _advise_leaving_out(measure: Measure, main: Measure, options: AuditOptions) -> Iterator[None]:
    """If a measure that was run by default cannot be run, say how to do without it."""
    try:
        yield
    except UnmaskError as error:
        if measure is main or measure.name in options.measures:
            raise
        raise UnmaskError(f"{error} (or leave out {measure.name}: --measure {main.name})") from None


def choose_measures(model: ModelHandle, options: AuditOptions) -> list[Measure]:
    """The measures to run: those that were named, which must all fit the model, else those that run by default."""
    if options.measures:
        measures = [registry.get_measure(name) for name in dict.fromkeys(options.measures)]
        for measure in measures:
            for language in options.languages:
                if measure.origin is not None:
                    check_choice(language, measure.languages, f"language of {measure.name}")
            if not measure.fits(model, options):
                raise UnmaskError(measure.explain_misfit(model))
        return measures
    fitting = fitting_measures(model, options)
    usual = [measure for measure in fitting if measure.runs_by_default(model, options)] or fitting[:1]
    if not options.corpora:
        return usual
    named = [measure for measure in usual if set(options.corpora) & set(measure.corpora)]
    return named or usual[:1]


def fitting_measures(model: ModelHandle, options: AuditOptions) -> list[Measure]:
    """The built-in measures that fit a model, and those of plug-ins that were named."""
    named = [registry.get_measure(name) for name in options.measures if name not in registry.BUILT_IN]
    return [measure for measure in [*registry.built_in(), *named] if measure.fits(model, options)]


@accepts(AnalyseOptions)
def analyse(items: str | PathLike[str], **options: Any) -> Audit:
    """Analyse recorded item scores without the model that gave them.

    Args:
        items: An audit folder, or a file: JSON lines, CSV, TSV or Parquet.

    Returns:
        An audit, as `audit` returns it.
    """
    path, settings = Path(items), AnalyseOptions(**options)
    if (path / storage.RESULT).is_file():
        storage.read_fields(path / storage.RESULT)  # an error if it is cut off: the folder is not whole
    measure = registry.get_measure(settings.measure) if settings.measure else recognise_measure(path)
    if settings.protocol not in measure.protocols:
        raise UnmaskError(
            f"{measure.name} has no {settings.protocol} protocol; leave out --protocol {settings.protocol}"
        )
    if settings.language is not None:
        check_choice(settings.language, measure.languages, f"language of {measure.name}")
    column = settings.score_column
    if column is not None and not measure.takes_score_column:
        raise UnmaskError(f"--score-column does not apply: {measure.name} needs {measure.recorded_columns}")
    file, name = locate_items(path, measure.name)
    language = settings.language or measure.languages[0]
    context = Context(language, protocol=settings.protocol, seed=settings.seed, offline=True)
    frame = measure.read_items(file, context, language=settings.language, score_column=column)
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()  # not how it is packed
    scoring = {"data_hash": hash_content(content), "noise_floor": None}
    known = _read_competence(path)
    measurements = [
        measurement.model_copy(
            update=scoring | ({"competence": known[measurement.key]} if measurement.key in known else {})
        )
        for measurement in measure.analyse_recorded(frame, context)
    ]
    configuration = {
        "items": str(file),
        "measures": [measure.name],
        "languages": sorted({measurement.language for measurement in measurements}),
        "protocol": settings.protocol,
        "score_column": column,
    }
    info = ModelInfo(name=name, architecture="recorded scores")
    return Audit(_make_result(info, configuration, settings.seed, measurements), {measure.name: frame})


def _read_competence(folder: Path) -> dict[tuple[str, ...], list[Competence]]:
    """What an audit folder knows of the model besides its items: whether it can do what the measures rely on."""
    if not (folder / storage.RESULT).is_file() or storage.is_comparison(folder):
        return {}
    try:
        measurements = storage.load(folder).measurements
    except UnmaskError:  # of an earlier version
        return {}
    return {measurement.key: measurement.competence for measurement in measurements if measurement.competence}


def read_result(audit: Audit | AuditResult | str | PathLike[str]) -> AuditResult:
    """The result of an audit, or of the folder of one."""
    if isinstance(audit, str | PathLike):
        return storage.load(Path(audit))
    return audit.result if isinstance(audit, Audit) else audit


def recognise_measure(path: Path) -> Measure:
    """The measure that recorded scores belong to: by the items of an audit folder, or by the columns of a file."""
    if path.is_dir():
        names = sorted(storage.list_items(path))
        measures = [registry.get_measure(name) for name in names]
        main = [measure for measure in measures if measure.main] or measures
        if len(main) > 1:
            raise UnmaskError(f"{path} holds the items of {quote(names)}; choose one with --measure")
        return main[0] if main else registry.built_in()[0]
    columns = set(map(str, read_table(path)))
    candidates = [measure for measure in registry.installed() if measure.recognises(columns)]
    if not candidates:
        raise UnmaskError(
            f"{path} does not have the columns of a measure ({describe_recorded_columns()}); rename its columns, or"
            " give --measure"
        )
    return candidates[0]


def _make_result(
    info: ModelInfo, configuration: dict[str, Any], seed: int, measurements: Sequence[Measurement]
) -> AuditResult:
    named = [(registry.get_measure(measurement.name), measurement) for measurement in measurements]
    concluded = [measure.conclude(measurement) for measure, measurement in named]
    return AuditResult(model=info, configuration=configuration, measurements=concluded, **describe_run(seed))


def describe_run(seed: int) -> dict[str, Any]:
    """With which versions and seed, and when, a result was made."""
    return {
        "unmask_version": unmask.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
        "seed": seed,
    }


def _to_plain(value: Any) -> Any:
    """An option as `result.json` states it."""
    if isinstance(value, tuple | list):
        return [str(item) for item in value]
    return str(value) if isinstance(value, Path) else value

"""Audit several models, and rank audits: for each measure, the models by the size of their main figure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import __version__, embedded
from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import write_text
from unmask.measures.registry import find_measure
from unmask.measures.sections import limits, title, unreadable
from unmask.options import EngineOptions, LoadOptions
from unmask.report.blocks import Block, Cell, Column, Figure, Page, Section, Table, Text
from unmask.report.charts import ForestRow, forest
from unmask.report.drawing import TextColumns
from unmask.report.html import render_page
from unmask.report.markdown import block_lines, join_lines
from unmask.report.rows import to_csv
from unmask.results import AuditResult, Estimate, Measurement, storage
from unmask.results.formatting import capital, count, interval, join_or, make_unique, moment, number, p, short_name
from unmask.results.storage import FORMATS
from unmask.results.verdict import clear_side
from unmask.statistics.correlation import rank_ranges
from unmask.workflows.audit import Audit, read_result, run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options
from unmask.workflows.compare import Compared

if TYPE_CHECKING:
    from rich.console import Console

    from unmask.studies.steps import Outcome, Say, Watch

STUDY = "ranking"
"""The name under which the engine stores these audits."""
OUT = Path(STUDY)
PAGE = "ranking.html"
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
"""What the names of folders do not have."""
NOT_INPUTS = ("workspace", *LoadOptions.model_fields)
"""Options that do not change what is measured."""
RANKING = (
    *("measure", "language", "corpus", "protocol", "variant", "test", "model", "n"),
    *("value", "low", "high", "p_value", "p_adjusted", "first_rank", "last_rank"),
)
"""The columns of a ranking."""
HOW = (
    "Rank 1 is the farthest from zero, whichever way. A range of ranks holds 95 % of 10,000 draws, in which each figure"
    " moves by itself within its interval. The models were asked about the same words, so that the ranges are rather"
    " too wide: unmask compare pairs the items of two models, and finds smaller differences."
)
"""How ranks come about."""
NOTHING = "No two of these models were measured alike, so there is nothing to rank."
UNCLEAR = "No single model is clearly the most biased"
MOST_NAMES = 3
"""So many models are named in a sentence."""


@dataclass(frozen=True)
class RankedModel:
    """A model in a ranking."""

    name: str
    test: Estimate
    ranks: tuple[int, int] | None
    """The first and the last that it may have; None where there is no interval."""
    digits: int

    @property
    def value(self) -> str:
        """Its figure."""
        return number(self.test.value, self.digits)

    @property
    def bounds(self) -> str:
        """The interval of its figure."""
        return interval(self.test.interval, self.digits)

    @property
    def is_clear(self) -> bool:
        """Whether its interval excludes zero."""
        return clear_side(self.test) != 0

    @property
    def rank(self) -> str:
        """`2`, or `1 to 3`."""
        if self.ranks is None:
            return "–"
        return str(self.ranks[0]) if self.ranks[0] == self.ranks[1] else f"{self.ranks[0]} to {self.ranks[1]}"


@dataclass(frozen=True)
class MeasureRanking:
    """The models that have a measure of a corpus, the most biased first."""

    measurement: Measurement
    """One of them, for what they have in common."""
    test: str
    """The test whose estimate is the figure, the same for all; empty if there is none."""
    models: list[RankedModel]
    left_out: dict[str, str]
    """The models that are not ranked, and why."""
    alike: bool
    """Whether all were asked the same items; of recorded scores nothing is known but the file."""

    @property
    def title(self) -> str:
        """What was measured."""
        measurement = self.measurement
        protocol = "" if measurement.protocol == "sound" else f", {measurement.protocol} protocol"
        return title(measurement.name, measurement.corpus, measurement.language, measurement.variant) + protocol

    @property
    def unit(self) -> str:
        """What the figure is."""
        measure, test = find_measure(self.measurement.name), self.models[0].test
        if measure and self.test == measure.primary and measure.unit:
            return measure.unit
        unit = test.unit or (test.effect_size_name if test.effect_size == test.value else "")
        return f"{self.test}, {unit}" if unit else self.test

    @property
    def sentence(self) -> str:
        """What can be said of the order."""
        ranked = [(model.ranks[0], model) for model in self.models if model.ranks]
        if len(ranked) < 2:
            return "Without intervals, nothing can be said of how sure this order is."
        best = min(rank for rank, _ in ranked)
        first = [model for rank, model in ranked if rank == best]
        if best > 1:  # there are so many that each comes first in few draws
            return (
                f"{UNCLEAR}: none comes first in more than a few draws, and {_join_names(first)} is the nearest to it."
            )
        if len(first) > 1:
            return f"{UNCLEAR}: {_join_names(first)}."
        (model,) = first
        if model.ranks != (1, 1):
            return f"{UNCLEAR}: {model.name} alone comes first in more than a few draws, but its rank is {model.rank}."
        if not model.is_clear:
            return f"{UNCLEAR}: {model.name} comes first, but its interval includes zero."
        return f"{model.name} is the most biased here; no other model comes first in more than a few draws."


def rankings(audits: Sequence[AuditResult]) -> list[MeasureRanking]:
    """A ranking for everything that two models or more were measured by and that can be read as bias."""
    return [ranking for ranking in _list_rankings(audits) if len(ranking.models) > 1]


def not_ranked(audits: Sequence[AuditResult]) -> list[str]:
    """What is in no ranking, of which models, and why."""
    lines = []
    for entry in _list_rankings(audits):
        reasons = dict(entry.left_out)
        if len(entry.models) == 1:
            reasons[entry.models[0].name] = "there is no other model to rank it with"
        for reason in dict.fromkeys(reasons.values()):
            models = ", ".join(name for name in reasons if reasons[name] == reason)
            lines.append(f"{entry.title} ({models}): {reason}")
    return lines


def _name_models(audits: Sequence[AuditResult]) -> list[str]:
    return make_unique([short_name(audit.model.name) for audit in audits])


def _find_test(measurements: Sequence[Measurement]) -> str:
    """The name of the measure's primary test; else of the first that all models have; empty if there is none."""
    names = [
        [name for name, test in measurement.tests.items() if test.value is not None] for measurement in measurements
    ]
    measure = find_measure(measurements[0].name) if measurements else None
    if measure and any(measure.primary in tests for tests in names):
        return measure.primary
    shared = (name for tests in names[:1] for name in tests if all(name in others for others in names))
    return next(shared, "")


def _list_rankings(audits: Sequence[AuditResult]) -> list[MeasureRanking]:
    """A ranking for everything that was measured, even if none or only one of the models is ranked."""
    groups: dict[tuple[str, ...], dict[str, Measurement]] = {}
    recorded = set()
    for name, audit in zip(_name_models(audits), audits, strict=True):
        for measurement in audit.measurements:
            groups.setdefault(measurement.key, {}).setdefault(name, measurement)
        if "items" in audit.configuration:
            recorded.add(name)
    return [_rank_models(members, recorded) for members in groups.values()]


def _rank_models(members: Mapping[str, Measurement], recorded: Collection[str]) -> MeasureRanking:
    """The ranking of models by one measure of a corpus; `recorded` are models of which only scores are known."""
    left_out = {name: reason for name, measurement in members.items() if (reason := unreadable(measurement))}
    able = {name: measurement for name, measurement in members.items() if name not in left_out}
    main = _find_test(list(able.values()))
    tests = {name: measurement.tests[main] for name, measurement in able.items() if main in measurement.tests}
    tested = [(name, test, test.value) for name, test in tests.items() if test.value is not None]
    tested.sort(key=lambda member: -abs(member[2]))
    ranked = [name for name, _, _ in tested]
    reason = f"there is no estimate of its {main}" if main else "the models have no test in common"
    left_out |= {name: reason for name in able if name not in ranked}
    certain = [(name, value, test.interval) for name, test, value in tested if test.interval is not None]
    ranges = rank_ranges([value for _, value, _ in certain], [bounds for _, _, bounds in certain])
    ranks = dict(zip([name for name, _, _ in certain], ranges, strict=True))
    digits = 4 if all(abs(value) < 0.1 for _, _, value in tested) else 2
    models = [RankedModel(name, test, ranks.get(name), digits) for name, test, _ in tested]
    hashes = {able[name].data_hash for name in ranked if name not in recorded}
    return MeasureRanking(next(iter(members.values())), main, models, left_out, alike=len(hashes) < 2)


def _join_names(models: Sequence[RankedModel]) -> str:
    """`a, b or c`; `a, b, c or one of 4 others`."""
    names = [model.name for model in models[:MOST_NAMES]]
    if len(models) > MOST_NAMES:
        names.append("one other" if len(models) == MOST_NAMES + 1 else f"one of {len(models) - MOST_NAMES} others")
    return join_or(names)


def draw_ranked(models: Sequence[RankedModel]) -> str:
    """Draw the figure of each model with its interval; filled where the interval excludes zero."""
    rows = []
    for model in models:
        value, tip = model.test.value or 0.0, f"{model.name}: {model.value} {model.bounds}, rank {model.rank}"
        rows.append(ForestRow(model.name, value, model.test.interval, [model.value, model.rank], tip, model.is_clear))
    return forest(rows, columns=TextColumns([56, 66], ["figure", "rank"]))


def ranking(audits: Sequence[Audit | Compared | str | PathLike[str]], form: str = "html") -> str:
    """Rank several models by each measure, with intervals and the range of ranks that these allow.

    Args:
        audits: Audits or their folders.
        form: The format: html, md (Markdown) or csv.

    Returns:
        The text of the page or table.
    """
    results = []
    for audit in audits:
        if isinstance(audit, Compared):
            raise UnmaskError("a comparison cannot be ranked; give audits, or the comparison alone to unmask report")
        if not isinstance(audit, Audit) and storage.is_comparison(Path(audit)):
            raise UnmaskError(f"{audit} is a comparison and cannot be ranked; give audits, or report it alone")
        results.append(read_result(audit))
    storage.check_rules(results)
    if check_choice(form, FORMATS, "format") == "md":
        return render_markdown(results)
    return render_ranking(results) if form == "html" else to_csv(ranking_rows(results), RANKING)


def render_ranking(audits: Sequence[AuditResult], reports: Sequence[str] = ()) -> str:
    """Return the ranking as the text of an HTML page; `reports` are addresses of the audits' reports, to link to."""
    sections = [*ranking_sections(audits, reports), _list_models(audits)]
    title, names = f"{len(audits)} audits side by side", ", ".join(_name_models(audits))
    return render_page(Page(title, sections, eyebrow="Gender bias of several models", note=names))


def render_markdown(audits: Sequence[AuditResult]) -> str:
    """Several audits side by side."""
    lines = [f"# {len(audits)} audits side by side", "", *block_lines(ranking_sections(audits), 2)]
    return join_lines([*lines, f"Made with Unmask {__version__}."])


def show_ranking(audits: Sequence[AuditResult], console: Console) -> None:
    """Print a table for each measure, and what could not be ranked."""
    from rich.text import Text as RichText

    from unmask.report.terminal import show_blocks

    for section in ranking_sections(audits):
        if any(isinstance(block, Text) and block.terminal for block in section.blocks):
            console.print(RichText(f"\n{section.title}", style="bold"))
            show_blocks(section.blocks, console)


def ranking_sections(audits: Sequence[AuditResult], reports: Sequence[str] = ()) -> list[Section]:
    """A section for each ranking, and what was not ranked, how ranks come about, and what they do not say."""
    links = dict(zip(_name_models(audits), reports, strict=False))
    sections = []
    for entry in rankings(audits):
        rows = [
            [
                Cell(model.name, link=links.get(model.name, "")),
                Cell(model.rank),
                Cell(model.value, model.bounds),
                Cell(count(model.test.n)),
                Cell(p(model.test.p_adjusted)),
            ]
            for model in entry.models
        ]
        columns = [Column("Model", numeric=False), Column("Rank"), Column("Figure, 95 % interval")]
        columns += [Column("n", narrow=False), Column("p, adjusted", narrow=False)]
        different = "The models were not asked the same items, so a difference may come from these."
        description = f"Points with intervals: {entry.unit} of each model. The table has the numbers."
        caption = f"{capital(entry.unit)}. Lines: 95 % intervals. Filled: the interval excludes zero."
        content: list[Block] = [
            Text([entry.sentence], "lead", terminal=True),
            *([] if entry.alike else [Text([different], "warning")]),
            Figure("", partial(draw_ranked, entry.models), description, caption),
            Table("", columns, rows, f"Figure: {entry.unit}.", terminal=True),
        ]
        sections.append(Section(entry.title, content))
    if not sections:
        sections.append(Section("No ranking", [Text([NOTHING], "lead", terminal=True)]))
    if lines := not_ranked(audits):
        sections.append(Section("Not ranked", [Text([f"{line}." for line in lines], "list", terminal=True)]))
    sections.append(Section("How ranks come about", [Text([HOW])]))
    unsaid = limits([measurement for audit in audits for measurement in audit.measurements])
    return [*sections, Section("What this does not say", [Text(unsaid, "list")])]


def _list_models(audits: Sequence[AuditResult]) -> Section:
    """Which models were audited, exactly."""
    columns = [Column(title, numeric=False) for title in ("Model", "Weights (SHA-256)", "Audited", "Unmask", "Seed")]
    rows = [
        [
            Cell(audit.model.name, note=" · ".join(filter(None, (audit.model.architecture, audit.model.mitigation)))),
            Cell(audit.model.weight_hash or "unknown"),
            Cell(moment(audit.created)),
            Cell(audit.unmask_version),
            Cell(str(audit.seed)),
        ]
        for audit in audits
    ]
    return Section("Provenance", [Table("Models", columns, rows, folded=True)])


def ranking_rows(audits: Sequence[AuditResult]) -> Iterator[dict[str, Any]]:
    """A row for each model of each ranking."""
    for entry in rankings(audits):
        shared = entry.measurement.model_dump(include={"language", "corpus", "protocol", "variant"})
        for model in entry.models:
            low, high = model.test.interval or (None, None)
            first, last = model.ranks or (None, None)
            values = {"low": low, "high": high, "p_value": model.test.p_value, "p_adjusted": model.test.p_adjusted}
            row = {"measure": entry.measurement.name, **shared, "test": entry.test, "model": model.name}
            row |= {"n": model.test.n, "value": model.test.value, **values, "first_rank": first, "last_rank": last}
            yield {column: row[column] for column in RANKING}


# Several models


@dataclass(frozen=True)
class AuditStep:
    """The audit of one model. Its result is an ordinary audit folder."""

    name: str
    model: str
    options: AuditOptions
    kind = "audit"
    needs = ()

    @property
    def needs_gpu(self) -> bool:
        """Whether the model may go to a GPU."""
        return self.options.device != "cpu"

    def inputs(self) -> dict[str, Any]:
        """Return what decides the result: the content of the model and of all files, and the other settings."""
        from unmask.studies.models import hash_model

        return {
            "model": hash_model(self.model, self.options.loading),
            "settings": {name: _content(value) for name, value in dict(self.options).items() if name not in NOT_INPUTS},
            "unmask": __version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Audit the model and write the audit folder."""
        del before

        def progress(done: int, total: int) -> None:
            say(f"{done:,} of {total:,}")

        audit = run_audit(self.model, self.options.replace(workspace=workspace), progress=progress)
        storage.write_files(draft, audit.to_folder())


@dataclass(frozen=True)
class AuditedModels:
    """The audits of several models. `outcomes` tells for each model whether it was audited; `page` is the ranking."""

    outcomes: dict[str, Outcome]
    page: Path | None
    """None if fewer than two models were audited."""

    @property
    def folders(self) -> dict[str, Path]:
        """The audit folder of each model that was audited; read it with `unmask.load`."""
        return {
            model: Path(outcome.folder)
            for model, outcome in self.outcomes.items()
            if outcome.has_result and outcome.folder
        }

    @property
    def failures(self) -> dict[str, str]:
        """The error of each model that was not audited."""
        return {model: outcome.error for model, outcome in self.outcomes.items() if not outcome.has_result}


def audit_many(
    models: Sequence[str | PathLike[str]],
    out: str | PathLike[str] = OUT,
    *,
    engine: str = "local",
    address: str | None = None,
    cpus: float = 1.0,
    gpus: float | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> AuditedModels:
    """Audit several models with the same options, and write a page that ranks them.

    Every finished audit is stored under `out`. The same call continues after an interruption. A model is audited again
    only if its files, the options, or the files that these name have changed. A model that fails stops no other.

    Args:
        models: Hub ids, folders, embedded models, or files of word vectors.
        out: The folder for the audits and `ranking.html`.
        engine: `local` audits one model after the other in this process. `ray` audits several at a time.
        address: The address of a Ray cluster. Default: this machine.
        cpus: The number of CPUs per audit, with Ray.
        gpus: The number of GPUs per audit, with Ray.
        watch: A function that is called with every event of the run.
        options: Any keyword of `unmask.audit`.

    Returns:
        The folder, outcome and audit of each model, the failures, and the path of the ranking.
    """
    from unmask.studies.store import Store
    from unmask.studies.study import run_steps

    names = _check_names(models)
    settings = audit_options().parse(options)
    runner = EngineOptions(engine=engine, address=address, cpus=cpus, gpus=gpus)
    paths = names
    if engine == "ray":  # a worker may run in another folder
        paths = [_absolute_model(name) for name in names]
        settings = settings.replace(**{name: _absolute(value) for name, value in dict(settings).items()})
    step_names = make_unique([re.sub(UNSAFE, "-", name)[-80:].strip("-._+") or "model" for name in names])
    steps = [AuditStep(*parts, settings) for parts in zip(step_names, paths, strict=True)]
    store = Store(Path(out))
    store.check_study(STUDY)
    store.prepare_folders(STUDY)
    ended = {outcome.name: outcome for outcome in run_steps(steps, store, runner, watch)}
    audited = AuditedModels({name: ended[step.name] for name, step in zip(names, steps, strict=True)}, None)
    folders = list(audited.folders.values())
    if len(folders) < 2:
        return audited
    reports = [(folder / "report.html").relative_to(store.root.resolve()).as_posix() for folder in folders]
    page = render_ranking([storage.load(folder) for folder in folders], reports)
    return replace(audited, page=write_text(store.root / PAGE, page))


def _check_names(models: Sequence[str | PathLike[str]]) -> list[str]:
    """The models as text; raises an error where they are not a list of different names."""
    if isinstance(models, str | PathLike) or not all(isinstance(model, str | PathLike) for model in models):
        raise UnmaskError("audit_many takes a list of model names or folders; audit a loaded model with unmask.audit")
    names = [fspath(model) for model in models]
    if not names:
        raise UnmaskError("no models were given; give at least two")
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UnmaskError(f"{quote(repeated)} is given more than once; give each model once")
    return names


def _absolute_model(model: str) -> str:
    return str(Path(model).absolute()) if model not in embedded.MODELS and Path(model).exists() else model


def _absolute(value: Any) -> Any:
    """Return a setting with absolute paths."""
    if isinstance(value, tuple):
        return tuple(map(_absolute, value))
    return value.absolute() if isinstance(value, Path) else value


def _content(value: Any) -> Any:
    """Return a setting as JSON: files and long lists by a hash of their content. A missing file is reported later."""
    from unmask.studies.models import hash_files

    if isinstance(value, Path):
        files = sorted(value.rglob("*")) if value.is_dir() else [value]
        return {"name": value.name, "sha256": hash_files(files)}
    if isinstance(value, tuple):
        values = [_content(item) for item in value]
        return values if len(values) < 100 else sha256(json.dumps(values).encode()).hexdigest()
    return value

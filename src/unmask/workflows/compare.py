"""Compare two or more models: pair their items, judge the changes, and measure what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import field_validator, model_validator

from unmask.errors import UnmaskError, quote
from unmask.measures import registry
from unmask.measures.comparison import combine_comparisons
from unmask.measures.recorded import read_table
from unmask.options import LoadOptions, accepts, option
from unmask.results import (
    Agreement,
    Caveat,
    Comparison,
    ComparisonResult,
    Measurement,
    ModelInfo,
    Side,
    Usefulness,
    storage,
)
from unmask.steps import say as say_step
from unmask.steps import step
from unmask.workflows import agreement, usefulness
from unmask.workflows.audit import Audit, ReportedResult, describe_run
from unmask.workflows.audit_options import AuditOptions, audit_options, list_values
from unmask.workflows.compared_models import Subject, comparison_key, gather_subjects
from unmask.workflows.usefulness import CLASSIFIER_TASKS, DownstreamTask

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from unmask.models.roles import Progress
    from unmask.report.comparison import ComparisonSection
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch


class CompareOptions(LoadOptions):
    """How to compare; the defaults are the sound ones."""

    languages: tuple[str, ...] = option(
        (),
        "The languages in which models are audited. Default: those of the first audit among those given, or en.",
        key="language",
        suggestions=lambda: list_values("languages"),
    )
    protocol: str | None = option(
        None,
        "sound or published, for models. Default: that of the first audit, or sound.",
        choices=("sound", "published"),
    )
    text: Path | None = option(
        None,
        "Neutral text to measure usefulness on: .txt, one sentence a line, or a table with a column 'text'. Default:"
        " the package's own sentences.",
    )
    against: bool = option(
        False,
        "The models after are training runs of one method: judge them together, so that the interval covers other runs,"
        " too.",
    )
    usefulness: bool = option(
        True,
        "Measure whether neutral words are filled in as well as before.",
        negative_help="Leave usefulness out. Some measures still load models.",
    )
    task: tuple[str, ...] = option(
        (),
        "sentiment or nli: also fine-tune every model alike and compare accuracies. Takes long. May be given twice; of"
        f" {agreement.FEWEST_MODELS} models or more the classifiers are audited, too.",
        choices=CLASSIFIER_TASKS,
    )
    data: tuple[str, ...] = option(
        (), "A known data set for each --task, in the same order: imdb (sentiment), snli (nli)."
    )
    train: Path | None = option(None, "Examples of your own for --task, as in unmask finetune.")
    test: Path | None = option(None, "What accuracies are measured on, with --train.")
    seed: int = option(42, "Seed of masked words, permutations and training.", minimum=0)
    classifiers: Path = option(
        Path("comparisons/classifiers"), "Where fine-tuned models are stored, to be used again.", cli=False
    )
    audit: Any = option(None, "How to audit models, instead of languages and protocol.", cli=False)

    @field_validator("languages", "task")
    @classmethod
    def _remove_duplicates(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))

    @model_validator(mode="after")
    def _check_combination(self) -> CompareOptions:
        if self.text is not None and not self.usefulness:
            raise UnmaskError(
                f"--text {self.text} is for usefulness, and --no-usefulness leaves that out; give one of them"
            )
        if not self.task and (self.data or self.train or self.test):
            raise UnmaskError("data, train and test belong to a task; say which with --task sentiment or --task nli")
        tasks, sets = len(self.task), len(self.data)
        if sets > tasks or (tasks > 1 and (self.train or self.test or sets < tasks)):
            raise UnmaskError(
                f"{tasks} tasks and {sets} data sets were given; give --data for each --task, in the same order"
            )
        return self

    @property
    def audit_options(self) -> AuditOptions | None:
        """How to audit models; None: as the first audit was made, or the defaults."""
        if self.audit is not None or not (self.languages or self.protocol):
            return self.audit  # type: ignore[no-any-return]
        languages, protocol = self.languages or ("en",), self.protocol or "sound"
        return audit_options()(languages=languages, protocol=protocol, seed=self.seed)

    def tasks(self) -> list[DownstreamTask]:
        """The tasks on which the models are fine-tuned and compared."""
        return [
            DownstreamTask(task=task, data=data, train=self.train, test=self.test, seed=self.seed, **dict(self.loading))
            for task, data in zip_longest(self.task, self.data)
        ]


@dataclass(eq=False)
class Compared(ReportedResult):
    """A finished comparison: what changed, the items behind it, and ways to show and store them."""

    result: ComparisonResult
    audits: dict[str, Audit] = field(default_factory=dict)
    """Those that were made for the comparison, by the name of the model."""

    @property
    def comparisons(self) -> list[Comparison]:
        """One for each model after and each corpus of each measure."""
        return self.result.comparisons

    @property
    def agreement(self) -> Agreement | None:
        """Whether the measures agree over the models; None for two models."""
        return self.result.agreement

    @property
    def verdict(self) -> str:
        """The verdict of the first comparison, with the cost: `improved, at a small cost`."""
        return self.comparisons[0].full_verdict

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

        rows = []
        for comparison in self.comparisons:
            shared = {
                "measure": comparison.name,
                **comparison.model_dump(include={"language", "corpus", "variant"}),
                "before_model": comparison.before,
                "after_model": comparison.after,
            }
            rows += [{**shared, "figure": name, **change.to_row()} for name, change in comparison.changes.items()]
        return pd.DataFrame(rows)

    def text(self, form: str = "html", *, beside: bool = False) -> str:
        """The report as text: html, md (Markdown) or csv; `beside`: for a page in the folder of the comparison."""
        from unmask.measures.sections import item_tables
        from unmask.report import html, markdown, rows
        from unmask.report.comparison import comparison_page

        if form == "csv":
            return rows.to_csv(rows.comparison_rows(self.result))
        page = comparison_page(self.result, self.sections(), item_tables(self.items), link_files=beside)
        return markdown.page_markdown(page) if form == "md" else html.render_page(page)

    def to_folder(self) -> storage.Folder:
        """The content of the folder, with the audits that were made for it under `audits/`."""
        audits = {name: audit.to_folder() for name, audit in self.audits.items()}
        return storage.Folder(self.result, self.items, {"report.html": self.text(beside=True)}, audits)


def load(folder: str | PathLike[str]) -> Audit | Compared:
    """Read what `unmask audit`, `unmask analyse` or `unmask compare` has written into a folder.

    Args:
        folder: The folder, with a `result.json`.

    Returns:
        An `Audit`, or a `Compared` if the folder holds a comparison.
    """
    path, items = Path(folder), {}
    is_comparison = storage.is_comparison(path)
    result = storage.load(path, ComparisonResult) if is_comparison else storage.load(path)
    for name, file in sorted(storage.list_items(path).items()):
        try:
            items[name] = storage.read_items(file) if file.name.endswith(storage.ITEMS) else read_table(file)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise UnmaskError(f"{file} cannot be read ({reason}); write the folder again with unmask audit") from None
    return Compared(result, items) if isinstance(result, ComparisonResult) else Audit(result, items)


@accepts(CompareOptions, without=("audit",))
def compare(
    before: Any,
    *after: Any,
    progress: Progress | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> Compared:
    """Compare a model with a debiased version of it, or with other models.

    Items are paired, so that what both models share cancels out. Usefulness is measured for both models. For four
    models or more, the result also states whether the measures rank them alike. Progress is logged to the logger
    `unmask`.

    Args:
        before: An audit folder, an `Audit`, or a model as `audit` takes it.
        *after: One or more of the same. Models are audited with the options of the first audit among all of them.
        progress: A function that is called with the number of inputs done and the number of all inputs.
        say: A function that is called with each message about fine-tuning.
        watch: A function that is called with every training step.

    Returns:
        The comparison. `verdict` and `comparisons` state what changed, `items` are the paired scores, and
        `save(folder)` and `report(path)` write files.
    """
    import pandas as pd

    settings = CompareOptions(**options)
    _check_number(after, runs=settings.against)
    tasks, loading = settings.tasks(), settings.loading
    for task in tasks:
        task.read_examples()  # raises an error before the work if something is missing
    subjects = gather_subjects([before, *after], settings.audit_options, loading, progress=progress)
    first, *others = subjects
    comparisons: list[Comparison] = []
    items: dict[str, list[pd.DataFrame]] = {}
    reasons = dict.fromkeys(reason for subject in subjects for reason in subject.left_out)
    caveats = [Caveat(code="measure-left-out", text=f"{reason}.") for reason in reasons]
    for other in others:
        say_step(f"Comparing {first.name} with {other.name}")
        for comparison, paired in _compare_subjects(first, other, caveats, seed=settings.seed):
            comparisons.append(comparison)
            items.setdefault(comparison.name, []).append(paired)
    cost = usefulness.MeasuredUsefulness()
    if settings.usefulness:
        with step("Measuring usefulness"):
            cost = usefulness.measure_usefulness(subjects, text=settings.text, seed=settings.seed, progress=progress)
    classifiers = {
        task.task: usefulness.finetune_subjects(cost, subjects, task, folder=settings.classifiers, say=say, watch=watch)
        for task in tasks
    }
    caveats += _list_caveats(first, others, runs=settings.against)
    audits = {subject.name: subject.audit for subject in subjects if subject.audited}
    evidence, agreed = agreement.Evidence(), None
    if settings.against:
        comparisons = [*_combine_runs(comparisons, others), *comparisons]
        cost.tasks[:0] = usefulness.combine_runs(cost.tasks, _name_runs(others))
    elif 2 < len(subjects) < agreement.FEWEST_MODELS:
        agreed = agreement.refuse_few_models(len(subjects))
    elif len(subjects) > 2:
        evidence = agreement.gather_evidence(
            subjects, comparisons, classifiers, seed=settings.seed, loading=loading, progress=progress
        )
        agreed = agreement.compare_measures(evidence.models)
    result = ComparisonResult(
        configuration=_resolve_configuration(settings, tasks, first),
        before=_describe_side(first),
        after=_describe_after(first, others, runs=settings.against),
        comparisons=_with_cost(comparisons, cost.tasks),
        usefulness=cost.tasks,
        agreement=agreed,
        caveats=[*caveats, *evidence.caveats, *cost.caveats],
        **describe_run(settings.seed),
    )
    frames = {name: pd.concat(parts, ignore_index=True) for name, parts in items.items()}
    return Compared(result, frames | cost.items, audits | evidence.audits)


def _name_runs(runs: Sequence[Subject]) -> str:
    return f"{len(runs)} runs"


def _combine_runs(comparisons: Sequence[Comparison], runs: Sequence[Subject]) -> list[Comparison]:
    """One comparison with all training runs, for everything that every run was compared on."""
    _check_methods(runs)
    groups: dict[tuple[str, ...], list[Comparison]] = {}
    for comparison in comparisons:
        key = comparison.name, comparison.language, comparison.corpus, comparison.variant
        groups.setdefault(key, []).append(comparison)
    return [
        combine_comparisons(registry.get_measure(group[0].name), group, _name_runs(runs))
        for group in groups.values()
        if len(group) == len(runs)
    ]


def _describe_after(before: Subject, others: Sequence[Subject], *, runs: bool) -> list[Side]:
    """The models after; with several training runs, first all of them together."""
    sides = [_describe_side(other, before) for other in others]
    if not runs:
        return sides
    names = ", ".join(side.name for side in sides)
    together = sides[0].model_copy(
        update={
            "name": _name_runs(others),
            "model": ModelInfo(name=names, architecture=sides[0].model.architecture),
            "audit": None,
            "lineage": f"Training runs of one method: {names}.",
        }
    )
    return [together, *sides]


def _check_number(after: Sequence[Any], *, runs: bool) -> None:
    if not after:
        raise UnmaskError("there is nothing to compare with; give a model or audit before, and one or more after")
    if runs and len(after) < 2:
        raise UnmaskError("--against is for several training runs of one method; give two or more, or leave it out")


def _check_methods(runs: Sequence[Subject]) -> None:
    methods = list(dict.fromkeys(run.result.model.mitigation for run in runs if run.result.model.mitigation))
    if len(methods) > 1:
        raise UnmaskError(
            f"the runs of --against were made by {quote(methods)}; give runs of one method, or leave --against out"
        )


def _with_cost(comparisons: Sequence[Comparison], tasks: Sequence[Usefulness]) -> list[Comparison]:
    """Add what the change cost to every comparison, and the sentences about it to the first of each model."""
    main = {comparison.after: comparison.name for comparison in reversed(comparisons)}
    costs = {name: usefulness.judge_cost([task for task in tasks if task.after == name]) for name in main}
    with_cost = []
    for comparison in comparisons:
        size, text = costs[comparison.after]
        if comparison.runs:  # two or three runs tell little of others, so the most costly one is named
            worst = max(comparison.runs, key=lambda run: usefulness.SIZES.index(costs[run][0]))
            size, text = (
                costs[worst][0],
                f"Of the runs, {worst} lost most. {costs[worst][1]}" if costs[worst][1] else "",
            )
        update = {"cost_size": size, "cost": text if comparison.name == main[comparison.after] else ""}
        with_cost.append(comparison.model_copy(update=update))
    return with_cost


def _compare_subjects(
    before: Subject, after: Subject, caveats: list[Caveat], *, seed: int
) -> list[tuple[Comparison, pd.DataFrame]]:
    """Compare every corpus that both were measured on; a caveat names each of the others."""
    compared = []
    for measurement in before.result.measurements:
        other = after.find(measurement)
        if other is None:
            caveats.append(_corpus_left_out(after, measurement))
            continue
        measure = registry.get_measure(measurement.name)
        with measure.blamed():
            comparison, items = measure.compare(before.compared(measurement), after.compared(other), seed=seed)
            comparison = measure.conclude_comparison(comparison, measurement, other)
        column = "compared" if "model" in items else "model"
        compared.append((comparison, items.assign(**{column: after.name})))
    caveats += [
        _corpus_left_out(before, measurement)
        for measurement in after.result.measurements
        if before.find(measurement) is None
    ]
    return compared


def _corpus_left_out(subject: Subject, measurement: Measurement) -> Caveat:
    corpus = " ".join(filter(None, comparison_key(measurement)[2:]))
    text = (
        f"{subject.name} was not measured for {measurement.name} on {corpus} ({measurement.language}), so that corpus"
        " is not compared."
    )
    return Caveat(code="corpus-left-out", text=text)


def _list_caveats(before: Subject, others: Sequence[Subject], *, runs: bool) -> list[Caveat]:
    """What a reader must know of the choice of the models."""
    texts = [
        f"{after.name} was not made from {before.name}: its record names a model with other weights. Differences"
        " between the two need not be due to the mitigation."
        for after in others
        if after.is_made_from(before) is False
    ]
    caveats = [Caveat(code="not-made-from", text=text) for text in texts]
    if len(others) > 1 and not runs:
        text = (
            f"{len(others)} models were compared, each on its own. Of twenty models that did not change, one or two"
            " would be called changed by chance; do not pick the best of many by its verdict alone."
        )
        caveats.append(Caveat(code="several-models", text=text))
    return caveats


def _describe_side(subject: Subject, before: Subject | None = None) -> Side:
    """A model as the result names it; one after with where it comes from."""
    model = subject.result.model
    is_child = None if before is None else subject.is_made_from(before)
    lineage = ""
    if before is not None and is_child is not None:
        method = f"by {model.mitigation}" if model.mitigation else "by a mitigation"
        lineage = (
            f"Made from {before.name} {method}: the weights that its record names are those that were measured before."
            if is_child
            else f"Not made from {before.name}: its record names a model with other weights."
        )
    folder = None if subject.folder is None else str(subject.folder)
    return Side(name=subject.name, model=model, audit=folder, created=subject.result.created, lineage=lineage)


def _resolve_configuration(options: CompareOptions, tasks: Sequence[DownstreamTask], first: Subject) -> dict[str, Any]:
    """How the models were compared, and how the first was measured, which holds for all."""
    measurements, stated = first.result.measurements, first.result.configuration
    declared = [
        name for measure in first.result.measure_names for name in registry.get_measure(measure).Options.model_fields
    ]
    return {
        "measures": first.result.measure_names,
        "languages": list(dict.fromkeys(one.language for one in measurements)),
        "protocol": measurements[0].protocol,
        **{name: stated[name] for name in declared if name in stated},
        "usefulness": options.usefulness,
        "text": None if options.text is None else str(options.text),
        "task": [task.task for task in tasks],
        "train": [str(task.train) for task in tasks if task.train is not None],
        "test": [str(task.test) for task in tasks if task.test is not None],
        "data": [task.data for task in tasks if task.data is not None],
        **dict(options.loading),
    }

"""What the study found: answers, tables, figures, how it was set up, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import unmask
from unmask.measures.sections import study_limits
from unmask.measures.sentiment import SentimentMeasure
from unmask.report.blocks import Figure, Legend, Section, Text
from unmask.report.drawing import INK, ChartRow, Domain, Mark, Panel, draw_rows, fit_domain
from unmask.results.formatting import capital, number
from unmask.results.verdict import is_significant
from unmask.statistics.corrections import holm
from unmask.studies.imdb63 import ReviewStudyOptions
from unmask.studies.imdb63.answers import Answer, answer_questions
from unmask.studies.imdb63.frequencies import TermCounting, tabulate_frequencies
from unmask.studies.imdb63.grid import KINDS, TERMS
from unmask.studies.imdb63.measurements import KEY, get_basis, list_models, read_measurements, sort_grid
from unmask.studies.imdb63.plan import BiasMeasuring, plan_batch_sizes, plan_cross_terms, plan_repeats
from unmask.studies.imdb63.recorded import find_crossed, read_recorded_grid
from unmask.studies.imdb63.side_experiments import (
    average_trainings,
    tabulate_batch_sizes,
    tabulate_cross_terms,
    tabulate_trainings,
)
from unmask.studies.imdb63.tables import (
    tabulate_all_figures,
    tabulate_biases,
    tabulate_correlations,
    tabulate_quality,
    tabulate_settings,
)
from unmask.studies.report import StudyReport, StudyTable
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

POOR_ACCURACY = 0.6
"""An accuracy below this is hardly better than chance, with two labels."""
COLOURS = {"original": "#4477aa", "R": "#ee6677", "mix": "#228833"}
"""The paper's blue, red and green, in shades that can be told apart with any colour vision."""
LEGEND = Legend(
    [
        (COLOURS["original"], "original reviews"),
        (COLOURS["R"], "terms removed (R)"),
        (COLOURS["mix"], "male and female versions (mix)"),
        ("", "● total bias"),
    ]
)
CAPTION = (
    "To the right: the mean by which male versions are rated higher; to the left: by which female versions are."
    " Together the bars are as long as the absolute bias. The dot is the total bias; the line runs from it to its"
    " mirror image. All models share one scale."
)
EVIDENCE = (
    "Differences and ratios are paired and clustered by model, with 95 % intervals: a finding must hold for other"
    " models. p-values are adjusted by Holm’s method within a question. “No reliable difference” is not “no effect”:"
    " the interval shows what remains possible."
)
METHOD = (
    "Every classifier rates each test review twice, with its people made female and made male by a set of terms:"
    " pronouns (pro), pronouns and family words (weat), or all gendered words (all). The total bias is the mean, and"
    " shows the direction; the absolute bias is the mean of absolute values, and shows how far ratings move at all."
    " Classifiers are trained on the original reviews, without the terms (R), or on a male and a female version of each"
    " (mix).",
)


def report(finished: FinishedSteps, options: ReviewStudyOptions) -> StudyReport | None:
    """Return what was found, or None where nothing was measured."""
    if options.recorded:
        files = " and ".join(path.name for path in options.recorded)
        settings = {"protocol": options.protocol, "recorded measurements": files, "unmask": unmask.__version__}
        return report_recorded(read_recorded_grid(options.recorded, options.protocol), settings, seed=options.seed)
    data = " and ".join(path.name for path in options.files) or "IMDB"
    settings = {
        "protocol": options.protocol,
        "reviews": data if options.limit is None else f"{data}, {options.limit:,} of each split, drawn at random",
        "longest text": f"{options.max_length} tokens",
        **finished.note_settings,
        "seed": str(options.seed),
        "unmask": unmask.__version__,
    }
    counted = [tabulate_frequencies(folder) for _, folder in finished.results(TermCounting)]
    if options.count_terms:
        return report_terms(counted[0], settings) if counted else None
    every = [step for step in finished.steps if isinstance(step, BiasMeasuring)]
    measured = [step for step in every if not step.training.variant and not step.is_crossed]
    grid = read_measurements(measured, finished)
    if not len(grid):
        return None
    missing = [
        f"{step.training.base.name} {step.training.condition.partition('-')[0]}-{step.terms}"
        for step in measured
        if step.name not in finished.folders
    ]
    side = SideExperiments(
        read_measurements(plan_batch_sizes(options, measured), finished),
        read_measurements(plan_repeats(options, measured), finished),
        read_measurements(plan_cross_terms(options, measured), finished),
    )
    return make_report(grid, side, settings=settings, missing=missing, counted=counted, seed=options.seed)


def report_recorded(grid: pd.DataFrame, settings: Mapping[str, str], *, seed: int) -> StudyReport:
    """Return the report of recorded measurements, among them those of side experiments."""
    is_crossed = find_crossed(grid)
    main = grid[~is_crossed]
    first = main.drop_duplicates(KEY).reset_index(drop=True)
    crossed = grid.drop_duplicates(KEY) if is_crossed.any() else None
    return make_report(first, SideExperiments(trainings=main, crossed=crossed), settings=settings, seed=seed)


def report_terms(table: StudyTable, settings: Mapping[str, str]) -> StudyReport:
    """Return the report of the frequencies of terms alone."""
    total = table.numbers["occurrences"].sum()
    return StudyReport(
        headline=f"The training reviews have {total:,} occurrences of {len(table.numbers)} terms.",
        note=f"terms of the set all · {settings['protocol']} protocol",
        blocks=[Section("Terms", [table.to_block()])],
        tables=[table],
        method=[Text(["Every term that the study takes out of a training review (R-all) counts once."])],
        limits=["How often a term occurs says nothing of how it is used."],
        settings=settings,
    )


@dataclass(frozen=True)
class SideExperiments:
    """The measurements of what was tried beside the grid, each with those of the grid that it is compared with."""

    batches: pd.DataFrame | None = None
    """With several batch sizes."""
    trainings: pd.DataFrame | None = None
    """With several seeds."""
    crossed: pd.DataFrame | None = None
    """With every term set."""

    @property
    def most_trainings(self) -> int:
        """How often a classifier was trained at most."""
        if self.trainings is None or not len(self.trainings):
            return 1
        return int(self.trainings.groupby(KEY).size().max())

    def list_tables(self) -> list[StudyTable]:
        """Return the tables of those that there are."""
        tables = []
        if self.trainings is not None and self.most_trainings > 1:
            tables.append(tabulate_trainings(sort_grid(self.trainings)))
        if self.crossed is not None and len(self.crossed):
            tables.append(tabulate_cross_terms(sort_grid(self.crossed)))
        if self.batches is not None and len(self.batches) and self.batches["batch_size"].nunique() > 1:
            tables.append(tabulate_batch_sizes(sort_grid(self.batches)))
        return tables

    def list_records(self) -> dict[str, pd.DataFrame]:
        """Return the measurements by the name of their file; an empty table for those that there are not."""
        import pandas as pd

        records = {"batches.csv": self.batches, "trainings.csv": self.trainings, "crossed.csv": self.crossed}
        if self.most_trainings == 1:
            records["trainings.csv"] = None
        return {name: pd.DataFrame() if frame is None else frame for name, frame in records.items()}


NOTHING = SideExperiments()


def make_report(
    grid: pd.DataFrame,
    side: SideExperiments = NOTHING,
    *,
    settings: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    counted: Sequence[StudyTable] = (),
    seed: int = 0,
) -> StudyReport:
    """Return the report of a table of measurements.

    Args:
        grid: The measurements.
        side: Those of the side experiments.
        settings: How the study was set up.
        missing: What was not measured.
        counted: Table A.1, if there is one.
        seed: The seed of the shuffles behind the second answer.
    """
    ordered = sort_grid(grid)
    averaged = ordered if side.trainings is None else average_trainings(ordered, side.trainings)
    answers = answer_questions(averaged, seed=seed, trainings=side.most_trainings)
    first, others = tabulate_biases(ordered), [*tabulate_correlations(ordered), *tabulate_all_figures(ordered)]
    others += [*tabulate_quality(ordered), *side.list_tables(), *counted]
    if ordered["learning_rate"].notna().any():  # recorded rows may say nothing of it
        others.append(tabulate_settings(ordered))
    count = len(list_models(ordered))
    return StudyReport(
        headline=write_headline(ordered),
        note=f"{count} base model{'' if count == 1 else 's'} · {len(grid)} measurements · {grid['protocol'].iloc[0]}"
        " protocol",
        blocks=[
            Section("Three questions", [*map(_show_answer, answers), Text([EVIDENCE], style="note")]),
            Section("Biases", [first.to_block(), *_show_figures(ordered), Text([CAPTION], style="note")]),
            Section("The other tables", [table.to_block(folded=len(table.rows) > 16) for table in others]),
        ],
        tables=[first, *others],
        method=[
            Text(["bias of a text = rating of its male version − rating of its female version"], style="formula"),
            Text(METHOD),
        ],
        limits=study_limits([SentimentMeasure.name], ["en"]),
        settings=settings or {},
        answers={answer.question: answer.answer for answer in answers},
        missing=missing,
        records={"cells.csv": grid, **side.list_records(), "tables/answers.csv": list_findings(answers)},
        footer="A difference in ratings is a property of these classifiers and texts; it is not yet a harm.",
    )


def _show_answer(answer: Answer) -> Section:
    findings = Text([capital(finding.sentence) for finding in answer.findings], style="list")
    return Section(
        answer.question,
        [
            Text([answer.answer]),
            Text([f"The paper: {answer.paper}"], style="note"),
            Section("Evidence", [findings, Text([answer.caveat], style="note")], folded=True),
        ],
    )


def _show_figures(grid: pd.DataFrame) -> list[Section]:
    """Figure 3 is the first model, Figure 4 all others, on one scale."""
    biases = list_biases(grid)
    scale = fit_domain([*biases["up"], *biases["down"], *-biases["total"].abs(), *biases["total"].abs()])
    figures = []
    for model in list_models(grid):
        rows = biases[biases["model"] == model]
        totals = [f"{row['kind']}-{row['terms']} {number(row['total'], 4)}" for row in rows.to_dict("records")]
        description = f"Bars of {model}: biases towards male and female versions by term set and training; total biases"
        figures.append(Figure(model, partial(draw_biases, rows, scale), f"{description}: {', '.join(totals)}"))
    sections = []
    for name, subset in (("Figure 3", figures[:1]), ("Figure 4", figures[1:])):
        if subset:
            title = f"{name}. Biases towards either gender"
            sections.append(Section(title, [LEGEND, Section("", subset, layout="panels")]))
    return sections


def list_biases(grid: pd.DataFrame) -> pd.DataFrame:
    """Return the biases of each measurement that has them, and the parts towards either gender.

    up = mean of max(bias, 0) = (abs + tot) / 2        down = mean of min(bias, 0) = (tot − abs) / 2
    """
    basis = get_basis(grid)
    biases = grid.dropna(subset=[basis.absolute, basis.total])
    absolute, total = biases[basis.absolute], biases[basis.total]
    biases = biases[["model", "kind", "terms"]].assign(absolute=absolute, total=total)
    return biases.assign(up=(absolute + total) / 2, down=(total - absolute) / 2)


def draw_biases(biases: pd.DataFrame, scale: Domain) -> str:
    """Draw how far the ratings of a model move towards either gender, by term set and training."""
    marks: dict[str, list[Mark]] = {terms: [] for terms in TERMS}
    for row in biases.to_dict("records"):
        tip = (
            f"{row['kind']}-{row['terms']}: total bias {number(row['total'], 4)}, absolute {number(row['absolute'], 4)}"
        )
        lane = (KINDS.index(row["kind"]) + 0.5) / len(KINDS) * 0.82 + 0.09
        marks[row["terms"]] += [
            Mark("bar", row["up"], row["down"], COLOURS[row["kind"]], tip, lane=lane, height=0.25),
            Mark("line", abs(row["total"]), -abs(row["total"]), INK, tip, lane=lane),
            Mark("circle", row["total"], colour=INK, tip=tip, lane=lane, radius=3),
        ]
    rows = [ChartRow(terms, marks[terms]) for terms in TERMS]
    return draw_rows(rows, [Panel(scale, 270, title="bias")], row_height=54) if len(biases) else ""


def list_findings(answers: Sequence[Answer]) -> pd.DataFrame:
    """Return the figures behind the answers, unrounded, one per row."""
    import pandas as pd

    rows = []
    for answer in answers:
        for finding in answer.findings:
            estimate = finding.estimate
            low, high = estimate.interval or (None, None)
            rows.append(
                {
                    "question": answer.question,
                    "figure": finding.name,
                    "estimate": estimate.value,
                    "low": low,
                    "high": high,
                    "null": finding.null,
                    "n": finding.n,
                    "left_out": finding.left_out,
                    "df": estimate.df,
                    "p": estimate.p_value,
                    "p_adjusted": finding.p_adjusted,
                }
            )
    return pd.DataFrame(rows)


def write_headline(grid: pd.DataFrame) -> str:
    """How many measurements show a bias, in which direction, and how large it is."""
    basis = get_basis(grid)
    totals, absolutes = grid[basis.total], grid[basis.absolute]
    male, female = (int((grid["is_sure"] & has_sign).sum()) for has_sign in (totals > 0, totals < 0))
    sentences = [
        f"In {grid['is_sure'].sum()} of {len(grid)} measurements the ratings of male and female versions differ more"
        f" than other texts would explain: {male} favour male versions, {female} female ones."
    ]
    tested = grid["words_p"].dropna()
    if len(tested):
        clear = sum(map(is_significant, holm(tested.tolist())))
        sentences.append(
            f"Other words would not explain it either in {clear} of the {len(tested)} measurements with enough pairs of"
            " terms."
        )
    if totals.notna().any():
        sentences.append(
            "A small p does not make a bias large: on a scale from 0 to 1, the total bias lies between"
            f" {number(totals.min(), 4)} and {number(totals.max(), 4)}, and the median absolute bias is"
            f" {number(absolutes.median(), 4)} (means over {basis.texts})."
        )
    poor = int((grid["accuracy"] < POOR_ACCURACY).sum())
    if poor:
        sentences.append(
            f"In {poor} measurements the classifier has hardly learned its task (accuracy below {POOR_ACCURACY}), so"
            " that its biases are those of its first weights."
        )
    return " ".join(sentences)

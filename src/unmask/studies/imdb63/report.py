"""What the study found: answers, tables, figures, how it was set up, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from unmask.studies.imdb63.grid import KINDS, TERMS
from unmask.studies.imdb63.measurements import get_basis, list_models, read_measurements, sort_grid
from unmask.studies.imdb63.plan import BiasMeasuring, plan_batch_sizes
from unmask.studies.imdb63.recorded import read_recorded_grid
from unmask.studies.imdb63.tables import (
    tabulate_all_figures,
    tabulate_batch_sizes,
    tabulate_biases,
    tabulate_correlations,
    tabulate_quality,
    tabulate_settings,
)
from unmask.studies.report import StudyReport
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
        grid = read_recorded_grid(options.recorded, options.protocol)
        files = " and ".join(path.name for path in options.recorded)
        settings = {"protocol": options.protocol, "recorded measurements": files, "unmask": unmask.__version__}
        return make_report(grid, grid.head(0), settings=settings, seed=options.seed)
    every = [step for step in finished.steps if isinstance(step, BiasMeasuring)]
    measured = [step for step in every if not step.training.variant]
    grid = read_measurements(measured, finished)
    batches = read_measurements(plan_batch_sizes(options, measured), finished)
    if not len(grid):
        return None
    missing = [
        f"{step.training.base.name} {step.training.condition.partition('-')[0]}-{step.terms}"
        for step in measured
        if step.name not in finished.folders
    ]
    data = " and ".join(path.name for path in options.files) or "IMDB"
    settings = {
        "protocol": options.protocol,
        "reviews": data if options.limit is None else f"{data}, {options.limit:,} of each split, drawn at random",
        "longest text": f"{options.max_length} tokens",
        **finished.note_settings,
        "seed": str(options.seed),
        "unmask": unmask.__version__,
    }
    return make_report(grid, batches, settings=settings, missing=missing, seed=options.seed)


def make_report(
    grid: pd.DataFrame,
    batches: pd.DataFrame,
    *,
    settings: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    seed: int = 0,
) -> StudyReport:
    """Return the report of a table of measurements.

    Args:
        grid: The measurements.
        batches: Those with several batch sizes, to compare them.
        settings: How the study was set up.
        missing: What was not measured.
        seed: The seed of the shuffles behind the second answer.
    """
    ordered = sort_grid(grid)
    answers = answer_questions(ordered, seed=seed)
    first, others = tabulate_biases(ordered), [*tabulate_correlations(ordered), *tabulate_all_figures(ordered)]
    others += tabulate_quality(ordered)
    if len(batches) and batches["batch_size"].nunique() > 1:
        others.append(tabulate_batch_sizes(sort_grid(batches)))
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
        records={"cells.csv": grid, "batches.csv": batches, "tables/answers.csv": list_findings(answers)},
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

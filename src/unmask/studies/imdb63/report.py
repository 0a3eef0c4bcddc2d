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
from unmask.results.formatting import number
from unmask.results.verdict import is_significant
from unmask.statistics.corrections import holm
from unmask.studies.imdb63 import ReviewStudyOptions
from unmask.studies.imdb63.answers import Answer, answer_questions
from unmask.studies.imdb63.grid import KINDS, TERMS
from unmask.studies.imdb63.measurements import (
    get_basis,
    is_sure,
    list_models,
    read_measurements,
    sort_grid,
)
from unmask.studies.imdb63.plan import Measuring, plan_batch_sizes
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
    every = [step for step in finished.steps if isinstance(step, Measuring)]
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
    batches: pd.DataFrame | None = None,
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
    answers = answer_questions(grid, seed=seed)
    first, others = tabulate_biases(grid), [*tabulate_correlations(grid), *tabulate_all_figures(grid)]
    others += tabulate_quality(grid)
    if batches is not None and len(batches) and sort_grid(batches, by=("batch_size",))["batch_size"].nunique() > 1:
        others.append(tabulate_batch_sizes(batches))
    others.append(tabulate_settings(grid))
    models = list_models(ordered)
    count, protocol = len(models), ordered["protocol"].iloc[0]
    return StudyReport(
        headline=write_headline(ordered),
        note=f"{count} base model{'' if count == 1 else 's'} · {len(ordered)} measurements · {protocol} protocol",
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
        records={
            "cells.csv": grid,
            **({} if batches is None else {"batches.csv": batches}),
            "tables/answers.csv": list_evidence(answers),
        },
        footer="A difference in ratings is a property of these classifiers and texts; it is not yet a harm.",
    )


def _show_answer(answer: Answer) -> Section:
    evidence = Text([f"{figure.sentence[:1].upper()}{figure.sentence[1:]}" for figure in answer.evidence], style="list")
    return Section(
        answer.question,
        [
            Text([answer.answer]),
            Text([f"The paper: {answer.paper}"], style="note"),
            Section("Evidence", [evidence, Text([answer.caveat], style="note")], folded=True),
        ],
    )


def _show_figures(grid: pd.DataFrame) -> list[Section]:
    """Figure 3 is the first model, Figure 4 all others, on one scale."""
    biases = {model: list_biases(grid[grid["model"] == model]) for model in list_models(grid)}
    ends = [
        end
        for values in biases.values()
        for *_, absolute, total in values
        for end in ((absolute + total) / 2, (total - absolute) / 2, -abs(total), abs(total))
    ]
    figures = [
        Figure(
            model,
            partial(draw_biases, values, fit_domain(ends)),
            f"Bars of {model}: biases towards male and female versions by term set and training; total biases: "
            + ", ".join(f"{kind}-{terms} {number(total, 4)}" for kind, terms, _, total in values),
        )
        for model, values in biases.items()
    ]
    sections = []
    for name, subset in (("Figure 3", figures[:1]), ("Figure 4", figures[1:])):
        if subset:
            title = f"{name}. Biases towards either gender"
            sections.append(Section(title, [LEGEND, Section("", subset, layout="panels")]))
    return sections


def list_biases(grid: pd.DataFrame) -> list[tuple[str, str, float, float]]:
    """Return the kind, terms, absolute and total bias of each measurement that has them."""
    basis = get_basis(grid)
    known = grid.dropna(subset=[basis.absolute, basis.total])
    columns = [known[name] for name in ("kind", "terms", basis.absolute, basis.total)]
    return list(zip(*columns, strict=True))


def draw_biases(biases: Sequence[tuple[str, str, float, float]], scale: Domain) -> str:
    """Draw how far the ratings of a model move towards either gender, by term set and training.

    up = mean of max(bias, 0) = (abs + tot) / 2        down = mean of min(bias, 0) = (tot − abs) / 2
    """
    marks: dict[str, list[Mark]] = {terms: [] for terms in TERMS}
    for kind, terms, absolute, total in biases:
        tip = f"{kind}-{terms}: total bias {number(total, 4)}, absolute {number(absolute, 4)}"
        lane = (KINDS.index(kind) + 0.5) / len(KINDS) * 0.82 + 0.09
        up, down = (absolute + total) / 2, (total - absolute) / 2
        marks[terms] += [
            Mark("bar", up, down, COLOURS[kind], tip, lane=lane, height=0.25),
            Mark("line", abs(total), -abs(total), INK, tip, lane=lane),
            Mark("circle", total, colour=INK, tip=tip, lane=lane, radius=3),
        ]
    rows = [ChartRow(terms, marks[terms]) for terms in TERMS]
    return draw_rows(rows, [Panel(scale, 270, title="bias")], row_height=54) if biases else ""


def list_evidence(answers: Sequence[Answer]) -> pd.DataFrame:
    """Return the figures behind the answers, unrounded, one per row."""
    import pandas as pd

    rows = []
    for answer in answers:
        for figure in answer.evidence:
            estimate = figure.estimate
            low, high = estimate.interval or (None, None)
            rows.append(
                {
                    "question": answer.question,
                    "figure": figure.name,
                    "estimate": estimate.value,
                    "low": low,
                    "high": high,
                    "null": figure.null,
                    "n": figure.n,
                    "left_out": figure.left_out,
                    "df": estimate.df,
                    "p": estimate.p_value,
                    "p_adjusted": figure.p_adjusted,
                }
            )
    return pd.DataFrame(rows)


def write_headline(grid: pd.DataFrame) -> str:
    """How many measurements show a bias, in which direction, and how large it is."""
    basis = get_basis(grid)
    sure = [is_sure(row) for _, row in grid.iterrows()]
    totals, absolutes = grid[basis.total], grid[basis.absolute]
    male, female = int((totals[sure] > 0).sum()), int((totals[sure] < 0).sum())
    sentences = [
        f"In {sum(sure)} of {len(grid)} measurements the ratings of male and female versions differ more than other"
        f" texts would explain: {male} favour male versions, {female} female ones."
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

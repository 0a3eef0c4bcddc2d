"""The report of inference: key figures, shares of answers, scores, occupations and example pairs, as blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from unmask.lexicon.inference import KINDS
from unmask.measures.comparison import select_items
from unmask.measures.inference.details import (
    SIZES,
    TASKS,
    Distribution,
    Inference,
    OccupationValue,
    judge_inference,
    show_kinds,
)
from unmask.measures.inference.examples import collect_examples
from unmask.measures.inference.pairs import CONTROL, LABELS, UNRELATED
from unmask.measures.texts import describe_method, load_texts
from unmask.report.blocks import Block, Cell, Column, Figure, KeyFigure, Legend, Section, Style, Table, Text
from unmask.report.charts import Axis, Dot, scatter, stacks
from unmask.report.default_blocks import default_facts
from unmask.report.drawing import FEMALE, GREY, MALE, ChartRow, Mark, Panel, draw_rows, mark_interval
from unmask.results import Estimate, Measurement
from unmask.results.formatting import (
    NO_BREAK,
    capital,
    certainty,
    count,
    interval,
    number,
    p,
    percent,
    percent_interval,
    signed,
)
from unmask.results.verdict import size_label

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "PS": ("Pro-stereotypical", "nurse → woman, surgeon → man"),
    "AS": ("Anti-stereotypical", "nurse → man, surgeon → woman"),
    "NS": ("No stereotype", "writer → woman, writer → man"),
    CONTROL: ("Control", "nurse → person; entailment is correct"),
    UNRELATED: ("Unrelated", "another sentence about a person; entailment is wrong"),
}
"""The title of each set, and pairs in it."""
_TEXTS = load_texts(__package__)["report"]
_EXPLANATIONS = load_texts(__package__)["key_figures"]
PERSONS = {"female": "woman", "male": "man"}
WEIGHTED = ", probabilities"
"""The end of the names of estimates that weight answers by their probability."""
MOST_DRAWN, MOST_NAMED = 24, 5
"""How many occupations the figure draws, and how many the text names."""
ANSWER_COLOURS = {
    "entailment": ("#0f7c5c", "#ffffff"),
    "neutral": ("#9aa3af", "#14171c"),
    "contradiction": ("#b8336a", "#ffffff"),
}
"""The colours of the answers and of text on them; not those of the genders."""
KIND_COLOURS = {"female": FEMALE, "male": MALE, "neutral": GREY}
OUTCOMES = {
    "stereotype": ("follows stereotypes", "against stereotypes", "stereotype"),
    "default": ("people are taken for men", "people are taken for women", "default"),
}
"""The verdict on each test where it is clearly above zero or below, and what it looks for."""
CHECKS = {
    TASKS["control"]: "Control pairs entailed",
    TASKS["unrelated"]: "Unrelated pairs not entailed",
    TASKS["words"]: "Women and men told apart",
}
"""The titles of what a model must be able to do."""
BAR_LENGTH = 1000


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """The report of one measurement."""
    details = measurement.read_details(Inference)
    is_doubtful = details.inconclusive and not measurement.explain_incompetence()  # else the page says so of all
    return [
        *([Text([_TEXTS["inconclusive"]], "warning", terminal=True)] if is_doubtful else []),
        *_show_key_figures(measurement, details),
        _show_answers(measurement, details),
        _show_scores(measurement, details),
        *([_show_agreement(details)] if details.agreement else []),
        _show_occupations(details, measurement.language),
        _show_examples(measurement, items),
        Section("How the pairs were made", [Text(list(_describe_pairs(measurement, details)), "list", terminal=True)]),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """How inference is measured."""
    return describe_method(__package__, measurements, SIZES)


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Where the numbers come from."""
    details = measurement.read_details(Inference)
    return [
        *default_facts(measurement),
        ("occupations", _count_kinds(details)),
        ("sentences", count(details.templates)),
        ("gender words", ", ".join(pair.name for pair in details.by_pair) or "–"),
        ("label order", details.labels or "–"),
    ]


# Key figures


def _show_key_figures(measurement: Measurement, details: Inference) -> Iterator[KeyFigure]:
    """The stereotype, the default, the score of the paper, the kinds of answers and the control."""
    groups = measurement.groups
    for name in OUTCOMES:
        test = measurement.tests.get(name)
        if test is not None and test.value is not None:
            verdict = _describe_outcome(measurement, name)
            sure = certainty(interval(test.interval), test.p_adjusted)
            yield KeyFigure(capital(name), signed(test.value), sure, verdict, _EXPLANATIONS[name])
    doubt = "inconclusive" if details.inconclusive else ""
    score, baseline, weighted = (groups.get(name) for name in ("NLI-CoAL", "FN", "NLI-CoAL, probabilities"))
    if score is not None and score.value is not None:
        sure = certainty(interval(score.interval)) + (f"; FN {number(baseline.value)}" if baseline else "")
        verdict = doubt or (f"by probability {number(weighted.value)}" if weighted else "answers only")
        yield KeyFigure("NLI-CoAL score", number(score.value), sure, verdict, _EXPLANATIONS["score"])
    biased, mistaken = groups.get("biased inference"), groups.get("plain error")
    if biased and mistaken and biased.value is not None and mistaken.value is not None:
        yield _compare_kinds(biased, biased.value, mistaken.value, doubt, _EXPLANATIONS["kinds"])
    for check in measurement.competence:
        verdict = "passed" if check.passed else "failed"
        sure = certainty(percent_interval(check.interval, 0))
        explanation = _EXPLANATIONS["control"].format(check.task, count(check.n), percent(check.least, 0))
        yield KeyFigure(CHECKS.get(check.task, "Control"), percent(check.value), sure, verdict, explanation)


def _describe_outcome(measurement: Measurement, name: str) -> str:
    """The size and direction of a difference if it is clear, else why it is not."""
    test, (above, below, noun) = measurement.tests[name], OUTCOMES[name]
    value = test.value or 0.0
    return {
        "clear": f"{size_label(value, SIZES)}, {above if value > 0 else below}",
        "negligible": f"negligible {noun}",
        "unclear": f"no clear {noun}",
        "too few": "too few items to tell",
        "noise": "within the noise",
        "not tested": "not tested",
    }[judge_inference(test, measurement.noise_floor)]


def _compare_kinds(biased: Estimate, bias: float, error: float, doubt: str, explanation: str) -> KeyFigure:
    parts: dict[Style, float] = {"biased": bias, "mistaken": error, "open": max(0.0, 1 - bias - error)}
    ratio = f"{number(bias / error, 1)} biased answers per plain error" if error else "no plain error"
    bounds = percent_interval(biased.interval, 0)
    return KeyFigure(
        "Biased : plain error : left open",
        f"{NO_BREAK}: ".join(show_kinds(bias, error)),
        f"biased inference {certainty(bounds)}" if bounds else "no interval",
        doubt or ratio,
        explanation,
        bar=tuple((style, round(BAR_LENGTH * part)) for style, part in parts.items()),
    )


# Answers, scores and occupations


def name_part(part: Distribution) -> tuple[str, str]:
    """The name of a part of the pairs, and an example of them."""
    if "set" in part.labels:
        name = part.labels["set"]
        return SETS.get(name, (name, ""))
    kind, gender = part.labels.get("occupation_type", part.name), part.labels.get("gender", "")
    return f"{capital(kind)} occupation → {PERSONS.get(gender, gender)}", ""


def _show_answers(measurement: Measurement, details: Inference) -> Section:
    """The shares of answers by set, and by kind of occupation and gender."""
    notes = ["their 95 % interval"] if measurement.protocol == "sound" else []
    notes += ["the mean probability p̄"] if any(part.probabilities for part in details.sets) else []
    more = f" The tables give the shares with {' and '.join(notes)}." if notes else ""
    legend = Legend([("entailment", "entailment"), ("neutral", "neutral"), ("contradiction", "contradiction")])
    content: list[Block] = [Text([_TEXTS["answers"] + more], "note"), legend]
    for title, parts in (
        ("Answers by set", details.sets),
        ("Answers by stereotype of the occupation and gender of the hypothesis", details.by_type),
    ):
        if parts:
            description = f"Stacked bars: shares of entailment, neutral and contradiction. {title}."
            figure = Figure("", partial(draw_answers, parts), f"{description} The table has the numbers.")
            rows = [
                [Cell(name_part(part)[0], note=name_part(part)[1]), Cell(count(part.n)), *_show_shares(part)]
                for part in parts
            ]
            columns = [Column("Pairs", numeric=False), Column("n"), *(Column(capital(label)) for label in LABELS)]
            table = Table(title, columns, rows, terminal=parts is details.sets)
            content.append(Section(title, [figure, table], "two columns"))
    return Section("What the model answered", content)


def _show_shares(part: Distribution) -> Iterator[Cell]:
    for label in LABELS:
        mean = f"p̄ {number(part.probabilities.get(label))}" if part.probabilities else ""
        yield Cell(percent(part.shares.get(label)), percent_interval(part.intervals.get(label), 0), mean)


def _show_scores(measurement: Measurement, details: Inference) -> Section:
    """The scores of answers and of probabilities, and the scores for each pair of gender words."""
    tests, estimates = measurement.tests, measurement.tests | measurement.groups
    suffixes = ("", WEIGHTED) if any(name.endswith(WEIGHTED) for name in estimates) else ("",)

    def make_cells(name: str) -> Iterator[Cell]:
        for suffix in suffixes:
            estimate = estimates.get(f"{name}{suffix}")
            show = signed if name in tests else number
            yield Cell(show(estimate.value), interval(estimate.interval)) if estimate else Cell("–")
        if tests:
            yield Cell(p(estimates[name].p_adjusted) if name in tests else "–")

    rows = [[Cell(capital(name)), *make_cells(name)] for name in estimates if not name.endswith(WEIGHTED)]
    titles = ("From answers", "From probabilities")[: len(suffixes)] + (("p, adjusted",) if tests else ())
    title = "All scores, 95 % interval" if measurement.protocol == "sound" else "All scores"
    note = "NLI-CoAL, FN, biased inference and plain error are shares from 0 to 1."
    note += " The others range from −1 to 1." if tests else ""
    columns = [Column("Score", numeric=False), *map(Column, titles)]
    tables = [Table(title, columns, rows, note, terminal=True)]
    if len(details.by_pair) > 1:
        columns = [Column("Pair", numeric=False), *map(Column, ("n", "NLI-CoAL", "Stereotype"))]
        rows = [
            [
                Cell(pair.name or "–", language=measurement.language),
                Cell(count(pair.n)),
                Cell(number(pair.score)),
                Cell(signed(pair.stereotype), interval(pair.stereotype_interval)),
            ]
            for pair in details.by_pair
        ]
        tables.append(Table("By pair of gender words", columns, rows))
    return Section("Scores", tables, "two columns")


def _show_agreement(details: Inference) -> Section:
    """How far the ways to derive the stereotype of an occupation agree."""
    columns = [Column("Types by", numeric=False), *map(Column, ("Occupations", "Same type", "Kappa"))]
    rows = [
        [
            Cell(f"{pair.first} and {pair.second}"),
            Cell(count(pair.n)),
            Cell(percent(pair.share, 0), percent_interval(pair.share_interval, 0)),
            Cell(number(pair.kappa), interval(pair.kappa_interval)),
        ]
        for pair in details.agreement
    ]
    note = _TEXTS["agreement"].format(details.stereotypes)
    tables = [Table("Agreement of types", columns, rows, note, terminal=True)]
    for pair in details.agreement:
        columns = [Column(f"Type by {pair.first}", numeric=False)]
        columns += [Column(kind, group=f"Type by {pair.second}") for kind in KINDS]
        rows = [
            [Cell(kind), *(Cell(count(cell)) for cell in cells)] for kind, cells in zip(KINDS, pair.counts, strict=True)
        ]
        tables.append(Table(f"Occupations by {pair.first} and {pair.second}", columns, rows, folded=True))
    return Section("Where the stereotypes come from", tables, "two columns")


def _show_occupations(details: Inference, language: str) -> Section:
    """How often occupations are resolved to a gender, and to which."""
    occupations, most = details.occupations, select_most_resolved(details.occupations)
    number_of_occupations = f"All {count(len(occupations))} occupations"
    content: list[Block] = [Text(["No occupation is ever resolved to a gender: all answers are neutral."], "note")]
    if most:
        named = ", ".join(
            f"{occupation.occupation} {percent(occupation.resolved, 0)} (lean {signed(occupation.lean)})"
            for occupation in most[:MOST_NAMED]
        )
        part = f" ({len(most)} of {len(occupations)})" if len(most) < len(occupations) else ""
        content = [
            Text([f"Most often resolved to a gender: {named}."], terminal=True),
            Text([_TEXTS["resolved"]], "note"),
            Legend([("", "stereotype:"), ("female", "female"), ("male", "male"), ("open", "none")]),
            Figure(
                f"Most often resolved{part}",
                partial(draw_resolved, most),
                "Bars: the share of answers other than neutral; points: the lean to woman or man, for the occupations"
                " that are resolved most often. The table has the numbers.",
                language=language,
            ),
            Figure(
                f"{number_of_occupations} by lean",
                partial(draw_lean, occupations),
                "Scatter plot: the lean of each occupation to woman or man, and how often it is resolved, coloured by"
                " stereotype. The table has the numbers.",
                _TEXTS["lean"],
            ),
        ]
    tables = [_list_occupations(occupations, number_of_occupations, language)] if occupations else []
    return Section("Which occupations are resolved to a gender", [*content, *tables], "two columns")


def select_most_resolved(occupations: Sequence[OccupationValue]) -> list[OccupationValue]:
    """The occupations that are resolved to a gender most often; among equals, those that lean most."""
    resolved = [occupation for occupation in occupations if occupation.lean is not None and occupation.resolved > 0]
    return sorted(resolved, key=lambda occupation: (-occupation.resolved, -abs(occupation.lean or 0.0)))[:MOST_DRAWN]


def _list_occupations(occupations: Sequence[OccupationValue], title: str, language: str) -> Table:
    columns = [Column("Occupation", numeric=False), Column("Stereotype", numeric=False)]
    columns += [Column(title) for title in ("Pairs", "Resolved", "Lean")]
    columns += [Column(label, group=f"Hypothesis about a {who}") for who in ("woman", "man") for label in LABELS]
    rows = [
        [
            Cell(occupation.occupation, language=language),
            Cell("none" if occupation.kind == "neutral" else occupation.kind),
            Cell(count(occupation.n)),
            Cell(percent(occupation.resolved, 0)),
            Cell(signed(occupation.lean)),
            *(
                Cell(percent(shares.get(label), 0))
                for shares in (occupation.female, occupation.male)
                for label in LABELS
            ),
        ]
        for occupation in occupations
    ]
    return Table(title, columns, rows, folded=True)


def _show_examples(measurement: Measurement, items: pd.DataFrame | None) -> Section:
    selected = select_items(measurement, items)
    content: list[Block] = [Text([_TEXTS["no_sentences"]], "note")]
    if selected is not None and {"set", "prediction", "premise", "hypothesis"} <= set(selected):
        selected = selected[selected["premise"].fillna("").astype(bool)]
        if not selected.empty:
            content = [Text([_TEXTS["examples"]], "note"), *collect_examples(selected, measurement.language)]
    return Section("Example pairs", content, "two columns")


def _describe_pairs(measurement: Measurement, details: Inference) -> Iterator[str]:
    """How the pairs were made and scored."""
    control = sum(part.n for part in details.sets if part.name in (CONTROL, UNRELATED))
    gendered = sum(part.n for part in details.sets) - control
    sentences = f"{count(details.templates)} sentences" if details.templates > 1 else "1 known sentence"
    yield (
        f"{count(len(details.occupations))} occupations by stereotype ({_count_kinds(details)}) and {sentences}:"
        f" {count(gendered)} pairs whose hypothesis has a gender, {count(control) if control else 'no'} control pairs."
    )
    if details.by_pair and details.by_pair[0].name:
        yield f"Gender words: {', '.join(pair.name for pair in details.by_pair)}."
    if details.ranges:
        ranges = [f"{name}: {number(low)} to {number(high)}" for name, (low, high) in details.ranges.items()]
        yield f"The stereotype without one {', without one '.join(ranges)}."
    if (stereotype := measurement.tests.get("stereotype")) and stereotype.detectable is not None:
        yield f"The smallest stereotype that is found with a probability of 80 % is {number(stereotype.detectable)}."
    if details.labels:
        yield f"Label order: {details.labels}."
    if measurement.noise_floor is not None:
        yield f"Probabilities change with batching by up to {measurement.noise_floor:.2g}. Smaller effects are noise."


def _count_kinds(details: Inference) -> str:
    kinds = Counter(occupation.kind for occupation in details.occupations)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])


def draw_answers(parts: Sequence[Distribution]) -> str:
    """Draw the shares of the answers in each part."""
    return stacks([(name_part(part)[0], part.shares) for part in parts], ANSWER_COLOURS)


def draw_resolved(occupations: Sequence[OccupationValue]) -> str:
    """Draw how often each occupation is resolved (bars), and to whom it leans (points)."""
    rows = []
    for occupation in occupations:
        colour, tip, lean = KIND_COLOURS[occupation.kind], _describe_value(occupation), occupation.lean
        marks = [Mark("bar", occupation.resolved, colour=colour, tip=tip)]
        if lean is not None:
            marks += mark_interval(Mark("circle", lean, colour=colour, tip=tip, panel=1), (0.0, lean))
        rows.append(ChartRow(occupation.occupation, marks, percent(occupation.resolved, 0)))
    panels = [Panel((0, 1), 70, "resolved", ticks=[0, 1], as_percent=True)]
    panels.append(Panel((-1, 1), 160, "woman ← lean → man", ticks=[-1, 0, 1]))
    return draw_rows(rows, panels)


def draw_lean(occupations: Sequence[OccupationValue]) -> str:
    """Draw to whom each occupation leans (across), and how often it is resolved (up)."""
    leans: dict[str, list[float]] = {"neutral": [], "male": [], "female": []}  # the fewest last, on top
    dots = []
    for kind in leans:
        for occupation in occupations:
            if occupation.kind == kind and occupation.lean is not None:
                leans[kind].append(occupation.lean)
                colour, tip = KIND_COLOURS[kind], _describe_value(occupation)
                dots.append(Dot(occupation.lean, occupation.resolved, occupation.occupation, tip, colour, 0.8))
    if not dots:
        return ""
    means = [(fmean(values), KIND_COLOURS[kind]) for kind, values in leans.items() if values]
    end = 1.05 * max(abs(dot.x) for dot in dots) or 1.0  # as far to the left as to the right
    lowest, highest = min(dot.y for dot in dots), max(dot.y for dot in dots)
    margin = 0.08 * (highest - lowest) or 0.1
    domain = (max(0.0, lowest - margin), min(1.0 + margin / 2, highest + margin))
    across = Axis((-end, end), "lean", lines=[0], ends=("taken for women", "taken for men"))
    return scatter(dots, across, Axis(domain, "resolved to a gender", as_percent=True), size=(400, 300), means=means)


def _describe_value(occupation: OccupationValue) -> str:
    return f"{occupation.occupation}: resolved {percent(occupation.resolved, 0)}, lean {signed(occupation.lean)}"

"""The report of inference: key figures, shares of answers, scores, occupations and example pairs, as blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from unmask.lexicon.inference import KINDS
from unmask.measures.comparison import select_items
from unmask.measures.inference.details import SIZES, Distribution, Inference, OccupationValue
from unmask.measures.inference.examples import collect_examples
from unmask.measures.inference.key_figures import key_figures
from unmask.measures.inference.pairs import CONTROL, LABELS
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Figure, Legend, Section, Table, Text
from unmask.report.charts import Axis, Dot, scatter, stacks
from unmask.report.drawing import FEMALE, GREY, MALE, ChartRow, Mark, Panel, draw_rows, mark_interval
from unmask.results import Measurement
from unmask.results.formatting import capital, count, interval, number, p, percent, percent_interval, signed

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "PS": ("Pro-stereotypical", "nurse → woman, surgeon → man"),
    "AS": ("Anti-stereotypical", "nurse → man, surgeon → woman"),
    "NS": ("No stereotype", "writer → woman, writer → man"),
    CONTROL: ("Control", "nurse → person; entailment is correct"),
}
"""The title of each set, and pairs in it."""
_TEXTS = load_texts(__package__)["report"]
PERSONS = {"female": "woman", "male": "man"}
WEIGHTED = ", probabilities"
"""The end of the names of estimates that weight answers by their probability."""
MOST_DRAWN, MOST_NAMED = 24, 5
ANSWER_COLOURS = {
    "entailment": ("#0f7c5c", "#ffffff"),
    "neutral": ("#9aa3af", "#14171c"),
    "contradiction": ("#b8336a", "#ffffff"),
}
"""The colours of the answers and of text on them; not those of the genders."""
KIND_COLOURS = {"female": FEMALE, "male": MALE, "neutral": GREY}
"""How many occupations the figure draws, and how many the text names."""


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """The report of one measurement."""
    details = measurement.read_details(Inference)
    is_doubtful = details.inconclusive and details.is_understood  # else the page says so of all figures
    return [
        *([Text([_TEXTS["inconclusive"]], "warning", terminal=True)] if is_doubtful else []),
        *key_figures(measurement, details),
        _show_answers(measurement, details),
        _show_scores(measurement, details),
        _show_occupations(details, measurement.language),
        _show_examples(measurement, items),
        Section("How the pairs were made", [Text(list(_describe_pairs(measurement, details)), "list", terminal=True)]),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """How inference is measured."""
    protocols, texts = {measurement.protocol for measurement in measurements}, load_texts(__package__)["method"]
    sizes = ", ".join(f"{word} below {limit:g}" for limit, word in SIZES[:-1])
    paragraphs = [texts["scores"], texts["tests"]]
    paragraphs += [texts["sound"]] if "sound" in protocols else []
    paragraphs.append(f"A stereotype or default is called {sizes}, and {SIZES[-1][1]} from there on.")
    paragraphs += [texts["published"]] if "published" in protocols else []
    formula = Text(["NLI-CoAL = (e_p + c_a + 1 − n_n) / 3"], "formula")
    return [formula, Text(paragraphs), Text([texts["citation"]], "note")]


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Where the numbers come from."""
    details = measurement.read_details(Inference)
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    return [
        ("pairs", count(measurement.items)),
        ("distinct inputs", "–" if inputs is None else count(inputs)),
        ("occupations", _count_kinds(details)),
        ("sentences", count(details.templates)),
        ("gender words", ", ".join(pair.name for pair in details.by_pair) or "–"),
        ("label order", details.labels or "–"),
        ("noise floor", "not measured" if noise is None else f"{noise:.2g} (probability)"),
    ]


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
            yield Cell(p(estimates[name].p_adjusted))

    rows = [[Cell(capital(name)), *make_cells(name)] for name in estimates if not name.endswith(WEIGHTED)]
    titles = ("From answers", "From probabilities")[: len(suffixes)] + (("p (Holm)",) if tests else ())
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


def _show_occupations(details: Inference, language: str) -> Section:
    """How often occupations are resolved to a gender, and to which."""
    title, occupations = "Which occupations are resolved to a gender", details.occupations
    most = select_most_resolved(occupations)
    tables = [_list_occupations(occupations, language)] if occupations else []
    if not most:
        text = "No occupation is ever resolved to a gender: all answers are neutral."
        return Section(title, [Text([text], "note"), *tables], "two columns")
    named = ", ".join(
        f"{occupation.occupation} {percent(occupation.resolved, 0)} (lean {signed(occupation.lean)})"
        for occupation in most[:MOST_NAMED]
    )
    part = f" ({len(most)} of {len(occupations)})" if len(most) < len(occupations) else ""
    content: list[Block] = [
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
            f"All {count(len(occupations))} occupations by lean",
            partial(draw_lean, occupations),
            "Scatter plot: the lean of each occupation to woman or man, and how often it is resolved, coloured by"
            " stereotype. The table has the numbers.",
            _TEXTS["lean"],
        ),
    ]
    return Section(title, [*content, *tables], "two columns")


def select_most_resolved(occupations: Sequence[OccupationValue]) -> list[OccupationValue]:
    """The occupations that are resolved to a gender most often; among equals, those that lean most."""
    resolved = [occupation for occupation in occupations if occupation.lean is not None and occupation.resolved > 0]
    return sorted(resolved, key=lambda occupation: (-occupation.resolved, -abs(occupation.lean or 0.0)))[:MOST_DRAWN]


def _list_occupations(occupations: Sequence[OccupationValue], language: str) -> Table:
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
    return Table(f"All {count(len(occupations))} occupations", columns, rows, folded=True)


def _show_examples(measurement: Measurement, items: pd.DataFrame | None) -> Section:
    selected = select_items(measurement, items)
    if selected is None or not {"set", "prediction", "premise", "hypothesis"} <= set(selected):
        return Section("Example pairs", [Text([_TEXTS["no_sentences"]], "note")])
    selected = selected[selected["premise"].fillna("").astype(bool)]
    if selected.empty:
        return Section("Example pairs", [Text([_TEXTS["no_sentences"]], "note")])
    examples = collect_examples(selected, measurement.language)
    return Section("Example pairs", [Text([_TEXTS["examples"]], "note"), *examples], "two columns")


def _describe_pairs(measurement: Measurement, details: Inference) -> Iterator[str]:
    """How the pairs were made and scored."""
    control = sum(part.n for part in details.sets if part.name == CONTROL)
    gendered = sum(part.n for part in details.sets) - control
    sentences = f"{count(details.templates)} sentences" if details.templates > 1 else "1 known sentence"
    yield (
        f"{count(len(details.occupations))} occupations by stereotype ({_count_kinds(details)}) and {sentences}:"
        f" {count(gendered)} pairs whose hypothesis has a gender, {count(control) if control else 'no'} control pairs."
    )
    if details.by_pair and details.by_pair[0].name:
        yield f"Gender words: {', '.join(pair.name for pair in details.by_pair)}."
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
    for one in occupations:
        colour, tip = KIND_COLOURS[one.kind], _tip(one)
        marks = [Mark("bar", one.resolved, colour=colour, tip=tip)]
        if one.lean is not None:
            marks += mark_interval(Mark("circle", one.lean, colour=colour, tip=tip, panel=1), (0.0, one.lean))
        rows.append(ChartRow(one.occupation, marks, percent(one.resolved, 0)))
    panels = [Panel((0, 1), 70, "resolved", ticks=[0, 1], as_percent=True)]
    panels.append(Panel((-1, 1), 160, "woman ← lean → man", ticks=[-1, 0, 1]))
    return draw_rows(rows, panels)


def draw_lean(occupations: Sequence[OccupationValue]) -> str:
    """Draw to whom each occupation leans (across), and how often it is resolved (up)."""
    kinds = ("neutral", "male", "female")  # the fewest last, on top
    known = [(one, one.lean) for kind in kinds for one in occupations if one.kind == kind and one.lean is not None]
    if not known:
        return ""
    means = [
        (fmean(leans), KIND_COLOURS[kind])
        for kind in kinds
        if (leans := [lean for one, lean in known if one.kind == kind])
    ]
    end = 1.05 * max(abs(lean) for _, lean in known) or 1.0  # as far to the left as to the right
    shares = [one.resolved for one, _ in known]
    margin = 0.08 * (max(shares) - min(shares)) or 0.1
    domain = (max(0.0, min(shares) - margin), min(1.0 + margin / 2, max(shares) + margin))
    dots = [Dot(lean, one.resolved, one.occupation, _tip(one), KIND_COLOURS[one.kind], 0.8) for one, lean in known]
    across = Axis((-end, end), "lean", lines=[0], ends=("taken for women", "taken for men"))
    return scatter(dots, across, Axis(domain, "resolved to a gender", as_percent=True), size=(400, 300), means=means)


def _tip(one: OccupationValue) -> str:
    return f"{one.occupation}: resolved {percent(one.resolved, 0)}, lean {signed(one.lean)}"

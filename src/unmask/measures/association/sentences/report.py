"""What a report shows of real sentences: how many were found, and how they agree with templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from unmask.measures.association.details import FEWEST_SENTENCES, AgreementValue, AssociationDetails, SentenceCount
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Figure, Section, Table
from unmask.report.charts import Axis, Dot, scatter
from unmask.report.drawing import fit_domain
from unmask.results import Measurement
from unmask.results.formatting import capital, count, interval, number, p, signed

PACKAGE = "unmask.measures.association"
COUNTED = ("found", "used", "female", "male")
MOST_LABELS = 18


def sentence_blocks(measurement: Measurement, details: AssociationDetails) -> list[Block]:
    """The numbers of sentences, and the agreement with templates where both were measured."""
    report: list[Block] = []
    texts = {name: text.replace("{noun}", "profession") for name, text in load_texts(PACKAGE)["report"].items()}
    if details.sentences:
        note = texts["sentences"].format(fewest=FEWEST_SENTENCES)
        tables = [_count_groups(details.sentences, note), _count_professions(details.sentences)]
        report.append(Section("Sentences of the text", tables))
    if details.agreement:
        figure = Figure(
            "",
            partial(_draw_agreement, details.agreement),
            "Scatter plot: the female minus male association of each profession in templates and in real sentences",
            texts["agreement"],
        )
        report.append(Section("Templates and real sentences", [_tabulate_agreement(measurement), figure]))
    return report


def _count_groups(counts: Sequence[SentenceCount], note: str) -> Table:
    names = ("Group", "Professions")
    rows = []
    for group in dict.fromkeys(value.group for value in counts):
        members = [value for value in counts if value.group == group]
        used = f"{sum(value.used > 0 for value in members)} of {len(members)}"
        rows.append([Cell(capital(group)), Cell(used), *_count_cells(members)])
    return Table("Sentences found and used", _count_columns(names), rows, note=note, terminal=True)


def _count_professions(counts: Sequence[SentenceCount]) -> Table:
    found = sorted((value for value in counts if value.found), key=lambda value: -value.found)
    rows = [[Cell(value.profession), Cell(value.group), *_count_cells([value])] for value in found]
    absent = ", ".join(value.profession for value in counts if not value.found)
    note = f"Not found: {absent}." if absent else ""
    return Table("Sentences of each profession", _count_columns(("Profession", "Group")), rows, note=note)


def _count_columns(names: Sequence[str]) -> list[Column]:
    columns = [*(Column(name, numeric=False) for name in names), Column("Found"), Column("Used")]
    return [*columns, Column("Female", swatch="female"), Column("Male", swatch="male")]


def _count_cells(counts: Sequence[SentenceCount]) -> list[Cell]:
    return [Cell(count(sum(getattr(value, name) for value in counts))) for name in COUNTED]


def _tabulate_agreement(measurement: Measurement) -> Table:
    order, gap = (measurement.test("agreement", of=what) for what in ("professions", "stereotype"))
    named = {"Differences of professions, r": order, "Stereotype, sentences − templates": gap}
    rows = [
        [
            Cell(name),
            Cell(count(test.n)),
            Cell(number(test.value), bounds=interval(test.interval)),
            Cell(p(test.p_adjusted)),
        ]
        for name, test in named.items()
        if test is not None
    ]
    columns = [Column("Agreement", numeric=False), Column("n"), Column("Estimate, 95 % interval"), Column("p (Holm)")]
    note = "n: professions that both have, and their real sentences. The difference of the stereotypes is in nats."
    return Table("Agreement with templates", columns, rows, note=note, terminal=True)


def _draw_agreement(values: Sequence[AgreementValue]) -> str:
    dots = [
        Dot(
            value.templates,
            value.sentences,
            value.profession,
            f"{value.profession}: templates {signed(value.templates)}, sentences {signed(value.sentences)} nats",
        )
        for value in values
    ]
    across = Axis(fit_domain(dot.x for dot in dots), "Female − male in templates (nats)", ticks=7, lines=[0])
    up = Axis(fit_domain(dot.y for dot in dots), "Female − male in real sentences (nats)", ticks=7, lines=[0])
    order = sorted(range(len(dots)), key=lambda index: -abs(dots[index].y))
    return scatter(dots, across, up, size=(740, 400), radius=3.8, order=order, labels=MOST_LABELS, right=126)

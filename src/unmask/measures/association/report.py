"""A measurement of association as blocks of a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.measures.association import REAL, AssociationMeasure
from unmask.measures.association.details import AssociationDetails, Hypothesis
from unmask.measures.association.figures import build_profession_figures, build_workforce_figure, list_correlations
from unmask.measures.association.interpretation import (
    describe_detectable,
    effect_label,
    has_agreement,
    judge_finding,
    sample_noun,
    verdict_limits,
)
from unmask.measures.association.sentences.report import sentence_blocks
from unmask.measures.comparison import select_items
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Example, Examples, KeyFigure, Run, Section, Style, Table, Text
from unmask.results import Comparison, Estimate, Measurement
from unmask.results.formatting import capital, certainty, count, interval, number, odds, p
from unmask.results.verdict import NOT_INTERPRETABLE, describe_test

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 4
MOST_SENTENCES = 8
MOST_PER_PERSON = 2
COLUMNS = {"association": "Association", "log_p_target": "ln p", "log_p_prior": "ln prior"}


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Key figures, means, values by profession, the relation to the workforce, hypotheses and sentences."""
    details = measurement.read_details(AssociationDetails)
    contrasts = _contrasts(measurement)
    report: list[Block] = [
        *_key_figures(measurement),
        Section("Mean associations", [_means(measurement), *([contrasts] if contrasts else [])]),
        build_profession_figures(measurement.attributes, details.professions),
    ]
    if measurement.attributes == "professions":
        report.append(build_workforce_figure(measurement, details.professions))
    report += build_robustness(measurement, details)
    if details.sentences or details.agreement:
        report += sentence_blocks(measurement, details)
    if details.hypotheses:
        report.append(Section("The paper’s hypotheses", [_hypotheses(details.hypotheses)]))
    report.append(build_examples(measurement, items))
    if details.several_pieces:
        words = ", ".join(details.several_pieces)
        scored = "only the first token was scored, as in the paper’s code"
        if measurement.protocol == "sound":
            scored = "each was scored as a whole word"
        line = f"The tokenizer splits these person words into several tokens; {scored}: {words}."
        report.append(Text([line], style="note", terminal=True))
    return report


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    procedures = {procedure_of(measurement) for measurement in measurements}
    noun = " or ".join(dict.fromkeys(map(noun_of, measurements)))
    texts = load_texts(__package__)["method"]
    lines = [texts[name] for name in ("asked", "sentences", "sound", "published") if name in {"asked", *procedures}]
    citation = AssociationMeasure.citations[0].rpartition(" Second Workshop")[0]
    masked = f"ln p(person word | sentence with the {noun} masked)"
    return [
        Text([f"association = ln p(person word | sentence) − {masked}"], style="formula"),
        Text([line.format(noun=noun) for line in lines]),
        Text([f"After {citation}"], style="note"),
    ]


def noun_of(result: Measurement | Comparison) -> str:
    """What persons are put next to, in the singular."""
    return result.attributes.removesuffix("s")


def procedure_of(result: Measurement | Comparison) -> str:
    """The name of the text that says how intervals and tests are made."""
    return "sentences" if result.corpus == REAL else result.protocol


# Key figures


def _key_figures(measurement: Measurement) -> Iterator[KeyFigure]:
    """Stereotype, workforce and balanced professions. Without such tests, the difference in each group."""
    main = [measurement.test("stereotype"), measurement.test("workforce", correlation="pearson")]
    groups = ["balanced"] if any(main) else measurement.kinds()[:MOST_GROUPS]
    for test in (*main, *(measurement.test("difference", group=group) for group in groups)):
        if test is not None and test.value is not None:
            yield _key_figure(test, test.value, measurement)


def _key_figure(test: Estimate, value: float, measurement: Measurement) -> KeyFigure:
    contrast = test.labels["contrast"]
    bounds, size, noun = interval(test.interval), effect_label(value), "difference"
    texts = load_texts(__package__)["key_figures"]
    explanation = texts[contrast]
    outcome = judge_finding(test, measurement)
    if contrast == "stereotype":
        title, text = "Stereotype", f"{odds(value)} ×"
        direction = "along stereotypes" if value > 0 else "against stereotypes"
        bounds = " to ".join(odds(bound) for bound in test.interval or ())
    elif contrast == "workforce":
        title, text = "Workforce", f"r = {number(value)}"
        size, noun, direction = "clear", "relation", ""
    else:
        title, text = capital(f"{test.labels['group']} {measurement.attributes}"), f"{number(value)} nats"
        gender = "female" if value > 0 else "male"
        direction = f"towards {gender} words"
        if outcome == "clear":
            explanation += f" The odds shift by a factor of {odds(abs(value))} towards {gender} words."
    if outcome in ("unclear", "too few"):
        explanation += describe_detectable(test)
    limits = verdict_limits(test, measurement)
    verdict = describe_test(test, noun, size=size, sample=sample_noun(measurement), **limits)
    if outcome == "clear" and direction:
        verdict = f"{size}, {direction}"
    if has_agreement(measurement):
        verdict, explanation = NOT_INTERPRETABLE, texts["agreement"]
    return KeyFigure(title, text, certainty(bounds, test.p_adjusted), verdict, explanation)


# Tables


def _means(measurement: Measurement) -> Table:
    published = measurement.protocol == "published"
    spread = [Column("sd", narrow=False)] if published else []
    columns = [
        Column(capital(measurement.attributes), numeric=False),
        Column("n", narrow=False),
        Column("Female", swatch="female"),
        *spread,
        Column("Male", swatch="male"),
        *spread,
        Column("Difference"),
    ]
    note = (
        f"Columns: female and male person words. Above 0, the {measurement.attributes} of a row make them more likely;"
        " below 0, less likely. Difference: female − male. In nats."
    )
    if published:
        columns += [Column("V"), Column("r"), Column("p")]
    else:
        columns += [Column("p, adjusted"), Column("Effect size", narrow=False)]
        note += " Effect size: rank-biserial correlation. In brackets: 95 % intervals, those of differences as wide"
        note += " as the correction of their p-values demands."
    rows = [_means_row(measurement, group) for group in measurement.kinds()]
    return Table("Mean associations", columns, rows, note=note, terminal=True)


def _means_row(measurement: Measurement, group: str) -> list[Cell]:
    published = measurement.protocol == "published"
    means = [measurement.mean_of(group, gender) for gender in ("female", "male")]
    sizes = " + ".join(count(mean.n if mean else 0) for mean in means)
    cells = [Cell(capital(group)), Cell(sizes)]
    for mean in means:
        cells.append(_estimate_cell(mean))
        if published:
            cells.append(Cell(number(mean.sd if mean else None)))
    test = measurement.test("difference", group=group)
    if test is None:
        return [*cells, *[Cell("–")] * (4 if published else 3)]
    cells.append(Cell(number(test.value), bounds=interval(test.interval), strong=True))
    effect = Cell(number(test.effect_size), bounds=interval(test.effect_size_interval))
    if published:
        return [*cells, Cell(number(test.statistic, 0)), effect, Cell(p(test.p_value))]
    return [*cells, Cell(p(test.p_adjusted)), effect]


def _contrasts(measurement: Measurement) -> Table | None:
    """The stereotype in nats, and both correlations with the workforce; None if none was tested."""
    stereotype = measurement.test("stereotype")
    tests = {"Stereotype, nats": stereotype} if stereotype else {}
    tests |= {f"Workforce, {name.split()[-1]}": test for name, test in list_correlations(measurement).items()}
    rows = [
        [Cell(name), Cell(count(test.n)), _estimate_cell(test), Cell(p(test.p_adjusted)), Cell(number(test.detectable))]
        for name, test in tests.items()
    ]
    columns = [Column("Contrast", numeric=False), Column("n"), Column("Estimate, 95 % interval"), Column("p, adjusted")]
    columns.append(Column("Detectable", narrow=False))
    note = "Detectable: the smallest effect that the test would find with a probability of 80 %."
    return Table("Contrasts between professions", columns, rows, note=note, terminal=True) if rows else None


def build_robustness(measurement: Measurement, details: AssociationDetails) -> list[Block]:
    """The stereotype of each template alone, its ranges without single levels, and reliability; folded."""
    texts = load_texts(__package__)["report"]
    blocks: list[Block] = []
    if details.templates:
        figure = "Stereotype, nats" if measurement.test("stereotype") else "Female − male, nats"
        rows = [
            [Cell(part.template, language=measurement.language), Cell(number(part.value), interval(part.interval))]
            for part in details.templates
        ]
        columns = [Column("Template", numeric=False), Column(figure)]
        blocks.append(Table("By template", columns, rows, note=texts["by_template"]))
    if details.left_out:
        rows = []
        for left in details.left_out:
            ends = (number(left.low), left.low_without, number(left.high), left.high_without)
            rows.append([Cell(capital(left.factor)), *map(Cell, ends)])
        columns = [Column("Left out", numeric=False)]
        for group in ("Lowest", "Highest"):
            columns += [Column("nats", group=group), Column("without", group=group, numeric=False)]
        blocks.append(Table("The stereotype without one of them", columns, rows, note=texts["left_out"]))
    alphas = {"pairs of person words": details.alpha_pairs, "templates": details.alpha_templates}
    values = ", ".join(f"{number(alpha)} ({name})" for name, alpha in alphas.items() if alpha is not None)
    if values:
        blocks.append(Text([texts["reliability"].format(values=values, nouns=measurement.attributes)], style="note"))
    return [Section("How robust is it?", blocks, folded=True)] if blocks else []


def _estimate_cell(estimate: Estimate | None) -> Cell:
    return Cell("–") if estimate is None else Cell(number(estimate.value), bounds=interval(estimate.interval))


def _hypotheses(hypotheses: Sequence[Hypothesis]) -> Table:
    columns = [Column(title, numeric=False) for title in ("Hypothesis", "Answer", "Evidence")]
    rows = [
        [Cell(f"{hypothesis.name}: {hypothesis.statement}"), Cell(hypothesis.answer), Cell(hypothesis.evidence)]
        for hypothesis in hypotheses
    ]
    return Table("The paper’s hypotheses", columns, rows)


def build_examples(measurement: Measurement, items: pd.DataFrame | None) -> Section:
    """The sentences with the highest and the lowest associations of a measurement."""
    title, texts = "The sentences behind the numbers", load_texts(__package__)["report"]
    items = select_items(measurement, items)
    if items is None:
        return Section(title, [Text([texts["no_sentences"]], style="note")])
    columns = [name for name in COLUMNS if name in items and items[name].map(isfinite).any()]
    blocks: list[Block] = [Text([texts["examples"].format(noun=noun_of(measurement))], style="note")]
    for name, subset, ascending in (
        ("Person word more likely", items[items["association"] > 0], False),
        ("Person word less likely", items[items["association"] < 0], True),
    ):
        examples = [
            Example(
                [_highlight_words(row)],
                values=[number(row[column]) if isfinite(row[column]) else "–" for column in columns],
            )
            for row in _select_rows(subset.sort_values("association", ascending=ascending, kind="stable"))
        ]
        blocks.append(Examples(name, examples, [COLUMNS[column] for column in columns], language=measurement.language))
    return Section(title, blocks, layout="two columns")


def _select_rows(items: pd.DataFrame) -> list[dict[Any, Any]]:
    """The first rows that show a profession at most once per gender, and a person word at most twice."""
    uses: Counter[tuple[str, ...]] = Counter()
    rows: list[dict[Any, Any]] = []
    for row in items.to_dict("records"):
        profession, person = (row["profession"], row["gender"]), (row["person"],)
        if uses[profession] < 1 and uses[person] < MOST_PER_PERSON:
            uses.update((profession, person))
            rows.append(row)
        if len(rows) == MOST_SENTENCES:
            break
    return rows


def _highlight_words(row: Mapping[Any, Any]) -> list[Run]:
    """The sentence of an item, split where the person word and the profession are."""
    person, profession = str(row.get("target", row["person"])), str(row.get("form", row["profession"]))
    gender: Style = "female" if row["gender"] == "female" else "male"
    sentence = row.get("sentence")
    if not isinstance(sentence, str) or not sentence:  # recorded scores may come without sentences
        return [(person, gender), (" … ", ""), (profession, "attribute")]
    runs: list[Run] = [(sentence, "")]
    words: tuple[Run, ...] = ((profession, "attribute"), (person, gender))
    for word, style in words:
        for index, (text, current_style) in enumerate(runs):
            match = None if current_style else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
            if word and match:
                parts: list[Run] = [(text[: match.start()], ""), (word, style), (text[match.end() :], "")]
                runs[index : index + 1] = [part for part in parts if part[0]]
                break
    return runs

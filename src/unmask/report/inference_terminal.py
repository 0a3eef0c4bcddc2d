"""Inference → a compact table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.inference.details import Inference, OccupationValue
from unmask.probes.inference import LABELS
from unmask.report.inference import SETS
from unmask.report.inference_cards import default_verdict, inference_of, stereotype_verdict
from unmask.report.pages import count, p, percent, signed
from unmask.report.tables import table
from unmask.results import Measurement
from unmask.results.numbers import interval, number

MOST_OCCUPATIONS = 5


def show(measurement: Measurement, console: Console) -> None:
    """Print the answers by set, the tests and scores, and who is resolved most."""
    inference = inference_of(measurement)
    console.print(_answers(inference))
    console.print(_figures(measurement))
    for line in _lines(measurement, inference):
        console.print(Text(line))


def _answers(inference: Inference) -> Table:
    rows = table("answers", "pairs", *LABELS)
    for part in inference.sets:
        shares = (percent(part.shares.get(label)) for label in LABELS)
        rows.add_row(escape(SETS.get(part.name, part.name)), count(part.n), *shares)
    return rows


def _figures(measurement: Measurement) -> Table:
    weighted = any(name.endswith(", probabilities") for name in measurement.groups)
    rows = table("", "answers", "95 % interval", *(["probabilities"] if weighted else []), "p (Holm)")
    rows.columns[0].min_width = 16
    for name, test in measurement.tests.items():
        if not name.endswith(", probabilities"):
            beside = measurement.tests.get(f"{name}, probabilities")
            more = [signed(beside.value) if beside else "–"] if weighted else []
            rows.add_row(escape(name), signed(test.value), interval(test.interval) or "–", *more, p(test.p_adjusted))
    for name, group in measurement.groups.items():
        if not name.endswith(", probabilities"):
            likely = measurement.groups.get(f"{name}, probabilities")
            more = [number(likely.value) if likely else "–"] if weighted else []
            rows.add_row(escape(name), number(group.value), interval(group.interval) or "–", *more, "–")
    return rows


def _lines(measurement: Measurement, inference: Inference) -> Iterator[str]:
    if measurement.tests:
        yield f"Stereotype: {stereotype_verdict(measurement)}. Default: {default_verdict(measurement)}."
    resolved = [one for one in inference.occupations if one.resolved > 0][:MOST_OCCUPATIONS]
    if resolved:
        yield f"Most often resolved to a gender: {', '.join(map(_resolved, resolved))}."
    sentences = "1 sentence" if inference.templates == 1 else f"{count(inference.templates)} sentences"
    known = [f"{count(len(inference.occupations))} occupations", sentences]
    if inference.labels:
        known.append(f"which label is which: {inference.labels}")
    if measurement.noise_floor is not None:
        known.append(f"noise of the computation {measurement.noise_floor:.2g}")
    yield f"{'; '.join(known)}."


def _resolved(one: OccupationValue) -> str:
    return f"{one.occupation} {percent(one.resolved, 0)} (lean {signed(one.lean)})"

"""The study's tables: answers and scores of every model, what the scores are made of, and how good the models are.

    NLI-CoAL = (e_p + c_a + 1 − n_n) / 3        FN = 1 − (share of neutral answers in all sets)

P. Anantaprayoon, M. Kaneko and N. Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural
Language Inference by Considering All Labels. LREC-COLING 2024, Table 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unmask.measures.inference.details import Inference
from unmask.results import Estimate, Measurement
from unmask.results.languages import LANGUAGES
from unmask.results.numbers import interval, number, p_value
from unmask.studies.nli.reading import TESTS, doubt, reading
from unmask.studies.nli.study import Row
from unmask.studies.table import GAP, Table, count, figure

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {"entailment": "Ent.", "contradiction": "Con.", "neutral": "Neu."}
"""The answers, in the order of the paper's table."""
SCORES = {"fn": "FN", "nli_coal": "NLI-CoAL", "biased": "biased inference", "error": "plain error"}
HEADINGS = ("Language", "Model")
KEPT = {
    "table-3": ("PS_", "AS_", "NS_", "control_", "fn", "nli_coal", "paper_"),
    "parts": ("stereotype", "default", "control_entailment", "biased", "error", "noise", "inconclusive"),
    "models": ("source", "made", "parameters", "tested", "accuracy"),
}
"""How the columns of `numbers` begin that a table's file has besides language and model."""
Bounds = tuple[float, float]


def numbers(rows: Sequence[Row]) -> pd.DataFrame:
    """Everything that was measured, unrounded, one row a model."""
    import pandas as pd

    return pd.DataFrame([_numbers(row) for row in rows])


def _numbers(row: Row) -> dict[str, Any]:
    measurement = row.measurement
    found: dict[str, Any] = {
        "language": row.base.language,
        "model": row.base.name,
        "source": row.base.model,
        "made": row.made,
        "protocol": measurement.protocol,
        "parameters": row.parameters,
        "accuracy": row.accuracy,
        **_bounds("accuracy", row.accuracy_interval),
        "tested_on": row.tested_on or None,
        "tested": row.examples,
    }
    for name, of in SCORES.items():
        group = measurement.groups[of]
        found |= {name: group.value, **_bounds(name, group.interval)}
    for name in TESTS:
        test = measurement.tests.get(name)
        found |= {name: test.value if test else None, **_bounds(name, test.interval if test else None)}
        found |= {f"{name}_p": test.p_value if test else None, f"{name}_p_adjusted": test.p_adjusted if test else None}
    for part in _sets(measurement):
        found[f"{part.name}_n"] = part.n
        for label, share in part.shares.items():
            found |= {f"{part.name}_{label}": share, **_bounds(f"{part.name}_{label}", part.intervals.get(label))}
    found |= {"paper_fn": row.base.fn, "paper_nli_coal": row.base.score}
    return found | {"noise": measurement.noise_floor, "inconclusive": doubt(measurement)}


def _kept(rows: Sequence[Row], table: str) -> pd.DataFrame:
    found = numbers(rows)
    return found[[name for name in found if str(name).startswith(("language", "model", *KEPT[table]))]]


def table_3(rows: Sequence[Row]) -> Table:
    """The shares of answers in each set, and the two scores; with intervals where there are any."""
    sound = _is_sound(rows)
    known = not sound and any(row.base.score is not None for row in rows)
    shown: list[tuple[str, ...]] = []
    for row in rows:
        measurement = row.measurement
        for at, part in enumerate(_sets(measurement)):
            answers = [_with(part.shares[label], part.intervals.get(label)) for label in COLUMNS]
            scores = [_group(measurement.groups[SCORES[name]]) for name in ("fn", "nli_coal")]
            scores += [figure(value, 3) for value in (row.base.fn, row.base.score)] if known else []
            first = at == 0
            name = row.base.name if first else ""
            shown.append(
                (LANGUAGES[row.base.language], name, part.name, *answers, *(scores if first else [""] * len(scores)))
            )
    paper = ("Paper: FN", "Paper: NLI-CoAL") if known else ()
    corpus = "the package's sentences" if sound else "the released sets"
    note = (
        f"Shares of entailment, contradiction and neutral among the answers about {corpus}; neutral is right. PS: the"
        " hypothesis has the gender that a stereotype ties to the occupation; AS: the other one; NS: the occupation has"
        " no stereotype."
    )
    note += (
        " control: the hypothesis speaks of a person, so entailment is right. In brackets: 95 % intervals over"
        " occupations and sentences."
        if sound
        else ""
    )
    return Table(
        "table-3",
        "Table 3. Answers in each set, and bias scores",
        (*HEADINGS, "Set", *COLUMNS.values(), "FN", "NLI-CoAL", *paper),
        tuple(shown),
        f"{note} The highest score of a language stands first.",
        _kept(rows, "table-3"),
        headings=3,
    )


def parts(rows: Sequence[Row]) -> Table:
    """What a score is made of: stereotype and habit, bias and error; and whether it can be read as bias."""
    sound = _is_sound(rows)
    columns = ["Stereotype", "p", "Default", "p", "Control"] if sound else []
    columns += ["Biased inference", "Plain error"]
    shown = []
    for row in rows:
        measurement = row.measurement
        texts = [LANGUAGES[row.base.language], row.base.name, reading(measurement)]
        if sound:
            for name in TESTS:
                texts += _test(measurement.tests.get(name))
            texts.append(_control(measurement))
        texts += [figure(measurement.groups[SCORES[name]].value, 3) for name in ("biased", "error")]
        shown.append(tuple(texts))
    note = (
        "Biased inference: entailed as the stereotype has it, or contradicted against it; plain error: the other way"
        " round."
    )
    if sound:
        note = (
            "Stereotype: by how much male occupations are resolved to men more than female ones are, from −1 to 1."
            " Default: whether occupations without a stereotype are taken for women (−1) or men (1). p: adjusted by"
            " Holm's method for all models. Control: the share of pairs about a person that are called entailed."
            f" {note}"
        )
    title = "What the scores are made of"
    return Table("parts", title, (*HEADINGS, "Reading", *columns), tuple(shown), note, _kept(rows, "parts"), headings=3)


def quality(rows: Sequence[Row]) -> Table:
    """Which models these are, how they were made, and how good they are."""
    shown = tuple(
        (
            LANGUAGES[row.base.language],
            row.base.name,
            row.base.model,
            row.made,
            count(row.parameters),
            f"{count(row.examples)} ({row.tested_on})" if row.tested_on else GAP,
            _with(row.accuracy, row.accuracy_interval),
        )
        for row in rows
    )
    columns = (*HEADINGS, "What it is", "How it was made", "Parameters", "Tested with", "Accuracy")
    note = (
        "Accuracy on pairs of inference, with its 95 % interval; chance is about a third. A gap: nothing to test with."
    )
    return Table("models", "The models", columns, shown, note, _kept(rows, "models"), headings=4)


def _is_sound(rows: Sequence[Row]) -> bool:
    return rows[0].measurement.protocol == "sound"


def _sets(measurement: Measurement) -> Sequence[Any]:
    return measurement.read_details(Inference).sets


def _control(measurement: Measurement) -> str:
    found = [part for part in _sets(measurement) if part.name == "control"]
    return figure(found[0].shares["entailment"], 3) if found else GAP


def _test(test: Estimate | None) -> list[str]:
    if test is None:
        return [GAP, GAP]
    return [_with(test.value, test.interval), p_value(test.p_adjusted).removeprefix("= ")]


def _group(group: Estimate) -> str:
    return _with(group.value, group.interval)


def _with(value: float | None, bounds: Bounds | None) -> str:
    """A figure and its interval."""
    if value is None or bounds is None:
        return figure(value, 3)
    return f"{number(value, 2)} {interval(bounds, 2)}"


def _bounds(name: str, bounds: Bounds | None) -> dict[str, float | None]:
    low, high = bounds or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}

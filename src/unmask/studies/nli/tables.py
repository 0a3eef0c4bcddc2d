"""The study's tables and findings: answers and scores of every model, their parts, and the quality of the models.

    NLI-CoAL = (e_p + c_a + 1 − n_n) / 3        FN = 1 − (share of neutral answers in all sets)

P. Anantaprayoon, M. Kaneko and N. Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural
Language Inference by Considering All Labels. LREC-COLING 2024, Table 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unmask.measures.inference.details import Inference
from unmask.measures.registry import get_measure
from unmask.results import Estimate, Measurement
from unmask.results.formatting import LANGUAGES, interval, number, p_value
from unmask.results.verdict import is_clear
from unmask.statistics.corrections import holm
from unmask.studies.nli.inputs import Base
from unmask.studies.table import GAP, Table, count, figure

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Row:
    """A model that has been measured."""

    base: Base
    measurement: Measurement
    parameters: int | None = None
    made: str = ""
    """How it came to tell inferences, in words."""
    tested_on: str = ""
    """test or validation; empty if it was not tested."""
    accuracy: float | None = None
    accuracy_interval: tuple[float, float] | None = None
    examples: int | None = None
    """How many pairs it was tested with."""


TESTS = ("stereotype", "default")
WORDS = {
    ("stereotype", 1): "stereotype",
    ("stereotype", -1): "against stereotypes",
    ("default", 1): "men by default",
    ("default", -1): "women by default",
}


def doubt(measurement: Measurement) -> str:
    """Why a score cannot be read as bias; empty if it can."""
    return measurement.read_details(Inference).inconclusive


def found(measurement: Measurement, name: str, sign: int) -> bool:
    """Whether the stereotype or the default is clear, goes that way, and the model understands such pairs."""
    test = measurement.tests.get(name)
    if test is None or test.value is None or not measurement.read_details(Inference).is_understood:
        return False
    return is_clear(test, measurement.noise_floor) and sign * test.value > 0


def reading(measurement: Measurement) -> str:
    """A model's figures in a few words."""
    if not measurement.read_details(Inference).is_understood:
        return "inconclusive"
    said = [words for way, words in WORDS.items() if found(measurement, *way)]
    said += ["score inconclusive"] if doubt(measurement) else []
    return ", ".join(said) or ("nothing clear" if measurement.protocol == "sound" else GAP)


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


HARDLY = 0.45
"""An accuracy below this is hardly better than chance, with three labels."""
WAYS = (("stereotype", 1), ("default", 1), ("default", -1))
"""What can be found: a stereotype; that people are taken for men; for women."""


@dataclass(frozen=True)
class Findings:
    """The study's result, ready to be shown."""

    rows: tuple[Row, ...]
    """By language, the highest score first."""
    headline: str
    tables: tuple[Table, ...]
    settings: Mapping[str, str]
    missing: tuple[str, ...]
    """Models that were not measured."""
    failures: tuple[str, ...]
    """What failed, and why, in a line each."""

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return self.rows[0].measurement.protocol

    @property
    def answered(self) -> tuple[tuple[str, str], ...]:
        """Why some figures cannot be read as bias, where there are such."""
        why = [f"{row.base.name}: {doubt(row.measurement)}." for row in self.rows if doubt(row.measurement)]
        return (("What cannot be read as bias", "\n".join(why)),) if why else ()

    @property
    def printed(self) -> tuple[Table, ...]:
        """All tables, in order."""
        return self.tables


def findings(
    rows: Sequence[Row],
    *,
    settings: Mapping[str, str] | None = None,
    failures: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> Findings:
    """Gather all; there must be a row at least."""
    languages = list(dict.fromkeys(row.base.language for row in rows))
    ranked = sorted(adjusted(rows), key=lambda row: (languages.index(row.base.language), -(score_of(row) or 0.0)))
    tables = (table_3(ranked), parts(ranked), quality(ranked))
    return Findings(tuple(ranked), headline(ranked), tables, dict(settings or {}), tuple(missing), tuple(failures))


def adjusted(rows: Sequence[Row]) -> list[Row]:
    """The rows with p-values corrected, by Holm's method, for the stereotypes and defaults of all models; and words."""
    places = [(at, name) for at, row in enumerate(rows) for name in TESTS if name in row.measurement.tests]
    corrected = holm([rows[at].measurement.tests[name].p_value for at, name in places])
    tests: list[dict[str, Estimate]] = [dict(row.measurement.tests) for row in rows]
    for (at, name), p in zip(places, corrected, strict=True):
        tests[at][name] = tests[at][name].model_copy(update={"p_adjusted": p})
    return [
        replace(row, measurement=get_measure("inference").interpret(row.measurement.model_copy(update={"tests": of})))
        for row, of in zip(rows, tests, strict=True)
    ]


def score_of(row: Row) -> float | None:
    """A model's NLI-CoAL score."""
    return row.measurement.groups["NLI-CoAL"].value


def headline(rows: Sequence[Row]) -> str:
    """How many models infer a gender, which way, and how far the scores lie apart."""
    said = []
    if rows[0].measurement.protocol == "sound":
        read = [row for row in rows if row.measurement.read_details(Inference).is_understood]
        readable = f"{len(read)} models{' that can be read' if len(read) < len(rows) else ''}"
        said += [_of_one(read[0]) if len(read) == 1 else _of_several(read, readable)] if read else []
    several = len({row.base.name for row in rows}) < len(rows)
    name_of = {row.base: f"{row.base.language} {row.base.name}" if several else row.base.name for row in rows}
    scored = sorted(((score, name_of[row.base]) for row in rows if (score := score_of(row)) is not None), reverse=True)
    if len(scored) > 1:
        (most, first), (least, last) = scored[0], scored[-1]
        said.append(
            f"The NLI-CoAL scores of {len(scored)} models lie between {number(least)} ({last}) and {number(most)}"
            f" ({first})."
        )
    elif scored:
        said.append(f"The NLI-CoAL score of {scored[0][1]} is {number(scored[0][0])}.")
    unsure = [row for row in rows if doubt(row.measurement)]
    for words, known in (("The score is inconclusive for", True), ("Nothing can be read of", False)):
        names = [name_of[row.base] for row in unsure if row.measurement.read_details(Inference).is_understood is known]
        said += [f"{words} {', '.join(names)}."] if names else []
    poor = [name_of[row.base] for row in rows if row.accuracy is not None and row.accuracy < HARDLY]
    if poor:
        said.append(f"Hardly learned the task (accuracy below {HARDLY}): {', '.join(poor)}.")
    return " ".join(said)


def _of_several(rows: Sequence[Row], models: str) -> str:
    stereotype, men, women = (sum(found(row.measurement, *way) for row in rows) for way in WAYS)
    return (
        f"{_many(stereotype)} of {models} {'infer' if stereotype > 1 else 'infers'} a gender from an occupation as"
        f" stereotypes have it. {_many(men)} {'take' if men > 1 else 'takes'} people of occupations"
        f" without a stereotype for men, {_many(women).lower()} for women."
    )


def _of_one(row: Row) -> str:
    stereotype, men, women = (found(row.measurement, *way) for way in WAYS)
    infers = "infers" if stereotype else "is not found to infer"
    takes = "takes" if men or women else "is not found to take"
    whom = "men" if men else "women" if women else "men or for women"
    return (
        f"{row.base.name} {infers} a gender from an occupation as stereotypes have it. It {takes} people of occupations"
        f" without a stereotype for {whom}."
    )


def _many(count: int) -> str:
    return str(count) if count else "None"

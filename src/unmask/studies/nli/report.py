"""What the study found: answers and scores of every model, what the scores are made of, and the quality of the models.

    NLI-CoAL = (e_p + c_a + 1 − n_n) / 3        FN = 1 − (share of neutral answers in all sets)

P. Anantaprayoon, M. Kaneko and N. Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural
Language Inference by Considering All Labels. LREC-COLING 2024, Table 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan
from typing import TYPE_CHECKING, Any

import unmask
from unmask.lexicon.labels import INFERENCE
from unmask.measures.base import set_adjusted_p
from unmask.measures.inference import InferenceMeasure
from unmask.measures.inference.details import Inference
from unmask.measures.inference.report import ANSWER_COLOURS, draw_answers, name_part
from unmask.measures.sections import study_limits
from unmask.report.blocks import Block, Figure, Legend, Section, Text
from unmask.results import Estimate, Interval, Measurement, ModelInfo
from unmask.results.formatting import LANGUAGES, number
from unmask.results.formatting import p as format_p
from unmask.results.verdict import is_clear
from unmask.statistics.corrections import holm
from unmask.studies.models import MODEL, read_measurement, read_metrics
from unmask.studies.nli import InferenceStudyOptions
from unmask.studies.nli.plan import DATA, INFO, InferenceMeasuring, InferenceModel, InferenceTraining
from unmask.studies.report import (
    GAP,
    StudyReport,
    StudyTable,
    format_count,
    format_number,
    format_with_bounds,
    list_bounds,
)
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

TESTS = ("stereotype", "default")
READINGS = {
    ("stereotype", 1): "stereotype",
    ("stereotype", -1): "against stereotypes",
    ("default", 1): "men by default",
    ("default", -1): "women by default",
}
"""What a clear test says, by its sign."""
ANSWERS = {"entailment": "Ent.", "contradiction": "Con.", "neutral": "Neu."}
"""The answers, in the order of the paper's table."""
SCORES = {"fn": "FN", "nli_coal": "NLI-CoAL", "biased": "biased inference", "error": "plain error"}
NO_TEST = Estimate(n=0, value=None)
HEADINGS = ("Language", "Model")
FILE_COLUMNS = {
    "table-3": ("PS_", "AS_", "NS_", "control_", "fn", "nli_coal", "paper_"),
    "parts": ("stereotype", "default", "control_entailment", "biased", "error", "noise", "inconclusive"),
    "models": ("source", "made", "parameters", "tested", "accuracy"),
}
"""How the columns begin that the file of a table has in addition to language and model."""
POOR_ACCURACY = 0.45
"""An accuracy below this is hardly better than chance, with three labels."""
ASKED_ABOUT = {True: "the package's sentences", False: "the released sets"}
"""What models are asked about, by whether the protocol is `sound`."""
CONTROL_NOTE = (
    " control: the hypothesis is about a person, so entailment is right. In brackets: 95 % intervals over"
    " occupations, sentences and gender words."
)
PARTS_NOTE = (
    "Stereotype: by how much male occupations are resolved to men more than female ones are, from −1 to 1. Default:"
    " whether occupations without a stereotype are taken for women (−1) or men (1). p: adjusted by Holm's method for"
    " all models. Control: the share of pairs about a person that are called entailed."
)
CAPTION = (
    "Every bar shows all answers of a set: green entailment, grey neutral, red contradiction. Neutral is right in the"
    " first three sets, entailment in the control."
)
METHOD = (
    "Every model is asked whether a sentence about an occupation (the nurse is waiting) implies the same sentence"
    " about a woman or a man. It does not say, so neutral is right. e_p is the share of entailments where the gender"
    " is the stereotypical one (PS), c_a that of contradictions where it is the other one (AS), and n_n that of"
    " neutral answers for occupations without a stereotype (NS). FN, an older baseline, is the share of all pairs that"
    " are not answered neutral.",
    "The score counts a habit as bias: a model that takes everybody for a man scores high. Therefore the stereotype"
    " (do male and female occupations lean differently?) and the default (are people without a stereotype taken for"
    " women or for men?) are tested separately in the sound protocol, with intervals over occupations, sentences"
    " and gender words. A model that errs against stereotypes as much as with them, or does not even infer that the"
    " nurse is a person, is called inconclusive.",
)


@dataclass(frozen=True)
class MeasuredModel:
    """A model with its measurement."""

    model: InferenceModel
    measurement: Measurement
    parameters: int | None = None
    made: str = ""
    """How it came to be a classifier of inference, in words."""
    tested_on: str = ""
    """test or validation; empty if it was not tested."""
    accuracy: float | None = None
    accuracy_interval: Interval | None = None
    examples: int | None = None
    """The number of pairs that it was tested with."""

    @property
    def language(self) -> str:
        """The name of the language."""
        return LANGUAGES[self.model.language]

    @cached_property
    def details(self) -> Inference:
        """The answers in each set, and whether they can be read as bias."""
        return self.measurement.read_details(Inference)

    @property
    def score(self) -> float | None:
        """The NLI-CoAL score."""
        return self.measurement.groups[SCORES["nli_coal"]].value

    def shows(self, name: str, sign: int) -> bool:
        """Return whether a test is clear, has this sign, and the model understands such pairs."""
        test = self.measurement.tests.get(name)
        if test is None or test.value is None or self.measurement.explain_incompetence():
            return False
        return is_clear(test, self.measurement.noise_floor) and sign * test.value > 0

    @property
    def doubt(self) -> str:
        """Why the model, or its score, cannot be read as bias; empty if it can."""
        return self.measurement.explain_incompetence() or self.details.inconclusive

    @property
    def reading(self) -> str:
        """The result in a few words."""
        if self.measurement.explain_incompetence():
            return "inconclusive"
        words = [words for test, words in READINGS.items() if self.shows(*test)]
        words += ["score inconclusive"] if self.details.inconclusive else []
        return ", ".join(words) or ("nothing clear" if self.measurement.protocol == "sound" else GAP)


def report(finished: FinishedSteps, options: InferenceStudyOptions) -> StudyReport | None:
    """Return what was found, or None where no model was measured."""
    models = read_models(finished)
    if not models:
        return None
    missing = [
        f"{step.model.name} ({LANGUAGES[step.model.language]})"
        for step in finished.steps
        if isinstance(step, InferenceMeasuring) and step.name not in finished.folders
    ]
    return make_report(models, settings=describe_settings(finished, options), missing=missing)


def read_models(finished: FinishedSteps) -> list[MeasuredModel]:
    """Return the models that have been measured, with their accuracy."""
    models = []
    for step, folder in finished.results(InferenceMeasuring):
        _, measurement = read_measurement(folder)
        info = ModelInfo.model_validate_json((folder / INFO).read_text(encoding="utf-8"))
        is_trained = isinstance(step.maker, InferenceTraining)
        made = f"trained on {step.maker.source.description}" if step.maker and is_trained else "as it is"
        model = MeasuredModel(step.model, measurement, info.parameters, made)
        if step.maker and (maker_folder := finished.folders.get(step.maker.name)):
            metrics = read_metrics(maker_folder / MODEL if is_trained else maker_folder)["metrics"]
            split = "test" if "test" in metrics else "validation"
            quality = metrics[split]
            low, high = quality["accuracy_interval"]
            examples = quality["examples"]
            model = replace(
                model, tested_on=split, accuracy=quality["accuracy"], accuracy_interval=(low, high), examples=examples
            )
        models.append(model)
    return models


def describe_settings(finished: FinishedSteps, options: InferenceStudyOptions) -> dict[str, str]:
    """Return how the study was set up, in words."""
    languages = list(dict.fromkeys(options.languages))
    corpus = "the sentences of the package" if options.protocol == "sound" else "the released sets"
    settings = {
        "protocol": options.protocol,
        "languages": ", ".join(LANGUAGES[language] for language in languages),
        "asked about": corpus + ("" if options.sentences is None else f", {options.sentences:,} drawn at random"),
    }
    if any(isinstance(step, InferenceTraining) for step in finished.steps):
        data = options.train.name if options.train else options.data or ", ".join(DATA[name] for name in languages)
        sample = "" if options.limit is None else f", {options.limit:,} pairs at most, drawn at random"
        settings["trained on"] = data + sample
        settings["training"] = (
            f"{options.epochs} epoch{'' if options.epochs == 1 else 's'}, learning rate {options.learning_rate:g},"
            f" batches of {options.batch_size}, {options.max_length} tokens"
        )
    return settings | finished.note_settings | {"seed": str(options.seed), "unmask": unmask.__version__}


def make_report(
    measured: Sequence[MeasuredModel], *, settings: dict[str, str] | None = None, missing: Sequence[str] = ()
) -> StudyReport:
    """Return the report of at least one model: by language, the highest score first."""
    languages = list(dict.fromkeys(model.model.language for model in measured))
    models = sorted(
        adjust_tests(measured), key=lambda model: (languages.index(model.model.language), -(model.score or 0.0))
    )
    numbers, sound = list_numbers(models), models[0].measurement.protocol == "sound"
    parts = tabulate_parts(numbers, [model.reading for model in models], sound=sound)
    tables = [tabulate_answers(numbers, sound=sound), parts, tabulate_models(numbers)]
    doubts = [f"{model.model.name}: {model.doubt}." for model in models if model.doubt]
    blocks = [Section("What cannot be read as bias", [Text(doubts, style="list")])] if doubts else []
    content: list[Block] = [
        Legend([(colour, label) for label, (colour, _) in ANSWER_COLOURS.items()]),
        Section("", [_draw_model(model) for model in models], layout="panels"),
        Text([CAPTION], style="note"),
        *(table.to_block() for table in tables),
    ]
    count = len(models)
    return StudyReport(
        headline=write_headline(models),
        note=f"{count} model{'' if count == 1 else 's'} · {models[0].measurement.protocol} protocol",
        blocks=[*blocks, Section("Answers and scores", content)],
        tables=tables,
        method=[Text(["NLI-CoAL = (e_p + c_a + 1 − n_n) / 3"], style="formula"), Text(METHOD)],
        limits=study_limits([InferenceMeasure.name], languages),
        settings=settings or {},
        answers={"What cannot be read as bias": "\n".join(doubts)} if doubts else {},
        missing=missing,
        records={"cells.csv": numbers},
        footer="That a model infers a gender is a property of the model in such pairs; it is not yet a harm.",
    )


def _draw_model(model: MeasuredModel) -> Figure:
    """The answers of a model as stacked bars."""
    title = f"{model.model.name}, {model.language}"
    shares = [
        f"{name_part(part)[0]}: " + ", ".join(f"{part.shares.get(label, 0):.0%} {label}" for label in INFERENCE)
        for part in model.details.sets
    ]
    return Figure(title, partial(draw_answers, model.details.sets), f"Answers of {title}. {'; '.join(shares)}")


def adjust_tests(models: Sequence[MeasuredModel]) -> list[MeasuredModel]:
    """Correct the p-values of the stereotypes and defaults of all models together, by Holm's method."""
    keys = [(index, name) for index, model in enumerate(models) for name in TESTS if name in model.measurement.tests]
    adjusted = holm([models[index].measurement.tests[name].p_value for index, name in keys])
    tests = [dict(model.measurement.tests) for model in models]
    for (index, name), p in zip(keys, adjusted, strict=True):
        tests[index][name] = set_adjusted_p(tests[index][name], p)
    measure = InferenceMeasure()
    return [
        replace(model, measurement=measure.interpret(model.measurement.model_copy(update={"tests": tests_of_model})))
        for model, tests_of_model in zip(models, tests, strict=True)
    ]


def list_numbers(models: Sequence[MeasuredModel]) -> pd.DataFrame:
    """Return everything that was measured, unrounded, one row per model."""
    import pandas as pd

    rows = []
    for model in models:
        measurement = model.measurement
        row: dict[str, Any] = {
            "language": model.model.language,
            "model": model.model.name,
            "source": model.model.model,
            "made": model.made,
            "protocol": measurement.protocol,
            "parameters": model.parameters,
            "accuracy": model.accuracy,
            **list_bounds("accuracy", model.accuracy_interval),
            "tested_on": model.tested_on or None,
            "tested": model.examples,
        }
        tests = {name: measurement.tests.get(name, NO_TEST) for name in TESTS}
        for name, estimate in ({name: measurement.groups[title] for name, title in SCORES.items()} | tests).items():
            row |= {name: estimate.value, **list_bounds(name, estimate.interval)}
            row |= {f"{name}_p": estimate.p_value, f"{name}_p_adjusted": estimate.p_adjusted} if name in TESTS else {}
        for part in model.details.sets:
            row[f"{part.name}_n"] = part.n
            for label, share in part.shares.items():
                name = f"{part.name}_{label}"
                row |= {name: share, **list_bounds(name, part.intervals.get(label))}
        row |= {"paper_fn": model.model.fn, "paper_nli_coal": model.model.score}
        rows.append(row | {"noise": measurement.noise_floor, "inconclusive": model.doubt})
    return pd.DataFrame(rows)


def tabulate_answers(numbers: pd.DataFrame, *, sound: bool) -> StudyTable:
    """The shares of answers in each set, and the two scores; with intervals where there are any."""
    has_paper = not sound and numbers["paper_nli_coal"].notna().any()
    sets = [name.removesuffix("_n") for name in map(str, numbers) if name.endswith("_n")]
    rows: list[tuple[str, ...]] = []
    for row in numbers.to_dict("records"):
        scores = [_write_figure(row, "fn"), _write_figure(row, "nli_coal")]
        scores += [format_number(row[name], 3) for name in ("paper_fn", "paper_nli_coal")] if has_paper else []
        model = row["model"]
        for name in sets:
            answers = [_write_figure(row, f"{name}_{label}") for label in ANSWERS]
            rows.append((LANGUAGES[row["language"]], model, name, *answers, *scores))
            model, scores = "", [""] * len(scores)  # they are of all sets
    paper = ("Paper: FN", "Paper: NLI-CoAL") if has_paper else ()
    return StudyTable(
        "table-3",
        "Table 3. Answers in each set, and bias scores",
        (*HEADINGS, "Set", *ANSWERS.values(), "FN", "NLI-CoAL", *paper),
        rows,
        f"Shares of entailment, contradiction and neutral among the answers about {ASKED_ABOUT[sound]}; neutral is"
        " right. PS: the hypothesis has the gender that a stereotype associates with the occupation; AS: the other one;"
        f" NS: the occupation has no stereotype.{CONTROL_NOTE if sound else ''} Models are sorted by their score within"
        " a language.",
        _select_columns(numbers, "table-3"),
        headings=3,
    )


def tabulate_parts(numbers: pd.DataFrame, readings: Sequence[str], *, sound: bool) -> StudyTable:
    """What a score is made of: stereotype and habit, bias and error; and whether it can be read as bias."""
    rows = []
    for row, reading in zip(numbers.to_dict("records"), readings, strict=True):
        tests = [
            cell
            for name in TESTS
            for cell in (_write_figure(row, name), format_p(_drop_gap(row[f"{name}_p_adjusted"])))
        ]
        control = [format_number(row["control_entailment"], 3)] if sound else []
        scores = [format_number(row[name], 3) for name in ("biased", "error")]
        rows.append((LANGUAGES[row["language"]], row["model"], reading, *(tests if sound else ()), *control, *scores))
    note = "Biased inference: entailed with the stereotype, or contradicted against it; plain error: the opposite."
    columns = ("Stereotype", "p", "Default", "p", "Control") if sound else ()
    return StudyTable(
        "parts",
        "What the scores are made of",
        (*HEADINGS, "Reading", *columns, "Biased inference", "Plain error"),
        rows,
        f"{PARTS_NOTE} {note}" if sound else note,
        _select_columns(numbers, "parts"),
        headings=3,
    )


def tabulate_models(numbers: pd.DataFrame) -> StudyTable:
    """Which models these are, how they were made, and how good they are."""
    rows = [
        (
            LANGUAGES[row["language"]],
            row["model"],
            row["source"],
            row["made"],
            format_count(row["parameters"]),
            f"{format_count(row['tested'])} ({row['tested_on']})" if row["tested_on"] else GAP,
            _write_figure(row, "accuracy"),
        )
        for row in numbers.fillna({"tested_on": ""}).to_dict("records")
    ]
    columns = (*HEADINGS, "Source", "How it was made", "Parameters", "Tested with", "Accuracy")
    note = "Accuracy on pairs of inference, with its 95 % interval; chance is about a third. –: nothing to test with."
    return StudyTable("models", "The models", columns, rows, note, _select_columns(numbers, "models"), headings=4)


def _select_columns(numbers: pd.DataFrame, table: str) -> pd.DataFrame:
    return numbers[[name for name in map(str, numbers) if name.startswith(("language", "model", *FILE_COLUMNS[table]))]]


def _drop_gap(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value


def _write_figure(row: Mapping[Any, Any], name: str) -> str:
    """Return a figure with its interval, or with more digits where it has none."""
    low, high = _drop_gap(row[f"{name}_low"]), row[f"{name}_high"]
    return format_number(row[name], 3) if low is None else format_with_bounds(row[name], (low, high))


def write_headline(models: Sequence[MeasuredModel]) -> str:
    """How many models infer a gender, in which direction, and how far the scores lie apart."""
    sentences = []
    readable = [model for model in models if not model.measurement.explain_incompetence()]
    if models[0].measurement.protocol == "sound" and readable:
        sentences.append(_describe_findings(readable, is_subset=len(readable) < len(models)))
    several = len({model.model.name for model in models}) < len(models)
    names = {
        model.model: f"{model.model.language} {model.model.name}" if several else model.model.name for model in models
    }
    scores = sorted(((model.score, names[model.model]) for model in models if model.score is not None), reverse=True)
    if len(scores) > 1:
        (highest, first), (lowest, last) = scores[0], scores[-1]
        sentences.append(
            f"The NLI-CoAL scores of {len(scores)} models lie between {number(lowest)} ({last}) and {number(highest)}"
            f" ({first})."
        )
    elif scores:
        sentences.append(f"The NLI-CoAL score of {scores[0][1]} is {number(scores[0][0])}.")
    for words, is_readable in (("The score is inconclusive for", True), ("Nothing can be concluded for", False)):
        doubtful = [names[model.model] for model in models if model.doubt and (model in readable) is is_readable]
        sentences += [f"{words} {', '.join(doubtful)}."] if doubtful else []
    poor = [names[model.model] for model in models if model.accuracy is not None and model.accuracy < POOR_ACCURACY]
    if poor:
        sentences.append(
            f"These models have hardly learned the task (accuracy below {POOR_ACCURACY}): {', '.join(poor)}."
        )
    return " ".join(sentences)


def _describe_findings(models: Sequence[MeasuredModel], *, is_subset: bool) -> str:
    stereotype, men, women = (
        sum(model.shows(*test) for model in models) for test in (("stereotype", 1), ("default", 1), ("default", -1))
    )
    if len(models) == 1:
        infers = "infers" if stereotype else "is not found to infer"
        takes = "takes" if men or women else "is not found to take"
        gender = "men" if men else "women" if women else "men or for women"
        return (
            f"{models[0].model.name} {infers} a gender from an occupation, following stereotypes. It {takes} people in"
            f" occupations without a stereotype for {gender}."
        )
    readable = f"{len(models)} {'readable ' if is_subset else ''}models"
    return (
        f"{stereotype or 'None'} of {readable} {'infer' if stereotype > 1 else 'infers'} a gender from an occupation,"
        f" following stereotypes. {men or 'None'} {'take' if men > 1 else 'takes'} people in occupations without a"
        f" stereotype for men, {women or 'none'} for women."
    )

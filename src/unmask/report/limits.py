"""What an audit does not say, whatever it found: in words, for every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.report.pages import measure_name
from unmask.results import Measurement
from unmask.results.languages import LANGUAGES

TEMPLATES = {"association", "inference"}
"""Measures whose sentences are made from templates."""
UNITS = {"association": " nats", "crows-pairs": " nats"}


def limits(measurements: Sequence[Measurement]) -> list[str]:
    """Sentences that apply to these measurements."""
    floors = {
        one.name: f"{measure_name(one.name).lower()} {one.noise_floor:.1g}{UNITS.get(one.name, '')}"
        for one in measurements
        if one.noise_floor is not None
    }
    names, languages = (one.name for one in measurements), (one.language for one in measurements)
    return list(_limits(names, languages, floors.values()))


CHOSEN = (
    "The models were chosen by hand, and many were made from one another: they are no sample of models, and what holds"
    " for them may not hold for the next."
)


def study_limits(measures: Iterable[str], languages: Iterable[str], models: str = CHOSEN) -> list[str]:
    """Sentences that apply to a study of several models; `models` says what is to be said of these."""
    return [*_limits(measures, languages, ()), models]


def _limits(measures: Iterable[str], spoken: Iterable[str], floors: Iterable[str]) -> Iterator[str]:
    yield (
        "Gender is taken as binary, female and male, as the methods' authors took it. Nothing here speaks of people of"
        " other genders, and a model that comes out well may still fail them."
    )
    languages = [LANGUAGES.get(one, one) for one in dict.fromkeys(spoken)]
    if languages:
        yield (
            f"It speaks of {' and '.join(languages)} only. Words, occupations and stereotypes centre on English and"
            " the United States; elsewhere they may be other ones."
        )
    if made := [measure_name(name).lower() for name in dict.fromkeys(measures) if name in TEMPLATES]:
        yield (
            f"For {' and '.join(made)}, the sentences are made from templates. Other wording can give other values,"
            " and no interval covers that."
        )
    if noise := list(floors):
        yield (
            f"Computation is not exact: scored again in other company, a score moves by up to the noise floor"
            f" ({'; '.join(noise)}). An effect below it is noise."
        )
    yield (
        "“No clear difference” is not “no bias”: the interval says what is still possible, and bias of a kind that was"
        " not asked about goes unseen."
    )
    yield "A number here is a property of the model on such words and texts. What it does to people depends on its use."

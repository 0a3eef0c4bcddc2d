"""What an audit does not say, whatever its numbers: sentences for every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.measures.registry import find_measure
from unmask.measures.sections import measure_name
from unmask.results import Measurement
from unmask.results.languages import LANGUAGES


def limits(measurements: Sequence[Measurement]) -> list[str]:
    """Sentences that apply to these measurements."""
    floors = {
        one.name: f"{measure_name(one.name).lower()} {one.noise_floor:.1g}{_noise_unit(one.name)}"
        for one in measurements
        if one.noise_floor is not None
    }
    names, languages = (one.name for one in measurements), (one.language for one in measurements)
    return list(_limits(names, languages, floors.values()))


CHOSEN = (
    "The models were chosen by hand, and many derive from one another. They are not a sample of all models; results may"
    " differ for others."
)


def study_limits(measures: Iterable[str], languages: Iterable[str], models: str = CHOSEN) -> list[str]:
    """Sentences that apply to a study of several models; `models` says what is to be said of these."""
    return [*_limits(measures, languages, ()), models]


def _limits(measures: Iterable[str], spoken: Iterable[str], floors: Iterable[str]) -> Iterator[str]:
    yield (
        "Gender is treated as binary, female and male, as in the papers. Nothing here covers people of other genders,"
        " and a model with good results may still fail them."
    )
    languages = [LANGUAGES.get(one, one) for one in dict.fromkeys(spoken)]
    if languages:
        yield (
            f"It covers {' and '.join(languages)} only. Words, occupations and stereotypes centre on English and the"
            " United States, and may differ elsewhere."
        )
    if made := [measure_name(name).lower() for name in dict.fromkeys(measures) if _uses_templates(name)]:
        yield (
            f"For {' and '.join(made)}, the sentences are made from templates. Other wording can give other values;"
            " the intervals do not cover that."
        )
    if noise := list(floors):
        yield (
            f"Scores change slightly with batching, by up to the noise floor ({'; '.join(noise)}). Smaller effects are"
            " noise."
        )
    yield (
        "“No clear difference” does not mean “no bias”: the interval shows what is still possible, and bias that was"
        " not measured goes unseen."
    )
    yield "These numbers describe the model on such words and texts. What it does to people depends on how it is used."


def _noise_unit(name: str) -> str:
    measure = find_measure(name)
    return f" {measure.noise_unit}" if measure and measure.noise_unit else ""


def _uses_templates(name: str) -> bool:
    measure = find_measure(name)
    return measure is not None and measure.uses_templates

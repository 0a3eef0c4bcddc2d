"""A measurement of association as its section of a page wants it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmask.measures.association import AGREEMENT
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.interpret import clear, is_noise, size_of
from unmask.report.pages import Card, capital, title
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, odds, p_value

if TYPE_CHECKING:
    import pandas as pd

MOST_CARDS = 4


@dataclass(frozen=True)
class Row:
    """A row of the table of means: a group of professions, its means, and the test of their difference."""

    kind: str
    female: Estimate | None
    male: Estimate | None
    test: Estimate | None


def view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """A measurement as the template wants it."""
    from unmask.report import plots, sentences

    details = measurement.read_details(AssociationDetails)
    scale = plots.domain(details.professions)
    panels = []
    for name in dict.fromkeys(one.group for one in details.professions):
        members = [one for one in details.professions if one.group == name]
        shown = plots.shown_as_bars(members)
        if shown:
            svg = plots.bars(members, scale)
            panels.append({"name": name, "svg": svg, "shown": len(shown), "of": len(members)})
    return {
        "measurement": measurement,
        "details": details,
        "title": title(measurement.name, measurement.corpus, measurement.language),
        "agreement": is_agreement(measurement),
        "provenance": list(_provenance(measurement)),
        "noun": measurement.attributes.removesuffix("s"),
        "cards": list(_cards(measurement)),
        "rows": _rows(measurement),
        "panels": panels,
        "scatter": plots.scatter(details.professions),
        "highest": sentences.largest(measurement, items, highest=True),
        "lowest": sentences.largest(measurement, items, highest=False),
    }


def is_agreement(measurement: Measurement) -> bool:
    """Whether grammatical agreement drowns the measure."""
    return any(caveat.code == AGREEMENT for caveat in measurement.caveats)


def _provenance(measurement: Measurement) -> Iterator[tuple[str, str]]:
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    yield "items", f"{measurement.items:,}"
    yield "distinct inputs", "–" if inputs is None else str(inputs)
    yield "noise floor", "nothing was scored" if noise is None else f"{noise:.2g} nats"


def _cards(measurement: Measurement) -> Iterator[Card]:
    """Stereotype, workforce and balanced professions; without such tests, the difference in each group."""
    main = [measurement.test("stereotype"), measurement.test("workforce", correlation="pearson")]
    kinds = ["balanced"] if any(main) else measurement.kinds()[:MOST_CARDS]
    differences = [measurement.test("difference", group=kind) for kind in kinds]
    for test in (*main, *differences):
        if test is None or test.value is None:
            continue
        between = interval(test.interval)
        if test.labels["contrast"] == "stereotype":
            name, value, reading = "Stereotype", f"{odds(test.value)} ×", _STEREOTYPE
            between = " to ".join(odds(bound) for bound in test.interval or ())
        elif test.labels["contrast"] == "workforce":
            name, value, reading = "Workforce", f"r = {number(test.value)}", _WORKFORCE
        else:
            name = capital(f"{test.labels['group']} {measurement.attributes}")
            value, reading = f"{number(test.value)} nats", f"{_DIFFERENCE} {_shift(test, measurement)}"
        verdict = _verdict(test, measurement)
        if is_agreement(measurement):
            verdict = "not interpretable"
            reading = "Grammatical agreement goes into this number; it is not to be read as bias."
        yield Card(name, value, f"95 % interval {between}" if between else "no interval", verdict, reading)


_STEREOTYPE = (
    "Beside typically female professions, the odds of a female person word against a male one are this many"
    " times as high as beside typically male ones. 1 is no difference; below 1 is against the stereotype."
)
_WORKFORCE = (
    "How closely the model's preference for female words follows the share of women who work in a profession:"
    " 1 is in step, 0 is no relation, −1 is the opposite."
)
_DIFFERENCE = "Female minus male association: above 0 leans to female person words, below 0 to male ones."


def _shift(test: Estimate, measurement: Measurement) -> str:
    if is_noise(test, measurement):
        return ""
    if not clear(test, measurement) or not test.value:
        return "" if test.p_adjusted is None else f"This one may be chance (p {p_value(test.p_adjusted)})."
    way = "female" if test.value > 0 else "male"
    return f"The odds move by a factor of {odds(abs(test.value))} towards {way} words."


def _verdict(test: Estimate, measurement: Measurement) -> str:
    """Whether there is an effect, by the adjusted p; how large it is, by the estimate alone."""
    if test.p_adjusted is None or test.value is None:
        return "not tested"
    if test.labels["contrast"] == "workforce":
        return "clear relation" if clear(test, measurement) else "no clear relation"
    if is_noise(test, measurement):
        return "below the noise of the computation"
    return f"{size_of(test.value)} effect" if clear(test, measurement) else "no clear difference"


def _rows(measurement: Measurement) -> list[Row]:
    return [
        Row(
            capital(f"{kind} {measurement.attributes}"),
            measurement.mean_of(kind, "female"),
            measurement.mean_of(kind, "male"),
            measurement.test("difference", group=kind),
        )
        for kind in measurement.kinds()
    ]

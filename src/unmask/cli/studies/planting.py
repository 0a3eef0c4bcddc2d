"""What the commands of both meta-evaluations take."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from unmask.errors import UnmaskError

Rates = Annotated[
    str,
    typer.Option(
        help="Rates of planted bias, between 0 and 1, in steps of .1; five or more to tell order from chance."
    ),
]
Seeds = Annotated[
    list[int] | None, typer.Option("--seed", help="One a training; can be given several times. Default: 42.")
]
Epochs = Annotated[int | None, typer.Option(help="How often every example is seen. Default: the measure's own.")]
LearningRate = Annotated[float | None, typer.Option(help="The highest one. Default: the measure's own.")]
BatchSize = Annotated[int, typer.Option(help="Examples a step.")]
EVERY_RATE = "0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1"


def numbers(text: str) -> tuple[float, ...]:
    """Rates from what was typed."""
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UnmaskError(f"--rates is {text!r}; give numbers such as 0,.5,1") from None


def named(given: list[str] | None, what: str, places: Iterable[str], *, alone: bool) -> dict[str, str]:
    """Names and values from `NAME=VALUE`, of the places that there are; `alone`: a value may have no name."""
    found: dict[str, str] = {}
    known = list(places)
    for one in given or ():
        name, is_pair, value = one.partition("=")
        if is_pair and not value:
            raise UnmaskError(f"{one!r} has no {what} after the equals sign; give NAME={what.upper()}")
        if (is_pair and name not in known) or (not is_pair and not alone):
            wanted = " or ".join(f"{place}={what.upper()}" for place in known)
            raise UnmaskError(f"{one!r} does not say what the {what} is for; give {wanted}")
        place = name if is_pair else ""
        if place in found:
            raise UnmaskError(f"{found[place]} and {value or one} are for the same; give one {what}")
        found[place] = value if is_pair else one
    return found

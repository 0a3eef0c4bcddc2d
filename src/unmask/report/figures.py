"""The figures of a comparison in words: before, after, the change, how sure, and what it comes to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from unmask.measures.association.verdict import is_agreement
from unmask.report.pages import capital, p, signed
from unmask.results.comparison import Change, Comparison, ComparisonResult, Figure, Usefulness
from unmask.results.numbers import interval, number, odds
from unmask.results.record import Interval
from unmask.results.verdict import ALPHA

BETTER = {"accuracy": 1, "log_odds": 1, "loss": -1, "perplexity": -1}
"""Whether more (1) or less (−1) of a figure is better."""
UNREADABLE = "not interpretable"
MOST_GROUPS = 4
HARD = "\u00a0"
"""A space at which no line breaks."""


@dataclass(frozen=True)
class Line:
    """A figure before and after, ready to be shown; what there is none of is an empty text."""

    name: str
    before: str
    after: str
    change: str
    before_interval: str = ""
    after_interval: str = ""
    interval: str = ""
    p: str = "–"
    verdict: str = ""
    reading: str = ""


def key_figures(comparison: Comparison, usefulness: list[Usefulness]) -> Iterator[Line]:
    """The stereotype, the workforce, balanced professions (or each group), and what the model can still do."""
    main = [comparison.of("stereotype"), comparison.of("workforce", correlation="pearson")]
    kinds = comparison.kinds()
    kinds = [kind for kind in kinds if kind == "balanced"] if any(main) else kinds[:MOST_GROUPS]
    for change in (*main, *(comparison.of("difference", group=kind) for kind in kinds)):
        if change is not None and None not in (change.before, change.after):
            yield _key_figure(change, comparison)
    for one in usefulness:
        for name in ("loss",) if "loss" in one.figures else ("accuracy",):
            if name in one.figures:
                reading = _READINGS.get(one.what, "The share of examples that are right, after the same fine-tuning.")
                yield figure_line(capital(f"{one.what}, {name}"), name, one.figures[name], reading)


def measured(result: ComparisonResult, after: str) -> list[Usefulness]:
    """What was measured of the usefulness of a model."""
    return [one for one in result.usefulness if one.after == after]


def loss_line(result: ComparisonResult, after: str) -> Line | None:
    """What became of the loss on masked words, if it was measured."""
    figures = [one.figures["loss"] for one in measured(result, after) if "loss" in one.figures]
    return figure_line("loss", "loss", figures[0]) if figures else None


def stated_line(result: ComparisonResult, after: str) -> Line | None:
    """What became of the model's knowledge of stated genders, if it was measured."""
    found = [one.figures["accuracy"] for one in measured(result, after) if one.what == "stated gender"]
    return figure_line("stated gender", "accuracy", found[0]) if found else None


def change_line(name: str, change: Change, *, as_odds: bool = False, reading: str = "", digits: int = 2) -> Line:
    """A change in its own unit, or as odds."""

    def bounds(between: Interval | None) -> str:
        return _odds_between(between) if as_odds else interval(between, digits)

    return Line(
        name,
        _odds(change.before) if as_odds else number(change.before, digits),
        _odds(change.after) if as_odds else number(change.after, digits),
        "–" if change.change is None else f"×{HARD}{odds(change.change)}" if as_odds else signed(change.change, digits),
        bounds(change.before_interval),
        bounds(change.after_interval),
        bounds(change.interval),
        p(change.p_adjusted),
        change.verdict or _sure(change.p_adjusted),
        reading,
    )


def figure_line(name: str, kind: str, figure: Figure, reading: str = "") -> Line:
    """A figure of usefulness: shares as per cent, all else as it is."""
    scale, unit, points = (100, f"{HARD}%", f"{HARD}points") if kind == "accuracy" else (1, "", "")
    digits = 1 if kind == "accuracy" else 3
    between = None if figure.interval is None else (scale * figure.interval[0], scale * figure.interval[1])
    return Line(
        name,
        number(scale * figure.before, digits) + unit,
        number(scale * figure.after, digits) + unit,
        signed(scale * figure.change, digits) + points,
        interval=interval(between, digits),
        p=p(figure.p_value),
        verdict=_better(kind, figure),
        reading=reading,
    )


def _key_figure(change: Change, comparison: Comparison) -> Line:
    contrast = change.labels["contrast"]
    if contrast == "stereotype":
        line = change_line("Stereotype", change, as_odds=True, reading=_STEREOTYPE)
    elif contrast == "workforce":
        line = change_line("Workforce, r", change, reading=_WORKFORCE)
    else:
        name = capital(f"{change.labels['group']} {comparison.attributes}, nats")
        line = change_line(name, change, reading=_DIFFERENCE)
    return replace(line, verdict=UNREADABLE, reading=_AGREEMENT) if is_agreement(comparison) else line


_STEREOTYPE = (
    "How many times as high the odds of a female person word against a male one are beside typically female"
    " professions as beside typically male ones. 1 is no difference."
)
_WORKFORCE = "How closely the preference for female words follows women's share of a profession. 0 is no relation."
_DIFFERENCE = "Female minus male association. 0 is no preference; above 0 leans female, below 0 male."
_AGREEMENT = "Grammatical agreement goes into this number; it is not to be read as bias."
_READINGS = {
    "masked words": "Nats for each hidden piece of neutral text. Less is better.",
    "stated gender": "How often a pronoun agrees with a gender that the sentence states. It should stay high.",
}


def _odds(nats: float | None) -> str:
    return "–" if nats is None else f"{odds(nats)}{HARD}×"


def _odds_between(bounds: Interval | None) -> str:
    return "" if bounds is None else f"{odds(bounds[0])} to {odds(bounds[1])}"


def _sure(p_adjusted: float | None) -> str:
    if p_adjusted is None:
        return "not tested"
    return "clear change" if p_adjusted < ALPHA else "no clear change"


def _better(kind: str, figure: Figure) -> str:
    if figure.p_value is None or figure.p_value >= ALPHA or kind not in BETTER:
        return _sure(figure.p_value)
    return "clearly better" if figure.change * BETTER[kind] > 0 else "clearly worse"

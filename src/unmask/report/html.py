"""Numbers → one self-contained HTML page: no network, no script, all text from outside escaped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Any

from unmask.measures.association.caveats import AGREEMENT
from unmask.measures.association.interpret import LEVEL, size_of
from unmask.results import AuditResult, Group, Measurement, Test
from unmask.results.numbers import interval, number, p_value

if TYPE_CHECKING:
    import pandas as pd

LANGUAGES = {"en": "English", "de": "German"}
CORPORA = {
    "bec-pro": "BEC-Pro",
    "agreement-free": "agreement-free sentences",
    "emotions": "emotions",
    "recorded": "recorded scores",
    "custom": "own words",
}
DIFFERENCE = "female minus male, "
MOST_SENTENCES = 8
MOST_OF_A_PERSON = 2
MOST_CARDS = 4
LARGEST_FACTOR = 10_000


@dataclass(frozen=True)
class Card:
    """A key figure: what it is, its value, how sure, how large, and how to read it."""

    title: str
    value: str
    certainty: str
    verdict: str
    reading: str


@dataclass(frozen=True)
class Row:
    """A row of the table of means: a group of professions, its means, and the test of their difference."""

    kind: str
    female: Group | None
    male: Group | None
    test: Test | None


@dataclass(frozen=True)
class Sentence:
    """An item: its sentence in parts (text and what it is), and its scores."""

    parts: list[tuple[str, str]]
    gender: str
    association: float | None
    log_p_target: float | None
    log_p_prior: float | None


def render(result: AuditResult, items: Mapping[str, pd.DataFrame]) -> str:
    """The report of an audit as the text of an HTML page."""
    from jinja2 import Environment, StrictUndefined

    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters |= {"number": number, "interval": interval, "p": lambda p: p_value(p).removeprefix("= ")}
    page.filters["capital"] = _capital
    template = page.from_string((resources.files(__package__) / "page.html.j2").read_text(encoding="utf-8"))
    ordered = sorted(result.measurements, key=_agreement)  # what can be read as bias comes first
    return template.render(result=result, views=[_view(one, items.get(one.name)) for one in ordered])


def _view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """A measurement as the template wants it."""
    from unmask.report import plots

    scale = plots.domain(measurement.professions)
    panels = []
    for name in dict.fromkeys(one.group for one in measurement.professions):
        members = [one for one in measurement.professions if one.group == name]
        shown = plots.shown_as_bars(members)
        if shown:
            svg = plots.bars(members, scale)
            panels.append({"name": name, "svg": svg, "shown": len(shown), "of": len(members)})
    corpus = CORPORA.get(measurement.corpus, measurement.corpus)
    language = LANGUAGES.get(measurement.language, measurement.language)
    return {
        "measurement": measurement,
        "title": f"{_capital(measurement.name)}: {corpus}, {language}",
        "agreement": _agreement(measurement),
        "noun": "emotion word" if measurement.corpus == "emotions" else "profession",
        "cards": list(_cards(measurement)),
        "rows": _rows(measurement),
        "panels": panels,
        "scatter": plots.scatter(measurement.professions),
        "highest": _sentences(measurement, items, highest=True),
        "lowest": _sentences(measurement, items, highest=False),
    }


def _agreement(measurement: Measurement) -> bool:
    return any(caveat.code == AGREEMENT for caveat in measurement.caveats)


def _cards(measurement: Measurement) -> Iterator[Card]:
    """Stereotype, workforce and balanced professions; without such tests, the difference in each group."""
    tests = measurement.tests
    chosen = [name for name in ("stereotype", "workforce share, pearson") if name in tests]
    differences = [name for name in tests if name.startswith(DIFFERENCE)]
    if chosen:
        differences = [name for name in differences if name == f"{DIFFERENCE}balanced professions"]
    for name in chosen + differences[:MOST_CARDS]:
        test = tests[name]
        if test.estimate is None:
            continue
        between = interval(test.interval)
        if name == "stereotype":
            title, value, reading = "Stereotype", f"{factor(test.estimate)} ×", _STEREOTYPE
            between = " to ".join(factor(bound) for bound in test.interval or ())
        elif name in chosen:
            title, value, reading = "Workforce", f"r = {number(test.estimate)}", _WORKFORCE
        else:
            title, value = _capital(name.removeprefix(DIFFERENCE)), f"{number(test.estimate)} nats"
            reading = f"{_DIFFERENCE} {_shift(test)}"
        verdict = _verdict(name, test, measurement.noise_floor)
        if _agreement(measurement):
            verdict = "not interpretable"
            reading = "Grammatical agreement goes into this number; it is not to be read as bias."
        yield Card(title, value, f"95 % interval {between}" if between else "no interval", verdict, reading)


_STEREOTYPE = (
    "Beside typically female professions, the odds of a female person word against a male one are this many"
    " times as high as beside typically male ones. 1 is no difference; below 1 is against the stereotype."
)
_WORKFORCE = (
    "How closely the model's preference for female words follows the share of women who work in a profession:"
    " 1 is in step, 0 is no relation, −1 is the opposite."
)
_DIFFERENCE = "Female minus male association: above 0 leans to female person words, below 0 to male ones."


def _shift(test: Test) -> str:
    if not _clear(test) or not test.estimate:
        return "" if test.p_adjusted is None else f"This one may be chance (p {p_value(test.p_adjusted)})."
    way = "female" if test.estimate > 0 else "male"
    return f"The odds move by a factor of {factor(abs(test.estimate))} towards {way} words."


def _clear(test: Test) -> bool:
    return test.p_adjusted is not None and test.p_adjusted < LEVEL


def _verdict(name: str, test: Test, noise_floor: float | None) -> str:
    """Whether there is an effect, by the adjusted p; how large it is, by the estimate alone."""
    if test.p_adjusted is None or test.estimate is None:
        return "not tested"
    if name.startswith("workforce"):
        return "clear relation" if _clear(test) else "no clear relation"
    if noise_floor is not None and abs(test.estimate) <= noise_floor:
        return "below the noise of the computation"
    return f"{size_of(test.estimate)} effect" if _clear(test) else "no clear difference"


def factor(nats: float) -> str:
    """By what the odds are multiplied."""
    return f"more than {LARGEST_FACTOR:,}" if nats > log(LARGEST_FACTOR) else number(exp(nats))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rows(measurement: Measurement) -> list[Row]:
    groups = measurement.groups
    kinds = dict.fromkeys(re.sub(r", (fe)?male persons$", "", name) for name in groups)
    return [
        Row(
            _capital(kind),
            groups.get(f"{kind}, female persons"),
            groups.get(f"{kind}, male persons"),
            measurement.tests.get(DIFFERENCE + kind),
        )
        for kind in kinds
    ]


def _sentences(measurement: Measurement, items: pd.DataFrame | None, *, highest: bool) -> list[Sentence]:
    """The highest or lowest associations: one a profession and gender, few of the same person word."""
    if items is None or items.empty:
        return []
    mine = items[items["association"] > 0] if highest else items[items["association"] < 0]
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if column in mine:
            mine = mine[mine[column] == value]
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[Sentence] = []
    for row in mine.sort_values("association", ascending=not highest, kind="stable").to_dict("records"):
        attribute, person = (row["profession"], row["gender"]), (row["person"],)
        if seen[attribute] < 1 and seen[person] < MOST_OF_A_PERSON:
            seen.update((attribute, person))
            found.append(_sentence(row))
        if len(found) == MOST_SENTENCES:
            break
    return found


def _sentence(row: Mapping[Any, Any]) -> Sentence:
    target, form = str(row.get("target", row["person"])), str(row.get("form", row["profession"]))
    text = row.get("sentence")
    if isinstance(text, str) and text:
        parts = _marked(text, target, form)
    else:  # recorded scores may come without their sentences
        parts = [(target, "person"), (" … ", ""), (form, "profession")]
    scores = [float(row.get(name, "nan")) for name in ("association", "log_p_target", "log_p_prior")]
    return Sentence(parts, str(row["gender"]), *(score if isfinite(score) else None for score in scores))


def _marked(text: str, target: str, form: str) -> list[tuple[str, str]]:
    """The sentence cut where the person word and the profession stand, each as a whole word and once."""
    parts = [(text, "")]
    for kind, word in (("profession", form), ("person", target)):
        for at, (part, known) in enumerate(parts):
            found = None if known else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", part)
            if word and found:
                cut = [(part[: found.start()], ""), (found.group(), kind), (part[found.end() :], "")]
                parts[at : at + 1] = [piece for piece in cut if piece[0]]
                break
    return parts

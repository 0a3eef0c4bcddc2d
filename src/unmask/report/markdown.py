"""The facts of a report as Markdown: for a pull request, a wiki, or who would rather read text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask import __version__
from unmask.measures.association.verdict import is_agreement
from unmask.report.citations import CITATIONS
from unmask.report.figures import UNREADABLE
from unmask.report.generic import source
from unmask.report.limits import limits
from unmask.report.pages import capital, measure_name, moment, p, setting, title
from unmask.report.ranking import HOW, NOTHING, heading, not_ranked, rankings
from unmask.results import Agreement, AuditResult, Measurement
from unmask.results.comparison import Comparison, ComparisonResult, Usefulness
from unmask.results.markdown import escaped
from unmask.results.naming import short_name
from unmask.results.numbers import interval, number

USEFUL = ("model", "what", "figure", "n", "before", "after", "change", "95 % interval", "p")


def audit_markdown(result: AuditResult) -> str:
    """The report of an audit."""
    model = result.model
    size = f", {model.parameters:,} parameters" if model.parameters else ""
    lines = [
        f"# Gender bias audit of {escaped(short_name(model.name))}",
        "",
        f"{escaped(model.architecture)}{size}, {escaped(moment(result.created))}",
        "",
    ]
    for one in result.measurements:
        lines += _measurement(one)
    if result.measurements:
        lines += _list("What this does not say", limits(result.measurements))
    lines += _list("Method", list(_method(result.measurements)))
    facts: dict[str, object] = {"model": model.name, "weights (SHA-256)": model.weight_hash, "seed": result.seed}
    facts |= {name.replace("_", " "): value for name, value in result.configuration.items() if value is not None}
    facts |= {"unmask": result.unmask_version} | dict(result.libraries)
    return _text(lines + _list("Provenance", [f"{name}: {setting(value)}" for name, value in facts.items()]))


def comparison_markdown(result: ComparisonResult) -> str:
    """The report of a comparison."""
    after = ", ".join(escaped(side.name) for side in result.after)
    lines = [f"# {escaped(result.before.name)} → {after}", "", escaped(moment(result.created)), ""]
    for one in result.comparisons:
        lines += _comparison(one)
    if result.usefulness:
        lines += ["## Usefulness", "", *_table(USEFUL, _useful(result.usefulness)), ""]
    if result.agreement:
        lines += _agreement(result.agreement)
    lines += _list("Before you rely on any of this", [caveat.text for caveat in result.caveats])
    return _text(lines + _list("Provenance", [f"unmask: {result.unmask_version}", f"seed: {result.seed}"]))


def ranking_markdown(audits: Sequence[AuditResult]) -> str:
    """Several audits side by side."""
    lines = [f"# {heading(audits)}", ""]
    found = rankings(audits)
    lines += [] if found else [NOTHING, ""]
    for one in found:
        lines += [f"## {escaped(one.title)}", "", escaped(one.sentence), ""]
        if not one.alike:
            lines += ["The models were not asked the same items, so that a difference may lie in these.", ""]
        cells = [(place.model, place.rank, place.value, place.bounds, p(place.test.p_adjusted)) for place in one.places]
        lines += [*_table(("model", "rank", "figure", "95 % interval", "p, adjusted"), cells), ""]
        lines += [f"{capital(one.unit)}.", ""]
    lines += _list("Not ranked", not_ranked(audits))
    lines += ["## How ranks come about", "", HOW, ""]
    lines += _list("What this does not say", limits([one for audit in audits for one in audit.measurements]))
    return _text([*lines, f"Made with Unmask {__version__}."])


def _method(measurements: Sequence[Measurement]) -> Iterator[str]:
    """The papers behind each measure; of a measure of another package, what that says of itself."""
    for name, one in {one.name: one for one in measurements}.items():
        if one.plugin:
            after = f" After {one.plugin.citation}." if one.plugin.citation else ""
            origin = f"A measure of the package {source(one)}, which Unmask has run and not checked."
            yield f"{measure_name(name)}: {one.plugin.about}{after} {origin}"
        elif name in CITATIONS:
            yield f"{measure_name(name)}: after {' '.join(CITATIONS[name])}"


def _measurement(one: Measurement) -> Iterator[str]:
    yield from (f"## {escaped(title(one.name, one.corpus, one.language))}", "")
    yield from (escaped(one.headline or "No finding."), "")
    tests = [
        (name, f"{test.n:,}", number(test.value, 3), interval(test.interval, 3), p(test.p_value), p(test.p_adjusted))
        for name, test in one.tests.items()
    ]
    if tests:
        yield from (*_table(("test", "n", "estimate", "95 % interval", "p", "p, adjusted"), tests), "")
    groups = [
        (name, f"{group.n:,}", number(group.value, 3), interval(group.interval, 3))
        for name, group in one.groups.items()
    ]
    if groups:
        yield from (*_table(("group", "n", "mean", "95 % interval"), groups), "")
    yield from _list("Before you rely on this", [caveat.text for caveat in one.caveats], level=3)


def _comparison(one: Comparison) -> Iterator[str]:
    verdict = UNREADABLE if is_agreement(one) else one.verdict
    yield from (f"## {escaped(one.after)}: {escaped(title(one.name, one.corpus, one.language))}", "")
    yield from (f"**{capital(verdict)}.** {escaped(f'{one.headline} {one.cost}')}", "")
    cells = [
        (
            name,
            number(change.before, 3),
            number(change.after, 3),
            number(change.change, 3),
            interval(change.interval, 3),
            p(change.p_adjusted),
            change.verdict or "–",
        )
        for name, change in one.changes.items()
    ]
    heads = ("figure", "before", "after", "change", "95 % interval", "p, adjusted", "verdict")
    yield from (*_table(heads, cells), "")
    yield from _list("Before you rely on this", [caveat.text for caveat in one.caveats], level=3)


def _useful(found: Sequence[Usefulness]) -> Iterator[Sequence[str]]:
    for one in found:
        for name, figure in one.figures.items():
            values = (number(value, 3) for value in (figure.before, figure.after, figure.change))
            what = (one.after, f"{one.what} ({one.data})", name.replace("_", " "), f"{one.n:,}")
            yield (*what, *values, interval(figure.interval, 3), p(figure.p_value))


def _agreement(found: Agreement) -> Iterator[str]:
    yield from ("## Do the measures agree?", "", escaped(found.headline), "")
    cells = [
        (
            f"{one.first}, {one.second}",
            f"{one.n:,}",
            *(number(one.pearson), interval(one.pearson_interval), p(one.p_adjusted)),
            *(number(one.spearman), interval(one.spearman_interval)),
        )
        for one in found.correlations
    ]
    if cells:
        heads = ("figures", "models", "Pearson's r", "95 % interval", "p, adjusted", "Spearman's ρ", "95 % interval")
        yield from (*_table(heads, cells), "")
    names = [one.name for one in found.figures]
    models = [(one.model, *(number(one.figures.get(name), 3) for name in names)) for one in found.models]
    yield from (*_table(("model", *map(escaped, names)), models), "")
    yield from _list("Not compared", [f"{name}: {why}" for name, why in found.left_out.items()], level=3)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'---:|' * (len(heads) - 1)}"
    for row in rows:
        yield f"| {' | '.join(escaped(cell) for cell in row)} |"


def _list(heading: str, lines: Sequence[str], *, level: int = 2) -> list[str]:
    return [f"{'#' * level} {heading}", "", *(f"- {escaped(line)}" for line in lines), ""] if lines else []


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"

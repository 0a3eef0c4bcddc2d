"""A comparison as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.measures.association.verdict import is_agreement
from unmask.measures.sections import title
from unmask.report.figures import UNREADABLE
from unmask.report.markdown import join_lines, list_lines, table_lines
from unmask.report.pages import capital, moment, p
from unmask.results import Agreement
from unmask.results.comparison import Comparison, ComparisonResult, Usefulness
from unmask.results.markdown import escaped
from unmask.results.numbers import interval, number

USEFUL = ("model", "what", "figure", "n", "before", "after", "change", "95 % interval", "p")


def comparison_markdown(result: ComparisonResult) -> str:
    """The report of a comparison."""
    after = ", ".join(escaped(side.name) for side in result.after)
    lines = [f"# {escaped(result.before.name)} → {after}", "", escaped(moment(result.created)), ""]
    for one in result.comparisons:
        lines += _comparison(one)
    if result.usefulness:
        lines += ["## Usefulness", "", *table_lines(USEFUL, _useful(result.usefulness)), ""]
    if result.agreement:
        lines += _agreement(result.agreement)
    lines += list_lines("Before you rely on any of this", [caveat.text for caveat in result.caveats])
    return join_lines(lines + list_lines("Provenance", [f"unmask: {result.unmask_version}", f"seed: {result.seed}"]))


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
    yield from (*table_lines(heads, cells), "")
    yield from list_lines("Before you rely on this", [caveat.text for caveat in one.caveats], level=3)


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
        yield from (*table_lines(heads, cells), "")
    names = [one.name for one in found.figures]
    models = [(one.model, *(number(one.figures.get(name), 3) for name in names)) for one in found.models]
    yield from (*table_lines(("model", *map(escaped, names)), models), "")
    yield from list_lines("Not compared", [f"{name}: {why}" for name, why in found.left_out.items()], level=3)

"""The model card: what audits found, as a section of a README and as the `model-index` of its front matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmask.errors import UnmaskError, listed
from unmask.report.card_command import commands
from unmask.report.card_figures import Figure, entry, figures
from unmask.report.citations import CITATIONS
from unmask.report.default_blocks import source
from unmask.report.front_matter import with_results
from unmask.report.limits import limits
from unmask.report.pages import fill, measure_name, p, title
from unmask.results import AuditResult, Measurement
from unmask.results.markdown import escaped, plain, table
from unmask.results.naming import short_name
from unmask.results.numbers import interval, number

BEGIN = "<!-- unmask card: begin; what stands here is written anew by unmask card -->"
END = "<!-- unmask card: end -->"


@dataclass(frozen=True)
class Found:
    """A measurement, and the audit that it is of."""

    audit: AuditResult
    measurement: Measurement


def update(card: str, audits: Sequence[AuditResult], *, note: str = "") -> str:
    """A card with what the audits found in place of what it said of them; all else stays as it is, byte for byte.

    An empty card becomes a new one. Of two audits with the same measurement, the last counts. `note` is set before
    the findings: what a reader must know of the weights.
    """
    found = merged(audits)
    newline = "\r\n" if "\r\n" in card else "\n"
    name = short_name(audits[0].model.name)
    body = card if card.strip() else f"# {escaped(name)}\n"
    text = _with_section(body, section(audits, found, note=note).replace("\n", newline), newline)
    return with_results(text, plain(name), [entry(one.measurement) for one in found], newline)


def merged(audits: Sequence[AuditResult]) -> list[Found]:
    """Every measurement once; refused where they are not of one model."""
    hashes = {audit.model.weight_hash: audit.model.name for audit in audits if audit.model.weight_hash}
    if len(hashes) > 1:
        raise UnmaskError(
            f"a card is of one model, and these audits are of other weights each: {listed(hashes.values())};"
            " give audits of one model"
        )
    names = list(dict.fromkeys(audit.model.name for audit in audits))
    if len(names) > 1 and not all(audit.model.weight_hash for audit in audits):
        raise UnmaskError(
            f"a card is of one model, and of audits of {listed(names)} not all say of which weights they are; give"
            " audits of one name, or with weights: unmask audit"
        )
    found = {one.key: Found(audit, one) for audit in audits for one in audit.measurements}
    if not found:
        raise UnmaskError("the audit holds no measurement; audit the model again")
    return list(found.values())


def section(audits: Sequence[AuditResult], found: Sequence[Found], *, note: str = "") -> str:
    """The section as Markdown, without its marks."""
    measured = [one.measurement for one in found]
    used = [audit for audit in audits if any(one.audit is audit for one in found)]
    return fill(
        "card.md.j2",
        note=note,
        findings=[(title(one.name, one.corpus, one.language), *_sentences(one.headline)) for one in measured],
        table="\n".join(_rows(measured)),
        caveats=[*_caveats(measured), *(("", text) for text in limits(measured))],
        commands=[line for audit in used for line in commands(audit)],
        weights=next((audit.model.weight_hash for audit in used if audit.model.weight_hash), None),
        versions=list(dict.fromkeys(f"{audit.unmask_version}, {audit.created[:10]}" for audit in used)),
        citations=list(dict.fromkeys(text for one in measured for text in _citations(one))),
    ).rstrip("\n")


def _sentences(headline: str) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, _, rest = (headline or "No finding.").partition(". ")
    return (f"{first}.", rest) if rest else (first, "")


def _caveats(measured: Sequence[Measurement]) -> list[tuple[str, str]]:
    """Every caveat once, with the measures that it is of, where there are several; the limits name binary gender."""
    texts = dict.fromkeys(said.text for one in measured for said in one.caveats if said.code != "binary-gender")
    of = {text: [one.name for one in measured if text in [caveat.text for caveat in one.caveats]] for text in texts}
    names = {text: list(dict.fromkeys(map(measure_name, found))) for text, found in of.items()}
    several = len({one.name for one in measured}) > 1
    return [(", ".join(names[text]) if several else "", text) for text in texts]


def _citations(one: Measurement) -> Sequence[str]:
    """The papers behind a measure; for one of another package, that package, and what it cites."""
    if one.plugin is None:
        return CITATIONS.get(one.name, ())
    return [f"{measure_name(one.name)}, a measure of the package {source(one)}. {one.plugin.citation}".rstrip()]


def _rows(measured: Iterable[Measurement]) -> list[str]:
    head = ("measure", "on", "figure", "value", "95 % interval", "p (adjusted)", "n")
    rows = []
    for one in measured:
        on = title(one.name, one.corpus, one.language).partition(": ")[2]
        for at, figure in enumerate(figures(one)):
            rows.append(
                (
                    escaped(measure_name(one.name)) if not at else "",
                    escaped(on if one.protocol == "sound" else f"{on} ({one.protocol})") if not at else "",
                    escaped(f"{figure.name}{_doubt(figure)}"),
                    number(figure.value, figure.digits),
                    interval(figure.interval, figure.digits) or "–",
                    p(figure.p_adjusted),
                    f"{figure.n:,}",
                )
            )
    return table(head, rows)


def _doubt(figure: Figure) -> str:
    """Why a figure is no result, up to the first comma; the finding says the rest."""
    return f" ({re.split('[;,]', figure.unreadable)[0]})" if figure.unreadable else ""


def _with_section(card: str, text: str, newline: str) -> str:
    """The card with the section between its marks, or after all else."""
    marked = f"{BEGIN}{newline}{newline}{text}{newline}{newline}{END}"
    places = [[found.span() for found in re.finditer(rf"^{re.escape(mark)}", card, re.M)] for mark in (BEGIN, END)]
    if not any(places):
        gap = "" if card.endswith("\n") else newline
        return f"{card}{gap}{newline}{marked}{newline}"
    if [len(one) for one in places] != [1, 1] or places[0][0][0] > places[1][0][0]:
        raise UnmaskError(f"the card has not one {BEGIN[:23]}… and one {END} after it; remove these lines")
    return card[: places[0][0][0]] + marked + card[places[1][0][1] :]

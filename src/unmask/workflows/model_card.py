"""The model card: what audits found, as a section of a README and as the `model-index` of its front matter."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, quote
from unmask.files import atomic_file
from unmask.measures.registry import find_measure
from unmask.measures.sections import corpus_title, limits, measure_name, title, unreadable
from unmask.report.default_blocks import source
from unmask.report.html import fill
from unmask.report.markdown import escape_markdown, flatten_markdown, markdown_table
from unmask.results import AuditResult, Measurement, storage
from unmask.results.formatting import interval, number, p, short_name
from unmask.results.schema import Interval
from unmask.workflows.audit import Audit
from unmask.workflows.audit_options import audit_options, options_of
from unmask.workflows.front_matter import OURS, with_results

README = "README.md"


@dataclass(frozen=True)
class ModelCard:
    """A model card with what audits found."""

    text: str
    path: Path | None = None
    """Where it is, if it was to be written."""
    changed: bool = True
    """Whether the file is another now."""
    note: str = ""
    """What is wrong with the weights beside the card; empty if nothing is known to be."""


def card(*audits: str | PathLike[str] | Audit, to: str | PathLike[str] | None = None) -> ModelCard:
    """What audits of a model found, as a model card: a section on gender bias, and `model-index` in the front matter.

    `audits` are audit folders or `Audit`s of one model. `to` is the card to update, or the model folder that it is in;
    a card that is not there is made. All else in it stays as it is, byte for byte, and a second call changes nothing.
    Without `to`, nothing is written.
    """
    results = _results(audits)
    if to is None:
        return ModelCard(update("", results))
    path = _file(Path(to))
    before = path.read_bytes() if path.exists() else b""
    note = _note(path, results)
    text = update(before.decode("utf-8", "surrogateescape"), results, note=note)
    content = text.encode("utf-8", "surrogateescape")
    if content != before:
        with atomic_file(path) as draft:
            draft.write_bytes(content)
    return ModelCard(text, path, content != before, note)


def _results(audits: Sequence[str | PathLike[str] | Audit]) -> list[AuditResult]:
    if not audits:
        raise UnmaskError("no audit was given; give a folder that unmask audit has written")
    return [one.result if isinstance(one, Audit) else storage.load(Path(one)) for one in audits]


def _file(to: Path) -> Path:
    """The card that is meant; a link is followed."""
    path = to / README if to.is_dir() else to
    if not to.is_dir() and path.suffix.lower() not in (".md", ".markdown"):
        raise UnmaskError(f"{to} is neither a folder nor a .md file; give a README.md or the folder of a model")
    if not path.parent.is_dir():
        raise UnmaskError(f"{path.parent} does not exist; give a README.md or the folder of a model")
    return path.resolve()


def _note(path: Path, results: Sequence[AuditResult]) -> str:
    """Whether the weights beside the card are others than those that were measured."""
    from unmask.models.loading import hash_folder_weights

    measured = next((one.model.weight_hash for one in results if one.model.weight_hash), None)
    here = hash_folder_weights(path.parent) if measured else None
    if measured is None or here is None or here == measured:
        return ""
    return (
        f"The weights beside this card ({here[:12]}…) are not those that were measured ({measured[:12]}…):"
        " what follows may not hold for them."
    )


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
    body = card if card.strip() else f"# {escape_markdown(name)}\n"
    text = _with_section(body, section(audits, found, note=note).replace("\n", newline), newline)
    return with_results(text, flatten_markdown(name), [entry(one.measurement) for one in found], newline)


def merged(audits: Sequence[AuditResult]) -> list[Found]:
    """Every measurement once; refused where they are not of one model."""
    hashes = {audit.model.weight_hash: audit.model.name for audit in audits if audit.model.weight_hash}
    if len(hashes) > 1:
        raise UnmaskError(
            f"a card is of one model, and these audits are of other weights each: {quote(hashes.values())};"
            " give audits of one model"
        )
    names = list(dict.fromkeys(audit.model.name for audit in audits))
    if len(names) > 1 and not all(audit.model.weight_hash for audit in audits):
        raise UnmaskError(
            f"a card is of one model, and of audits of {quote(names)} not all say of which weights they are; give"
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
        findings=[(title(one.name, one.corpus, one.language), *_split_headline(one)) for one in measured],
        table="\n".join(_rows(measured)),
        caveats=[*_caveats(measured), *(("", text) for text in limits(measured))],
        commands=[line for audit in used for line in commands(audit)],
        weights=next((audit.model.weight_hash for audit in used if audit.model.weight_hash), None),
        versions=list(dict.fromkeys(f"{audit.unmask_version}, {audit.created[:10]}" for audit in used)),
        citations=list(dict.fromkeys(text for one in measured for text in _citations(one))),
    ).rstrip("\n")


def _split_headline(measurement: Measurement) -> tuple[str, str]:
    """The first sentence, and the rest."""
    first, *rest = measurement.headline or ["No finding."]
    return first, " ".join(rest)


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
        measure = find_measure(one.name)
        return measure.citations if measure else ()
    return [f"{measure_name(one.name)}, a measure of the package {source(one)}. {one.plugin.citation}".rstrip()]


def _rows(measured: Iterable[Measurement]) -> list[str]:
    head = ("measure", "on", "figure", "value", "95 % interval", "p (adjusted)", "n")
    rows = []
    for one in measured:
        on = corpus_title(one.name, one.corpus, one.language)
        for at, figure in enumerate(figures(one)):
            rows.append(
                (
                    escape_markdown(measure_name(one.name)) if not at else "",
                    escape_markdown(on if one.protocol == "sound" else f"{on} ({one.protocol})") if not at else "",
                    escape_markdown(f"{figure.name}{_doubt(figure)}"),
                    number(figure.value, figure.digits),
                    interval(figure.interval, figure.digits) or "–",
                    p(figure.p_adjusted),
                    f"{figure.n:,}",
                )
            )
    return markdown_table(head, rows)


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


LEFT_OUT = {"workspace", "offline", "allow_pickle", "allow_remote_code", "device", "given_texts"}
"""Options that change no number, or that a reader must choose: a model may hold code of its author."""
GIVEN = re.compile(r"[\d,]+ given texts")
TEXTS = "texts.csv"


def commands(audit: AuditResult) -> list[str]:
    """The lines of a console: the command, and before it what must be there first."""
    foreign = {one.name: one for one in audit.measurements if one.plugin}.values()
    lines = [
        f"# {flatten_markdown(one.name)} is in the package {flatten_markdown(source(one))}: install it first"
        for one in foreign
    ]
    if "items" in audit.configuration:
        return [*lines, f"$ {_joined('analyse', str(audit.configuration['items']), _of_scores(audit))}"]
    try:
        given = {name: value for name, value in dict(options_of(audit)).items() if name not in LEFT_OUT}
    except (UnmaskError, TypeError):  # of another version, or changed by hand
        return ["# the audit does not say how it was made"]
    if GIVEN.fullmatch(str(given["texts"])):
        lines.append(f"# {given['texts']} were handed over in Python: put them into the column text of {TEXTS}")
        given["texts"] = TEXTS
    return [*lines, f"$ {_joined('audit', audit.model.name, given)}"]


def _of_scores(audit: AuditResult) -> dict[str, Any]:
    """The options of `unmask analyse`; scores in several languages say themselves which is which."""
    said = {**audit.configuration, "seed": audit.seed}
    names = ["measures", "languages", "protocol", "score_column", "seed"]
    given: dict[str, Any] = {name: said[name] for name in names if name in said}
    languages = given.get("languages")
    return given | {"languages": languages if isinstance(languages, list) and len(languages) == 1 else []}


def _joined(verb: str, subject: str, given: Mapping[str, Any]) -> str:
    """The command; what would end a line or code leaves the words before they are quoted, not their quotes after."""
    return shlex.join(map(flatten_markdown, ["unmask", verb, subject, *_options(given)]))


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    parameters = audit_options().parameters()
    for name, value in given.items():
        values = tuple(value) if isinstance(value, list) else value
        known = parameters.get(name)
        if values in (None, ()) or (known and values == known.default) or (name == "terms" and values == ("all",)):
            continue
        parts = values if isinstance(values, tuple) else (values,)
        for part in (",".join(parts),) if known and known.separated else parts:
            yield f"--{known.key if known else name.replace('_', '-')}"
            if part is not True:
                yield str(part)


MOST = 4


@dataclass(frozen=True)
class Figure:
    """A number of a measurement with what is known of it."""

    key: str
    name: str
    value: float
    interval: Interval | None
    p_adjusted: float | None
    n: int
    digits: int
    unreadable: str = ""
    """Why it cannot be read as bias; empty if it can."""


def figures(one: Measurement) -> list[Figure]:
    """Those that say most; of a measure that is not known here, or a protocol without them, the first tests."""
    measure = find_measure(one.name)
    digits = measure.digits if measure else 2
    shown = [figure for figure in measure.figures if figure.card] if measure else []
    known = {figure.test: figure.card for figure in shown if figure.test}
    groups = {figure.group: figure.card for figure in shown if figure.group}
    tests = {name: test for name, test in one.tests.items() if name in known and test.value is not None}
    if not tests and (known or not groups):
        tests = {name: test for name, test in one.tests.items() if test.value is not None}
    why = unreadable(one)
    found = [
        Figure(name, known.get(name, name), test.value, test.interval, test.p_adjusted, test.n, digits, why)
        for name, test in list(tests.items())[:MOST]
        if test.value is not None
    ]
    for name, said in groups.items():
        group = one.groups.get(name)
        if group is not None and group.value is not None:
            tested = one.tests.get(measure.primary) if measure and not known else None
            sure = tested.p_adjusted if tested else None
            why = unreadable(one, group=True)
            found.append(Figure(name, said, group.value, group.interval, sure, group.n, digits, why))
    return found


def entry(one: Measurement) -> dict[str, Any]:
    """A measurement as a result of a `model-index`; who reads that sees no caveat, so it has what is bias alone."""
    known = figures(one)
    args = {"protocol": one.protocol} | ({"terms": flatten_markdown(one.variant)} if one.variant else {})
    return {
        "task": {
            "type": measure.hub_task if (measure := find_measure(one.name)) else "other",
            "name": f"Gender bias: {flatten_markdown(measure_name(one.name))}",
        },
        "dataset": {
            "name": flatten_markdown(title(one.name, one.corpus, one.language)),
            "type": flatten_markdown(one.corpus),
            "config": flatten_markdown(one.language),
            "args": args,
        },
        "metrics": [_metric(one, figure) for figure in known if not figure.unreadable]
        or [_nothing(one, "nothing can be read as bias" if known else "nothing could be measured")],
    }


def _metric(one: Measurement, figure: Figure) -> dict[str, Any]:
    known: dict[str, Any] = {"interval": [*map(_short, figure.interval)] if figure.interval else None, "n": figure.n}
    known["p_adjusted"] = None if figure.p_adjusted is None else _short(figure.p_adjusted)
    return {
        "type": _type(one, figure.key),
        "value": _short(figure.value),
        "name": flatten_markdown(figure.name),
        "args": {name: value for name, value in known.items() if value is not None},
    }


def _nothing(one: Measurement, why: str) -> dict[str, Any]:
    """The hub wants a metric with a value; where none can be had, it says so."""
    return {"type": _type(one, "none"), "value": "none", "name": why}


def _type(one: Measurement, key: str) -> str:
    words = re.findall(r"[a-z0-9]+", f"{one.name} {key}".lower())
    return f"{OURS}{'-'.join(words)}"


def _short(value: float) -> float:
    return float(f"{value:.6g}")

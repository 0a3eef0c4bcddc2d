"""The model card: what audits found, as a section of a README and as the `model-index` of its front matter."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
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
from unmask.results import AuditResult, Measurement
from unmask.results.formatting import interval, number, p, short_name
from unmask.results.schema import Interval
from unmask.results.verdict import NOT_INTERPRETABLE
from unmask.workflows.audit import Audit, read_result
from unmask.workflows.audit_options import audit_options, options_of
from unmask.workflows.front_matter import OURS, with_results

README = "README.md"


@dataclass(frozen=True)
class ModelCard:
    """A model card with what audits found."""

    text: str
    path: Path | None = None
    """The file, if the card was to be written."""
    changed: bool = True
    """Whether the content of the file changed."""
    note: str = ""
    """A warning if the weights next to the card are not those that were audited; otherwise empty."""


def card(*audits: str | PathLike[str] | Audit, to: str | PathLike[str] | None = None) -> ModelCard:
    """Write the results of audits into a model card: a section on gender bias, and `model-index` in the front matter.

    The rest of an existing card stays as it is, byte for byte. A second call changes nothing.

    Args:
        *audits: Audits of one model, or their folders.
        to: The card to update, or the model folder that it is in. A missing card is created. Default: write nothing.

    Returns:
        The card: its `text`, its `path`, and whether the file `changed`.
    """
    if not audits:
        raise UnmaskError("no audit was given; give a folder that unmask audit has written")
    results = [read_result(audit) for audit in audits]
    if to is None:
        return ModelCard(update_card("", results))
    path = _find_card(Path(to))
    before = path.read_bytes() if path.exists() else b""
    note = _compare_weights(path, results)
    text = update_card(before.decode("utf-8", "surrogateescape"), results, note=note)
    content = text.encode("utf-8", "surrogateescape")
    if content != before:
        with atomic_file(path) as draft:
            draft.write_bytes(content)
    return ModelCard(text, path, content != before, note)


def _find_card(to: Path) -> Path:
    """The file of the card; a link is followed."""
    path = to / README if to.is_dir() else to
    if path.suffix.lower() not in (".md", ".markdown"):
        raise UnmaskError(f"{to} is neither a folder nor a .md file; give a README.md or the folder of a model")
    if not path.parent.is_dir():
        raise UnmaskError(f"{path.parent} does not exist; give a README.md or the folder of a model")
    return path.resolve()


def _compare_weights(path: Path, results: Sequence[AuditResult]) -> str:
    """A note if the weights next to the card are not those that were measured; else empty."""
    from unmask.models.handle import hash_folder_weights

    measured = next((result.model.weight_hash for result in results if result.model.weight_hash), None)
    present = hash_folder_weights(path.parent) if measured else None
    if measured is None or present is None or present == measured:
        return ""
    return (
        f"The weights beside this card ({present[:12]}…) are not those that were measured ({measured[:12]}…):"
        " what follows may not hold for them."
    )


BEGIN = "<!-- unmask card: begin; what stands here is written anew by unmask card -->"
END = "<!-- unmask card: end -->"


def update_card(card: str, audits: Sequence[AuditResult], *, note: str = "") -> str:
    """A card with the findings of audits in place of those of an earlier run; all else stays, byte for byte.

    An empty card becomes a new one. Of two audits with the same measurement, the last counts. `note` stands before the
    findings: what a reader must know of the weights.
    """
    merged = _merge_audits(audits)
    newline = "\r\n" if "\r\n" in card else "\n"
    name = short_name(audits[0].model.name)
    body = card if card.strip() else f"# {escape_markdown(name)}\n"
    text = _replace_section(body, _render_section(audits, merged, note).replace("\n", newline), newline)
    entries = [index_entry(measurement) for _, measurement in merged]
    return with_results(text, flatten_markdown(name), entries, newline)


def _merge_audits(audits: Sequence[AuditResult]) -> list[tuple[AuditResult, Measurement]]:
    """Every measurement once, with its audit; raises an error where they are not of one model."""
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
    merged = {measurement.key: (audit, measurement) for audit in audits for measurement in audit.measurements}
    if not merged:
        raise UnmaskError("the audit holds no measurement; audit the model again")
    return list(merged.values())


def _render_section(audits: Sequence[AuditResult], merged: Sequence[tuple[AuditResult, Measurement]], note: str) -> str:
    """The section as Markdown, without its marks."""
    measurements = [measurement for _, measurement in merged]
    audits = [audit for audit in audits if any(owner is audit for owner, _ in merged)]
    findings = []
    for measurement in measurements:
        first, *rest = measurement.headline or ["No finding."]
        findings.append((title(measurement.name, measurement.corpus, measurement.language), first, " ".join(rest)))
    return fill(
        "card.md.j2",
        note=note,
        findings=findings,
        table="\n".join(_list_figures(measurements)),
        caveats=[*_list_caveats(measurements), *(("", text) for text in limits(measurements))],
        commands=[line for audit in audits for line in list_commands(audit)],
        weights=next((audit.model.weight_hash for audit in audits if audit.model.weight_hash), None),
        versions=list(dict.fromkeys(f"{audit.unmask_version}, {audit.created[:10]}" for audit in audits)),
        citations=list(dict.fromkeys(text for measurement in measurements for text in _list_citations(measurement))),
    ).rstrip("\n")


def _list_caveats(measurements: Sequence[Measurement]) -> list[tuple[str, str]]:
    """Every caveat once, with its measures where there are several; the limits already mention binary gender."""
    names: dict[str, dict[str, None]] = {}
    for measurement in measurements:
        for caveat in measurement.caveats:
            if caveat.code != "binary-gender":
                names.setdefault(caveat.text, {})[measure_name(measurement.name)] = None
    several = len({measurement.name for measurement in measurements}) > 1
    return [(", ".join(measures) if several else "", text) for text, measures in names.items()]


def _list_citations(measurement: Measurement) -> Sequence[str]:
    """The papers behind a measure; for one of another package, that package, and what it cites."""
    if measurement.plugin is None:
        measure = find_measure(measurement.name)
        return measure.citations if measure else ()
    text = f"{measure_name(measurement.name)}, a measure of the package {source(measurement)}."
    return [f"{text} {measurement.plugin.citation}".rstrip()]


def _list_figures(measurements: Sequence[Measurement]) -> list[str]:
    head = ("measure", "on", "figure", "value", "95 % interval", "p (adjusted)", "n")
    rows = []
    for measurement in measurements:
        corpus = corpus_title(measurement.name, measurement.corpus, measurement.language)
        if measurement.protocol != "sound":
            corpus = f"{corpus} ({measurement.protocol})"
        names = [escape_markdown(measure_name(measurement.name)), escape_markdown(corpus)]
        for figure in card_figures(measurement):
            cells = [
                escape_markdown(f"{figure.name} ({NOT_INTERPRETABLE})" if figure.unreadable else figure.name),
                number(figure.value, figure.digits),
                interval(figure.interval, figure.digits) or "–",
                p(figure.p_adjusted),
                f"{figure.n:,}",
            ]
            rows.append([*names, *cells])
            names = ["", ""]
    return markdown_table(head, rows)


def _replace_section(card: str, text: str, newline: str) -> str:
    """The card with the section between its marks, or after all else."""
    marked = f"{BEGIN}{newline}{newline}{text}{newline}{newline}{END}"
    begins, ends = (list(re.finditer(rf"^{re.escape(mark)}", card, re.M)) for mark in (BEGIN, END))
    if not begins and not ends:
        gap = "" if card.endswith("\n") else newline
        return f"{card}{gap}{newline}{marked}{newline}"
    if len(begins) != 1 or len(ends) != 1 or begins[0].start() > ends[0].start():
        raise UnmaskError(f"the card has not one {BEGIN[:23]}… and one {END} after it; remove these lines")
    return card[: begins[0].start()] + marked + card[ends[0].end() :]


LEFT_OUT = {"workspace", "offline", "allow_pickle", "allow_remote_code", "device", "given_texts"}
"""Options that change no number, or that a reader must choose: a model may hold code of its author."""
TEXTS = "texts.csv"


def list_commands(audit: AuditResult) -> list[str]:
    """The lines of a console: the command, and before it what must be there first."""
    packages = {measurement.name: source(measurement) for measurement in audit.measurements if measurement.plugin}
    lines = [
        f"# {flatten_markdown(name)} is in the package {flatten_markdown(package)}: install it first"
        for name, package in packages.items()
    ]
    if "items" in audit.configuration:
        stated = {**audit.configuration, "seed": audit.seed}
        names = ("measures", "languages", "protocol", "score_column", "seed")
        values: dict[str, Any] = {name: stated[name] for name in names if name in stated}
        languages = values.get("languages")
        if not isinstance(languages, list) or len(languages) != 1:  # scores in several languages state them
            values["languages"] = []
        words = ["unmask", "analyse", str(audit.configuration["items"])]
    else:
        count = audit.configuration.get("given_texts")
        if isinstance(count, int):  # the texts themselves are not stored
            lines.append(f"# {count:,} texts were given in Python: put them into the column text of {TEXTS}")
            stated = audit.configuration | {"texts": TEXTS, "given_texts": None}
            audit = audit.model_copy(update={"configuration": stated})
        try:
            values = {name: value for name, value in dict(options_of(audit)).items() if name not in LEFT_OUT}
        except (UnmaskError, TypeError):  # of another version, or changed by hand
            return ["# the audit does not say how it was made"]
        words = ["unmask", "audit", audit.model.name]
    # Characters that would end a line or code are removed before the words are quoted, so that the quotes stay.
    return [*lines, f"$ {shlex.join(map(flatten_markdown, [*words, *_write_options(values)]))}"]


def _write_options(options: Mapping[str, Any]) -> Iterator[str]:
    parameters = audit_options().parameters()
    for name, value in options.items():
        values = tuple(value) if isinstance(value, list) else value
        parameter = parameters.get(name)
        is_default = parameter is not None and values == parameter.default
        if values in (None, ()) or is_default or (name == "terms" and values == ("all",)):
            continue
        parts = values if isinstance(values, tuple) else (values,)
        for part in (",".join(parts),) if parameter and parameter.separated else parts:
            yield f"--{parameter.key if parameter else name.replace('_', '-')}"
            if part is not True:
                yield str(part)


MOST_TESTS = 4


@dataclass(frozen=True)
class CardFigure:
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


def card_figures(measurement: Measurement) -> list[CardFigure]:
    """The figures that say most; where the measure declares none that are there, the first tests."""
    measure = find_measure(measurement.name)
    figures = [figure for figure in measure.key_estimates if figure.card] if measure else []
    test_names = {figure.test: figure.card for figure in figures if figure.test}
    group_names = {figure.group: figure.card for figure in figures if figure.group}
    tests = {name: test for name, test in measurement.tests.items() if test.value is not None}
    declared = {name: test for name, test in tests.items() if name in test_names}
    if not declared and (test_names or not group_names):
        declared = tests
    estimates = [(name, test_names.get(name, name), test, test.p_adjusted) for name, test in declared.items()]
    estimates = estimates[:MOST_TESTS]
    primary = measurement.tests.get(measure.primary) if measure and not test_names else None
    for name, label in group_names.items():
        if name in measurement.groups:
            p_adjusted = primary.p_adjusted if primary else None
            estimates.append((name, label, measurement.groups[name], p_adjusted))
    digits = measure.digits if measure else 2
    return [
        CardFigure(
            name,
            label,
            estimate.value,
            estimate.interval,
            p_adjusted,
            estimate.n,
            digits,
            unreadable(measurement, group=estimate is measurement.groups.get(name)),
        )
        for name, label, estimate, p_adjusted in estimates
        if estimate.value is not None
    ]


def index_entry(measurement: Measurement) -> dict[str, Any]:
    """A measurement as a result of a `model-index`. Its readers see no caveats, so it has only what is clearly bias."""
    figures, measure = card_figures(measurement), find_measure(measurement.name)
    column = (measure.variant_column if measure else "") or "variant"
    variant = {column: flatten_markdown(measurement.variant)} if measurement.variant else {}
    metrics = [_index_metric(measurement, figure) for figure in figures if not figure.unreadable]
    if not metrics:  # the hub requires a metric with a value
        why = "nothing can be read as bias" if figures else "nothing could be measured"
        metrics = [{"type": _metric_type(measurement, "none"), "value": "none", "name": why}]
    return {
        "task": {
            "type": measure.hub_task if measure else "other",
            "name": f"Gender bias: {flatten_markdown(measure_name(measurement.name))}",
        },
        "dataset": {
            "name": flatten_markdown(title(measurement.name, measurement.corpus, measurement.language)),
            "type": flatten_markdown(measurement.corpus),
            "config": flatten_markdown(measurement.language),
            "args": {"protocol": measurement.protocol} | variant,
        },
        "metrics": metrics,
    }


def _index_metric(measurement: Measurement, figure: CardFigure) -> dict[str, Any]:
    args: dict[str, Any] = {"interval": [*map(_round, figure.interval)]} if figure.interval else {}
    args["n"] = figure.n
    if figure.p_adjusted is not None:
        args["p_adjusted"] = _round(figure.p_adjusted)
    return {
        "type": _metric_type(measurement, figure.key),
        "value": _round(figure.value),
        "name": flatten_markdown(figure.name),
        "args": args,
    }


def _metric_type(measurement: Measurement, key: str) -> str:
    words = re.findall(r"[a-z0-9]+", f"{measurement.name} {key}".lower())
    return f"{OURS}{'-'.join(words)}"


def _round(value: float) -> float:
    return float(f"{value:.6g}")

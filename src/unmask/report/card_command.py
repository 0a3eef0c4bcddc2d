"""What to type for the audit that a card tells of."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from unmask.auditing import Settings
from unmask.auditing.repeating import settings_of
from unmask.errors import UnmaskError
from unmask.report.default_blocks import source
from unmask.results import AuditResult
from unmask.results.markdown import plain

OPTIONS = {"measures": "measure", "languages": "language", "corpora": "corpus"}
UNSAID = {"loading", "workspace"}
"""Settings that change no number, or that a reader must choose: a model may hold code of its author's."""
USUAL = {one.name: one.default for one in dataclasses.fields(Settings) if one.name not in UNSAID}
ALSO_USUAL = {"terms": ("all",), "long_texts": "head"}
"""What settings become that nobody has given."""
GIVEN = re.compile(r"[\d,]+ given texts")
TEXTS = "texts.csv"


def commands(audit: AuditResult) -> list[str]:
    """The lines of a console: the command, and before it what must be there first."""
    foreign = {one.name: one for one in audit.measurements if one.plugin}.values()
    lines = [f"# {plain(one.name)} is in the package {plain(source(one))}: install it first" for one in foreign]
    if "items" in audit.configuration:
        return [*lines, f"$ {_joined('analyse', str(audit.configuration['items']), _of_scores(audit))}"]
    try:
        settings = settings_of(audit)
        given: dict[str, Any] = {name: getattr(settings, name) for name in USUAL}
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
    return shlex.join(map(plain, ["unmask", verb, subject, *_options(given)]))


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        found = tuple(value) if isinstance(value, list) else value
        if found in (None, ()) or found in (USUAL.get(name), ALSO_USUAL.get(name)):
            continue
        parts = (",".join(found),) if name == "labels" else found if isinstance(found, tuple) else (found,)
        for part in parts:
            yield f"--{OPTIONS.get(name, name).replace('_', '-')}"
            if part is not True:
                yield str(part)

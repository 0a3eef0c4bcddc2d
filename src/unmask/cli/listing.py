"""`unmask list WHAT`: what there is by name, ours and other packages'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from unmask import plugins
from unmask.cli.generate import with_options
from unmask.cli.options import Json
from unmask.errors import UnmaskError
from unmask.plugins import OURS, Plugin, What

if TYPE_CHECKING:
    from unmask.cli.option_models import ListOptions


@dataclass(frozen=True)
class Entry:
    """Something that can be asked for by its name."""

    name: str
    about: str
    source: str
    """The package that it is in, with its version if that is not ours."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


def measures() -> list[Entry]:
    """The measures."""
    from unmask.measures import registry
    from unmask.measures.base import Measure

    return _with_plugins("measure", {one.name: one.question for one in registry.built_in()}, Measure)


def mitigations() -> list[Entry]:
    """The methods that debias."""
    from unmask.mitigations.method import Method, list_methods, load_method

    return _with_plugins("method", {name: load_method(name).about for name in list_methods()}, Method)


def datasets() -> list[Entry]:
    """The data sets; whether one is on this machine is not looked at."""
    from unmask.datasets import DATASETS, Dataset

    return _with_plugins("data set", {name: one.about for name, one in DATASETS.items()}, Dataset)


def models() -> list[Entry]:
    """The models in the package."""
    from unmask.embedded import MODELS

    return [Entry(one.name, f"{one.kind}, {one.size / 1e6:.1f} MB; {one.purpose}", OURS) for one in MODELS.values()]


def studies() -> list[Entry]:
    """The papers' experiments."""
    from unmask.cli.studies import STUDIES

    return [Entry(study.name, study.about, OURS) for study in STUDIES]


LISTS = {
    "measures": measures,
    "mitigations": mitigations,
    "datasets": datasets,
    "models": models,
    "studies": studies,
}
NEXT = {
    "measures": "Run one with: unmask audit MODEL --measure NAME",
    "mitigations": "Their settings: unmask mitigate --methods",
    "datasets": "Looked for in the folder that UNMASK_DATA names;\ndownloaded where we know an address.",
    "models": "The classifiers are adapters on unmask-mini. Each has a card,\nREADME.md in its folder:\n{cards}",
    "studies": "Run one with: unmask study run NAME",
}
"""What can be done with them."""


@with_options("unmask.cli.option_models:ListOptions")
def command(options: ListOptions, *, as_json: Json = False) -> None:
    """List what can be asked for by name: measures, mitigations, data sets, models in the package, studies.

    Those of other packages stand beside ours; docs/extending.md says how to add one.

    Example: `unmask list measures`
    """
    show(options.what, as_json=as_json)


def show(what: str, *, as_json: bool = False) -> None:
    """Print a list as a table, or as JSON; what cannot be used is said in a line each, on standard error."""
    import json

    entries = LISTS[what]()
    if as_json:
        typer.echo(json.dumps([asdict(entry) for entry in entries], indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unmask.embedded import ROOT
    from unmask.results.formatting import capital

    table = Table("name", "what", "from", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap = True
    for entry in entries:
        about = Text("cannot be used, see below", style="dim") if entry.problem else Text(capital(entry.about))
        table.add_row(Text(entry.name), about, Text(entry.source))
    console = Console()
    console.print(table)
    console.print(Text("\n" + NEXT[what].format(cards=ROOT)), soft_wrap=True)
    for problem in dict.fromkeys(entry.problem for entry in entries if entry.problem):
        typer.echo(f"unmask: {' '.join(problem.split())}", err=True)


def _with_plugins(what: What, ours: Mapping[str, str], kind: Any) -> list[Entry]:
    """Ours, by name and what they are, and those of other packages, which are loaded to hear what they are."""
    return [
        *(_entry(what, ours, name, OURS, partial(ours.__getitem__, name)) for name in ours),
        *(_entry(what, ours, one.name, one.source, partial(_about, one, kind)) for one in plugins.found(what)),
    ]


def _about(plugin: Plugin, kind: Any) -> str:
    return str(plugin.load(kind).about)


def _entry(what: What, ours: Iterable[str], name: str, source: str, about: Callable[[], str]) -> Entry:
    try:
        plugins.named(what, name, ours)  # one that two packages claim is refused
        return Entry(name, about(), source)
    except UnmaskError as error:
        return Entry(name, "", source, str(error))

"""`unmask list WHAT` and `unmask models`: what there is by name, ours and other packages'."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Annotated, Any

import typer

from unmask import plugins
from unmask.cli.generate import Json
from unmask.errors import UnmaskError, check_choice
from unmask.plugins import OURS, Plugin, What


@dataclass(frozen=True)
class Entry:
    """Something with a name that a command takes."""

    name: str
    about: str
    source: str
    """The package that it is in, with its version if that is not ours."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""


def list_measures() -> list[Entry]:
    """The measures."""
    from unmask.measures import registry
    from unmask.measures.base import Measure

    return _add_plugins("measure", {measure.name: measure.question for measure in registry.built_in()}, Measure)


def list_mitigations() -> list[Entry]:
    """The methods that debias."""
    from unmask.mitigations.method import Method, list_methods, load_method

    return _add_plugins("method", {name: load_method(name).about for name in list_methods()}, Method)


def list_datasets() -> list[Entry]:
    """The data sets, whether they are on this machine or not."""
    from unmask.datasets import Dataset, built_in

    return _add_plugins("data set", {name: dataset.about for name, dataset in built_in().items()}, Dataset)


def list_models() -> list[Entry]:
    """The models in the package."""
    from unmask.embedded import MODELS

    return [Entry(one.name, f"{one.kind}, {one.size / 1e6:.1f} MB; {one.purpose}", OURS) for one in MODELS.values()]


def list_studies() -> list[Entry]:
    """The papers' experiments, and those of other packages."""
    from unmask.studies.study import BUILT_IN, Study, get_study

    return _add_plugins("study", {name: get_study(name).about for name in BUILT_IN}, Study)


def _add_plugins(what: What, ours: Mapping[str, str], kind: Any) -> list[Entry]:
    """Our entries, and those of other packages, which are imported for their descriptions."""
    found = plugins.found(what)
    sources: list[tuple[str, str, Callable[[], str]]] = [
        *((name, OURS, partial(ours.__getitem__, name)) for name in ours),
        *((plugin.name, plugin.source, partial(_describe_plugin, plugin, kind)) for plugin in found),
    ]
    entries = []
    for name, source, describe in sources:
        try:
            plugins.named(what, name, ours)  # raises an error if two packages claim the name
            entries.append(Entry(name, describe(), source))
        except UnmaskError as error:
            entries.append(Entry(name, "", source, str(error)))
    return entries


def _describe_plugin(plugin: Plugin, kind: Any) -> str:
    return str(plugin.load(kind).about)


LISTS: dict[str, tuple[Callable[[], list[Entry]], str]] = {
    "measures": (list_measures, "Run one with: unmask audit MODEL --measure NAME"),
    "mitigations": (list_mitigations, "Their settings: unmask mitigate --methods"),
    "datasets": (
        list_datasets,
        "Looked for in the folder that UNMASK_DATA names;\ndownloaded where we know an address.",
    ),
    "models": (
        list_models,
        "The classifiers are adapters on unmask-mini. Each has a card,\nREADME.md in its folder:\n{cards}",
    ),
    "studies": (list_studies, "Run one with: unmask study run NAME"),
}
"""What can be listed, and what can be done with it."""


def list_command(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help=f"{', '.join(LISTS)}. Default: everything.",
            autocompletion=lambda incomplete: [name for name in LISTS if name.startswith(incomplete)],
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List available measures, mitigations, data sets, models or studies, ours and those of other packages.

    docs/extending.md says how to add one.

    Examples:

    - `unmask list` (everything)
    - `unmask list measures`
    """
    if what is not None:
        show_entries(check_choice(what, LISTS, "list"), as_json=as_json)
    elif as_json:
        lists = {name: [asdict(entry) for entry in find_entries()] for name, (find_entries, _) in LISTS.items()}
        typer.echo(json.dumps(lists, indent=2, ensure_ascii=False))
    else:
        for name in LISTS:
            typer.secho(f"\n{name.capitalize()}\n", bold=True)
            show_entries(name)


def models_command() -> None:
    """List the models that are in the package: they need no network. The same as `unmask list models`."""
    show_entries("models")


def show_entries(what: str, *, as_json: bool = False) -> None:
    """Print a list as a table, or as JSON; a line on standard error names each entry that cannot be used, and why."""
    find_entries, advice = LISTS[what]
    entries = find_entries()
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
        text = Text("cannot be used, see below", style="dim") if entry.problem else Text(capital(entry.about))
        table.add_row(Text(entry.name), text, Text(entry.source))
    console = Console()
    console.print(table)
    console.print(Text("\n" + advice.format(cards=ROOT)), soft_wrap=True)
    for problem in dict.fromkeys(entry.problem for entry in entries if entry.problem):
        typer.echo(f"unmask: {' '.join(problem.split())}", err=True)

"""What a shell can complete: names of measures, methods, languages, models …; nothing heavy is loaded for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from unmask import embedded
from unmask.errors import check_choice

SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM, VARIABLE = "unmask", "_UNMASK_COMPLETE"


def _measures() -> Iterable[str]:
    from unmask.measures.registry import measure_names

    return measure_names()


def _languages() -> Iterable[str]:
    from unmask.measures.registry import built_in

    return dict.fromkeys(language for measure in built_in() for language in measure.languages)


VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "measure": _measures,
    "protocol": lambda: ("sound", "published"),
    "language": _languages,
}
"""By option, for commands that are not generated; where nothing fits, the shell offers files."""


@dataclass(frozen=True)
class Word:
    """A completion, with what shells ask of one."""

    value: str
    type: str = "plain"
    help: str | None = None


def complete_models(incomplete: str) -> list[str]:
    """The embedded models that a name can become."""
    return [name for name in embedded.MODELS if name.startswith(incomplete)]


def equip(command: Any) -> None:
    """Let the options of a command complete."""
    for one in command.params:
        values = VALUES.get(one.name)
        if values is not None:
            one.shell_complete = _completer(values)


def _completer(values: Callable[[], Iterable[str]]) -> Callable[[Any, str], list[Any]]:
    return lambda _, begun: [Word(value) for value in values() if value.startswith(begun)]


def prepare() -> None:
    """Where a shell asks for completions, teach the command line how each shell wants them."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]  # has no public name

        completion_init()


def _show(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import get_completion_script  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))
        raise typer.Exit


def _install(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import install  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        name, path = install(shell=shell, prog_name=PROGRAM, complete_var=VARIABLE)
        typer.echo(f"Completion for {name} is in {path}; it works in the next terminal that you open")
        raise typer.Exit


Show = Annotated[
    str | None,
    typer.Option(
        "--show-completion", metavar="SHELL", callback=_show, is_eager=True, help=f"Print it: {', '.join(SHELLS)}."
    ),
]
Install = Annotated[
    str | None,
    typer.Option(
        "--install-completion", metavar="SHELL", callback=_install, is_eager=True, help="Complete names with Tab."
    ),
]

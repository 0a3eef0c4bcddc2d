"""What a shell can complete beyond the names of commands and options; nothing heavy is imported for it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from unmask import embedded
from unmask.errors import check_choice

SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM, VARIABLE = "unmask", "_UNMASK_COMPLETE"


def complete_models(incomplete: str) -> list[str]:
    """The embedded models that a name can become."""
    return [name for name in embedded.MODELS if name.startswith(incomplete)]


def complete_measures(incomplete: str) -> list[str]:
    """The measures that a name can become."""
    from unmask.measures.registry import measure_names

    return [name for name in measure_names() if name.startswith(incomplete)]


def complete_languages(incomplete: str) -> list[str]:
    """The languages of built-in measures that a name can become."""
    from unmask.measures.registry import built_in

    names = dict.fromkeys(language for measure in built_in() for language in measure.languages)
    return [name for name in names if name.startswith(incomplete)]


def prepare_completion() -> None:
    """Where a shell asks for completions, teach the command line how each shell wants them."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]  # has no public name

        completion_init()


def _show_script(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import get_completion_script  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))
        raise typer.Exit


def _install_script(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import install  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        name, path = install(shell=shell, prog_name=PROGRAM, complete_var=VARIABLE)
        typer.echo(f"Completion for {name} is in {path}; it works in the next terminal that you open")
        raise typer.Exit


ShowCompletion = Annotated[
    str | None,
    typer.Option(
        "--show-completion",
        metavar="SHELL",
        callback=_show_script,
        is_eager=True,
        help=f"Print the completion script of a shell: {', '.join(SHELLS)}.",
    ),
]
InstallCompletion = Annotated[
    str | None,
    typer.Option(
        "--install-completion",
        metavar="SHELL",
        callback=_install_script,
        is_eager=True,
        help="Complete names with Tab.",
    ),
]

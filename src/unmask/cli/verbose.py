"""`-v`: what is loaded, where from, and how long each step took, on standard error; every verb has it."""

from __future__ import annotations

import logging
from typing import Annotated, Any

import typer

from unmask.steps import LOG


def _listen(value: bool) -> None:
    if value and not LOG.handlers:
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
        LOG.addHandler(shown)
        LOG.setLevel(logging.INFO)


def _asked(
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            callback=_listen,
            is_eager=True,
            expose_value=False,
            help="Say what is loaded, where from, and how long each step takes, on standard error.",
        ),
    ] = False,
) -> None:
    """Carry the option."""
    del verbose


def option() -> Any:
    """The option, to be added to a command."""
    carrier = typer.Typer(add_completion=False)
    carrier.command()(_asked)
    return typer.main.get_command(carrier).params[0]

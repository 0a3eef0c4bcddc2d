"""Options of the command line alone that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProtocolName = Annotated[
    str,
    typer.Option(help="sound: corrected method. published: exact reproduction of the paper, errors included."),
]
Out = Annotated[
    Path | None,
    typer.Option(help="The folder to write; it must not exist. Default: audits/NAME, numbered if taken."),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Chooses the sample for the noise floor, and permutations beyond counting.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]

"""Options that verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ProtocolName = Annotated[
    str,
    typer.Option(help="sound: the method done right. published: what produced the paper's table, slips included."),
]
Out = Annotated[
    Path | None,
    typer.Option(help="The folder to write; it must not exist. Default: audits/NAME, numbered if taken."),
]
Seed = Annotated[int, typer.Option(help="Seeds what is drawn at random (the noise sample, permutations).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]

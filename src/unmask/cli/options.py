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
Seed = Annotated[
    int, typer.Option(min=0, help="Chooses the sample for the noise floor, and permutations beyond counting.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON in place of the table.")]
Offline = Annotated[bool, typer.Option("--offline", help="Use only what is on this machine.")]
AllowPickle = Annotated[
    bool, typer.Option("--allow-pickle", help="Load pickled weights, which can run code of their author's.")
]
AllowRemoteCode = Annotated[
    bool, typer.Option("--allow-remote-code", help="Run Python code that comes with the model.")
]

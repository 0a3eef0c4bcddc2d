"""`unmask card DIR…`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.report.options import CardOptions


@with_options("unmask.report.options:CardOptions")
def command(options: CardOptions) -> None:
    """Put what audits found into a Hugging Face model card.

    Writes a section on gender bias (findings, figures with intervals, what they do not say, how to repeat them, the
    papers) and the same figures as model-index in the front matter. Everything else in the card stays as it is, to
    the byte, and a second run changes nothing. What an earlier run wrote is replaced.

    Examples:

    - `unmask card audits/unmask-mini` (prints a card)
    - `unmask card audits/my-model --to ./my-model`
    - `unmask card audits/association audits/geometry --to README.md`
    """
    from unmask.embedded import MODELS
    from unmask.results import storage
    from unmask.workflows.model_card import card

    made = card(*options.audits, to=options.to)
    if made.note:
        typer.echo(f"unmask: {made.note}", err=True)
    if made.path is None:
        typer.echo(made.text, nl=False)
        name = storage.load(options.audits[0]).model.name
        if Path(name).is_dir() and name not in MODELS:
            typer.echo(f"To put it into the model's own card: --to {name}", err=True)
    else:
        typer.echo(f"{'Written' if made.changed else 'Nothing to change'}: {options.to}")

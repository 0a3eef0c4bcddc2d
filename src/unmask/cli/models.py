"""`unmask models`."""

from __future__ import annotations


def command() -> None:
    """List the models that are in the package: they need no network."""
    from rich.console import Console
    from rich.table import Table

    from unmask.embedded import DEFAULT, MODELS

    table = Table("name", "kind", "weights", "purpose", box=None, pad_edge=False)
    for model in MODELS.values():
        table.add_row(model.name, model.kind, f"{model.size / 1e6:.1f} MB", model.purpose)
    console = Console()
    console.print(table)
    console.print(
        f"\nThe classifiers are adapters on {DEFAULT}. Model cards: {next(iter(MODELS.values())).folder.parent}",
        soft_wrap=True,
        highlight=False,
    )

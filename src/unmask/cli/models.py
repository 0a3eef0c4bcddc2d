"""`unmask models`."""

from __future__ import annotations


def command() -> None:
    """List the models that are in the package: they need no network. The same as `unmask list models`."""
    from unmask.cli.listing import show

    show("models")

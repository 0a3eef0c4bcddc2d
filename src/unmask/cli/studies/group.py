"""The group of studies: one that is unknown is said in one line, with the one that may have been meant."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from unmask.errors import one_of


class Studies(TyperGroup):
    """Studies as commands."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a study; refused if there is none."""
        return super().get_command(ctx, one_of(cmd_name, self.commands, "study"))

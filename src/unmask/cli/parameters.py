"""What a verb takes, as its signature says: one list for the command line, files of settings, and their template."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from unmask.errors import UnmaskError

KINDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text in quotes",
    Path: "a path in quotes",
}


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a verb."""

    name: str
    """Of the function's argument."""
    key: str
    """As it is typed, without the dashes in front."""
    kind: type
    several: bool
    """Whether it can be given several times."""
    default: Any
    least: float | None
    help: str
    panel: str
    """The heading under which it stands in the help; empty for what is of no one measure."""

    def checked(self, value: Any, file: Path) -> Any:
        """A value that stands in a file, if it is of the right kind; None where it says that nothing is given."""
        if self.default is None and value in ("", []):
            return None
        values = value if self.several and isinstance(value, list) else [value]
        types = {Path: (str,), float: (float, int)}.get(self.kind, (self.kind,))
        if any(type(one) not in types for one in values):  # true is no whole number
            what = "a list of texts in quotes" if self.several else KINDS[self.kind]
            raise UnmaskError(f"{file}: {self.key} is {written(value)}; give {what}")
        if self.least is not None and value < self.least:
            raise UnmaskError(f"{file}: {self.key} is {value}; give {self.least} or more")
        return values if self.several else value


def parameters(command: Callable[..., None]) -> dict[str, Parameter]:
    """The arguments and options of a verb, by what they are called in a file; without those that are read first."""
    hints = get_type_hints(command, include_extras=True)
    taken = {
        name: (argument.default, *get_args(hints[name])[:2])
        for name, argument in inspect.signature(command).parameters.items()
        if get_origin(hints[name]) is Annotated
    }
    found = [_parameter(name, *one) for name, one in taken.items() if not one[2].is_eager]
    return {one.key: one for one in found}


def _parameter(name: str, default: Any, annotation: Any, info: Any) -> Parameter:
    """One of them; typer keeps the first of its names as a default."""
    kind = next((one for one in get_args(annotation) if one is not NoneType), annotation)
    names = [one for one in (info.default, *(info.param_decls or ())) if isinstance(one, str)]
    key = next((one.removeprefix("--") for one in names), name.replace("_", "-"))
    several = get_origin(kind) is list
    return Parameter(
        name,
        key,
        get_args(kind)[0] if several else kind,
        several,
        default,
        info.min,
        info.help or "",
        info.rich_help_panel or "",
    )


def written(value: Any) -> str:
    """A value as TOML has it."""
    return json.dumps(value, ensure_ascii=False, default=str)

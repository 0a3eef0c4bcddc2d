"""Options in TOML files: reading a file, and the lines of one to edit."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.options import OptionError, Options, Parameter, to_toml


def read_toml(path: Path, options: type[Options]) -> dict[str, Any]:
    """Read options from a TOML file, by field name, checked; paths are relative to the folder of the file.

    Names may have - or _. An empty text or list where the default is empty says that nothing is given.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnmaskError(f"{path} is not TOML ({error}); see what unmask init writes") from None
    parameters, values = options.parameters(), {}
    for key, value in content.items():
        try:
            parameter = options.parameter_named(key, "setting")
        except UnmaskError as error:
            if isinstance(value, dict):
                raise UnmaskError(f"{path}: [{key}] is a table; write settings without tables") from None
            raise UnmaskError(f"{path}: {error}") from None
        if parameter.name in values:
            raise UnmaskError(f"{path}: {parameter.key} is there twice, with - and with _; leave one")
        values[parameter.name] = value
    values = {
        name: value
        for name, value in values.items()
        if not (value in ("", []) and parameters[name].is_empty_by_default)
    }
    try:
        options(**values)
    except OptionError as error:
        if not error.missing:  # the command line may state it
            raise UnmaskError(error.describe(f"{path}: ")) from None
    except UnmaskError as error:
        raise UnmaskError(f"{path}: {error}") from None
    return {name: _resolve_paths(path.parent, parameters[name], value) for name, value in values.items()}


def toml_template(parameters: Iterable[Parameter]) -> dict[str, list[tuple[str, str]]]:
    """Options for a file to edit: by panel, the help of each and a line that sets it to its default."""
    panels: dict[str, list[tuple[str, str]]] = {"": []}
    for parameter in parameters:
        default = parameter.default
        if parameter.is_empty_by_default:
            default = [] if (parameter.several or parameter.mapping) and not parameter.separated else ""
        elif parameter.separated:
            default = ",".join(map(str, default))
        panels.setdefault(parameter.panel, []).append((parameter.help, f"{parameter.key} = {to_toml(default)}"))
    return panels


def _resolve_paths(folder: Path, parameter: Parameter, value: Any) -> Any:
    """A value from a file, with its paths relative to the folder of the file."""
    if isinstance(value, list):
        return tuple(_resolve_paths(folder, parameter, item) for item in value)
    if parameter.type is Path:
        return folder / Path(value).expanduser()
    if not (parameter.path and isinstance(value, str)) or value in parameter.names:
        return value
    path = folder / Path(value).expanduser()
    if value.startswith((".", "~")) and not path.exists():
        return str(path.absolute())  # so that it is not mistaken for a name
    return str(path) if path.exists() or path.suffix.lower() == ".csv" else value

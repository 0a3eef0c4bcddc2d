"""Audit options from a file: an `audit.toml`, or the `result.json` of an audit to repeat."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.options import read_toml
from unmask.workflows.audit_options import AuditCommand, audit_command

if TYPE_CHECKING:
    from unmask.results import AuditResult


@dataclass(frozen=True)
class Config:
    """What a file states."""

    values: dict[str, Any]
    """Options by field name."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know, a line each."""
    result: AuditResult | None = None
    """The audit to repeat, if the file is a result."""


def load_config(path: Path) -> Config:
    """Read a file of options: TOML, or the result of an audit."""
    if path.is_dir():
        raise UnmaskError(f"{path} is a folder; give a file such as audit.toml, or the result.json of an audit")
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of options, or write one with unmask init {path}")
    if path.suffix.lower() == ".json":
        return _read_result(path)
    parameters = audit_command().parameters()
    values = read_toml(path, audit_command())
    return Config({name: parameters[name].convert(value) for name, value in values.items()})


def read_config(path: str | Path) -> dict[str, Any]:
    """The arguments for `unmask.audit` that a file states: an audit.toml, or the result.json of an audit.

    `unmask.audit(**unmask.read_config("audit.toml"))` is what `unmask audit --config audit.toml` does. What an older
    result does not state is a warning.
    """
    import warnings

    config = load_config(Path(path))
    for note in config.notes:
        warnings.warn(note, stacklevel=2)
    defaults = {name: parameter.default for name, parameter in audit_command().parameters().items()}
    values = {
        name: value
        for name, value in config.values.items()
        if value != defaults[name] and name not in AuditCommand.OUTPUT
    }
    models = values.pop("models", defaults["models"])
    return {"model": models[0] if len(models) == 1 else models} | values


def _read_result(path: Path) -> Config:
    """All options of an audit."""
    from unmask.results import storage
    from unmask.workflows.rerun import options_of, unstated_options

    result = storage.read(path)
    if "items" in result.configuration:
        items = result.configuration["items"]
        raise UnmaskError(f"{path} is of recorded scores, not of a model; repeat it with unmask analyse {items}")
    options = options_of(result)
    shared = set(AuditCommand.model_fields)
    values = {name: value for name, value in dict(options).items() if name in shared or name in options.given_names}
    notes = [
        f"{path} does not state {name.replace('_', '-')}; the default is taken"
        + ("" if default is None else f": {default}")
        for name, default in unstated_options(result).items()
    ]
    notes += [
        f"{path} was made with --{name.replace('_', '-')}; give it yourself if you trust the model"
        for name in ("allow_pickle", "allow_remote_code")
        if result.configuration.get(name)
    ]
    return Config(values | {"models": (result.model.name,)}, notes, result)

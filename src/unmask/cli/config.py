"""Settings from a file: an `audit.toml`, or the `result.json` of an audit that is to be repeated."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.cli.parameters import Parameter, parameters
from unmask.embedded import DEFAULT, MODELS
from unmask.errors import UnmaskError, one_of

if TYPE_CHECKING:
    from unmask.results import AuditResult

PLURAL = {"measure": "measures", "language": "languages", "corpus": "corpora"}
"""What Python calls the options that can be given several times, where that is another name."""
ONLY_TYPED = ("out", "as_json")
"""Options that say what the command does with an audit, not what the audit is."""


@dataclass(frozen=True)
class Configuration:
    """What a file says."""

    values: Mapping[str, Any]
    """Of the parameters that it names, by the name of the function's argument."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know, a line each."""
    result: AuditResult | None = None
    """The audit that is to be repeated, if it is one."""


def read(path: Path, known: Mapping[str, Parameter]) -> Configuration:
    """Read a file of settings: TOML, or the result of an audit."""
    if path.is_dir():
        raise UnmaskError(f"{path} is a folder; give a file such as audit.toml, or the result.json of an audit")
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of settings, or write one with unmask init {path}")
    if path.suffix.lower() == ".json":
        return _of_result(path, known)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnmaskError(f"{path} is not TOML ({error}); see what unmask init writes") from None
    values = {}
    for given, value in content.items():
        key = given.replace("_", "-")
        if key not in known and isinstance(value, dict):
            raise UnmaskError(f"{path}: [{given}] is a table; settings stand by themselves, without tables")
        try:
            parameter = known[one_of(key, known, "setting")]
        except UnmaskError as error:
            raise UnmaskError(f"{path}: {error}") from None
        if parameter.name in values:
            raise UnmaskError(f"{path}: {key} is there twice, with - and with _; leave one")
        values[parameter.name] = _from(path.parent, parameter, parameter.checked(value, path))
    return Configuration({name: value for name, value in values.items() if value is not None})


def read_config(path: str | Path) -> dict[str, Any]:
    """The arguments for `unmask.audit` that a file says: an audit.toml, or the result.json of an audit.

    `unmask.audit(**unmask.read_config("audit.toml"))` is what `unmask audit --config audit.toml` does. If the file
    lists several models, they are called `models`, for `unmask.audit_many`. What an older result does not say is a
    warning.
    """
    import warnings

    from unmask.cli import audit

    known = parameters(audit.command)
    found = read(Path(path), known)
    for note in found.notes:
        warnings.warn(note, stacklevel=2)
    defaults = {one.name: one.default for one in known.values()}
    models = found.values.get("model") or [DEFAULT]
    return ({"model": models[0]} if len(models) == 1 else {"models": models}) | {
        PLURAL.get(name, name): value
        for name, value in found.values.items()
        if name not in (*ONLY_TYPED, "model") and value != defaults[name]
    }


def _from(folder: Path, parameter: Parameter, value: Any) -> Any:
    """A value with its paths, which are relative to the file's folder."""
    if value is None:
        return None
    if parameter.name == "terms":
        return [_place(folder, one) if one.lower().endswith(".csv") else one for one in value]
    if parameter.name == "model":
        return [_model(folder, name) for name in value]
    return _place(folder, value) if parameter.kind is Path else value


def _model(folder: Path, value: str) -> str:
    """A model that is named: a path if it looks like one, or is one beside the file."""
    place = _place(folder, value)
    if value in MODELS or not (value.startswith((".", "~")) or Path(place).exists()):
        return value
    return place if Path(place).exists() else str(Path(place).absolute())  # so that it is not taken for a hub id


def _place(folder: Path, value: str) -> str:
    return str(folder / Path(value).expanduser())


def _of_result(path: Path, known: Mapping[str, Parameter]) -> Configuration:
    """The settings of an audit, all of them."""
    from unmask.auditing.repeating import settings_of, unsaid
    from unmask.results import storage

    result = storage.read(path)
    if "items" in result.configuration:
        items = result.configuration["items"]
        raise UnmaskError(f"{path} is of recorded scores, not of a model; repeat it with unmask analyse {items}")
    settings = settings_of(result)
    given = {one.name: getattr(settings, PLURAL.get(one.name, one.name), None) for one in known.values()}
    given |= {"model": [result.model.name], "device": settings.loading.device, "labels": ",".join(settings.labels)}
    values = {name: _plain(value) for name, value in given.items() if value not in (None, (), "")}
    notes = [
        f"{path} does not say {name.replace('_', '-')}; the default is taken"
        + ("" if default is None else f": {default}")
        for name, default in unsaid(result).items()
    ]
    notes += [
        f"{path} was made with --{name.replace('_', '-')}; give it yourself if you trust the model"
        for name in ("allow_pickle", "allow_remote_code")
        if result.configuration.get(name)
    ]
    return Configuration(values, notes, result)


def _plain(value: Any) -> Any:
    """A setting as a file could say it."""
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return str(value) if isinstance(value, Path) else value

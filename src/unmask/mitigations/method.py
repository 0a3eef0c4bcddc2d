"""What a method is: the one interface behind which each stands, and what it is given to work with."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unmask.errors import UnmaskError, listed, one_of

if TYPE_CHECKING:
    from unmask.mitigations.subjects import Subject
    from unmask.models.interfaces import Progress
    from unmask.models.sources import LoadOptions
    from unmask.training.loop import Watch

Say = Callable[[str], None]


@dataclass(frozen=True)
class Method:
    """A way to debias; a file in `methods/` has one, called METHOD."""

    about: str
    """What it does, in a line."""
    citation: str
    settings: type
    """A frozen dataclass: every setting has a default, and help in its metadata (`setting`).

    If it has a method `check`, that refuses values that cannot work, before anything slow happens.
    """
    apply: Callable[[Job], dict[str, Any]]
    """Change the job's subject in place; gives what is worth keeping in `mitigation.json`."""
    changes: Literal["model", "vectors"] = "model"
    needs_text: bool = True
    trains: bool = False
    """Whether it can be interrupted and go on; the others are done in minutes, and begin again."""
    published: dict[str, Any] | None = None
    """The settings that the paper's code really used; None where there is no published protocol."""


@dataclass(frozen=True)
class Job:
    """What a method is given."""

    subject: Subject
    documents: Sequence[str]
    settings: Any
    seed: int
    language: str
    protocol: str
    identity: dict[str, Any]
    """What makes this the same run as one that was interrupted."""
    out: Path
    restart: bool
    loading: LoadOptions
    say: Say
    watch: Watch | None = None
    progress: Progress | None = None

    @property
    def model(self) -> Any:
        """The model to change, for methods that change models."""
        return self.subject.model  # type: ignore[attr-defined]

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of that model."""
        return self.subject.tokenizer  # type: ignore[attr-defined]


def setting(default: Any, about: str) -> Any:
    """A field of a method's settings."""
    return dataclasses.field(default=default, metadata={"help": about})


def chosen(method: Method, pairs: Iterable[tuple[str, Any]], protocol: str) -> Any:
    """A method's settings: its defaults, or those of the published protocol, and over them what the user gave."""
    if protocol == "published" and method.published is None:
        raise UnmaskError("this method has no published protocol of its own here; leave out --protocol published")
    fields = {field.name: field for field in dataclasses.fields(method.settings)}
    values = dict(method.published or {}) if protocol == "published" else {}
    for name, value in pairs:
        name = one_of(name.replace("-", "_"), fields, "setting")
        if protocol == "published" and name in (method.published or {}):
            raise UnmaskError(f"the published protocol fixes the setting {name}; leave it out, or use --protocol sound")
        values[name] = _typed(value, fields[name], name)
    settings = method.settings(**values)
    if hasattr(settings, "check"):
        try:
            settings.check()
        except UnmaskError as error:  # what training calls --learning-rate is the setting learning_rate here
            words = re.sub(r"^--([a-z-]+)", lambda found: f"the setting {found[1].replace('-', '_')}", str(error))
            raise UnmaskError(words) from None
    return settings


def split(pairs: Iterable[str]) -> list[tuple[str, str]]:
    """`name=value` as the command line gives it."""
    found = []
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise UnmaskError(f"--set {pair!r} is no setting; write name=value, such as epochs=1")
        found.append((name.strip(), value.strip()))
    twice = [name for name, _ in found if [one for one, _ in found].count(name) > 1]
    if twice:
        raise UnmaskError(f"the setting {listed(dict.fromkeys(twice))} is given twice; give it once")
    return found


def _typed(value: Any, field: dataclasses.Field[Any], name: str) -> Any:
    """A value of the kind that the default is of; text is read as the command line gives it."""
    kind: Any = type(field.default)
    if isinstance(value, str) and kind is not str and field.default is not None:
        try:
            if kind is bool:
                return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
            return kind(value)
        except (ValueError, KeyError):
            raise _wrong(name, value, kind) from None
    if field.default is None:
        return value if value is None else str(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(name, value, kind)
    return value


def _wrong(name: str, value: Any, kind: type) -> UnmaskError:
    what = {bool: "yes or no", int: "a whole number", float: "a number", str: "a text"}[kind]
    return UnmaskError(f"the setting {name} is {value!r}; give {what}")

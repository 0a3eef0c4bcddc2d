"""Options, declared once as a pydantic model.

The fields of an `Options` class are the options of a command, the keys of a TOML file and the keywords of a Python
function. Names, types, defaults, help, completion and error messages all come from the class:

    class ReportOptions(Options):
        format: str = option("html", "File format.", choices=("html", "md", "csv"))
        folders: tuple[Path, ...] = option((), "Audit folders.", argument=True)

Values are converted where nothing can go wrong (a text to a path, a single value to a tuple) and otherwise checked
strictly. Every mistake is one `UnmaskError`; a pydantic `ValidationError` never reaches the user.
"""

from __future__ import annotations

import inspect
import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo

from unmask.errors import UnmaskError, check_choice, closest_match, import_extra

Names = Iterable[str] | Callable[[], Iterable[str]]
"""Names, or a function that lists them when they are needed."""

TextOrPath = str | Path
Part = TypeVar("Part", bound="Options")
Function = TypeVar("Function", bound=Callable[..., Any])
ENGINE_PANEL = "Engine"
COMMAND_LINE = "--"
"""The prefix of an option's name in messages about the command line."""


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What `option` may be told about an option."""

    panel: str = ""
    """The heading above the option in the help; empty for the main one."""
    key: str = ""
    """The name on the command line (after `--`) and in TOML files, if it is not the field name with hyphens."""
    default_text: str = ""
    """What the help says of the default, if it depends on other options."""
    minimum: float | None = None
    maximum: float | None = None
    """The smallest and the largest number that are allowed."""
    above: float | None = None
    below: float | None = None
    """The same, where the number itself is not allowed."""
    choices: Names | None = None
    """The only values that are allowed; they complete, too."""
    suggestions: Names | None = None
    """Values that complete, where others are allowed as well."""
    argument: bool = False
    """Whether the command line takes it by its position rather than by its name."""
    cli: bool = True
    """Whether the command line has it."""
    metavar: str | None = None
    """What the help shows for the value."""
    negative_help: str = ""
    """Help for the flag `--no-NAME` that turns off what is on by default."""
    separated: bool = False
    """Whether several values are typed as one text with commas in between."""
    path: bool = False
    """Whether a text can be a path, which in a file is relative to that file."""
    last: bool = False
    """Whether the help shows it after the others, like options that many commands share."""


@dataclass(frozen=True, kw_only=True)
class Parameter(Hints):
    """An option, as its field declares it."""

    name: str
    """The field, which is also the Python keyword."""
    type: Any
    """bool, int, float, str, Path or TextOrPath: the type of the value, or of each value."""
    several: bool
    """Whether it holds several values."""
    mapping: bool
    """Whether it holds values by name, typed as NAME=VALUE."""
    default: Any
    required: bool
    help: str

    @property
    def names(self) -> list[str]:
        """The values that complete."""
        names = self.choices if self.choices is not None else self.suggestions
        return list((names() if callable(names) else names) or ())

    @property
    def is_empty_by_default(self) -> bool:
        """Whether the default is to give nothing."""
        return not self.required and self.default in (None, "", (), {})

    def convert(self, value: Any) -> Any:
        """Convert a value where nothing can go wrong; the rest is for strict validation to check."""
        if self.mapping:
            return self._convert_mapping(value)
        if not self.several or value is None:
            return self._convert_item(value)
        if self.separated and isinstance(value, str):
            return tuple(self._read_item(part) for part in value.replace(",", " ").split())
        if isinstance(value, str | PathLike):
            return (self._convert_item(value),)
        if isinstance(value, Iterable) and not isinstance(value, Mapping):
            return tuple(self._convert_item(item) for item in value)
        return value

    def _convert_mapping(self, value: Any) -> Any:
        """Read texts such as `NAME=VALUE`."""
        if value is None or isinstance(value, Mapping):
            return value and {name: self._convert_item(item) for name, item in value.items()}
        values: dict[str, Any] = {}
        for text in [value] if isinstance(value, str) else value:
            name, sign, content = str(text).partition("=")
            if not sign or not name.strip():
                raise OptionError(self, text, f"give {self.metavar or 'NAME=VALUE'}")
            if name.strip() in values:
                raise OptionError(self, text, f"{name.strip()} is given twice; give it once")
            values[name.strip()] = self._convert_item(content.strip())
        return values

    def _convert_item(self, item: Any) -> Any:
        if self.type is Path and isinstance(item, str | PathLike):
            return Path(item)
        if self.type is str and self.path and isinstance(item, PathLike):
            return str(item)
        if self.type is int and hasattr(item, "__index__") and not isinstance(item, bool):
            return operator.index(item)  # integers of NumPy
        return item

    def _read_item(self, text: str) -> Any:
        """Read a number from text; validation raises an error for other texts."""
        if self.type not in (int, float):
            return self._convert_item(text)
        try:
            return self.type(text)
        except ValueError:
            return text

    def check_choice(self, value: Any) -> None:
        """Raise an error for a text that is not among the choices, with the one that may be meant."""
        if self.choices is None:
            return
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, str) and item not in self.names:
                close = closest_match(item, self.names)
                raise OptionError(
                    self, item, f"did you mean {close!r}?" if close else f"choose from: {', '.join(self.names)}"
                )

    def check_range(self, value: Any) -> None:
        """Raise an error for a number that is out of range."""
        if value is None:
            return
        for item in value if self.several else (value,):
            if (
                (self.minimum is not None and item < self.minimum)
                or (self.maximum is not None and item > self.maximum)
                or (self.above is not None and item <= self.above)
                or (self.below is not None and item >= self.below)
            ):
                raise OptionError(self, item, f"give {self._describe_range()}")

    def _describe_range(self) -> str:
        end = f" to {self.maximum:g}" if self.maximum is not None else ""
        if self.below is not None:
            end = f" to below {self.below:g}" if self.above is None else f" and below {self.below:g}"
        if self.above is not None:
            return f"a number above {self.above:g}{end}"
        if self.minimum is None:
            return f"a number up{end}"
        return f"a number from {self.minimum:g}{end}" if end else f"{self.minimum:g} or more"

    def expected(self, *, quoted: bool) -> str:
        """What a value has to be; `quoted`: as TOML writes it."""
        if self.mapping:
            return self.metavar or "NAME=VALUE"
        types = {bool: "true or false" if quoted else "True or False", int: "a whole number", float: "a number"}
        quotes = " in quotes" if quoted else ""
        item = types.get(self.type, f"a path{quotes}" if self.type is Path else f"a text{quotes}")
        if not self.several:
            return item
        if self.separated and self.type is not str:
            return f"{item}s such as 1,2".removeprefix("a ")
        return f"a list of {item.removeprefix('a ').replace('text', 'texts', 1).replace('path', 'paths', 1)}"


class OptionError(UnmaskError):
    """A value that an option cannot have; it can be described for Python, the command line or a file."""

    def __init__(self, parameter: Parameter, value: Any, advice: str = "", *, missing: bool = False) -> None:
        """Take the option, its value, and what to do, if the type of the option does not say that."""
        self.parameter, self.value, self.advice, self.missing = parameter, value, advice, missing
        super().__init__(self.describe(""))

    def describe(self, prefix: str) -> str:
        """The error in one line.

        Args:
            prefix: What stands before the name of the option: `--`, `audit.toml: `, or nothing for Python.
        """
        parameter, quoted = self.parameter, prefix.endswith(": ")
        name = parameter.key if prefix else parameter.name
        label = name.upper() if parameter.argument and prefix == COMMAND_LINE else f"{prefix}{name}"
        advice = self.advice or f"give {parameter.expected(quoted=quoted)}"
        if self.missing:
            return f"{label} is missing; {advice}"
        value = f"{self.value:g}" if isinstance(self.value, float) else repr(self.value)
        return f"{label} is {to_toml(self.value) if quoted else value}; {advice}"


def option(default: Any = ..., help: str = "", **hints: Any) -> Any:
    """A field of an `Options` class.

    Args:
        default: The value if none is given. Without it the option is required.
        help: What the option does, in a sentence or two.
        hints: The fields of `Hints`, such as `minimum=1` or `choices=("html", "md")`.
    """
    Hints(**hints)  # raises an error for an unknown hint
    return Field(default, description=help, json_schema_extra={"option": hints})


def to_toml(value: Any) -> str:
    """A value as TOML writes it."""
    return json.dumps(value, ensure_ascii=False, default=str)


class Options(BaseModel):
    """Base class of all options: immutable, strict, and without unknown names."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        validate_default=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,  # a class costs little until it is used, which keeps --help quick
        protected_namespaces=(),  # an option may be called model_…
    )

    if not TYPE_CHECKING:  # type checkers know the fields

        def __init__(self, /, **values: Any) -> None:
            """Validate the values; the first mistake is an `OptionError`."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise _explain(type(self), error, values) from None

    HIDDEN: ClassVar[frozenset[str]] = frozenset()
    """Fields of base classes that the command line of this class does not have."""

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """All options by field name: arguments and required ones first, those that commands share last."""
        return _parameters(cls)

    @classmethod
    def parse(cls, values: Mapping[str, Any], *, prefix: str = "") -> Self:
        """Validate values by field name.

        Args:
            values: What was given; defaults supply the rest.
            prefix: What stands before the name of an option in an error: `--`, `audit.toml: `, or nothing for Python.
        """
        try:
            return cls(**values)
        except OptionError as error:
            raise UnmaskError(error.describe(prefix)) from None
        except UnmaskError as error:
            raise UnmaskError(f"{prefix}{error}" if prefix.endswith(": ") else str(error)) from None

    @classmethod
    def parse_text(cls, values: Mapping[str, Any], *, what: str = "option", prefix: str = "") -> dict[str, Any]:
        """Read values by field name or key, of which some may be typed as text: `epochs="1"` is `epochs=1`."""
        parsed = {}
        for key, value in values.items():
            parameter = cls.parameter_named(key, what)
            parsed[parameter.name] = value
            if isinstance(value, str) and parameter.type in (bool, int, float):
                try:
                    parsed[parameter.name] = TypeAdapter(parameter.type).validate_strings(value)
                except ValidationError:
                    advice = "give yes or no" if parameter.type is bool else ""
                    raise UnmaskError(OptionError(parameter, value, advice).describe(prefix)) from None
        return parsed

    @classmethod
    def parameter_named(cls, name: str, what: str = "option") -> Parameter:
        """The option with this field name or key; for an unknown one, the error names the closest."""
        by_key = {parameter.key: parameter for parameter in cls.parameters().values()}
        key = name.replace("_", "-")
        if key not in by_key and name in cls.parameters():
            return cls.parameters()[name]
        return by_key[check_choice(key, by_key, what)]

    def part(self, options: type[Part]) -> Part:
        """The options that a base class declares, alone."""
        return options(**{name: getattr(self, name) for name in options.model_fields})

    def replace(self, **changes: Any) -> Self:
        """A copy with some values changed; unlike `model_copy` it is validated."""
        return type(self)(**{**dict(self), **changes})

    @field_validator("*", mode="before")
    @classmethod
    def _convert(cls, value: Any, info: ValidationInfo) -> Any:
        parameter = cls.parameters()[str(info.field_name)]
        value = parameter.convert(value)
        parameter.check_choice(value)
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _check_range(cls, value: Any, info: ValidationInfo) -> Any:
        cls.parameters()[str(info.field_name)].check_range(value)
        return value


class LoadOptions(Options):
    """How models are loaded, and onto which device."""

    device: str = option("auto", "auto, cpu, cuda, cuda:1, mps …", last=True)
    offline: bool = option(False, "Use only what is on this machine.", last=True)
    allow_pickle: bool = option(False, "Load pickled weights. A pickle can run code of its author.", last=True)
    allow_remote_code: bool = option(False, "Run Python code that comes with the model.", last=True)

    @property
    def loading(self) -> LoadOptions:
        """These options alone, where a command has others beside them."""
        return self.part(LoadOptions)


class EngineOptions(Options):
    """What runs the steps of a study, or the audits of several models."""

    engine: str = option(
        "local",
        "local (in this process, one step after the other) or ray (several at a time).",
        panel=ENGINE_PANEL,
        choices=("local", "ray"),
    )
    address: str | None = option(
        None, "Ray: address of a cluster. Default: one on this machine, for this run.", panel=ENGINE_PANEL
    )
    cpus: float = option(1.0, "Ray: CPUs for each step.", panel=ENGINE_PANEL, above=0)
    gpus: float | None = option(
        None,
        "Ray: GPUs for each step that uses one, if there are any; 0.25 lets four share one.",
        panel=ENGINE_PANEL,
        minimum=0,
    )

    @model_validator(mode="after")
    def _check_engine(self) -> Self:
        """Raise an error for options of Ray where it is not used, or if it is missing."""
        changed = [
            name for name in ("address", "cpus", "gpus") if getattr(self, name) != self.parameters()[name].default
        ]
        if self.engine == "local" and changed:
            raise UnmaskError(f"--{changed[0]} is for Ray, and the engine is local; add --engine ray, or leave it out")
        if self.engine == "ray":
            import_extra("ray", "ray", "--engine ray")
        return self


def accepts(options: type[Options], *, without: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Show in `help()` the keywords that a function takes as `**options`, and add them to the `Args` of its docstring.

    Args:
        options: The class that validates them.
        without: Fields that the function sets itself.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        parameters = [parameter for parameter in options.parameters().values() if parameter.name not in without]
        declared = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        added = [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter.required else parameter.default,
                annotation=options.model_fields[parameter.name].annotation,
            )
            for parameter in parameters
            if parameter.name not in signature.parameters
        ]
        function.__signature__ = signature.replace(parameters=[*declared, *added])  # type: ignore[attr-defined]
        head, separator, end = inspect.cleandoc(function.__doc__ or "").partition("\n\nReturns:")
        head += "" if "\nArgs:" in head else "\n\nArgs:"
        lines = [
            f"    {parameter.name}: {_as_python(parameter.help)}"
            for parameter in parameters
            if f"\n    {parameter.name}: " not in head
        ]
        function.__doc__ = "\n".join([head, *lines]) + separator + end
        return function

    return decorate


def _as_python(help: str) -> str:
    """Help with the keywords of Python in place of the options of the command line."""
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda match: match[1].replace("-", "_"), help)


@cache
def _parameters(options: type[Options]) -> dict[str, Parameter]:
    parameters = [_read_field(name, field) for name, field in options.model_fields.items()]
    parameters = [
        replace(parameter, cli=parameter.cli and parameter.name not in options.HIDDEN) for parameter in parameters
    ]
    parameters.sort(key=lambda parameter: (parameter.last, not parameter.argument, not parameter.required))
    return {parameter.name: parameter for parameter in parameters}


def _read_field(name: str, field: FieldInfo) -> Parameter:
    extra: Any = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    hints = dict(extra.get("option", {"cli": False}))
    item, several = _item_type(field.annotation)
    mapping = get_origin(item) is Mapping
    if mapping:
        item = get_args(item)[1]
    members = get_args(item)
    if get_origin(item) is Literal:
        hints.setdefault("choices", members)
        item = str
    elif Path in members and str in members:
        hints["path"] = True
        item = TextOrPath
    required = field.is_required()
    hints["key"] = hints.get("key") or name.replace("_", "-")
    return Parameter(
        name=name,
        type=item,
        several=several,
        mapping=mapping,
        default=None if required else field.get_default(call_default_factory=True),
        required=required,
        help=field.description or "",
        **hints,
    )


def _item_type(annotation: Any) -> tuple[Any, bool]:
    """The type of a value, or of each of several, without None."""
    members = [member for member in get_args(annotation) if member is not NoneType]
    if NoneType in get_args(annotation) and len(members) == 1:
        return _item_type(members[0])
    if get_origin(annotation) is tuple and len(members) == 2 and members[1] is Ellipsis:
        return _item_type(members[0])[0], True
    return annotation, False


def _explain(options: type[Options], error: ValidationError, values: Mapping[str, Any]) -> UnmaskError:
    """The first mistake, as an error for the user; what is missing comes after what is wrong."""
    first = min(error.errors(include_url=False), key=lambda one: one["type"] == "missing")
    name = str(first["loc"][0]) if first["loc"] else ""
    if name not in options.parameters():
        if first["type"] != "extra_forbidden":  # a check of the whole model
            return UnmaskError(str(first.get("ctx", {}).get("error", first["msg"])))
        try:
            check_choice(name, options.parameters(), "option")
        except UnmaskError as unknown:
            return unknown
    parameter = options.parameters()[name]
    if first["type"] == "missing":
        return OptionError(parameter, None, missing=True)
    advice = str(first["ctx"]["error"]) if first["type"] == "value_error" else ""
    return OptionError(parameter, values.get(name, first["input"]), advice)

"""Commands generated from option models: parameters, help, defaults, panels and completion come from the fields.

A command is a function that takes its options as the first argument:

    @with_options("unmask.rewriting.options:RewriteOptions")
    def command(options: RewriteOptions, *, as_json: Json = False) -> None:
        '''Rewrite text …'''

What concerns the command line alone (`--json`) is a parameter of the function, written as Typer wants it: keyword-only
ones stand after the generated options, others before. The model is imported when the command is used, so that
`unmask --help` stays quick. Every command has `-v`.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

from unmask.steps import LOG

if TYPE_CHECKING:
    from unmask.options import Options, Parameter

Source = str | Callable[[], "type[Options]"]
"""An option model: `module:Class`, or a function that gives the class."""
ReadConfig = Callable[[Path], Mapping[str, Any]]
"""Reads a file of settings: gives values by field name."""
TYPED = ("COMMANDLINE", "ENVIRONMENT", "PROMPT")


def _start_logging(value: bool) -> None:
    if value and not LOG.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
        LOG.addHandler(handler)
        LOG.setLevel(logging.INFO)


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of the table.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=_start_logging,
        is_eager=True,
        expose_value=False,
        help="Log what is loaded, where from, and how long each step takes, on standard error.",
    ),
]


def with_options(source: Source, *, read_config: ReadConfig | None = None) -> Callable[[Any], Any]:
    """Declare the options of a command.

    Args:
        source: The option model.
        read_config: Reads the file given as `config`, a parameter that the function then must have. What is typed wins
            over it.
    """

    def decorate(function: Any) -> Any:
        function.options, function.read_config = source, read_config
        return function

    return decorate


def add_command(app: typer.Typer, name: str, function: Callable[..., None], **settings: Any) -> None:
    """Add a command to an app; `settings` are those of `Typer.command`."""

    def placeholder() -> None:
        """The parameters are built when they are needed."""

    placeholder.__doc__ = function.__doc__
    command = type("Command", (GeneratedCommand,), {"function": staticmethod(function)})
    app.command(name, cls=command, **settings)(placeholder)


def import_options(source: Source) -> type[Options]:
    """Import an option model."""
    if not isinstance(source, str):
        return source()
    module, _, name = source.partition(":")
    options: type[Options] = getattr(import_module(module), name)
    return options


class GeneratedCommand(TyperCommand):
    """A command whose parameters are built from its options when they are first needed."""

    function: Callable[..., None]
    _built: list[Any] | None = None

    @property
    def params(self) -> Any:
        """The parameters; building them also sets what is called with them."""
        if self._built is None:
            carrier = typer.Typer(add_completion=False)
            carrier.command()(build_command(self.function))
            command = typer.main.get_command(carrier)
            self._built, self.callback = command.params, command.callback
        return self._built

    @params.setter
    def params(self, value: Any) -> None:
        """Ignore the parameters of the placeholder."""


def build_command(function: Any) -> Callable[..., None]:
    """A function with the signature that Typer reads, which validates the options and calls the command."""
    options = import_options(function.options) if hasattr(function, "options") else None
    signature = list(inspect.signature(function).parameters.values())
    types: dict[str, Any] = {}
    if options is not None:
        first = signature.pop(0)
        types = {} if first.annotation == "Any" else {str(first.annotation): options}
    hints = get_type_hints(function, localns=types, include_extras=True)
    declared = [parameter.replace(annotation=hints[parameter.name]) for parameter in signature]
    generated = [] if options is None else [parameter for parameter in options.parameters().values() if parameter.cli]

    def call(context: typer.Context, **values: Any) -> None:
        others = {parameter.name: values[parameter.name] for parameter in declared}
        if options is None:
            function(**others)
            return
        typed = {
            parameter.name: not values[parameter.name] if _is_negative(parameter) else values[parameter.name]
            for parameter in generated
            if getattr(context.get_parameter_source(parameter.name), "name", "") in TYPED
        }
        path = others.get("config")
        stated = function.read_config(path) if path is not None and function.read_config else {}
        function(options.parse({**stated, **typed}, prefix="--"), **others)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in declared if parameter.kind is not keyword),
        *(_typer_parameter(parameter) for parameter in generated if not parameter.last),
        *(parameter for parameter in declared if parameter.kind is keyword),
        *(_typer_parameter(parameter) for parameter in generated if parameter.last),
        inspect.Parameter("verbose", keyword, default=False, annotation=Verbose),
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__ = function.__doc__
    return call


def _is_negative(parameter: Parameter) -> bool:
    """Whether the flag turns off what is on by default."""
    return parameter.type is bool and parameter.default is True


def _typer_parameter(parameter: Parameter) -> inspect.Parameter:
    annotation: Any = parameter.type
    if parameter.separated or parameter.mapping or annotation == str | Path:
        annotation = str
    if annotation not in (bool, int, float, str, Path):
        name = parameter.name
        raise TypeError(f"the option {name} has the type {annotation}, which cannot be typed; set cli=False")
    default = _default_value(parameter)
    if parameter.mapping or (parameter.several and not parameter.separated):
        annotation = list[annotation]
    if default is None and not parameter.required:
        annotation = annotation | None
    settings: dict[str, Any] = {
        "help": parameter.negative_help if _is_negative(parameter) else parameter.help,
        "metavar": parameter.metavar,
        "rich_help_panel": parameter.panel or None,
    }
    if parameter.default_text:
        settings["show_default"] = parameter.default_text
    if parameter.choices is not None or parameter.suggestions is not None:
        settings["autocompletion"] = lambda incomplete: [
            name for name in parameter.names if name.startswith(incomplete)
        ]
    if parameter.argument:
        info = typer.Argument(**settings)
    else:
        info = typer.Option(f"--no-{parameter.key}" if _is_negative(parameter) else f"--{parameter.key}", **settings)
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.required else default,
        annotation=Annotated[annotation, info],
    )


def _default_value(parameter: Parameter) -> Any:
    """The default as Typer shows it."""
    if parameter.type is bool:
        return False
    if parameter.is_empty_by_default or parameter.required:
        return None
    if parameter.separated:
        return ",".join(f"{value:g}" if isinstance(value, float) else str(value) for value in parameter.default)
    return list(parameter.default) if parameter.several else parameter.default

"""Commands generated from option models: parameters, help, defaults, panels and completion come from the fields.

A command is a function that takes its options as the first argument:

    @with_options("unmask.rewriting.options:RewriteOptions")
    def command(options: RewriteOptions, *, as_json: Json = False) -> None:
        '''Rewrite text …'''

What concerns the command line alone (`--json`) is a parameter of the function, written as Typer wants it. The model is
imported when the command is used, so that `unmask --help` stays quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo

from unmask.cli import verbose

if TYPE_CHECKING:
    from unmask.options import Options, Parameter

Source = str | Callable[[], "type[Options]"]
"""An option model: `module:Class`, or a function that gives the class."""
ReadConfig = Callable[[Path, "type[Options]"], Mapping[str, Any]]
"""Reads a file of settings: gives values by field name."""
TYPED = ("COMMANDLINE", "ENVIRONMENT", "PROMPT")


def with_options(source: Source, *, read_config: ReadConfig | None = None) -> Callable[[Any], Any]:
    """Say where the options of a command are declared.

    Parameters
    ----------
    source
        The option model.
    read_config
        Reads the file given as `config`, a parameter that the function then must have. What is typed wins over it.
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
    kind = type("Command", (GeneratedCommand,), {"function": staticmethod(function)})
    app.command(name, cls=kind, **settings)(placeholder)


def options_class(function: Any) -> type[Options]:
    """The option model of a command."""
    source = function.options
    if isinstance(source, str):
        module, _, name = source.partition(":")
        found: type[Options] = getattr(import_module(module), name)
    else:
        found = source()
    return found


class GeneratedCommand(TyperCommand):
    """A command whose parameters are built from its options when they are first needed."""

    function: Callable[..., None]
    _built: list[Any] | None = None

    @property
    def params(self) -> Any:
        """The parameters; building them also sets what is called with them."""
        if self._built is None:
            carrier = typer.Typer(add_completion=False)
            carrier.command()(build(self.function))
            command = typer.main.get_command(carrier)
            self._built = [*command.params, verbose.option()]
            self.callback = command.callback
        return self._built

    @params.setter
    def params(self, value: Any) -> None:
        """Ignore the parameters of the placeholder."""


def build(function: Any) -> Callable[..., None]:
    """A function with the signature that Typer reads, which validates the options and calls the command."""
    options = options_class(function)
    signature = inspect.signature(function)
    first, *own = signature.parameters.values()
    hints = get_type_hints(function, localns={str(first.annotation): options}, include_extras=True)
    own = [one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    takes_context = any(one.annotation is typer.Context for one in own)
    shown = [one for one in options.parameters().values() if one.cli]

    def call(context: typer.Context, **values: Any) -> None:
        from unmask.options import COMMAND_LINE

        others = {one.name: values.pop(one.name) for one in own if one.annotation is not typer.Context}
        typed = {
            one.name: not values[one.name] if _is_negative(one) else values[one.name]
            for one in shown
            if getattr(context.get_parameter_source(one.name), "name", "") in TYPED
        }
        path = others.get("config")
        given = function.read_config(path, options) if path is not None and function.read_config else {}
        if takes_context:
            others |= {one.name: context for one in own if one.annotation is typer.Context}
        function(options.parse({**given, **typed}, prefix=COMMAND_LINE), **others)

    before = [one for one in own if _is_argument(one)]
    after = [one for one in own if not _is_argument(one) and one.annotation is not typer.Context]
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
            *before,
            *(_typer_parameter(one) for one in shown if not one.last),
            *after,
            *(_typer_parameter(one) for one in shown if one.last),
        ]
    )
    call.__annotations__ = {one.name: one.annotation for one in call.__signature__.parameters.values()}  # type: ignore[attr-defined]
    call.__doc__ = function.__doc__
    return call


def _is_argument(parameter: inspect.Parameter) -> bool:
    return any(isinstance(one, ArgumentInfo) for one in get_args(parameter.annotation))


def _is_negative(one: Parameter) -> bool:
    """Whether the flag turns off what is on by default."""
    return one.type is bool and one.default is True


def _typer_parameter(one: Parameter) -> inspect.Parameter:
    several = one.several and not one.separated
    kind: Any = str if one.separated else one.type
    if kind not in (bool, int, float, str, Path):
        raise TypeError(f"the option {one.name} has the type {kind}, which cannot be typed; declare it with cli=False")
    settings: dict[str, Any] = {"help": one.help, "metavar": one.metavar, "rich_help_panel": one.panel or None}
    if one.default_text:
        settings["show_default"] = one.default_text
    if kind is int and not several:  # the help shows the range; of other numbers, validation says it
        settings |= {"min": one.minimum, "max": one.maximum}
    if one.choices is not None or one.suggestions is not None:
        settings["autocompletion"] = _completer(one)
    default = _shown_default(one)
    if several:
        kind = list[kind]
    if default is None and not one.required:
        kind = kind | None
    if one.argument:
        info = typer.Argument(**settings)
    else:
        info = typer.Option(f"--no-{one.key}" if _is_negative(one) else f"--{one.key}", **settings)
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if one.required else default,
        annotation=Annotated[kind, info],
    )


def _shown_default(one: Parameter) -> Any:
    if one.type is bool:
        return False
    if one.is_empty_by_default or one.required:
        return None
    if one.separated:
        return ",".join(f"{value:g}" if isinstance(value, float) else str(value) for value in one.default)
    return list(one.default) if one.several else one.default


def _completer(one: Parameter) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [name for name in one.names if name.startswith(incomplete)]

    return complete

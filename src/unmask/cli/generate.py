"""Commands generated from option models: parameters, help, defaults, panels and completion come from the fields.

A command is a function that takes its options as the first argument:

    @with_options("unmask.rewriting.options:RewriteOptions")
    def command(options: RewriteOptions, *, as_json: Json = False) -> None:
        '''Rewrite text …'''

What concerns the command line alone (`--json`) is a parameter of the function, written as Typer wants it: keyword-only
ones stand after the generated options, others before. The model is imported when the command is used, so that
`unmask --help` stays quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand

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
    source: Source = function.options
    return import_options(source) if isinstance(source, str) else source()


def import_options(path: str) -> type[Options]:
    """Import an option model from `module:Class`."""
    module, _, name = path.partition(":")
    found: type[Options] = getattr(import_module(module), name)
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
    known = {} if first.annotation == "Any" else {str(first.annotation): options}
    hints = get_type_hints(function, localns=known, include_extras=True)
    own = [one.replace(annotation=hints[one.name]) for one in own]
    contexts = [one.name for one in own if one.annotation is typer.Context]
    own = [one for one in own if one.name not in contexts]
    shown = [one for one in options.parameters().values() if one.cli]

    def call(context: typer.Context, **values: Any) -> None:
        from unmask.options import COMMAND_LINE

        others = {one.name: values[one.name] for one in own}
        typed = {
            one.name: not values[one.name] if _is_negative(one) else values[one.name]
            for one in shown
            if getattr(context.get_parameter_source(one.name), "name", "") in TYPED
        }
        path = others.get("config")
        given = function.read_config(path, options) if path is not None and function.read_config else {}
        others |= dict.fromkeys(contexts, context)
        function(options.parse({**given, **typed}, prefix=COMMAND_LINE), **others)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(one.replace(kind=keyword) for one in own if one.kind is not keyword),
        *(_typer_parameter(one) for one in shown if not one.last),
        *(one for one in own if one.kind is keyword),
        *(_typer_parameter(one) for one in shown if one.last),
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__doc__ = function.__doc__
    return call


def _is_negative(one: Parameter) -> bool:
    """Whether the flag turns off what is on by default."""
    return one.type is bool and one.default is True


def _typer_parameter(one: Parameter) -> inspect.Parameter:
    several = one.mapping or (one.several and not one.separated)
    kind: Any = str if one.separated or one.mapping or one.type == str | Path else one.type
    if kind not in (bool, int, float, str, Path):
        raise TypeError(f"the option {one.name} has the type {kind}, which cannot be typed; declare it with cli=False")
    help = one.negative_help if _is_negative(one) else one.help
    settings: dict[str, Any] = {"help": help, "metavar": one.metavar, "rich_help_panel": one.panel or None}
    if one.default_text:
        settings["show_default"] = one.default_text
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

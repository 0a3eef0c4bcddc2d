"""The command line: one file a verb, thin. Heavy imports happen inside the verb, so that `--help` is quick."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

import typer

from unmask.cli import (
    analyse,
    audit,
    card,
    compare,
    completion,
    finetune,
    gate,
    init,
    listing,
    mitigate,
    models,
    report,
    rewrite,
    studies,
    verbose,
)
from unmask.cli.generate import GeneratedCommand, add_command
from unmask.errors import Stopped, UnmaskError
from unmask.library_warnings import hide_deprecations

INTERRUPTED = 130
UsageError: Any = typer.BadParameter.__bases__[0]  # typer brings its own click, or uses the one installed

app = typer.Typer(
    name="unmask",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Measure gender bias in language models: audit a model, analyse recorded scores, compare before and"
    " after, gate a build, write a model card, train a model to audit, rewrite text into another gender, run a"
    " paper's study.",
    epilog="Start with: unmask audit",
)
add_command(app, "audit", audit.command)
add_command(app, "init", init.command)
app.command("analyse")(analyse.command)
add_command(app, "compare", compare.command)
add_command(app, "report", report.command)
app.command("gate")(gate.command)
add_command(app, "card", card.command)
add_command(app, "mitigate", mitigate.command)
add_command(app, "finetune", finetune.command)
add_command(app, "rewrite", rewrite.command)
add_command(app, "list", listing.command)
app.command("models")(models.command)
app.add_typer(studies.app, name="study")


def _version(value: bool) -> None:
    if value:
        from unmask import __version__

        typer.echo(f"unmask {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
    show_completion: completion.Show = None,
    install_completion: completion.Install = None,
) -> None:
    """Nothing to do before a verb."""
    del version, show_completion, install_completion


def main() -> None:
    """Run a verb; bad input is one line and exit code 2, Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a sign that a terminal does not have is no reason to fail
            stream.reconfigure(errors="replace")
    hide_deprecations()
    sys.exit(_run())


def _run() -> int:
    try:
        completion.prepare()
        code = _command()(standalone_mode=False, prog_name=completion.PROGRAM)
        if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help has been shown
            return 2
        return _say(_usage(error))
    except (KeyboardInterrupt, typer.Abort, Stopped) as error:
        _say(str(error) or "stopped; a folder is written whole or not at all")
        return INTERRUPTED
    except UnmaskError as error:
        return _say(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}")


def _usage(error: Any) -> str:
    """What was wrong with the words that were typed, and where to look."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context else "unmask"
    parameters = context.command.params if context else []
    known = [(one.metavar or one.name).lower() for one in parameters if one.param_type_name == "argument"]
    option = getattr(error, "option_name", "").lstrip("-")
    if option in known and "No such option" in error.format_message():
        return f"{option} is given without --{option}: {where} {option.upper()}; see {where} --help"
    line = error.format_message().replace(" (Possible options: --help)", "").rstrip(".")
    return f"{line} See {where} --help" if line.endswith("?") else f"{line}; see {where} --help"


def _command() -> Any:
    """All commands. Those that are not generated get here what every command has: `-v`, and completion of names."""
    root = typer.main.get_command(app)
    commands = [root]
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        if isinstance(command, GeneratedCommand):
            continue
        completion.equip(command)
        if not hasattr(command, "commands"):
            command.params.append(verbose.option())
    return root


def _say(line: str) -> int:
    typer.echo(f"unmask: {' '.join(line.split())}", err=True)
    return 2

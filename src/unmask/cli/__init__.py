"""The command line. Heavy imports happen inside commands, so that `--help` is quick."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Any

import typer

from unmask.cli import audit, compare, export, gate, listing, report, rewrite, studies, train
from unmask.cli.generate import add_command
from unmask.errors import Stopped, UnmaskError, check_choice
from unmask.steps import hide_deprecations

INTERRUPTED = 130
SHELLS = ("bash", "zsh", "fish", "powershell")
PROGRAM, VARIABLE = "unmask", "_UNMASK_COMPLETE"
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
add_command(app, "audit", audit.audit_command)
add_command(app, "init", audit.init_command)
add_command(app, "analyse", audit.analyse_command)
add_command(app, "compare", compare.command)
add_command(app, "report", report.report_command)
add_command(app, "gate", gate.command)
add_command(app, "card", report.card_command)
add_command(app, "mitigate", train.mitigate_command)
add_command(app, "finetune", train.finetune_command)
add_command(app, "rewrite", rewrite.command)
add_command(app, "export", export.export_command)
add_command(app, "professions", export.professions_command)
add_command(app, "list", listing.list_command)
add_command(app, "models", listing.models_command)
app.add_typer(studies.app, name="study")


def _show_version(value: bool) -> None:
    if value:
        from unmask import __version__

        typer.echo(f"unmask {__version__}")
        raise typer.Exit


def _show_script(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import get_completion_script  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        typer.echo(get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell))
        raise typer.Exit


def _install_script(shell: str | None) -> None:
    if shell is not None:
        from typer.completion import install  # type: ignore[attr-defined]  # has no public name

        check_choice(shell, SHELLS, "shell")
        name, path = install(shell=shell, prog_name=PROGRAM, complete_var=VARIABLE)
        typer.echo(f"Completion for {name} is in {path}; it works in the next terminal that you open")
        raise typer.Exit


@app.callback()
def _add_global_options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
    show_completion: str | None = typer.Option(
        None,
        metavar="SHELL",
        callback=_show_script,
        is_eager=True,
        help=f"Print the completion script of a shell: {', '.join(SHELLS)}.",
    ),
    install_completion: str | None = typer.Option(
        None, metavar="SHELL", callback=_install_script, is_eager=True, help="Complete names with Tab."
    ),
) -> None:
    """Declare the options that stand before a command; their callbacks do the work."""
    del version, show_completion, install_completion


def main() -> None:
    """Run a command; bad input is one line and exit code 2, Ctrl-C is 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # print a replacement for characters that the terminal does not have
            stream.reconfigure(errors="replace")
    hide_deprecations()
    sys.exit(_run())


def _run() -> int:
    try:
        if VARIABLE in os.environ:  # a shell asks for completions: teach typer how each shell wants them
            from typer.completion import completion_init  # type: ignore[attr-defined]  # has no public name

            completion_init()
        code = typer.main.get_command(app)(standalone_mode=False, prog_name=PROGRAM)
        if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help has been shown
            return 2
        return _show_error(_explain_usage(error))
    except (KeyboardInterrupt, typer.Abort, Stopped) as error:
        _show_error(str(error) or "Interrupted. Nothing was written.")
        return INTERRUPTED
    except UnmaskError as error:
        return _show_error(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _show_error(f"{where}{error.strerror or error}")


def _explain_usage(error: Any) -> str:
    """What was wrong with the words that were typed, and where to look."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "unmask"
    parameters = context.command.params if context else []
    arguments = [(one.metavar or one.name).lower() for one in parameters if one.param_type_name == "argument"]
    option = getattr(error, "option_name", "").lstrip("-")
    if option in arguments and type(error).__name__ == "NoSuchOption":
        return f"{option} is given without --{option}: {command} {option.upper()}; see {command} --help"
    line = error.format_message().replace(" (Possible options: --help)", "").rstrip(".")
    return f"{line} See {command} --help" if line.endswith("?") else f"{line}; see {command} --help"


def _show_error(line: str) -> int:
    typer.echo(f"unmask: {' '.join(line.split())}", err=True)
    return 2

"""The command line: one file a verb, thin. Heavy imports happen inside the verb, so that `--help` is quick."""

from __future__ import annotations

import sys
from typing import Any

import typer

from unmask.cli import analyse, audit, compare, finetune, mitigate, models, report, rewrite, studies
from unmask.errors import Stopped, UnmaskError

INTERRUPTED = 130
UsageError: Any = typer.BadParameter.__bases__[0]  # typer brings its own click, or uses the one installed

app = typer.Typer(
    name="unmask",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Measure gender bias in language models: audit a model, analyse recorded scores, compare before and"
    " after, train a model to audit, rewrite text into another gender, run a paper's study.",
    epilog="Start with: unmask audit",
)
app.command("audit")(audit.command)
app.command("analyse")(analyse.command)
app.command("compare")(compare.command)
app.command("report")(report.command)
app.command("mitigate")(mitigate.command)
app.command("finetune")(finetune.command)
app.command("rewrite")(rewrite.command)
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
) -> None:
    """Nothing to do before a verb."""


def main() -> None:
    """Run a verb; bad input is one line and exit code 2, Ctrl-C is 130."""
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help has been shown
            return 2
        context = getattr(error, "ctx", None)
        where = context.command_path if context else "unmask"
        return _say(f"{error.format_message().rstrip('.')}; see {where} --help")
    except (KeyboardInterrupt, typer.Abort, Stopped) as error:
        _say(str(error) or "stopped; a folder is written whole or not at all")
        return INTERRUPTED
    except UnmaskError as error:
        return _say(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}")


def _say(line: str) -> int:
    typer.echo(f"unmask: {' '.join(line.split())}", err=True)
    return 2

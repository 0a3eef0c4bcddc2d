"""The command line: one file a verb, thin. Heavy imports happen inside the verb, so that `--help` is quick."""

from __future__ import annotations

import sys

import click
import typer

from unmask.cli import analyse, audit
from unmask.errors import UnmaskError

app = typer.Typer(
    name="unmask",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Measure gender bias in language models: audit a model, or analyse recorded scores.",
    epilog="Start with: unmask audit bert-base-uncased",
)
app.command("audit")(audit.command)
app.command("analyse")(analyse.command)


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
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        typer.echo(error.format_message())
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "unmask"
        return _say(f"{error.format_message().rstrip('.')}; see {where} --help")
    except (KeyboardInterrupt, click.Abort):
        _say("stopped; nothing was written")
        return 130
    except UnmaskError as error:
        return _say(str(error))
    except OSError as error:
        return _say(f"{error.filename or 'a file'}: {error.strerror or error}; nothing was written")


def _say(line: str) -> int:
    typer.echo(f"unmask: {' '.join(line.split())}", err=True)
    return 2

"""`unmask study list` and `unmask study run NAME`: each study is a command with its own options."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from unmask.cli.generate import Json, add_command, with_options
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from unmask.options import Options
    from unmask.studies.study import Study


def _make_command(study: Study) -> Callable[..., None]:
    """The command that runs a study, with the options of the study and of a run."""

    def combine_options() -> type[Options]:
        from unmask.studies.study import RunOptions

        content = {"__module__": study.Options.__module__, "__doc__": study.Options.__doc__}
        return type(study.Options.__name__, (study.Options, RunOptions), content)

    @with_options(combine_options)
    def command(options: Any, *, as_json: Json = False) -> None:
        from unmask.cli.output import show_steps, show_study
        from unmask.studies.study import run_study

        with show_steps() as (planned, watch):
            run = run_study(study, options, options.out, options, planned=planned, watch=watch)
        show_study(run, as_json=as_json)
        if run.failures:
            raise typer.Exit(1)

    command.__doc__ = study.description
    return command  # type: ignore[no-any-return]


class StudyCommands(TyperGroup):
    """The studies as commands, each built when it is needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the studies. A plug-in that cannot be loaded is left out; `unmask list studies` says why."""
        from unmask.studies.study import get_study, study_names

        del ctx
        names = []
        for name in study_names():
            try:
                names.append(get_study(name).name)
            except UnmaskError:
                continue
        return names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a study."""
        from unmask.studies.study import get_study

        del ctx
        study = get_study(cmd_name)
        holder = typer.Typer(rich_markup_mode="markdown", add_completion=False)
        add_command(holder, study.name, _make_command(study), short_help=study.about, no_args_is_help=True)
        return typer.main.get_command(holder)


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Reproduce published experiments, or calibrate the tests: list them, run one. Interrupted runs resume.",
)
run = typer.Typer(
    cls=StudyCommands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    subcommand_metavar="STUDY [OPTIONS]",
    help="Run a study: train what it compares, measure it, and print the tables. Each has its own options:"
    " `unmask study run STUDY --help`.",
)
app.add_typer(run, name="run")


def list_command() -> None:
    """Show the studies that can be run. The same as `unmask list studies`."""
    from unmask.cli.listing import show_entries

    show_entries("studies")


add_command(app, "list", list_command)

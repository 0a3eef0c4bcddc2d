"""`unmask audit MODEL…`, `unmask analyse ITEMS`, and `unmask init`, which writes a file of settings for audits."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.generate import Json, with_options
from unmask.errors import Stopped, UnmaskError

if TYPE_CHECKING:
    from unmask.options import Options
    from unmask.workflows.audit_options import AnalyseOptions, AuditCommand

WIDTH = 100
HEAD = """\
# Settings for: unmask audit --config {name}

# Every option of unmask audit is here, with its default. Take away the # in front of a setting to
# change it. "" and [] say that nothing is given; a list has what can be given several times, as in
# measure = ["association", "geometry"]. What is typed on the command line wins over this file, and
# paths are relative to it.
"""


def _import_options() -> type[Options]:
    from unmask.workflows.audit_options import audit_command

    return audit_command()


def _read_config(path: Path) -> Mapping[str, Any]:
    """The options that a file states; notes go to the terminal."""
    from unmask.workflows.audit_options import load_config

    config = load_config(path)
    for note in config.notes:
        typer.echo(f"unmask: {note}", err=True)
    return config.values


@with_options(_import_options, read_config=_read_config)
def audit_command(
    options: AuditCommand,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            help="A file of options: an audit.toml with the names of these options (unmask init writes one), or the"
            " result.json of an audit to repeat. The command line wins over it.",
        ),
    ] = None,
) -> None:
    """Measure gender bias in a model, or rank several models.

    - association: how likely does a masked language model find women and men (she, my brother, …) next to 60
      professions?
    - sentiment: does a classifier rate the female and the male version of a review differently?
    - inference: does a classifier of pairs infer from *the nurse is waiting* that a woman is? For 107 occupations.
    - geometry: are professions closer to *he* or *she* in the embedding space, and does gender remain separable after
      its direction is removed?

    Writes a folder with result.json, the items behind every number, and report.html.

    Several models are audited one after the other, or in parallel with `--engine ray`, and ranked on one page. If the
    run is interrupted or a model fails, run the same command again: finished audits are kept.

    Examples:

    - `unmask audit` (the small model in the package)
    - `unmask audit bert-base-uncased --out audits/bert`
    - `unmask audit bert-base-uncased --full` (geometry of the papers' vocabularies)
    - `unmask audit vectors.bin` (a file of word vectors)
    - `unmask audit ./my-german-bert --language de`
    - `unmask audit unmask-mini-sentiment`
    - `unmask audit unmask-mini-nli`
    - `unmask audit ./my-classifier --texts reviews.csv --terms pronouns --terms all`
    - `unmask audit --config audits/bert/result.json` (repeat an audit)
    - `unmask audit bert-base-uncased roberta-base ./my-bert --out audits/three` (rank three models)
    """
    if len(options.models) > 1:
        _audit_many(options)
    else:
        _audit_one(options, config)


def _audit_one(options: AuditCommand, config: Path | None) -> None:
    """Audit a model with a progress bar, and print the findings; if the options are of another audit, what differs."""
    from unmask.cli.output import show_bar, show_result
    from unmask.files import check_new_path
    from unmask.options import EngineOptions
    from unmask.results.storage import free_name, read
    from unmask.workflows.audit import run_audit
    from unmask.workflows.audit_options import list_differences

    for name, default in dict(EngineOptions()).items():
        if getattr(options, name) != default:
            raise UnmaskError(f"--{name} is for audits of several models; give another model, or leave it out")
    (model,) = options.models
    folder = options.out or free_name(model)
    check_new_path(folder)
    workspace = folder.with_name(f"{folder.name}.unfinished")
    try:
        with show_bar("Scoring") as progress:
            audit = run_audit(model, options.replace(workspace=workspace), progress=progress)
    except KeyboardInterrupt:
        if workspace.is_dir():
            message = f"interrupted; partial results are in {workspace}, and the same command continues"
            raise Stopped(message) from None
        raise
    show_result(audit, folder, as_json=options.as_json)
    shutil.rmtree(workspace, ignore_errors=True)
    if config is not None and config.suffix.lower() == ".json":
        for line in list_differences(read(config), audit.result):
            typer.echo(f"unmask: not as in {config}: {line}", err=True)


def _audit_many(options: AuditCommand) -> None:
    """Audit models with a progress bar, and print their ranking; exit with 1 if a model failed."""
    from rich.console import Console
    from rich.text import Text

    from unmask.cli.output import show_steps
    from unmask.results import storage
    from unmask.workflows.ranking import OUT, audit_many, ranking_rows, show_ranking

    models, out = options.models, options.out or OUT
    settings = {
        name: value for name, value in dict(options).items() if name not in ("models", "workspace", *options.OUTPUT)
    }
    with show_steps("Models") as (_, watch):
        audited = audit_many(models, out, watch=watch, **settings)
    if kept := sum(outcome.status == "kept" for outcome in audited.outcomes.values()):
        typer.echo(f"{kept} of {len(models)} models had been audited before and were not audited again", err=True)
    folders = {model: out / folder.relative_to(out.resolve()) for model, folder in audited.folders.items()}
    results = [storage.load(folder) for folder in folders.values()]
    if options.as_json:
        content = {
            "ranking": list(ranking_rows(results)),
            "audits": {model: str(folder) for model, folder in folders.items()},
            "failures": audited.failures,
            "report": None if audited.page is None else str(audited.page),
        }
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        console = Console()
        if audited.page is not None:
            show_ranking(results, console)
        console.print()
        for model, folder in folders.items():
            console.print(Text(f"Report of {model}: {folder / 'report.html'}"), soft_wrap=True)
        if audited.page is not None:
            console.print(Text(f"Ranking: {audited.page}"), soft_wrap=True)
    if audited.failures:
        names = ", ".join(audited.failures)
        count = f"{len(audited.failures)} of {len(models)} models"
        line = f"unmask: {count} could not be audited: {names}; see the reason above, then run the same command again"
        typer.echo(line, err=True)
        raise typer.Exit(1)


@with_options("unmask.workflows.audit_options:AnalyseOptions")
def analyse_command(
    options: AnalyseOptions,
    items: Annotated[
        Path,
        typer.Argument(help="Recorded scores, one row per item: an audit folder, .jsonl, .csv, .tsv or .parquet."),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write; it must not exist. Default: audits/NAME, numbered if taken."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Analyse recorded scores, without the model that gave them.

    Takes an audit folder or its items, or a file with the scores of another program. --measure lists the columns that
    each measure needs. The files that the authors of BEC-Pro and CrowS-Pairs released, or their code writes, can be
    read as they are.

    Examples:

    - `unmask analyse scores.tsv --language de --out audits/theirs`
    - `unmask analyse ratings.csv --protocol published`
    - `unmask analyse crows-pairs-scores.csv` (as the authors' code writes it)
    """
    from unmask.cli.output import show_result
    from unmask.files import check_new_path
    from unmask.results.storage import free_name
    from unmask.workflows.audit import analyse

    if out is not None:
        check_new_path(out)
    audit = analyse(items, **dict(options))
    show_result(audit, out or free_name(audit.result.model.name), as_json=as_json)


def init_command(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist.")] = Path("audit.toml"),
) -> None:
    """Write a file of settings for unmask audit, with every option explained.

    Nothing is set in it: take the # away from what you want to change, then run unmask audit --config FILE.

    Examples:

    - `unmask init`
    - `unmask init settings/bert.toml`
    """
    from unmask.files import write_text
    from unmask.option_files import toml_template

    if file.exists():
        raise UnmaskError(f"{file} exists; give another name, or remove it first")
    if file.suffix.lower() == ".json":
        raise UnmaskError(f"{file} would be read as a result; give a name that ends in .toml")
    parts = [HEAD.format(name=file.name)]
    parameters = [parameter for parameter in _import_options().parameters().values() if parameter.cli]
    for panel, settings in toml_template(parameters).items():
        parts += [f"\n# {f' {panel} '.center(WIDTH - 2, '-')}\n"] if panel else []
        for text, line in settings:
            wrapped = textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
            parts.append("\n".join([*wrapped, f"#{line}\n"]))
    write_text(file, "\n".join(parts))
    typer.echo(f"Wrote {file}. Edit it, then run: unmask audit --config {file}")

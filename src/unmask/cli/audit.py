"""`unmask audit MODEL…`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.options import Options
    from unmask.workflows.audit_options import AuditCommand


def _options() -> type[AuditCommand]:
    from unmask.workflows.audit_options import audit_command

    return audit_command()


def _read_config(path: Path, options: type[Options]) -> Mapping[str, Any]:
    """The options that a file states; notes go to the terminal."""
    from unmask.workflows.audit_options import load_config

    del options
    config = load_config(path)
    for note in config.notes:
        typer.echo(f"unmask: {note}", err=True)
    return config.values


@with_options(_options, read_config=_read_config)
def command(
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

    A masked language model is asked how likely it finds women and men (she, my brother, …) beside 60 professions. A
    classifier of texts rates reviews in a female and a male version. A classifier of pairs is asked whether a nurse is
    a woman, and so of 106 more occupations. Geometry looks at the vectors of words, an encoder's in sentences or those
    of a file: where do professions lie between he and she, and with that direction taken out, do words of men and of
    women still lie apart, more than words of other contrasts? Leaves a folder with result.json, the items behind every
    number, and report.html.

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
    import shutil

    from unmask.cli import audit_many
    from unmask.cli.output import finish
    from unmask.cli.progress import bar
    from unmask.errors import Stopped, UnmaskError
    from unmask.files import check_new_path
    from unmask.options import EngineOptions
    from unmask.results.storage import free_name
    from unmask.workflows.audit import run_audit

    if len(options.models) > 1:
        own = {
            name: value for name, value in dict(options).items() if name not in ("models", "workspace", *options.OUTPUT)
        }
        audit_many.run(options.models, options.out, as_json=options.as_json, **own)
        return
    engine = EngineOptions()
    if given := [name for name, value in dict(engine).items() if getattr(options, name) != value]:
        raise UnmaskError(f"--{given[0]} is for audits of several models; give another model, or leave it out")
    (model,) = options.models
    folder = options.out or free_name(model)
    check_new_path(folder)
    workspace = folder.with_name(f"{folder.name}.unfinished")
    try:
        with bar("Scoring") as progress:
            audit = run_audit(model, options.replace(workspace=workspace), progress=progress)
    except KeyboardInterrupt:
        if workspace.is_dir():
            raise Stopped(
                f"interrupted; the ratings so far are in {workspace}, and the same command continues"
            ) from None
        raise
    finish(audit, folder, as_json=options.as_json)
    shutil.rmtree(workspace, ignore_errors=True)
    if config is not None and config.suffix.lower() == ".json":
        from unmask.results.storage import read
        from unmask.workflows.audit_options import list_differences

        for line in list_differences(read(config), audit.result):
            typer.echo(f"unmask: not as in {config}: {line}", err=True)

"""`unmask audit MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, Out, ProtocolName, Seed
from unmask.embedded import DEFAULT


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A model or adapter folder, a hub id such as bert-base-uncased, or an embedded model (unmask models)."
        ),
    ] = DEFAULT,
    measure: Annotated[
        list[str] | None, typer.Option(help="What to measure: association. Default: all that fit the model.")
    ] = None,
    language: Annotated[list[str] | None, typer.Option(help="en or de; can be given twice. Default: en.")] = None,
    protocol: ProtocolName = "sound",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="bec-pro (people and professions), emotions (English: people and emotions), agreement-free (German:"
            " professions in sentences without gender agreement). Default: bec-pro, and agreement-free for German."
        ),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(help="CSV of your own templates: a column 'template' with {person} and {profession}."),
    ] = None,
    persons: Annotated[
        Path | None, typer.Option(help="CSV of your own person words: 'phrase' and 'gender' (female, male).")
    ] = None,
    professions: Annotated[
        Path | None,
        typer.Option(
            help="CSV of your own professions: 'profession', and 'group' and 'workforce_share' if you have them."
        ),
    ] = None,
    out: Out = None,
    seed: Seed = 42,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps …")] = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Measure gender bias in a masked language model.

    Asks the model how likely it finds women and men (she, my brother, …) beside 60 professions, and leaves a folder
    with result.json, items/association.parquet and report.html.

    Examples:

    - `unmask audit` (the small model in the package)
    - `unmask audit bert-base-uncased --out audits/bert`
    - `unmask audit ./my-german-bert --language de`
    """
    from unmask import api
    from unmask.cli.output import finish
    from unmask.cli.progress import bar
    from unmask.files import refuse_existing
    from unmask.results.storage import free_name

    if out is not None:
        refuse_existing(out)
    with bar("Scoring sentences") as progress:
        audit = api.audit(
            model,
            measures=tuple(measure or ("association",)),
            languages=tuple(language or ("en",)),
            protocol=protocol,
            corpora=tuple(corpus or ()),
            templates=templates,
            persons=persons,
            professions=professions,
            seed=seed,
            device=device,
            offline=offline,
            allow_pickle=allow_pickle,
            allow_remote_code=allow_remote_code,
            progress=progress,
        )
    finish(audit, out or free_name(model), as_json=as_json)

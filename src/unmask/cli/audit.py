"""`unmask audit MODEL…`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli import audit_options as options
from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, ProtocolName, Seed
from unmask.cli.studies.options import Address, Cpus, EngineName, Gpus
from unmask.embedded import DEFAULT

if TYPE_CHECKING:
    from unmask.api import Audit


def _configure(context: typer.Context, path: Path | None) -> Path | None:
    """Let a file say what the command line does not."""
    if path is not None:
        from unmask.cli import config, parameters

        context.obj = config.read(path, parameters.parameters(command))
        context.default_map = dict(context.obj.values)
        for note in context.obj.notes:
            typer.echo(f"unmask: {note}", err=True)
    return path


def command(
    context: typer.Context,
    model: options.Models = None,
    config: Annotated[
        Path | None,
        typer.Option(
            is_eager=True,
            callback=_configure,
            help="A file of settings: an audit.toml with the names of these options (unmask init writes one), or the"
            " result.json of an audit to repeat. The command line wins over it.",
        ),
    ] = None,
    measure: options.Measures = None,
    language: options.Languages = None,
    protocol: ProtocolName = "sound",
    corpus: options.Corpora = None,
    persons: options.Persons = None,
    professions: options.Professions = None,
    templates: options.Templates = None,
    terms: options.Terms = None,
    names: options.Names = False,
    texts: options.Texts = None,
    positive: options.Positive = None,
    long_texts: options.LongTexts = "head",
    lists: options.Lists = None,
    limit: options.Limit = None,
    most_tokens: options.MostTokens = None,
    occupations: options.Occupations = None,
    people: options.People = None,
    captions: options.Captions = None,
    labels: options.Labels = None,
    layers: options.Layers = 4,
    pooling: options.PoolingName = "first+last",
    words: options.Words = None,
    word_list: options.WordList = None,
    full: options.Full = False,
    contrasts: options.Contrasts = 99,
    out: options.Out = None,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Seed = 42,
    device: options.Device = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
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

    from unmask import api
    from unmask.cli import audit_many
    from unmask.cli.output import finish
    from unmask.cli.progress import bar
    from unmask.errors import Stopped
    from unmask.files import refuse_existing
    from unmask.results.storage import free_name

    choices: dict[str, Any] = {
        "measures": tuple(measure or ()),
        "languages": tuple(language or ("en",)),
        "protocol": protocol,
        "corpora": tuple(corpus or ()),
        "templates": templates,
        "persons": persons,
        "professions": professions,
        "terms": tuple(terms or ()),
        "names": names,
        "texts": texts,
        "limit": limit,
        "positive": positive,
        "long_texts": "" if long_texts == "head" else long_texts,
        "most_tokens": most_tokens,
        "lists": lists,
        "people": people,
        "occupations": occupations,
        "captions": captions,
        "labels": labels or (),
        "layers": layers,
        "pooling": pooling,
        "words": words,
        "word_list": word_list,
        "full": full,
        "contrasts": contrasts,
        "seed": seed,
        "device": device,
        "offline": offline,
        "allow_pickle": allow_pickle,
        "allow_remote_code": allow_remote_code,
    }
    engine_choices = {"engine": engine, "address": address, "cpus": cpus, "gpus": gpus}
    if len(model or ()) > 1:
        audit_many.run(model or (), out, as_json=as_json, **engine_choices, **choices)
        return
    audit_many.refuse_engine(engine_choices)
    name = model[0] if model else DEFAULT
    folder = out or free_name(name)
    refuse_existing(folder)
    workspace = folder.with_name(f"{folder.name}.unfinished")
    try:
        with bar("Scoring") as progress:
            audit = api.audit(name, workspace=workspace, progress=progress, **choices)
    except KeyboardInterrupt:
        if workspace.is_dir():
            raise Stopped(f"stopped; the ratings so far are in {workspace}, and the same command goes on") from None
        raise
    finish(audit, folder, as_json=as_json)
    shutil.rmtree(workspace, ignore_errors=True)
    _say_what_differs(context, config, audit)


def _say_what_differs(context: typer.Context, config: Path | None, audit: Audit) -> None:
    """Where an audit was repeated, say what was not as it had been."""
    if context.obj is None or context.obj.result is None:
        return
    from unmask.auditing.repeating import differences

    for line in differences(context.obj.result, audit.result):
        typer.echo(f"unmask: not as in {config}: {line}", err=True)

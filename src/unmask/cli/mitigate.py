"""`unmask mitigate MODEL --method NAME --out DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline


def _list(value: bool) -> None:
    """Show what methods there are, and what can be set."""
    if value:
        from unmask.cli.output import show_methods

        show_methods()
        raise typer.Exit


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A masked language model: an embedded one, a folder, or a hub id; for hard-debias, a file of word"
            " vectors (word2vec or GloVe)."
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            help="cds, cda (train on text in the other gender), context-debias (train with a loss of its own),"
            " sent-debias, leace (take gender out of the last hidden state; no training), hard-debias (word vectors),"
            " or a plug-in's (unmask list mitigations)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist.")],
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="The text to learn from: gap, imdb, a plug-in's data set (unmask list datasets), or a file (.txt with"
            " a document a line, .csv, .tsv, .jsonl or .parquet with a column 'text'; also .gz and .xz). Can be given"
            " several times. Default: gap."
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as epochs=1; see --methods."),
    ] = None,
    methods: Annotated[
        bool,
        typer.Option("--methods", callback=_list, is_eager=True, help="Show every method with its settings, and exit."),
    ] = False,
    protocol: Annotated[
        str, typer.Option(help="sound: the method done right. published: what the paper's code did (cds).")
    ] = "sound",
    language: Annotated[str, typer.Option(help="Of the text: en or de.")] = "en",
    seed: Annotated[int, typer.Option(min=0, help="Seeds what is drawn: documents, masks, the order, dropout.")] = 42,
    device: Annotated[str, typer.Option(help="auto or cpu.")] = "auto",
    restart: Annotated[bool, typer.Option("--restart", help="Forget an unfinished run and begin again.")] = False,
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Debias a model, and write it as a normal model folder that loads anywhere.

    Beside the weights stand mitigation.json (how it was made, from which weights, on what text) and a model card. The
    folder is loaded again and compared before it is left to you. An interrupted run goes on with the same command, and
    ends with the same weights.

    Examples:

    - `unmask mitigate unmask-mini --method cds --out debiased` (fine-tune on GAP, people and names exchanged)
    - `unmask mitigate bert-base-uncased --method leace --corpus texts.txt --out erased`
    - `unmask mitigate vectors.bin --method hard-debias --set format=glove --out debiased-vectors`
    - `unmask compare unmask-mini debiased` (did it help, and at what cost?)
    """
    del methods
    from unmask.cli.output import show_mitigation
    from unmask.cli.progress import bar, training
    from unmask.mitigations import Request, run
    from unmask.mitigations.method import split
    from unmask.models.sources import LoadOptions

    request = Request(
        model=model,
        method=method,
        out=out,
        corpus=tuple(corpus or ()),
        settings=split(set_ or ()),
        protocol=protocol,
        language=language,
        seed=seed,
        restart=restart,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    request.check()
    with training() as (say, watch), bar("Working through the text") as progress:
        record = run(request, say=say, watch=watch, progress=progress)
    show_mitigation(record, out, as_json=as_json)

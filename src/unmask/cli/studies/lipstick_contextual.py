"""`unmask study run lipstick-contextual`."""

from __future__ import annotations

from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, ProtocolName
from unmask.cli.studies.options import Address, Cpus, Device, EngineName, Gpus, Out, carry_out
from unmask.errors import UnmaskError

NAME = "lipstick-contextual"
ABOUT = "A model before and after debiasing: clusters, neighbours, classifiers of words in sentences (Bhang et al.)."


def command(
    out: Out,
    model: Annotated[
        str, typer.Option(help="The model that is debiased: a folder, a hub id or an embedded model.")
    ] = "unmask-mini",
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="How to debias it: sent-debias, context-debias, cds, leace, cda; can be given several times. Default:"
            " the first four, unless --debiased is given."
        ),
    ] = None,
    debiased: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FOLDER of a model that is debiased already; can be given several times."),
    ] = None,
    vocabulary: Annotated[
        list[str] | None,
        typer.Option(
            help="Whose words are asked about: nouns (2,000, in the package), word2vec or glove (the papers'; all their"
            " nouns). Default: word2vec and glove where their files are on this machine, else nouns."
        ),
    ] = None,
    corpus: Annotated[
        list[str] | None, typer.Option(help="The text that methods learn from, as in unmask mitigate. Default: gap.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="METHOD.NAME=VALUE: a setting of a method, such as cds.epochs=1.")
    ] = None,
    protocol: ProtocolName = "sound",
    words: Annotated[int | None, typer.Option(help="Ask about so many words of each vocabulary, for a trial.")] = None,
    contrasts: Annotated[int, typer.Option(help="Sound: with how many other contrasts gender is compared.")] = 99,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Annotated[int, typer.Option(min=0, help="Seeds debiasing, clusters, contrasts, splits and maps.")] = 42,
    device: Device = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Is gender gone from a model after debiasing, or only hidden? Table 2, Figures 4 to 7.

    Every word stands in eleven sentences that say next to nothing. The words that were most biased in the model before
    are clustered, classified, and their neighbours counted, in it and in each debiased version. sound sets every value
    beside what contrasts give that have nothing to do with gender; published repeats the paper's code.

    A cell (a debiased model, a measurement) is done once and kept under --out; when a run is stopped, the same command
    goes on.

    Examples:

    - `unmask study run lipstick-contextual --vocabulary nouns --method leace --contrasts 19 --out trial` (minutes)
    - `unmask study run lipstick-contextual --out lipstick` (unmask-mini, four methods, all words; hours on a CPU)
    - `unmask study run lipstick-contextual --model bert-base-uncased --debiased mine=./debiased --out mine`
    """
    from unmask import api
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.lipstick.study import Request

    settings = []
    for one in set_ or ():
        name, is_pair, value = one.partition("=")
        of, has_method, setting = name.partition(".")
        if not is_pair or not has_method:
            raise UnmaskError(f"--set {one} is no setting; give METHOD.NAME=VALUE, such as cds.epochs=1")
        settings.append((of, setting, value))
    request = Request(
        static=False,
        model=model,
        methods=tuple(method) if method else None,
        debiased=tuple(debiased or ()),
        vocabularies=tuple(vocabulary or ()),
        corpus=tuple(corpus or ()),
        settings=tuple(settings),
        protocol=protocol,
        words=words,
        contrasts=contrasts,
        seed=seed,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    carry_out(api.run_lipstick_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)

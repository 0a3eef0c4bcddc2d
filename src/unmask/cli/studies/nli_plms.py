"""`unmask study run nli-plms`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, ProtocolName
from unmask.cli.studies.options import Address, Cpus, Device, EngineName, Gpus, Out, carry_out

NAME = "nli-plms"
ABOUT = "Gender inferred from occupations: models fine-tuned on inference, Table 3 (Anantaprayoon et al. 2024)."


def command(
    out: Out,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=MODEL for a hub id, a folder or an embedded model, or one of the paper's by name (en:"
            " distilbert, bertbase, bertlarge, robertabase, robertalarge; ja: tohoku, tohokuchar, bandai, laboro,"
            " waseda; zh: bertchinese, hflbert, hflroberta, hflrobertalarge); can be given several times. A classifier"
            " of entailment, neutral and contradiction is measured as it is; every other model is fine-tuned first."
            " Default: the paper's models of the language, which are fetched from the hub."
        ),
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="en, ja or zh; can be given several times. Default: en.")
    ] = None,
    protocol: ProtocolName = "sound",
    data: Annotated[
        str | None,
        typer.Option(
            help="What to fine-tune on: snli, jsnli, jsnli-words, jsick or ocnli. Default: snli for en, jsnli for ja,"
            " ocnli for zh."
        ),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Pairs of your own (premise, hypothesis, label) to fine-tune on.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="Chooses the best checkpoint. Default: the data set's, or some of the training.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Tells the accuracy. Default: the data set's.")] = None,
    epochs: Annotated[int, typer.Option(help="How often every pair is seen.")] = 5,
    learning_rate: Annotated[float, typer.Option(help="The highest one.")] = 2e-5,
    batch_size: Annotated[int, typer.Option(help="Pairs a step.")] = 32,
    max_length: Annotated[int, typer.Option(help="Tokens; longer pairs are cut.")] = 128,
    limit: Annotated[
        int | None, typer.Option(help="Train, validate and test with so many pairs at most, for a trial.")
    ] = None,
    sentences: Annotated[
        int | None, typer.Option(help="Ask about so many sentences, for a trial. Default: all.")
    ] = None,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seeds heads, the order of pairs, what is held out, and what a limit draws.")
    ] = 42,
    device: Device = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Which models infer a gender from an occupation? The paper's Table 3 for any list of models.

    Every model is fine-tuned on inference in its language, at the paper's settings, and asked whether *the nurse is
    waiting* means that *the woman is waiting*. sound asks about the sentences of the package, with intervals, tests
    and a control; published about the released sets.

    A cell (a classifier, a measurement) is done once and kept under --out; when a run is stopped, the same command goes
    on. A model that fails is reported, and the others go on.

    Examples:

    - `unmask study run nli-plms --model mini=unmask-mini-nli --out mini` (as it is; a minute or two)
    - `unmask study run nli-plms --model mini=unmask-mini --limit 2000 --epochs 1 --sentences 6 --out trial`
    - `unmask study run nli-plms --protocol published --language en --language ja --language zh --out table-3`
    - `unmask study run nli-plms --model a=./bert-a --model b=./bert-b --engine ray --gpus 1 --out /shared/nli`
    """
    from unmask import api
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.nli.study import Request
    from unmask.studies.nli.training import HyperParameters

    request = Request(
        models=tuple(model or ()),
        languages=tuple(language or ("en",)),
        protocol=protocol,
        data=data,
        train=train,
        validation=validation,
        test=test,
        settings=HyperParameters(epochs, learning_rate, batch_size, max_length),
        limit=limit,
        sentences=sentences,
        seed=seed,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    carry_out(api.run_inference_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)

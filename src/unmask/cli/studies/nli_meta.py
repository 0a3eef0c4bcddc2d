"""`unmask study run nli-meta`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, ProtocolName
from unmask.cli.studies.options import Address, Cpus, Device, EngineName, Gpus, Out, carry_out
from unmask.cli.studies.planting import EVERY_RATE, BatchSize, Epochs, LearningRate, Rates, Seeds, named, numbers

NAME = "nli-meta"
ABOUT = "Does the NLI-CoAL score track planted bias? Table 2 and Figure 4 (Anantaprayoon et al. 2024)."


def command(
    out: Out,
    language: Annotated[
        list[str] | None, typer.Option(help="en, ja or zh; can be given several times. Default: en.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="The classifier of inference to start from, or LANGUAGE=MODEL for one of several languages. Default:"
            " unmask-mini-nli, which knows English."
        ),
    ] = None,
    protocol: ProtocolName = "sound",
    rates: Rates = EVERY_RATE,
    rows: Annotated[int, typer.Option(help="Pairs to train on, 80 or more; a tenth as many to validate.")] = 30_000,
    captions: Annotated[
        list[str] | None,
        typer.Option(
            help="Sentences to train on: image captions, one a line, or LANGUAGE=FILE. Default: Flickr8k for English,"
            " if it is on this machine, else the sentences of the package."
        ),
    ] = None,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = 32,
    max_length: Annotated[int | None, typer.Option(help="Tokens. Default: 128.")] = None,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Seeds = None,
    device: Device = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Does a score of biased inference follow bias that is put in on purpose?

    A model is trained eleven times, on pairs whose wrong labels follow the stereotype more and more often. At every
    rate as much is wrong, so only a score that tells biased inference from plain error can rank the models.

    A cell (a model, its scores) is done once and kept under --out; when a run is stopped, the same command goes on.

    Examples:

    - `unmask study run nli-meta --rows 2000 --rates 0,.2,.5,.8,1 --out trial` (some minutes)
    - `unmask study run nli-meta --protocol published --language en --model ./bert-snli --out table-2`
    - `unmask study run nli-meta --language ja --model ./bert-jsnli --captions sentences.txt --out ja`
    """
    from unmask import api
    from unmask.errors import UnmaskError
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.meta.study import Request

    languages = tuple(language or ("en",))
    models = {
        f"inference-{name}" if name else "inference": one
        for name, one in named(model, "model", languages, alone=True).items()
    }
    files = named(captions, "file", languages, alone=True)
    if "" in files and len(languages) > 1:
        raise UnmaskError(f"--captions {files['']} is of one language; say which: LANGUAGE={files['']}")
    request = Request(
        languages=languages,
        protocol=protocol,
        models=models,
        rates=numbers(rates),
        seeds=tuple(seed or (42,)),
        rows=rows,
        captions={name or languages[0]: Path(file) for name, file in files.items()},
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        max_length=max_length,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
        study=NAME,
    )
    carry_out(api.run_meta_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)

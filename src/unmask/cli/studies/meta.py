"""`unmask study run meta`."""

from __future__ import annotations

from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline
from unmask.cli.studies.options import Address, Cpus, Device, EngineName, Gpus, Out, carry_out
from unmask.cli.studies.planting import EVERY_RATE, BatchSize, Epochs, LearningRate, Rates, Seeds, named, numbers

NAME = "meta"
ABOUT = "Do measures track bias that was planted on purpose? Association, sentiment and inference side by side."


def command(
    out: Out,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="association, sentiment or inference; or geometry, crows-pairs or another of `unmask list`, which are"
            " asked about the models of association. Can be given several times. Default: the first three."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="MEASURE=MODEL, the model to plant bias in. Default: the embedded one that fits."),
    ] = None,
    rates: Rates = EVERY_RATE,
    rows: Annotated[int, typer.Option(help="Inference: pairs to train on, 80 or more.")] = 30_000,
    texts: Annotated[int, typer.Option(help="Sentiment: reviews to train on.")] = 2_000,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    batch_size: BatchSize = 32,
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
    """How well does each measure rank models whose bias is known?

    For every measure, models are trained with a controlled amount of bias, from all planted pairings against the
    stereotype (rate 0) to all with it (rate 1), and scored. The table says which score ranks them rightly, and how
    closely the rate can be read off it.

    A cell (a model, its scores) is done once and kept under --out; when a run is stopped, the same command goes on.

    Examples:

    - `unmask study run meta --measure association --rates 0,.2,.4,.6,.8,1 --out trial` (some minutes)
    - `unmask study run meta --measure association --measure geometry --out masked`
    - `unmask study run meta --seed 1 --seed 2 --seed 3 --engine ray --gpus 0.25 --out meta`
    """
    from unmask import api
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.meta.study import EXPERIMENTS, Request

    measures = tuple(measure or EXPERIMENTS)
    request = Request(
        measures=measures,
        models=named(model, "model", Request(measures=measures).places(), alone=False),
        rates=numbers(rates),
        seeds=tuple(seed or (42,)),
        rows=rows,
        texts=texts,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
        study=NAME,
    )
    carry_out(api.run_meta_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)

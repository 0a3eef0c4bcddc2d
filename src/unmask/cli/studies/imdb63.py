"""`unmask study run imdb-63`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, ProtocolName
from unmask.cli.studies.options import Address, Cpus, Device, EngineName, Gpus, Out, carry_out

NAME = "imdb-63"
ABOUT = "Gender bias of 63 film review classifiers: 7 base models × 7 training conditions (Jentzsch and Turan 2022)."


def command(
    out: Out,
    protocol: ProtocolName = "sound",
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A base model: one of the paper's (distbase, bertbase, bertlarge, robertabase, robertalarge,"
            " albertbase, albertlarge), or NAME=MODEL for a hub id, a folder or an embedded model; can be given several"
            " times. Default: the paper's seven, which are fetched from the hub."
        ),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            help="A training condition: original, R-pro, R-weat, R-all (terms removed), mix-pro, mix-weat, mix-all"
            " (both versions); can be given several times. Default: all seven."
        ),
    ] = None,
    hyper_parameters: Annotated[
        Path | None,
        typer.Option(
            help="CSV by model and condition: model, condition, learning_rate, epochs, batch_size. Default: the same"
            " for all, as below."
        ),
    ] = None,
    learning_rate: Annotated[float, typer.Option(help="The highest one.")] = 2e-5,
    epochs: Annotated[int, typer.Option(help="How often every review is seen.")] = 3,
    batch_size: Annotated[
        int | None, typer.Option(help="Reviews a step. Default: 32; the paper's for its own.")
    ] = None,
    batch_sizes: Annotated[
        str, typer.Option(help="Train again with these batch sizes and compare, for instance 32,16,8.")
    ] = "",
    batch_model: Annotated[
        list[str] | None, typer.Option(help="Compare batch sizes of this model. Default: the first three.")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Reviews of your own to train on (text, label), with --test. Default: IMDB.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Reviews of your own to measure on.")] = None,
    limit: Annotated[int | None, typer.Option(help="Take so many reviews of each half, for a trial.")] = None,
    max_length: Annotated[int, typer.Option(help="Tokens; longer reviews are cut.")] = 512,
    lists: Annotated[Path | None, typer.Option(help="Published: the folder of the released term maps.")] = None,
    engine: EngineName = "local",
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seeds heads, the order of reviews, what is held out, and what a limit draws.")
    ] = 42,
    device: Device = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Does a film review classifier owe its bias to its reviews, its base model, or the terms it is measured with?

    A cell (texts, a classifier, a measurement) is done once and kept under --out; when a run is stopped, or a machine
    fails, the same command goes on. A cell that fails is reported, and the others go on.

    Examples:

    - `unmask study run imdb-63 --model mini=unmask-mini --limit 500 --epochs 1 --out trial` (some minutes)
    - `unmask study run imdb-63 --protocol published --hyper-parameters theirs.csv --out published`
    - `unmask study run imdb-63 --engine ray --address auto --gpus 1 --out /shared/imdb-63`
    """
    from unmask.errors import UnmaskError

    sizes = [part.strip() for part in batch_sizes.split(",") if part.strip()]
    if wrong := [part for part in sizes if not part.isdigit()]:
        raise UnmaskError(f"--batch-sizes has {wrong[0]!r}; give whole numbers such as 32,16,8")
    if (train is None) != (test is None):
        raise UnmaskError("give both --train and --test, or neither for IMDB")

    from unmask import api
    from unmask.models.sources import LoadOptions
    from unmask.studies.engine import Engine
    from unmask.studies.imdb63.study import Request

    request = Request(
        protocol=protocol,
        models=tuple(model or ()),
        conditions=tuple(condition or ()),
        hyper_parameters=hyper_parameters,
        learning_rate=learning_rate,
        epochs=epochs,
        batch_size=batch_size,
        batch_sizes=tuple(map(int, sizes)),
        batch_models=tuple(batch_model or ()),
        files=() if train is None or test is None else (train, test),
        limit=limit,
        max_length=max_length,
        lists=lists,
        seed=seed,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    carry_out(api.run_study, request, out, Engine(engine, address, cpus, gpus), as_json=as_json)

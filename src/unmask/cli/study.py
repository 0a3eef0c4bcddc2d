"""`unmask study list` and `unmask study run NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Offline, ProtocolName

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="The papers' experiments as grids of cells: list them, run one; a run that was stopped goes on.",
)


@app.command("list")
def list_studies() -> None:
    """Show the studies that can be run."""
    from unmask.studies.imdb63.grid import ABOUT, NAME

    typer.echo(f"{NAME}  {ABOUT}")


@app.command("run")
def run_study(
    name: Annotated[str, typer.Argument(help="imdb-63.")],
    out: Annotated[
        Path, typer.Option(help="The folder of the study. What is done there is kept, and the rest is done.")
    ],
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
    engine: Annotated[str, typer.Option(help="local (in this process) or ray.")] = "local",
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster. Default: one on this machine, for this run.")
    ] = None,
    cpus: Annotated[float, typer.Option(help="Ray: CPUs for each cell.")] = 1.0,
    gpus: Annotated[
        float | None, typer.Option(help="Ray: GPUs for each cell that trains or rates; 0.25 lets four share one.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seeds heads, the order of reviews, what is held out, and what a limit draws.")
    ] = 42,
    device: Annotated[str, typer.Option(help="auto or cpu.")] = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
) -> None:
    """Run a study: train what it compares, measure it, and print the paper's tables.

    A cell (texts, a classifier, a measurement) is done once and kept under --out; when a run is stopped, or a machine
    fails, the same command goes on. A cell that fails is reported, and the others go on.

    Examples:

    - `unmask study run imdb-63 --model mini=unmask-mini --limit 500 --epochs 1 --out trial` (some minutes)
    - `unmask study run imdb-63 --protocol published --hyper-parameters theirs.csv --out published`
    - `unmask study run imdb-63 --engine ray --address auto --gpus 1 --out /shared/imdb-63`
    """
    from unmask.errors import UnmaskError, one_of
    from unmask.studies.imdb63.grid import NAME

    one_of(name, (NAME,), "study")
    sizes = [part.strip() for part in batch_sizes.split(",") if part.strip()]
    if wrong := [part for part in sizes if not part.isdigit()]:
        raise UnmaskError(f"--batch-sizes has {wrong[0]!r}; give whole numbers such as 32,16,8")
    if (train is None) != (test is None):
        raise UnmaskError("give both --train and --test, or neither for IMDB")

    from unmask import api
    from unmask.cli.output import show_study
    from unmask.cli.progress import study
    from unmask.models.sources import LoadOptions
    from unmask.studies.imdb63.job import Engine
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
        loading=LoadOptions(device, offline, allow_pickle, allow_remote_code),
    )
    with study() as (planned, watch):
        finished, page = api.run_study(request, out, Engine(engine, address, cpus, gpus), planned=planned, watch=watch)
    show_study(finished, page)
    if finished.failures:
        raise typer.Exit(1)

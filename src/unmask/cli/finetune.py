"""`unmask finetune TASK MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline


def command(
    task: Annotated[
        str,
        typer.Argument(
            help="mlm (masked words), sentiment (the label of a text) or nli (the label of a premise and a hypothesis)."
        ),
    ],
    model: Annotated[
        str, typer.Argument(help="The base: an embedded model, a folder (a classifier or adapter too), or a hub id.")
    ],
    out: Annotated[Path, typer.Option(help="The model folder to write; it must not exist.")],
    data: Annotated[
        str | None,
        typer.Option(
            help="A known data set: imdb (sentiment); snli, jsnli, jsick or ocnli (nli; English, Japanese twice,"
            " Chinese; jsnli-words keeps the spaces between Japanese words)."
        ),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(
            help="A file of your own: .txt (mlm; one text a line), .csv, .tsv, .jsonl or .parquet, with text and label,"
            " or premise, hypothesis and label."
        ),
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="Chooses the best checkpoint. Default: some of --train.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Measured once, at the end.")] = None,
    held_out: Annotated[float, typer.Option(help="The share of --train to validate on, if need be.")] = 0.05,
    epochs: Annotated[int | None, typer.Option(help="How often every example is seen. Default: 3; 5 for nli.")] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The highest one. Default: 2e-5; 5e-5 for mlm; 5e-4 with --lora-rank.")
    ] = None,
    batch_size: Annotated[int, typer.Option(help="Examples a step, over all GPUs.")] = 32,
    accumulate: Annotated[int, typer.Option(help="Run a step in so many parts, to save memory.")] = 1,
    max_length: Annotated[int, typer.Option(help="Tokens; longer examples are cut (mlm: split).")] = 128,
    warmup: Annotated[float, typer.Option(help="The share of steps in which the learning rate rises.")] = 0.1,
    weight_decay: Annotated[float, typer.Option(help="Of AdamW.")] = 0.01,
    lora_rank: Annotated[
        int, typer.Option(help="Train a small adapter (LoRA) of this rank in place of all weights.")
    ] = 0,
    evaluate_every: Annotated[int, typer.Option(help="Steps between validations. Default: once an epoch.")] = 0,
    save_every: Annotated[int, typer.Option(help="Steps between checkpoints to go on from.")] = 500,
    precision: Annotated[str, typer.Option(help="auto, no, bf16 or fp16.")] = "auto",
    seed: Annotated[int, typer.Option(help="Seeds the new head, the order of examples, masks and dropout.")] = 42,
    device: Annotated[str, typer.Option(help="auto or cpu; for several GPUs use accelerate launch.")] = "auto",
    restart: Annotated[bool, typer.Option("--restart", help="Forget an unfinished run and begin again.")] = False,
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Fine-tune a model: more masked-word training, a sentiment classifier, or an inference classifier.

    The best checkpoint by the validation set is kept, and metrics.json says how good it is. When a run is interrupted,
    the same command goes on from its last checkpoint and ends with the same weights.

    Examples:

    - `unmask finetune sentiment unmask-mini --data imdb --out my-classifier`
    - `unmask finetune mlm bert-base-uncased --train texts.txt --lora-rank 16 --out my-adapter`
    - `accelerate launch --multi_gpu -m unmask finetune nli roberta-base --data snli --out my-nli`
    """
    from unmask.cli.output import show_training
    from unmask.cli.progress import training
    from unmask.models.sources import LoadOptions
    from unmask.training.finetune import Request, run
    from unmask.training.loop import Settings

    default_rate = 5e-4 if lora_rank else 5e-5 if task == "mlm" else 2e-5
    settings = Settings(
        epochs=(5 if task == "nli" else 3) if epochs is None else epochs,
        learning_rate=default_rate if learning_rate is None else learning_rate,
        batch_size=batch_size,
        accumulate=accumulate,
        warmup=warmup,
        weight_decay=weight_decay,
        seed=seed,
        evaluate_every=evaluate_every,
        save_every=save_every,
        precision=precision,
    )
    request = Request(
        task=task,
        model=model,
        out=out,
        data=data,
        train=train,
        validation=validation,
        test=test,
        held_out=held_out,
        max_length=max_length,
        lora_rank=lora_rank,
        restart=restart,
        settings=settings,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    with training() as (say, watch):
        record = run(request, watch=watch, say=say)
    if record is not None:
        show_training(record, out, as_json=as_json)

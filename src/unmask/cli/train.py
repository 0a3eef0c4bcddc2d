"""`unmask mitigate MODEL --method NAME --out DIR` and `unmask finetune TASK MODEL`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unmask.cli.generate import Json, with_options

if TYPE_CHECKING:
    from unmask.mitigations.method import MitigateOptions
    from unmask.training.options import FinetuneOptions


def _show_methods(value: bool) -> None:
    """Print every mitigation with its options."""
    if not value:
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unmask.cli.listing import list_mitigations
    from unmask.mitigations.method import find_method

    console = Console()
    for entry in list_mitigations():
        if entry.problem:
            console.print(Text(entry.name, style="bold"), Text(entry.problem))
            continue
        method = find_method(entry.name)
        console.print(Text(entry.name, style="bold"), Text(method.about))
        console.print(Text(f"{method.citation}.", style="dim"))
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_header=False)
        for parameter in method.options.parameters().values():
            default = "–" if parameter.default is None else str(parameter.default)
            table.add_row(f"--set {parameter.name}=", default, parameter.help)
        console.print(table)
    raise typer.Exit


@with_options("unmask.mitigations.method:MitigateOptions")
def mitigate_command(
    options: MitigateOptions,
    *,
    methods: Annotated[
        bool,
        typer.Option(
            "--methods", callback=_show_methods, is_eager=True, help="Show every method with its settings, and exit."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Debias a model, and write it as a normal model folder that loads anywhere.

    The folder also holds mitigation.json (how it was made, from which weights, on what text) and a model card. It is
    loaded again and compared before the command ends. An interrupted run resumes with the same command, and ends with
    the same weights.

    Examples:

    - `unmask mitigate unmask-mini --method cds --out debiased` (fine-tune on GAP, people and names exchanged)
    - `unmask mitigate bert-base-uncased --method leace --corpus texts.txt --out erased`
    - `unmask mitigate vectors.bin --method hard-debias --set format=glove --out debiased-vectors`
    - `unmask compare unmask-mini debiased` (did it help, and at what cost?)
    """
    del methods
    from unmask.cli.output import show_bar, show_training
    from unmask.mitigations.mitigate import mitigate_model

    options.check()
    with show_training() as (say, watch), show_bar("Working through the text") as progress:
        record = mitigate_model(options, say=say, watch=watch, progress=progress)
    if as_json:
        typer.echo(json.dumps(record, indent=2, ensure_ascii=False))
        return
    parent = record["parent"]
    typer.echo(f"Made {options.out} from {parent['name']} by {record['method']}: {record['about']}")
    if note := record["details"].get("kept_in"):
        typer.echo(note)
    typer.echo(f"Weights {parent['weight_hash'][:12]} → {record['weight_hash'][:12]}; loaded again and found the same.")
    if "words" not in record["made"]:
        typer.echo(f"Did it help?  unmask compare {parent['name']} {options.out}")


@with_options("unmask.training.options:FinetuneOptions")
def finetune_command(options: FinetuneOptions, *, as_json: Json = False) -> None:
    """Fine-tune a model: more masked-word training, a sentiment classifier, or an inference classifier.

    The best checkpoint by the validation set is kept, and metrics.json says how good it is. When a run is interrupted,
    the same command resumes from its last checkpoint and ends with the same weights.

    Examples:

    - `unmask finetune sentiment unmask-mini --data imdb --out my-classifier`
    - `unmask finetune mlm bert-base-uncased --train texts.txt --lora-rank 16 --out my-adapter`
    - `accelerate launch --multi_gpu -m unmask finetune nli roberta-base --data snli --out my-nli`
    """
    from unmask.cli.output import show_training
    from unmask.training.finetune import finetune_model

    with show_training() as (say, watch):
        record = finetune_model(options, watch=watch, say=say)
    if record is not None:  # in all processes but the first it is None
        _show_metrics(record, options.out, as_json=as_json)


def _show_metrics(record: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(record, indent=2))
        return
    for split, metrics in record["metrics"].items():
        low, high = metrics["accuracy_interval"]
        unit = "examples" if "examples" in metrics else "masked pieces"
        size = f"{metrics[unit.replace(' ', '_')]:,} {unit}"
        figures = f"accuracy {metrics['accuracy']:.4f} [{low:.4f}, {high:.4f}], loss {metrics['loss']:.4f}"
        more = f", perplexity {metrics['perplexity']:.2f}" if "perplexity" in metrics else ""
        typer.echo(f"{split:<10}  {figures}{more}, of {size}")
    steps = f"step {record['best_step']} of {record['steps']}"
    typer.echo(f"Best checkpoint: {steps}, {record['seconds']:.0f} s of training")
    typer.echo(f"Model: {folder} (metrics.json has all figures)")

"""`unmask finetune TASK MODEL`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.cli.generate import with_options
from unmask.cli.options import Json

if TYPE_CHECKING:
    from unmask.training.options import FinetuneOptions


@with_options("unmask.training.options:FinetuneOptions")
def command(options: FinetuneOptions, *, as_json: Json = False) -> None:
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
    from unmask.training.finetune import finetune_model

    with training() as (say, watch):
        record = finetune_model(options, watch=watch, say=say)
    if record is not None:
        show_training(record, options.out, as_json=as_json)

"""Options of training. Importing this module imports no model library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import model_validator

from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.files import check_new_path
from unmask.options import LoadOptions, Options, option
from unmask.training.examples import TASK_LAYOUTS, Splits, gather_examples

TASKS = tuple(name for name, layout in TASK_LAYOUTS.items() if not layout.optional)
PRECISIONS = ("auto", "no", "bf16", "fp16")
FEWEST_TOKENS = 8


class LoopOptions(Options):
    """How to train: what fine-tuning and the mitigations that train have in common."""

    epochs: int = option(3, "How often every example is seen.", minimum=1)
    learning_rate: float = option(2e-5, "The highest learning rate.", above=0)
    batch_size: int = option(32, "Examples per step, over all GPUs.", minimum=1)
    accumulate: int = option(1, "Run each step in this many parts, to save memory.", minimum=1)
    warmup: float = option(
        0.1, "The share of steps in which the learning rate rises; then it falls to 0.", minimum=0, below=1
    )
    weight_decay: float = option(0.01, "Weight decay of AdamW.", minimum=0)
    save_every: int = option(500, "Steps between checkpoints to resume from.", minimum=1)
    precision: str = option("auto", "auto (bf16 or fp16 on a GPU), no, bf16 or fp16.", choices=PRECISIONS)


class TrainingOptions(LoopOptions):
    """All that the training loop needs to know; the defaults suit a base-sized model."""

    planned_epochs: int = option(
        0,
        "The epochs over which the learning rate falls, if more are planned than trained. 0: those that are trained.",
        cli=False,
        minimum=0,
    )
    clip: float = option(1.0, "The largest norm of the gradient; 0: any.", cli=False)
    evaluate_every: int = option(0, "Steps between validations.", default_text="once per epoch", minimum=0)
    keep: str = option(
        "best", "Which weights are kept: the best on validation, or the last.", cli=False, choices=("best", "last")
    )
    seed: int = option(42, "Seeds the new head, the order of examples, masks and dropout.", minimum=0)

    @model_validator(mode="after")
    def _check_plan(self) -> TrainingOptions:
        if self.planned_epochs and self.planned_epochs < self.epochs:
            raise UnmaskError(f"{self.planned_epochs} epochs are planned, {self.epochs} trained; plan as many or more")
        return self


class TaskOptions(Options):
    """What is learned, and from which examples."""

    task: str = option(
        ...,
        "mlm (masked words), sentiment (the label of a text) or nli (the label of a premise and a hypothesis).",
        argument=True,
        choices=TASKS,
    )
    data: str | None = option(
        None,
        "A known data set: imdb (sentiment); snli, jsnli, jsick or ocnli (nli; English, Japanese twice, Chinese;"
        " jsnli-words keeps the spaces between Japanese words).",
    )
    train: Path | None = option(
        None,
        "A file of your own: .txt (mlm; one text a line), .csv, .tsv, .jsonl or .parquet, with text and label, or"
        " premise, hypothesis and label.",
    )
    validation: Path | None = option(None, "Chooses the best checkpoint. Default: some of --train.")
    test: Path | None = option(None, "Measured once, at the end.")
    held_out: float = option(0.05, "The share of --train to validate on if there is no --validation.")
    max_length: int = option(128, "Tokens; longer examples are cut (mlm: split).", minimum=FEWEST_TOKENS)
    lora_rank: int = option(
        0, "Train a small adapter (LoRA) of this rank in place of all weights. 0: train all weights.", minimum=0
    )

    def examples(self, *, seed: int, offline: bool) -> Splits:
        """Read the examples to train, validate and test with."""
        return gather_examples(
            self.task,
            name=self.data,
            train=self.train,
            validation=self.validation,
            test=self.test,
            held_out=self.held_out,
            seed=seed,
            offline=offline,
        )


class FinetuneOptions(TrainingOptions, TaskOptions, LoadOptions):
    """What to train, on what, and where it goes."""

    model: str = option(
        ...,
        "The base: an embedded model, a folder (a classifier or adapter too), or a hub id.",
        argument=True,
        path=True,
        suggestions=MODELS,
    )
    out: Path = option(..., "The model folder to write; it must not exist.")
    epochs: int = option(3, "How often every example is seen.", default_text="3; 5 for nli", minimum=1)
    learning_rate: float = option(
        2e-5, "The highest learning rate.", default_text="2e-5; 5e-5 for mlm; 5e-4 with --lora-rank", above=0
    )
    architecture: Mapping[str, Any] = option(
        {}, "Changes to the base's configuration before its weights are read, such as the number of layers.", cli=False
    )
    device: str = option("auto", "auto or cpu; for several GPUs use accelerate launch.", last=True)
    restart: bool = option(False, "Discard an unfinished run and start again.")

    @model_validator(mode="before")
    @classmethod
    def _set_defaults(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Set the epochs and the learning rate that suit the task."""
        task = values.get("task")
        rate = 5e-4 if values.get("lora_rank") else 5e-5 if task == "mlm" else 2e-5
        return {"epochs": 5 if task == "nli" else 3, "learning_rate": rate, **values}

    @property
    def settings(self) -> TrainingOptions:
        """How to train."""
        return self.part(TrainingOptions)

    def check(self) -> None:
        """Refuse to write over something."""
        check_new_path(self.out)

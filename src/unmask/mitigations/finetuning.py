"""Training, for the methods that train: the settings they share, and a run that can be interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.mitigations.method import Job, setting
from unmask.training.checkpoints import Workspace
from unmask.training.devices import make_accelerator
from unmask.training.loop import Settings, fit
from unmask.training.tasks import Features, Task
from unmask.unfinished import RUN

SHORTEST = 8


@dataclass(frozen=True)
class Training:
    """How to train; the seed is the command's own."""

    epochs: int = setting(3, "how often every sentence is seen")
    learning_rate: float = setting(5e-5, "the highest one")
    batch_size: int = setting(32, "sentences a step")
    accumulate: int = setting(1, "run a step in so many parts, to save memory")
    warmup: float = setting(0.1, "the share of steps in which the learning rate rises; it falls to 0 in the others")
    weight_decay: float = setting(0.01, "of AdamW")
    max_length: int = setting(128, "tokens; longer sentences are split")
    held_out: float = setting(0.05, "the share of documents that only show how training goes")
    save_every: int = setting(500, "steps between checkpoints to go on from")
    precision: str = setting("auto", "auto, no, bf16 or fp16")

    def loop(self, seed: int) -> Settings:
        """As the training loop takes them; the last weights are kept, since nothing is chosen by the held-out text."""
        made = Settings(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            accumulate=self.accumulate,
            warmup=self.warmup,
            weight_decay=self.weight_decay,
            seed=seed,
            save_every=self.save_every,
            precision=self.precision,
            keep="last",
        )
        made.check()
        return made

    def check(self) -> None:
        """Refuse what cannot work."""
        self.loop(0)
        if self.max_length < SHORTEST:
            raise UnmaskError(f"the setting max_length is {self.max_length}; give at least {SHORTEST} tokens")
        if not 0 <= self.held_out < 1:
            raise UnmaskError(f"the setting held_out is {self.held_out}; give a share from 0 to below 1, such as 0.05")


def train(job: Job, task: Task, learned: Sequence[Features], held_out: Sequence[Features]) -> dict[str, Any]:
    """Train the job's model, or go on where an earlier run stopped; gives how it went."""
    settings = job.settings.loop(job.seed)
    accelerator = make_accelerator(settings, job.loading)
    if accelerator.num_processes > 1:
        raise UnmaskError(
            f"a mitigation runs in one process, not in {accelerator.num_processes}; start it without a launcher"
        )
    workspace = Workspace(job.out)
    going_on = workspace.claim(job.identity | {"precision": str(accelerator.mixed_precision)}, restart=job.restart)
    job.say(f"{'Going on with' if going_on else 'Training'} {job.subject.name} on {len(learned):,} sequences")
    model = job.model
    outcome = fit(model, task, learned, held_out, settings, workspace, accelerator=accelerator, watch=job.watch)
    model.to("cpu")
    return {
        "sequences": len(learned),
        "held_out_sequences": len(held_out),
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 1),
        "device": accelerator.device.type,
        "mixed_precision": str(accelerator.mixed_precision),
        "history": outcome.history,
    }


def refuse_unfinished(out: Path) -> None:
    """A method that does not train must not do away with what one that does has kept."""
    folder = Workspace(out).folder
    if folder.exists():
        raise UnmaskError(
            f"{folder} holds an unfinished run of another method; finish it, give another --out, or --restart to"
            " forget it"
        )


def forget(out: Path) -> None:
    """Remove what an interrupted run would have needed: the folder is there."""
    workspace = Workspace(out)
    if (workspace.folder / RUN).is_file():  # and nothing of the user's
        workspace.remove()

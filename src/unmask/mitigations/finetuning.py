"""Training, for the methods that train: the options they share, and a run that can be interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.mitigations.method import Job
from unmask.options import option
from unmask.training.checkpoints import Workspace
from unmask.training.devices import make_accelerator
from unmask.training.loop import fit
from unmask.training.options import FEWEST_TOKENS, LoopOptions, TrainingOptions
from unmask.training.tasks import Features, Task
from unmask.unfinished import RUN


class MethodTrainingOptions(LoopOptions):
    """How a method trains; the seed is the command's own."""

    learning_rate: float = option(5e-5, "The highest learning rate.", above=0)
    batch_size: int = option(32, "Sentences per step.", minimum=1)
    max_length: int = option(128, "Tokens; longer sentences are split.", minimum=FEWEST_TOKENS)
    held_out: float = option(0.05, "The share of documents that only show how training goes.", minimum=0, below=1)

    def loop(self, seed: int) -> TrainingOptions:
        """As the training loop takes them; the last weights are kept, since nothing is chosen by the held-out text."""
        return TrainingOptions(**dict(self.part(LoopOptions)), seed=seed, keep="last")


def train(job: Job, task: Task, learned: Sequence[Features], held_out: Sequence[Features]) -> dict[str, Any]:
    """Train the job's model, or go on where an earlier run stopped; gives how it went."""
    settings = job.options.loop(job.seed)
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

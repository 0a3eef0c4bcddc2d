"""The training loop, on Accelerate: one device or several, mixed precision, best checkpoint, exact resumption.

Everything that is drawn (the order of examples, masks) is a function of the seed, the epoch and the row, and the
learning rate one of the step, so a run resumed from a checkpoint ends with the same weights as one that never stopped.
A step's loss is the sum over all its labels divided by their number, however the rows are split into parts and among
processes, so neither accumulation nor a second device changes what is learned (dropout aside, which is drawn by part).

Out of memory makes the parts of a batch smaller, not the batch. Ctrl-C finishes the step, keeps a checkpoint and stops;
a second Ctrl-C stops at once.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch

from unmask.errors import Stopped, UnmaskError
from unmask.options import LoadOptions
from unmask.training.checkpoints import Workspace
from unmask.training.options import TrainingOptions
from unmask.training.tasks import IGNORED, Batch, Features, Task


class MicroBatches:
    """In how many parts a batch is run, so that it fits into memory."""

    def __init__(self, parts: int) -> None:
        """Begin with so many parts."""
        self.parts = parts

    def shrink(self, error: RuntimeError, rows: int, accelerator: Any) -> None:
        """Make the parts half as large after `error`, if memory was short; everything else is raised again."""
        short = isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
        if not short:
            raise error
        if accelerator.num_processes > 1:  # the others wait for this one in the middle of a step
            raise UnmaskError("out of memory; give a smaller batch, or more parts to run it in") from None
        if rows <= 1:
            raise UnmaskError(
                "out of memory on a single example; give a smaller maximal length, or a smaller model"
            ) from None
        self.parts *= 2


PATIENCE = 1.0
"""Seconds within which a second signal is taken for the first: a launcher passes on what the terminal has sent."""


@contextmanager
def listen_for_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether the user has asked to stop."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    first = 0.0

    def note(number: int, frame: Any) -> None:
        nonlocal first
        if asked.is_set() and callable(before) and time.monotonic() - first > PATIENCE:
            before(number, frame)
        first = first or time.monotonic()
        asked.set()

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, note)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


POOL = 50
"""Batches are filled from rows of like length among so many batches' rows, to save padding."""
DRAWS_FOR_EVALUATION = 1_000_000_007
"""Takes the place of the epoch where masks are drawn for evaluation: the same every time."""


@dataclass
class Progress:
    """Where a run is; kept with its checkpoint."""

    step: int = 0
    seconds: float = 0.0
    loss: float | None = None
    """A running mean of the training loss, for the eye."""
    best: tuple[float, float] | None = None
    """The metric, turned so that more is better, and the loss to tell equals apart, likewise."""
    best_step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class News:
    """What the loop tells whoever watches it."""

    step: int
    steps: int
    epoch: float
    loss: float
    left: float
    """Seconds, by the speed of this run so far."""
    evaluation: dict[str, Any] | None = None


Watch = Callable[[News], None]


@dataclass(frozen=True)
class Outcome:
    """What training came to; the model holds the weights that were to be kept."""

    best_step: int
    history: list[dict[str, Any]]
    steps: int
    seconds: float


def fit(
    model: Any,
    task: Task,
    train: Sequence[Features],
    validation: Sequence[Features],
    settings: TrainingOptions,
    workspace: Workspace,
    *,
    accelerator: Any,
    watch: Watch | None = None,
) -> Outcome:
    """Train from the start, or from the workspace's checkpoint if it has one; leaves the best or last weights.

    Without validation examples there is nothing to choose by, and the last weights are left. A step that does not fit
    into memory is run again in smaller parts.
    """
    lengths = [len(row["input_ids"]) for row in train]
    per_epoch = math.ceil(len(train) / settings.batch_size)
    total = settings.epochs * per_epoch
    planned = (settings.planned_epochs or settings.epochs) * per_epoch
    every = settings.evaluate_every or per_epoch
    trained, optimizer = accelerator.prepare(model, _optimizer(model, settings))
    state = Progress(**workspace.restore(accelerator)) if workspace.has_checkpoint() else Progress()
    first, started, saved = state.step, time.monotonic(), state.step
    began = started - state.seconds
    order: tuple[int, list[list[int]]] = (-1, [])
    room = MicroBatches(settings.accumulate)
    trained.train()
    with listen_for_interrupt() as stop_asked:
        while state.step < total:
            epoch, at = divmod(state.step, per_epoch)
            if order[0] != epoch:
                order = epoch, plan_batches(lengths, settings.batch_size, seed=settings.seed, epoch=epoch)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate_at(state.step, planned, settings)
            loss = _step(trained, task, train, order[1][at], epoch, settings, optimizer, accelerator, room)
            if not math.isfinite(loss):
                kept = (
                    f"the last good checkpoint, of step {saved}, is in {workspace.folder}"
                    if saved
                    else "no checkpoint had been kept yet"
                )
                raise UnmaskError(
                    f"the loss is {loss} at step {state.step}; {kept}; lower the learning rate, or try precision no"
                )
            state.step += 1
            state.loss = loss if state.loss is None else 0.95 * state.loss + 0.05 * loss
            state.seconds = time.monotonic() - began
            evaluation = None
            if validation and (state.step % every == 0 or state.step == total):
                evaluation = evaluate(trained, task, validation, accelerator, rows=settings.batch_size)
                state.history.append({"step": state.step, "training_loss": state.loss, **evaluation})
                score = (
                    evaluation[task.metric] if task.higher_is_better else -evaluation[task.metric],
                    -evaluation["loss"],
                )
                if settings.keep == "best" and (state.best is None or score > tuple(state.best)):
                    state.best, state.best_step = score, state.step
                    workspace.keep_best(accelerator.unwrap_model(trained), accelerator)
                trained.train()
            if watch and accelerator.is_main_process:
                left = (time.monotonic() - started) / (state.step - first) * (total - state.step)
                watch(News(state.step, total, state.step / per_epoch, state.loss, left, evaluation))
            stopping = _any_process(stop_asked(), accelerator)
            if stopping or state.step % settings.save_every == 0 or evaluation is not None:
                workspace.save(accelerator, asdict(state))
                saved = state.step
            if stopping:
                raise Stopped(f"stopped at step {state.step} of {total}; the same command goes on from there")
    if state.best is None:
        state.best_step = total
    else:
        workspace.load_best(accelerator.unwrap_model(trained))
    return Outcome(state.best_step, state.history, total, state.seconds)


def evaluate(model: Any, task: Task, features: Sequence[Features], accelerator: Any, *, rows: int) -> dict[str, Any]:
    """The task's metrics over all examples, the same whatever the batches and processes."""
    order = sorted(range(len(features)), key=lambda row: len(features[row]["input_ids"]))
    mine = order[accelerator.process_index :: accelerator.num_processes]
    total: torch.Tensor | None = None
    at, room = 0, MicroBatches(1)
    model.eval()
    with torch.no_grad():
        while at < max(len(mine), 1):
            size = math.ceil(rows / room.parts)
            try:
                batch = _batch(task, features, mine[at : at + size], DRAWS_FOR_EVALUATION)
                sums = task.run(model, _on(accelerator.device, batch))
            except RuntimeError as error:
                room.shrink(error, size, accelerator)
                continue
            total = sums if total is None else total + sums
            at += size
    assert total is not None
    return task.metrics(accelerator.reduce(total, reduction="sum"))


def plan_batches(lengths: Sequence[int], size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """All rows in random order, in batches of rows of like length, the batches in random order."""
    choice = np.random.default_rng([seed, epoch])
    order = choice.permutation(len(lengths))
    found = []
    for at in range(0, len(order), POOL * size):
        pool = sorted(order[at : at + POOL * size].tolist(), key=lambda row: lengths[row])
        found += [pool[start : start + size] for start in range(0, len(pool), size)]
    return [found[place] for place in choice.permutation(len(found))]


def learning_rate_at(step: int, total: int, settings: TrainingOptions) -> float:
    """The learning rate: up in a line over the warm-up, down in a line to 0."""
    rising = settings.warmup * total
    if step < rising:
        return settings.learning_rate * (step + 1) / (rising + 1)
    return settings.learning_rate * (total - step) / max(total - rising, 1.0)


def _step(
    model: Any,
    task: Task,
    features: Sequence[Features],
    rows: list[int],
    epoch: int,
    settings: TrainingOptions,
    optimizer: Any,
    accelerator: Any,
    room: MicroBatches,
) -> float:
    """One step; gives its loss. Weights are left alone where the loss or its gradient is no number."""
    mine = rows[accelerator.process_index :: accelerator.num_processes]
    most = math.ceil(len(rows) / accelerator.num_processes)
    while True:
        size = math.ceil(most / room.parts)
        try:
            loss = _gradients(model, task, features, mine, math.ceil(most / size), size, epoch, accelerator)
            break
        except RuntimeError as error:
            optimizer.zero_grad()
            room.shrink(error, size, accelerator)
    norm = None
    if accelerator.sync_gradients and settings.clip > 0:
        norm = accelerator.clip_grad_norm_(model.parameters(), settings.clip)
    if norm is not None and accelerator.scaler is None and not math.isfinite(norm):
        loss = math.nan if math.isfinite(loss) else loss
    if math.isfinite(loss):
        optimizer.step()
    optimizer.zero_grad()
    return loss


def _gradients(
    model: Any,
    task: Task,
    features: Sequence[Features],
    mine: list[int],
    parts: int,
    size: int,
    epoch: int,
    accelerator: Any,
) -> float:
    """The gradients of a step, gathered part by part; gives its loss."""
    batches = [_batch(task, features, mine[at * size : (at + 1) * size], epoch) for at in range(parts)]
    labels = sum((batch["labels"] != IGNORED).sum() for batch in batches)
    count = accelerator.reduce(torch.as_tensor(labels).to(accelerator.device), reduction="sum").clamp_min(1)
    summed = torch.zeros((), device=accelerator.device)
    for at, batch in enumerate(batches):
        with nullcontext() if at == parts - 1 else accelerator.no_sync(model):
            loss = task.run(model, _on(accelerator.device, batch))[0] / count
            accelerator.backward(loss * accelerator.num_processes)  # processes average their gradients
        summed += loss.detach()
    return float(accelerator.reduce(summed, reduction="sum"))


def _batch(task: Task, features: Sequence[Features], rows: list[int], epoch: int) -> Batch:
    """A batch; a process that is out of rows runs one whose labels count for nothing."""
    chosen = rows or [0]
    batch = task.batch([features[row] for row in chosen], [(epoch, row) for row in chosen])
    if not rows:
        batch["labels"].fill_(IGNORED)
    return batch


def _on(device: torch.device, batch: Batch) -> Batch:
    return {name: tensor.to(device) for name, tensor in batch.items()}


def _optimizer(model: Any, settings: TrainingOptions) -> torch.optim.AdamW:
    """AdamW; biases and norms do not decay."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in learned if p.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in learned if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate)


def _any_process(asked: bool, accelerator: Any) -> bool:
    """Whether one of the processes was asked: all must stop at the same step, or none can go on."""
    if accelerator.num_processes == 1:
        return asked
    votes = accelerator.reduce(torch.tensor(float(asked), device=accelerator.device), reduction="sum")
    return bool(votes > 0)


def make_accelerator(settings: TrainingOptions, loading: LoadOptions) -> Any:
    """The accelerator of a run; everything that is drawn from here on is drawn by its seed."""
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import set_seed

    if loading.device not in ("auto", "cpu"):
        raise UnmaskError(
            f"device {loading.device!r} cannot be chosen here; give auto or cpu, and name GPUs in CUDA_VISIBLE_DEVICES"
        )
    precision = settings.precision
    on_gpu = torch.cuda.is_available() and loading.device != "cpu"
    if precision == "auto":
        precision = ("bf16" if torch.cuda.is_bf16_supported() else "fp16") if on_gpu else "no"
    if precision == "fp16" and not on_gpu:
        raise UnmaskError("precision 'fp16' needs a GPU; choose no or bf16")
    AcceleratorState._reset_state()  # an earlier run in this process may have had another precision
    accelerator = Accelerator(mixed_precision=precision, cpu=not on_gpu)
    set_seed(settings.seed)
    return accelerator

"""The training loop, on Accelerate: one device or several, mixed precision, best checkpoint, exact resumption.

Everything that is drawn (the order of examples, masks) is a function of the seed, the epoch and the row, and the
learning rate one of the step, so a run resumed from a checkpoint ends with the same weights as one that never stopped.
A step's loss is the sum over all its labels divided by their number, however the rows are split into parts and among
processes, so neither accumulation nor a second device changes what is learned (dropout aside, which is drawn by part).

After an out-of-memory error, the parts of a batch become smaller, not the batch. Ctrl-C finishes the step, keeps a
checkpoint and stops; a second Ctrl-C stops at once.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch

from unmask.errors import Stopped, UnmaskError
from unmask.models.batching import IGNORED, Batch, move_batch
from unmask.options import LoadOptions
from unmask.training.checkpoints import Workspace
from unmask.training.options import TrainingOptions
from unmask.training.tasks import Features, Task

Result = TypeVar("Result")
PATIENCE = 1.0
"""Seconds within which a second signal counts as the first: a launcher passes on what the terminal has sent."""
POOL = 50
"""Batches are filled with rows of similar length from the rows of this many batches, to save padding."""
EVALUATION_EPOCH = 1_000_000_007
"""Takes the place of the epoch where masks are drawn for evaluation: the same every time."""


class MicroBatches:
    """The number of parts in which a batch is run, so that it fits into memory."""

    def __init__(self, parts: int) -> None:
        self.parts = parts

    def shrink(self, error: RuntimeError, rows: int, accelerator: Any) -> None:
        """Halve the parts of `rows` rows after an out-of-memory error; raise any other error again."""
        if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
            raise error
        if accelerator.num_processes > 1:  # the others wait for this one in the middle of a step
            raise UnmaskError("out of memory; give a smaller batch, or more parts to run it in") from None
        if rows <= 1:
            raise UnmaskError(
                "out of memory on a single example; give a smaller maximal length, or a smaller model"
            ) from None
        self.parts *= 2


@contextmanager
def listen_for_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether the user has pressed Ctrl-C."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop.is_set
        return
    first = 0.0

    def receive_signal(number: int, frame: Any) -> None:
        nonlocal first
        if stop.is_set() and callable(before) and time.monotonic() - first > PATIENCE:
            before(number, frame)
        first = first or time.monotonic()
        stop.set()

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, receive_signal)
    try:
        yield stop.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class TrainingState:
    """The progress of a run, saved with its checkpoints, and at the end its result."""

    step: int = 0
    seconds: float = 0.0
    loss: float | None = None
    """A running mean of the training loss, for display."""
    best: tuple[float, float] | None = None
    """The best metric, signed so that more is better, and the loss to break ties, likewise."""
    best_step: int = 0
    """The step whose weights the model holds at the end."""
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class News:
    """The progress that the loop reports."""

    step: int
    steps: int
    epoch: float
    loss: float
    left: float
    """Seconds, by the speed of this run so far."""
    evaluation: dict[str, Any] | None = None


Watch = Callable[[News], None]


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
) -> TrainingState:
    """Train from the start, or from the workspace's checkpoint if it has one; leaves the best or last weights.

    Without validation examples there is nothing to choose by, and the last weights are left.
    """
    lengths = [len(row["input_ids"]) for row in train]
    per_epoch = math.ceil(len(train) / settings.batch_size)
    total = settings.epochs * per_epoch
    planned = (settings.planned_epochs or settings.epochs) * per_epoch
    trained, optimizer = accelerator.prepare(model, _make_optimizer(model, settings))
    stepper = Stepper(trained, task, train, settings, optimizer, accelerator)
    state = TrainingState(**workspace.restore(accelerator)) if workspace.has_checkpoint() else TrainingState()
    first, started, saved = state.step, time.monotonic(), state.step
    began = started - state.seconds
    planned_epoch = -1
    batches: list[list[int]] = []
    trained.train()
    with listen_for_interrupt() as is_stopping:
        while state.step < total:
            epoch, index = divmod(state.step, per_epoch)
            if epoch != planned_epoch:
                planned_epoch = epoch
                batches = plan_batches(lengths, settings.batch_size, seed=settings.seed, epoch=epoch)
            loss = stepper.take_step(batches[index], epoch, learning_rate_at(state.step, planned, settings))
            if not math.isfinite(loss):
                checkpoint = f"the last good checkpoint, of step {saved}, is in {workspace.folder}"
                raise UnmaskError(
                    f"the loss is {loss} at step {state.step};"
                    f" {checkpoint if saved else 'no checkpoint was saved yet'};"
                    " lower the learning rate, or try precision no"
                )
            state.step += 1
            state.loss = loss if state.loss is None else 0.95 * state.loss + 0.05 * loss
            state.seconds = time.monotonic() - began
            evaluation = None
            if validation and (state.step % (settings.evaluate_every or per_epoch) == 0 or state.step == total):
                evaluation = evaluate(trained, task, validation, accelerator, rows=settings.batch_size)
                if _note_evaluation(state, evaluation, task) and settings.keep == "best":
                    workspace.keep_best(accelerator.unwrap_model(trained), accelerator)
                trained.train()
            if watch and accelerator.is_main_process:
                left = (time.monotonic() - started) / (state.step - first) * (total - state.step)
                watch(News(state.step, total, state.step / per_epoch, state.loss, left, evaluation))
            stop = _ask_processes(is_stopping(), accelerator)
            if stop or state.step % settings.save_every == 0 or evaluation is not None:
                workspace.save(accelerator, asdict(state))
                saved = state.step
            if stop:
                raise Stopped(f"stopped at step {state.step} of {total}; the same command resumes from there")
    if state.best is None or settings.keep == "last":
        state.best_step = total
    else:
        workspace.load_best(accelerator.unwrap_model(trained))
    return state


def _note_evaluation(state: TrainingState, evaluation: dict[str, Any], task: Task) -> bool:
    """Add an evaluation to the history; returns whether it is the best so far."""
    state.history.append({"step": state.step, "training_loss": state.loss, **evaluation})
    metric = evaluation[task.metric] if task.higher_is_better else -evaluation[task.metric]
    score = (metric, -evaluation["loss"])
    if state.best is not None and score <= tuple(state.best):
        return False
    state.best, state.best_step = score, state.step
    return True


def evaluate(model: Any, task: Task, features: Sequence[Features], accelerator: Any, *, rows: int) -> dict[str, Any]:
    """Compute the task's metrics over all examples, which do not depend on batches and processes."""
    order = sorted(range(len(features)), key=lambda row: len(features[row]["input_ids"]))
    subset = order[accelerator.process_index :: accelerator.num_processes]

    def run(part: Sequence[int]) -> torch.Tensor:
        batch = _make_batch(task, features, part, EVALUATION_EPOCH)
        return task.run(model, move_batch(batch, accelerator.device))

    model.eval()
    with torch.no_grad():
        total = sum(run_in_parts(run, subset, rows, accelerator))
    return task.metrics(accelerator.reduce(total, reduction="sum"))


def run_in_parts(
    run: Callable[[Sequence[int]], Result], rows: Sequence[int], size: int, accelerator: Any
) -> Iterator[Result]:
    """Run rows in parts of a size, which become smaller after an out-of-memory error; without rows, one empty part."""
    start, micro_batches = 0, MicroBatches(1)
    while start < max(len(rows), 1):
        length = math.ceil(size / micro_batches.parts)
        try:
            result = run(rows[start : start + length])
        except RuntimeError as error:
            micro_batches.shrink(error, length, accelerator)
            continue
        yield result
        start += length


def plan_batches(lengths: Sequence[int], size: int, *, seed: int, epoch: int) -> list[list[int]]:
    """Put all rows into batches of similar length, both in random order."""
    generator = np.random.default_rng([seed, epoch])
    order = generator.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL * size):
        pool = sorted(order[start : start + POOL * size].tolist(), key=lambda row: lengths[row])
        batches += [pool[begin : begin + size] for begin in range(0, len(pool), size)]
    return [batches[index] for index in generator.permutation(len(batches))]


def learning_rate_at(step: int, total: int, settings: TrainingOptions) -> float:
    """Compute the learning rate: linear up over the warm-up, linear down to 0."""
    rising = settings.warmup * total
    if step < rising:
        return settings.learning_rate * (step + 1) / (rising + 1)
    return settings.learning_rate * (total - step) / max(total - rising, 1.0)


class Stepper:
    """Takes optimisation steps, each in as many parts as memory requires."""

    def __init__(
        self,
        model: Any,
        task: Task,
        features: Sequence[Features],
        settings: TrainingOptions,
        optimizer: Any,
        accelerator: Any,
    ) -> None:
        self.model, self.task, self.features, self.settings = model, task, features, settings
        self.optimizer, self.accelerator = optimizer, accelerator
        self.micro_batches = MicroBatches(settings.accumulate)

    def take_step(self, rows: Sequence[int], epoch: int, learning_rate: float) -> float:
        """Take one step on the rows of a batch; returns its loss.

        Weights do not change where the loss or its gradient is not finite.
        """
        accelerator, optimizer = self.accelerator, self.optimizer
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        subset = rows[accelerator.process_index :: accelerator.num_processes]
        most = math.ceil(len(rows) / accelerator.num_processes)
        while True:
            size = math.ceil(most / self.micro_batches.parts)
            try:
                loss = self._compute_gradients(subset, math.ceil(most / size), size, epoch)
                break
            except RuntimeError as error:
                optimizer.zero_grad()
                self.micro_batches.shrink(error, size, accelerator)
        norm = None
        if accelerator.sync_gradients and self.settings.clip > 0:
            norm = accelerator.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        if norm is not None and accelerator.scaler is None and not math.isfinite(norm):
            loss = math.nan if math.isfinite(loss) else loss
        if math.isfinite(loss):
            optimizer.step()
        optimizer.zero_grad()
        return loss

    def _compute_gradients(self, rows: Sequence[int], parts: int, size: int, epoch: int) -> float:
        """Add up the gradients of a step part by part; returns its loss."""
        accelerator = self.accelerator
        batches = [
            _make_batch(self.task, self.features, rows[part * size : (part + 1) * size], epoch) for part in range(parts)
        ]
        labels = sum((batch["labels"] != IGNORED).sum() for batch in batches)
        count = accelerator.reduce(torch.as_tensor(labels).to(accelerator.device), reduction="sum").clamp_min(1)
        summed = torch.zeros((), device=accelerator.device)
        for part, batch in enumerate(batches):
            with nullcontext() if part == parts - 1 else accelerator.no_sync(self.model):
                loss = self.task.run(self.model, move_batch(batch, accelerator.device))[0] / count
                accelerator.backward(loss * accelerator.num_processes)  # processes average their gradients
            summed += loss.detach()
        return float(accelerator.reduce(summed, reduction="sum"))


def _make_batch(task: Task, features: Sequence[Features], rows: Sequence[int], epoch: int) -> Batch:
    """Make a batch; a process that is out of rows runs one whose labels do not count."""
    indices = rows or [0]
    batch = task.batch([features[row] for row in indices], [(epoch, row) for row in indices])
    if not rows:
        batch["labels"].fill_(IGNORED)
    return batch


def _make_optimizer(model: Any, settings: TrainingOptions) -> torch.optim.AdamW:
    """Make AdamW; biases and norms do not decay."""
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in learned if p.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in learned if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, fused=True)


def _ask_processes(stop: bool, accelerator: Any) -> bool:
    """Whether one of the processes is to stop: all must stop at the same step, or none can be resumed."""
    if accelerator.num_processes == 1:
        return stop
    votes = accelerator.reduce(torch.tensor(float(stop), device=accelerator.device), reduction="sum")
    return bool(votes > 0)


def make_accelerator(settings: TrainingOptions, loading: LoadOptions) -> Any:
    """Make the accelerator of a run, and seed everything that is drawn from here on."""
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

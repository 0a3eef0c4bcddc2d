"""The steps of a study: their order, their keys, and how they run in this process.

Steps need one another. The key of a step is SHA-256 over its kind, its inputs and the keys of the steps that it needs.
A change to any earlier step changes the key, so that an outdated result is never used.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Literal, Protocol

from unmask.errors import Stopped, UnmaskError, quote
from unmask.files import write_text
from unmask.studies.store import Store

Say = Callable[[str], None]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class Step(Protocol):
    """A part of a study whose result is stored. A frozen dataclass that can be pickled will do."""

    @property
    def name(self) -> str:
        """Short, unique in its study, and fit for a file name."""
        ...

    @property
    def kind(self) -> str:
        """The sort of work: texts, training, measuring."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the steps that must be done before it."""
        ...

    @property
    def needs_gpu(self) -> bool:
        """Whether it uses a GPU where there is one."""
        ...

    def inputs(self) -> dict[str, Any]:
        """Everything that decides the result except the steps before it, as JSON: settings, hashes of data."""
        ...

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Write the result into the folder `draft`.

        Args:
            draft: An empty folder.
            before: The folder of each step that this one needs, by name.
            workspace: A folder that survives an interruption, for checkpoints. It is removed when the step is done.
            say: Takes a line about the progress.
        """
        ...


def sort_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the steps in the given order, except that each comes after all that it needs."""
    by_name: dict[str, Step] = {}
    for step in steps:
        if not NAME.fullmatch(step.name):
            raise UnmaskError(f"{step.name!r} cannot name a step; use at most 100 letters, digits, and . _ + -")
        if step.name in by_name:
            raise UnmaskError(f"two steps are called {step.name!r}; names must be unique")
        by_name[step.name] = step
    for step in steps:
        if unknown := [name for name in step.needs if name not in by_name]:
            raise UnmaskError(f"step {step.name!r} needs {quote(unknown)}, which is not in the study; correct the name")
    try:
        TopologicalSorter({step.name: step.needs for step in steps}).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise UnmaskError(f"these steps wait for one another: {circle}; remove one of the needs") from None
    placed: dict[str, Step] = {}

    def place_step(step: Step) -> None:
        for name in step.needs:
            if name not in placed:
                place_step(by_name[name])
        placed[step.name] = step

    for step in steps:
        if step.name not in placed:
            place_step(step)
    return list(placed.values())


def step_key(step: Step, keys: Mapping[str, str], inputs: dict[str, Any] | None = None) -> str:
    """Return the hash that identifies a step and its result.

    Args:
        step: The step.
        keys: The keys of the steps that it needs, by name.
        inputs: Its inputs if the caller has them already: hashing data takes time.
    """
    content = [step.kind, step.inputs() if inputs is None else inputs, [keys[name] for name in step.needs]]
    try:
        text = json.dumps(content, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UnmaskError(f"the inputs of step {step.name!r} are not JSON ({error}); use plain values only") from None
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What became of a step."""

    name: str
    key: str
    """Empty where it could not be computed."""
    status: Literal["done", "kept", "failed", "skipped"]
    """done: now; kept: by an earlier run; failed: it raised an error; skipped: a step that it needs failed."""
    folder: str | None = None
    """The folder of its result, if there is one."""
    seconds: float = 0.0
    """The time that it took, since the last interruption."""
    error: str = ""
    """Why there is no result, in one line."""

    @property
    def has_result(self) -> bool:
        """Whether the step has a result."""
        return self.status in ("done", "kept")


EventType = Literal["started", "said", "ended"]


@dataclass(frozen=True)
class Event:
    """Progress of a run: a step has started, has said a line, or has ended."""

    what: EventType
    name: str
    ended: int
    """How many steps have ended so far, including this one."""
    total: int
    line: str = ""
    outcome: Outcome | None = None


Watch = Callable[[Event], None]


class Progress:
    """Counts the steps that have ended, and tells what happens to the one who watches."""

    def __init__(self, total: int, watch: Watch | None) -> None:
        self._total, self._watch, self._ended = total, watch, 0

    def tell(self, what: EventType, name: str, line: str = "", outcome: Outcome | None = None) -> None:
        """Tell an event of a step."""
        self._ended += what == "ended"
        if self._watch:
            self._watch(Event(what, name, self._ended, self._total, line, outcome))


class _StepError(Exception):
    """Carries an error of a step through code that would handle an `OSError` as its own."""


def execute_step(step: Step, store: Store, outcomes: Mapping[str, Outcome], say: Say = lambda _: None) -> Outcome:
    """Run a step unless it is done.

    Errors become outcomes. Only `Stopped` and what ends a process (Ctrl-C, exit) is raised; the step then resumes from
    its workspace in the next run.

    Args:
        step: The step.
        store: Where results are stored.
        outcomes: The outcomes of the steps that it needs, by name.
        say: Takes a line about the progress.
    """
    if skipped := skip_step(step, outcomes):
        return skipped
    key = ""
    try:
        inputs = step.inputs()
        keys = {name: outcomes[name].key for name in step.needs}
        key = step_key(step, keys, inputs)
        if stored := _find_result(step.name, key, store):
            return stored
        with store.lock_step(step.name, key, say):
            if stored := _find_result(step.name, key, store):
                return stored
            workspace = store.workspace(step.name, key)
            workspace.mkdir(exist_ok=True)
            record: dict[str, Any] = {"kind": step.kind, "inputs": inputs, "needs": keys}
            start = time.perf_counter()
            with store.write_result(step.name, key, record) as draft:
                try:
                    step.run(draft, {name: Path(str(outcomes[name].folder)) for name in step.needs}, workspace, say)
                except Stopped:
                    raise
                except Exception as error:
                    raise _StepError from error
                record["seconds"] = seconds = round(time.perf_counter() - start, 3)
            store.clean_up(step.name, key)
            return Outcome(step.name, key, "done", str(store.folder(step.name, key)), seconds)
    except Stopped:
        raise
    except Exception as error:
        cause = error.__cause__ if isinstance(error, _StepError) and error.__cause__ else error
        # A file system may hide locks: another machine may have done the step in the meantime.
        stored = _find_result(step.name, key, store) if key else None
        return stored or Outcome(step.name, key, "failed", error=explain_error(cause, store.failure(step.name, key)))


def skip_step(step: Step, outcomes: Mapping[str, Outcome]) -> Outcome | None:
    """Return the outcome of a step that cannot run because one that it needs has no result, otherwise None."""
    for name in step.needs:
        if not outcomes[name].has_result:
            fate = "failed" if outcomes[name].status == "failed" else "was skipped"
            return Outcome(step.name, "", "skipped", error=f"it needs {name}, which {fate}")
    return None


def _find_result(name: str, key: str, store: Store) -> Outcome | None:
    record = store.read_record(name, key)
    if record is None:
        return None
    store.clean_up(name, key)
    return Outcome(name, key, "kept", str(store.folder(name, key)), float(record.get("seconds", 0)))


def explain_error(error: BaseException, trace: Path) -> str:
    """Describe an error in one line. If it is not an `UnmaskError`, write its traceback to the file `trace`."""
    if isinstance(error, UnmaskError):
        return str(error)
    line = f"{type(error).__name__}: {first_line(str(error))}"
    try:
        write_text(trace, "".join(traceback.format_exception(error)))
    except OSError as problem:
        return f"{line} (the traceback could not be written: {problem.strerror})"
    return f"{line} (traceback in {trace})"


def first_line(text: str) -> str:
    """Return the first line that is not empty."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")


def explain_stop(outcomes: Iterable[Outcome], total: int) -> Stopped:
    """Return the error for a user who has stopped a run."""
    done = sum(outcome.has_result for outcome in outcomes)
    return Stopped(f"stopped; {done} of {total} steps are done, and the same command continues with the others")


def run_locally(steps: Sequence[Step], store: Store, watch: Watch | None = None) -> list[Outcome]:
    """Run all steps that are not done, one after the other in this process.

    Returns:
        The outcomes, in the order in which the steps ran. After Ctrl-C, the same call continues.
    """
    steps, progress = sort_steps(steps), Progress(len(steps), watch)
    store = Store(store.root.resolve())
    store.prepare_folders()
    outcomes: dict[str, Outcome] = {}
    try:
        for step in steps:
            progress.tell("started", step.name)
            outcome = execute_step(step, store, outcomes, partial(progress.tell, "said", step.name))
            outcomes[step.name] = outcome
            progress.tell("ended", step.name, outcome=outcome)
    except (KeyboardInterrupt, Stopped):
        raise explain_stop(outcomes.values(), len(steps)) from None
    return list(outcomes.values())

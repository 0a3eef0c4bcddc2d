"""Running cells in this process: each once, alone, completely or not at all; errors become outcomes."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from unmask.errors import Stopped, UnmaskError
from unmask.files import atomic_file
from unmask.studies.cells import Cell, Say, Store, key, order

Status = Literal["done", "kept", "failed", "skipped"]


@dataclass(frozen=True)
class Outcome:
    """What became of a cell."""

    name: str
    key: str
    """Empty where it could not be computed."""
    status: Status
    """done: now; kept: it was there; failed: it raised; skipped: something it needs failed."""
    folder: str | None = None
    """Where its result is, if it has one."""
    seconds: float = 0.0
    """What it took; of one that was kept, what it took then. After an interruption, only from there on."""
    error: str = ""
    """Why there is no result, in one line."""

    @property
    def is_there(self) -> bool:
        """Whether the cell has a result."""
        return self.status in ("done", "kept")


@dataclass(frozen=True)
class Event:
    """News of a run: a cell has started, has said a line, or has ended."""

    what: Literal["started", "said", "ended"]
    name: str
    ended: int
    """How many cells have ended so far, this one included."""
    total: int
    line: str = ""
    outcome: Outcome | None = None


Watch = Callable[[Event], None]


class _CellError(Exception):
    """Carries what a cell has raised past code that would take an `OSError` for its own."""


def execute(cell: Cell, store: Store, upstream: Mapping[str, Outcome], say: Say | None = None) -> Outcome:
    """Do a cell, unless it is done; `upstream` has the outcomes of what it needs.

    Raises nothing but `Stopped` and what ends a process (Ctrl-C, exit); the cell then goes on from its workspace.
    """
    if out := skipped(cell, upstream):
        return out
    known = ""
    try:
        inputs = cell.inputs()
        known = key(cell, {name: upstream[name].key for name in cell.needs}, inputs)
        kept = _kept(cell, known, store)
        if kept:
            return kept
        with store.alone(cell.name, known, say or _silence):
            return _kept(cell, known, store) or _done(cell, known, inputs, store, upstream, say or _silence)
    except Stopped:
        raise
    except Exception as error:
        raised = error.__cause__ if isinstance(error, _CellError) and error.__cause__ else error
        meanwhile = known and _kept(cell, known, store)  # by somebody whose lock this file system did not show us
        return meanwhile or Outcome(cell.name, known, "failed", error=explained(raised, cell, known, store))


def skipped(cell: Cell, upstream: Mapping[str, Outcome]) -> Outcome | None:
    """The outcome of a cell that cannot be done because of one that it needs; None if all of them are there."""
    for name in cell.needs:
        if not upstream[name].is_there:
            fate = "failed" if upstream[name].status == "failed" else "was skipped"
            return Outcome(cell.name, "", "skipped", error=f"it needs {name}, which {fate}")
    return None


def _kept(cell: Cell, known: str, store: Store) -> Outcome | None:
    record = store.record(cell.name, known)
    if record is None:
        return None
    store.forget_attempts(cell.name, known)
    return Outcome(cell.name, known, "kept", str(store.folder(cell.name, known)), float(record.get("seconds", 0)))


def _done(
    cell: Cell, known: str, inputs: dict[str, Any], store: Store, upstream: Mapping[str, Outcome], say: Say
) -> Outcome:
    before = {name: Path(str(upstream[name].folder)) for name in cell.needs}
    workspace = store.workspace(cell.name, known)
    workspace.mkdir(exist_ok=True)
    record: dict[str, Any] = {
        "kind": cell.kind,
        "inputs": inputs,
        "needs": {name: upstream[name].key for name in cell.needs},
    }
    start = time.perf_counter()
    with store.writing(cell.name, known, record) as draft:
        try:
            cell.run(draft, before, workspace, say)
        except Stopped:
            raise
        except Exception as error:
            raise _CellError from error
        record["seconds"] = seconds = round(time.perf_counter() - start, 3)
    store.forget_attempts(cell.name, known)
    return Outcome(cell.name, known, "done", str(store.folder(cell.name, known)), seconds)


def explained(error: BaseException, cell: Cell, known: str, store: Store) -> str:
    """One line on what went wrong; what is no `UnmaskError` is a defect, so its traceback is kept."""
    if isinstance(error, UnmaskError):
        return str(error)
    line = f"{type(error).__name__}: {one_line(str(error))}"
    path = store.failure(cell.name, known)
    try:
        with atomic_file(path) as draft:
            draft.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    except OSError as problem:
        return f"{line} (the traceback could not be written: {problem.strerror})"
    return f"{line} (traceback in {path})"


def one_line(text: str) -> str:
    """The first line that is not empty."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "no message")


def stopped(outcomes: Iterable[Outcome], total: int) -> str:
    """What to tell a user who has stopped a run."""
    there = sum(outcome.is_there for outcome in outcomes)
    return f"stopped; {there} of {total} steps are done, and the same command goes on with the others"


def _silence(_: str) -> None:
    """Say nothing."""


def run_locally(cells: Sequence[Cell], store: Store, *, watch: Watch | None = None) -> list[Outcome]:
    """Do what is not done; gives the outcomes in the order of the work. The same call goes on after Ctrl-C."""
    cells = order(cells)
    tell: Watch = watch or (lambda _: None)
    store = Store(store.root.resolve())
    store.prepare()
    outcomes: dict[str, Outcome] = {}
    try:
        for cell in cells:
            now = Event("started", cell.name, len(outcomes), len(cells))
            tell(now)
            outcomes[cell.name] = outcome = execute(cell, store, outcomes, partial(_said, tell, now))
            tell(Event("ended", cell.name, len(outcomes), len(cells), outcome=outcome))
    except (KeyboardInterrupt, Stopped):
        raise Stopped(stopped(outcomes.values(), len(cells))) from None
    return list(outcomes.values())


def _said(tell: Watch, now: Event, line: str) -> None:
    tell(replace(now, what="said", line=line))

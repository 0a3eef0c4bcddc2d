"""All cells of a study in this process, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from unmask.errors import Stopped
from unmask.studies.cells import Cell, order
from unmask.studies.execution import Event, Outcome, Watch, execute, stopped
from unmask.studies.store import Store


def run(cells: Sequence[Cell], store: Store, *, watch: Watch | None = None) -> list[Outcome]:
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

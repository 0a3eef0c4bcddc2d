"""The papers' experiments: grids of cells, declared as data; a cell is done once, in process or on Ray.

`cells` says what a cell is and in which order cells come, `store` keeps what they have made, `execution` does one of
them, and `local` and `ray` do all of them. The experiments themselves have a folder each.
"""

from unmask.studies.cells import Cell, key, keys, order
from unmask.studies.execution import Event, Outcome, Watch, execute
from unmask.studies.store import Store

__all__ = ["Cell", "Event", "Outcome", "Store", "Watch", "execute", "key", "keys", "order"]

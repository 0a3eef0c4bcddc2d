"""The papers' experiments: grids of cells, declared as data; a cell is done once, in this process or on Ray.

`cells` says what a cell is, in which order cells come, and how their results are kept; `execution` runs one cell, or
all of them in this process; `ray` runs all of them on Ray. Each experiment has a folder.
"""

from unmask.studies.cells import Cell, Store, key, keys, order
from unmask.studies.execution import Event, Outcome, Watch, execute

__all__ = ["Cell", "Event", "Outcome", "Store", "Watch", "execute", "key", "keys", "order"]

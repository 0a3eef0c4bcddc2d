"""Rewriting at scale: files, folders, JSON lines, Parquet and streams, on all cores, in bounded memory.

    from pathlib import Path
    from unmask.counterfactual.settings import Settings
    from unmask.rewriting import Request, run
    summary = run(Request((Path("corpus"),), Settings(to="swap"), out=Path("swapped")))
    print("\\n".join(summary.lines()))

A *document* is what is rewritten as a whole: a paragraph, line or file of plain text, a record of JSON lines, a row of
Parquet. *Counterfactual data substitution* rewrites each document with a given probability. Every byte that is no
gendered word comes out as it went in.
"""

from __future__ import annotations

from unmask.rewriting.counts import Counts, Summary
from unmask.rewriting.job import run
from unmask.rewriting.request import Request

__all__ = ["Counts", "Request", "Summary", "run"]

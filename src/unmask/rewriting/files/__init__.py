"""Rewriting at scale: files, folders, JSON lines, Parquet and streams, on all cores, in bounded memory.

    from unmask.rewriting.files import FileRewriteOptions, run
    summary = run(FileRewriteOptions(sources="corpus", to="swap", out="swapped"))
    print("\\n".join(summary.lines()))

A *document* is what is rewritten as a whole: a paragraph, line or file of plain text, a record of JSON lines, a row of
Parquet. *Counterfactual data substitution* rewrites each document with a given probability. Every byte that is no
gendered word comes out as it went in.
"""

from __future__ import annotations

from unmask.rewriting.files.options import FileRewriteOptions
from unmask.rewriting.files.rewrite_files import run
from unmask.rewriting.files.summary import Counts, Summary

__all__ = ["Counts", "FileRewriteOptions", "Summary", "run"]

"""The sentences that a measure asks a model about, as a table in the form of the paper's released files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, check_choice
from unmask.files import check_new_path
from unmask.measures.base import PROTOCOLS, SEED, Context, Measure
from unmask.measures.registry import get_measure, installed, measure_names
from unmask.options import Options, option

if TYPE_CHECKING:
    import pandas as pd


class ExportOptions(Options):
    """What to export, and where to write it."""

    measure: str = option(..., "A measure whose sentences can be exported.", argument=True, suggestions=measure_names)
    out: Path = option(..., "The file to write: .jsonl (an object per line), .csv or .tsv; it must not exist.")
    language: str = option("en", "The language of the sentences.")
    corpus: tuple[str, ...] = option(
        (), "A corpus of the measure; can be given several times. Default: as in an audit."
    )
    protocol: str = option("sound", "sound: our sentences. published: the paper's.", choices=PROTOCOLS)
    settings: Mapping[str, Any] = option(
        {}, "An option of the measure, such as limit=16 or occupations=mine.csv.", key="set", metavar="NAME=VALUE"
    )
    seed: int = option(SEED, "Seeds what a limit draws.", minimum=0)
    offline: bool = option(False, "Download nothing.", last=True)


def export_items(options: ExportOptions) -> pd.DataFrame:
    """Return the rows of all corpora that are asked for."""
    import pandas as pd

    check_new_path(options.out)
    measure = get_measure(options.measure)
    if type(measure).export is Measure.export:
        names = [other.name for other in installed() if type(other).export is not Measure.export]
        raise UnmaskError(f"{measure.name} has no sentences to export; choose from: {', '.join(names)}")
    for corpus in options.corpus:
        check_choice(corpus, measure.corpora, f"corpus of {measure.name}")
    settings = measure.Options.parse(measure.Options.parse_text(options.settings, what="setting"), prefix="--set ")
    context = Context(protocol=options.protocol, seed=options.seed, offline=options.offline)
    frames = []
    for unit in measure.units(settings, context, [options.language], options.corpus):
        measure.check(settings, unit)
        frames.append(measure.export(settings, unit))
    rows = pd.concat(frames, ignore_index=True)
    rows.index.name = frames[0].index.name
    return rows

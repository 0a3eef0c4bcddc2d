"""`unmask analyse ITEMS`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import Json, Out, ProtocolName, Seed


def command(
    items: Annotated[
        Path,
        typer.Argument(
            help="Recorded scores, one row an item: an audit folder, Parquet, CSV or TSV; our columns or BEC-Pro's."
        ),
    ],
    measure: Annotated[str, typer.Option(help="Which measure the scores belong to: association.")] = "association",
    language: Annotated[
        str | None, typer.Option(help="en or de, for files that do not say it themselves. Default: en.")
    ] = None,
    protocol: ProtocolName = "sound",
    score_column: Annotated[
        str | None,
        typer.Option(help="The column of the scores. Default: association, or Pre_Assoc in BEC-Pro's files."),
    ] = None,
    out: Out = None,
    seed: Seed = 42,
    as_json: Json = False,
) -> None:
    """Analyse recorded scores, without the model that gave them.

    Takes the items of an audit (items/association.parquet), or a file with the columns of the released BEC-Pro: Person,
    Gender, Profession, Prof_Gender, Template and Pre_Assoc.

    Example: `unmask analyse scores.tsv --language de --out audits/theirs`
    """
    from unmask import api
    from unmask.cli.output import finish
    from unmask.files import refuse_existing
    from unmask.results.storage import free_name

    if out is not None:
        refuse_existing(out)
    audit = api.analyse(
        items, measure=measure, language=language, protocol=protocol, score_column=score_column, seed=seed
    )
    finish(audit, out or free_name(audit.result.model.name), as_json=as_json)

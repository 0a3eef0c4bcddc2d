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
    measure: Annotated[
        str | None,
        typer.Option(
            help="Which measure the scores belong to: association, sentiment, inference, geometry, crows-pairs, or one"
            " of another package. Default: by the columns."
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="en, de, ja or zh, for files that do not say it themselves. Default: en.")
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

    Takes an audit folder or its items; a file with the columns of the released BEC-Pro (Person, Gender, Profession,
    Prof_Gender, Template and Pre_Assoc); ratings of texts in two versions (p_female and p_male, and label, words,
    changed_terms … if you have them); or answers to pairs of sentences (occupation, occupation_type, gender, and
    p_entailment, p_neutral, p_contradiction, or prediction).

    Examples:

    - `unmask analyse scores.tsv --language de --out audits/theirs`
    - `unmask analyse ratings.csv --protocol published`
    """
    from unmask.cli.output import finish
    from unmask.files import check_new_path
    from unmask.results.storage import free_name
    from unmask.workflows.audit import analyse

    if out is not None:
        check_new_path(out)
    audit = analyse(items, measure=measure, language=language, protocol=protocol, score_column=score_column, seed=seed)
    finish(audit, out or free_name(audit.result.model.name), as_json=as_json)

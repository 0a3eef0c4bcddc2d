"""`unmask export CORPUS` and `unmask professions TABLE`: files of a corpus, and professions by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from unmask.cli.generate import with_options

if TYPE_CHECKING:
    from unmask.measures.export import ExportOptions, ProfessionOptions


@with_options("unmask.measures.export:ExportOptions")
def export_command(options: ExportOptions) -> None:
    """Write a corpus with the columns of the released files: sentence, masked versions, person, profession.

    Sent_TM, Sent_AM and Sent_TAM have the person word, the profession, and both masked.

    Examples:

    - `unmask export bec-pro --protocol published --out BEC-Pro_EN.tsv` (as it was first released)
    - `unmask export bec-pro --language de --out german.tsv`
    """
    from unmask.measures.export import export_corpus

    rows = export_corpus(options)
    typer.echo(f"Wrote {rows:,} rows to {options.out}")


@with_options("unmask.measures.export:ProfessionOptions")
def professions_command(options: ProfessionOptions) -> None:
    """Pick the professions with most women, with fewest, and nearest to half from a table of the workforce.

    The rule is that of BEC-Pro. Read the column `profession` before you use the file: names are shortened by rule.

    Examples:

    - `unmask professions cpsaat11.xlsx --out professions.csv`
    - `unmask audit bert-base-uncased --professions professions.csv`
    """
    from unmask.measures.export import group_professions

    for group, occupations in group_professions(options).items():
        low, high = occupations[0].women, occupations[-1].women
        typer.echo(f"{group}: {len(occupations)} professions, {low:g} to {high:g} % women")
    typer.echo(
        f"Wrote {options.out}. Names are shortened by rule: correct the column 'profession' where it reads badly."
    )

"""The rows of BEC-Pro under the column names of the released files."""

from __future__ import annotations

from unmask.measures.association.data import AssociationRow, build_rows, mask_letters


def released_rows(language: str) -> list[dict[str, str]]:
    """The released file of a language, without its scores."""
    return [_columns(row) for row in build_rows(language, protocol="published")]


def _columns(row: AssociationRow) -> dict[str, str]:
    target, attribute, both_masked = mask_letters(row)
    article = "der" if row.gender == "male" else "die"
    return {
        "Sentence": row.sentence,
        "Sent_TM": target,
        "Sent_AM": attribute,
        "Sent_TAM": both_masked,
        "Template": row.template.format(person="<person subject>", profession="<profession>", a="a", der=article),
        "Person": row.target,
        "Gender": row.gender,
        "Profession": row.form,
        "Prof_Gender": row.group,
        "Profession_EN": row.profession,
    }

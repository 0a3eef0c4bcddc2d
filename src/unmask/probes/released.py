"""BEC-Pro as it was released: the wording and the masks of the files behind the paper's tables.

The released files were made by a rule with side effects, and the same rule is applied here: the article is always `a`;
German forms are those of the released word list; a word is masked by replacing its letters wherever they occur, so that
`son` is also masked inside `mason`, and `of` in the template goes with the `of` of `director of religious activities`;
a profession is masked with one mask a whitespace word.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.lexicon import Attribute, Person, Template
from unmask.probes.association import AssociationRow, Wording, build

MASK = "[MASK]"


@dataclass(frozen=True)
class MaskedVersions:
    """The three masked versions of a sentence, as text."""

    target: str
    attribute: str
    both: str


def rows(language: str) -> list[AssociationRow]:
    """The sentences of the released file of a language."""
    return build(language, "bec-pro", wording=RELEASED)


def mask(row: AssociationRow) -> MaskedVersions:
    """Mask target, attribute, and both, by replacing letters."""
    target = row.sentence.replace(row.target, MASK)
    return MaskedVersions(target, _mask_words(row.sentence, row.form), _mask_words(target, row.form))


def cells(row: AssociationRow) -> dict[str, str]:
    """The row under the column names of the released files."""
    versions = mask(row)
    article = "der" if row.gender == "male" else "die"
    template = row.template.format(person="<person subject>", profession="<profession>", a="a", der=article)
    return {
        "Sentence": row.sentence,
        "Sent_TM": versions.target,
        "Sent_AM": versions.attribute,
        "Sent_TAM": versions.both,
        "Template": template,
        "Person": row.target,
        "Gender": row.gender,
        "Profession": row.form,
        "Prof_Gender": row.group,
        "Profession_EN": row.profession,
    }


def _mask_words(sentence: str, form: str) -> str:
    for word in form.split():
        sentence = sentence.replace(word, MASK)
    return sentence


def _released_form(thing: Attribute, person: Person, frame: Template) -> str:
    del frame  # the released forms are not inflected
    return thing.forms.get(f"released_{person.gender}") or thing.forms.get(person.gender) or thing.name


RELEASED = Wording(indefinite=lambda _: "a", form=_released_form)

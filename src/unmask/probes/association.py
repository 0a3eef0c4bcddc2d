"""The sentences of the association measure: every template × person word × attribute of a corpus.

BEC-Pro (Bartl, Nissim and Gatt 2020) is generated here, not stored. The rows stand in the order of the released files:
attribute group, template, the male person words, the female ones. A sentence is put together from its parts, so the
place of the target and of the attribute in it is known and never searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon import Attribute, Person, Template, attributes, last_place, persons, templates
from unmask.lexicon.words import indefinite_article

Span = tuple[int, int]


@dataclass(frozen=True)
class Corpus:
    """Which lexicon files make up a corpus."""

    language: str
    templates: str = "templates"
    attributes: str = "professions"
    persons: str = "persons"
    noun: str = "professions"
    """What to call the attributes of a group."""


CORPORA: dict[str, dict[str, Corpus]] = {
    "en": {
        "bec-pro": Corpus("en"),
        "emotions": Corpus("en", "templates_emotions", "emotions", "persons_emotions", "emotion words"),
    },
    "de": {
        "bec-pro": Corpus("de"),
        "agreement-free": Corpus("de", "templates_agreement_free", persons="persons_agreement_free"),
    },
}


CUSTOM = "custom"
"""The name of a corpus with files of the user's."""


@dataclass(frozen=True)
class AssociationRow:
    """One sentence: a template, a person word and an attribute, and where target and attribute stand in it."""

    language: str
    corpus: str
    template: str
    person: str
    target: str
    gender: str
    pair: int
    profession: str
    form: str
    group: str
    workforce_share: float | None
    sentence: str
    target_span: Span
    attribute_span: Span


@dataclass(frozen=True)
class Wording:
    """How a protocol words what depends on other words: articles, and the form of an attribute."""

    indefinite: Callable[[str], str]
    form: Callable[[Attribute, Person, Template], str]


def build(
    language: str,
    corpus: str = "bec-pro",
    *,
    wording: Wording | None = None,
    templates_file: Path | None = None,
    persons_file: Path | None = None,
    professions_file: Path | None = None,
) -> list[AssociationRow]:
    """All rows of a corpus; a file of the user's takes the place of the lexicon's."""
    check_choice(language, CORPORA, "language")
    source = CORPORA[language][check_choice(corpus, CORPORA[language], f"corpus for language {language!r}:")]
    people = persons(language, source.persons, persons_file)
    things = attributes(language, source.attributes, professions_file)
    frames = templates(language, source.templates, templates_file)
    for frame in frames:
        _refuse_unknown_places(frame, things, language, templates_file or f"the templates of corpus {corpus!r}")
    if templates_file or persons_file or professions_file:
        corpus = CUSTOM
    rows = [
        _fill(language, corpus, frame, person, thing, wording or SOUND)
        for group in dict.fromkeys(thing.group for thing in things)
        for frame in frames
        for person in sorted(people, key=lambda person: person.gender != "male")
        for thing in things
        if thing.group == group and _form_for(thing, person, frame)
    ]
    if not rows:
        raise UnmaskError(f"corpus {corpus!r} has no sentences: no profession has a form for its templates")
    return rows


def _refuse_unknown_places(frame: Template, things: list[Attribute], language: str, where: object) -> None:
    columns = {form for thing in things for form, text in thing.forms.items() if text} | {"profession"}
    places = {place for _, place in frame.parts() if place is not None} - {frame.person}
    known = columns | {"a"} | ({"der"} if language == "de" else set())
    forms = [thing for thing in things if not (thing.forms.get("male") and thing.forms.get("female"))]
    if "der" in places and forms:
        raise UnmaskError(
            f"{{der}} in template {frame.text!r} of {where} needs the columns 'male' and 'female', which"
            f" {forms[0].name!r} does not have; give both forms, or a template without {{der}}"
        )
    for place in sorted(places - known):
        raise UnmaskError(
            f"unknown placeholder {{{place}}} in template {frame.text!r} of {where}; use {{person}}, {{profession}},"
            f" {{a}}{', {der}' if language == 'de' else ''} or a column of the professions file"
        )


def _form_for(thing: Attribute, person: Person, frame: Template) -> str:
    """The attribute as `sound` words it here: the form that agrees with the person, where the lexicon has one."""
    if frame.attribute != "profession":
        return thing.forms.get(frame.attribute, "")
    agreeing = thing.forms.get(person.gender) or thing.name
    if "{der}" in frame.text:
        return thing.forms.get(f"{person.gender}_definite") or agreeing
    return agreeing


SOUND = Wording(indefinite=indefinite_article, form=_form_for)


def _fill(
    language: str, corpus: str, frame: Template, person: Person, thing: Attribute, wording: Wording
) -> AssociationRow:
    form = wording.form(thing, person, frame)
    phrase = person.object if frame.person == "person_object" else person.phrase
    target = person.target if last_place(person.target, phrase) is not None else phrase.split()[-1]
    words = {
        frame.person: phrase,
        frame.attribute: form,
        "a": thing.forms.get("a") or wording.indefinite(form),
        "der": "der" if person.gender == "male" else "die",
        "in": thing.forms.get("in", ""),
    }
    sentence, spans = "", {}
    for literal, place in frame.parts():
        sentence += literal
        if place is not None:
            spans[place] = (len(sentence), len(sentence) + len(words[place]))
            sentence += words[place]
    sentence = sentence[0].upper() + sentence[1:]
    start = spans[frame.person][0] + (last_place(target, phrase) or 0)
    span = (start, start + len(target))
    return AssociationRow(
        language=language,
        corpus=corpus,
        template=frame.text,
        person=person.phrase,
        target=sentence[slice(*span)],
        gender=person.gender,
        pair=person.pair,
        profession=thing.name,
        form=form,
        group=thing.group,
        workforce_share=thing.workforce_share,
        sentence=sentence,
        target_span=span,
        attribute_span=spans[frame.attribute],
    )

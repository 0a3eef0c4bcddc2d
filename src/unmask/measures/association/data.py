"""The sentences of the association measure: every template × person word × attribute of a corpus.

BEC-Pro (Bartl, Nissim and Gatt 2020) is generated here, not stored: its words in the paper's five templates
(`published`) or in ten of our own (`sound`), so that intervals can cover the choice of templates. Rows are in the order
of the released files: attribute group, template, the male person words, the female ones. A sentence is put together
from its parts, so the positions of the target and the attribute are known and need not be searched for.

The `published` protocol repeats the rule behind the paper's tables, with its side effects: the article is always `a`;
German forms are those of the released word list; a word is masked by replacing its letters wherever they occur, so that
`son` is also masked inside `mason`, and `of` in the template together with the `of` of `director of religious
activities`; a profession is masked with one mask for each word.

The paper's preliminary corpus is the part of the Equity Evaluation Corpus (Kiritchenko and Mohammad 2018) with emotions
and without first names. Its code keeps the first ten phrases of each gender in the file, so sentences with *him* and
*her* are left out, and it masks in lower case: *he* also inside *the* and *heartbreaking*. That makes 2,680 rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon import Attribute, Person, Template, attributes, last_place, persons, templates
from unmask.lexicon.words import indefinite_article

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.association import AssociationOptions
    from unmask.measures.base import Context

Span = tuple[int, int]
MASK = "[MASK]"
CUSTOM = "custom"
"""The name of a corpus with files of the user's."""


@dataclass(frozen=True)
class AssociationCorpus:
    """Which lexicon files make up a corpus."""

    language: str
    templates: str = "templates"
    attributes: str = "professions"
    persons: str = "persons"
    noun: str = "professions"
    """What the attributes of a group are called."""
    published_templates: str = ""
    """The templates of the published protocol, where they are others."""
    is_lower_case: bool = False
    """Whether the published protocol masks in lower case."""


CORPORA: dict[str, dict[str, AssociationCorpus]] = {
    "en": {
        "bec-pro": AssociationCorpus("en", published_templates="templates_published"),
        "emotions": AssociationCorpus(
            "en",
            "templates_emotions",
            "emotions",
            "persons_emotions",
            "emotion words",
            published_templates="templates_emotions_published",
            is_lower_case=True,
        ),
    },
    "de": {
        "bec-pro": AssociationCorpus("de", published_templates="templates_published"),
        "agreement-free": AssociationCorpus("de", "templates_agreement_free", persons="persons_agreement_free"),
    },
}


@dataclass(frozen=True)
class AssociationRow:
    """One sentence: a template, a person word and an attribute, and the positions of target and attribute."""

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


def build_rows(
    language: str,
    corpus: str = "bec-pro",
    *,
    protocol: str = "sound",
    templates_file: Path | None = None,
    persons_file: Path | None = None,
    professions_file: Path | None = None,
) -> list[AssociationRow]:
    """Build all rows of a corpus; the user's files replace those of the lexicon."""
    check_choice(language, CORPORA, "language")
    source = CORPORA[language][check_choice(corpus, CORPORA[language], f"corpus for language {language!r}:")]
    people = persons(language, source.persons, persons_file)
    things = attributes(language, source.attributes, professions_file)
    is_published = protocol == "published"
    frames_name = source.published_templates if is_published and source.published_templates else source.templates
    frames = templates(language, frames_name, templates_file)
    for frame in frames:
        _check_placeholders(frame, things, language, templates_file or f"the templates of corpus {corpus!r}")
    if templates_file or persons_file or professions_file:
        corpus = CUSTOM
    rows = [
        _fill_template(language, corpus, frame, person, thing, protocol)
        for group in dict.fromkeys(thing.group for thing in things)
        for frame in frames
        for person in sorted(people, key=lambda person: person.gender != "male")
        for thing in things
        if thing.group == group and _agreeing_form(thing, person, frame)
        if not (is_published and frame.person == "person_object" and person.object != person.phrase)
    ]
    if not rows:
        raise UnmaskError(f"corpus {corpus!r} has no sentences: no profession has a form for its templates")
    return rows


def mask_letters(row: AssociationRow) -> tuple[str, str, str]:
    """The sentence with the target, the attribute, and both masked, as in the released files."""

    def mask_form(sentence: str) -> str:
        for word in row.form.split():
            sentence = sentence.replace(word, MASK)
        return sentence

    sentence, word = row.sentence, row.target
    if CORPORA[row.language][row.corpus].is_lower_case:
        sentence, word = sentence.lower(), word.lower()
    target = sentence.replace(word, MASK)
    return target, mask_form(sentence), mask_form(target)


def mask_spans(row: AssociationRow) -> tuple[str, str, str]:
    """The sentence with the target, the attribute, and both masked where they stand, with a mask for each word."""

    def mask(*spans: Span) -> str:
        sentence = row.sentence
        for start, end in sorted(spans, reverse=True):
            masks = " ".join([MASK] * len(sentence[start:end].split()))
            sentence = sentence[:start] + masks + sentence[end:]
        return sentence

    return mask(row.target_span), mask(row.attribute_span), mask(row.target_span, row.attribute_span)


def export(options: AssociationOptions, context: Context) -> pd.DataFrame:
    """The sentences of a corpus in the form of the released files."""
    if options.sentences:
        raise UnmaskError("sentences of a text are not exported; leave out --set sentences")
    files = {"templates_file": options.templates, "persons_file": options.persons}
    rows = build_rows(
        context.language, context.corpus, protocol=context.protocol, professions_file=options.professions, **files
    )
    return corpus_table(rows, context)


def corpus_table(rows: Sequence[AssociationRow], context: Context) -> pd.DataFrame:
    """The rows under the column names of the released files; those of emotions as in the Equity Evaluation Corpus."""
    import pandas as pd

    is_emotions, is_published = context.corpus == "emotions", context.protocol == "published"
    records = []
    for row in rows:
        target, attribute, both = mask_letters(row) if is_published else mask_spans(row)
        record = {"Sentence": row.sentence, "Sent_TM": target, "Sent_AM": attribute, "Sent_TAM": both}
        record |= {"Template": _release_template(row, context), "Person": row.target, "Gender": row.gender}
        if is_emotions:
            record |= {"Person": row.person, "Emotion": row.group, "Emotion word": row.profession}
        else:
            record |= {"Profession": row.form, "Prof_Gender": row.group}
        if row.language != "en":
            record["Profession_EN"] = row.profession
        records.append(record)
    return pd.DataFrame(records).rename_axis("")  # the released files number their rows in a column without a name


def _release_template(row: AssociationRow, context: Context) -> str:
    """The template with the placeholders of the released files."""
    article = "a" if context.protocol == "published" and context.corpus == "bec-pro" else "a/an"
    places = {
        "person": "<person subject>",
        "person_object": "<person object>",
        "state": "<emotion word>",
        "situation": "<emotional situation word>",
        "a": article,
        "der": "der" if row.gender == "male" else "die",
        "reflexive": "himself/herself",
        "in": "in",
    }
    return row.template.format_map(defaultdict(lambda: "<profession>", places))


def _check_placeholders(frame: Template, things: list[Attribute], language: str, where: object) -> None:
    columns = {form for thing in things for form, text in thing.forms.items() if text}
    valid_names = columns | {"profession", "a"} | ({"der"} if language == "de" else {"reflexive"})
    placeholders = {placeholder for _, placeholder in frame.parts() if placeholder is not None} - {frame.person}
    incomplete = [thing for thing in things if not (thing.forms.get("male") and thing.forms.get("female"))]
    if "der" in placeholders and incomplete:
        raise UnmaskError(
            f"{{der}} in template {frame.text!r} of {where} needs the columns 'male' and 'female', which"
            f" {incomplete[0].name!r} does not have; give both forms, or a template without {{der}}"
        )
    for placeholder in sorted(placeholders - valid_names):
        raise UnmaskError(
            f"unknown placeholder {{{placeholder}}} in template {frame.text!r} of {where}; use {{person}},"
            f" {{profession}}, {{a}}{', {der}' if language == 'de' else ''} or a column of the professions file"
        )


def _agreeing_form(thing: Attribute, person: Person, frame: Template) -> str:
    """The form of an attribute that agrees with the person, where the lexicon has one; empty if there is none."""
    if frame.attribute != "profession":
        return thing.forms.get(frame.attribute, "")
    form = thing.forms.get(person.gender) or thing.name
    return (thing.forms.get(f"{person.gender}_definite") or form) if "{der}" in frame.text else form


def _fill_template(
    language: str, corpus: str, frame: Template, person: Person, thing: Attribute, protocol: str
) -> AssociationRow:
    if protocol == "published":  # forms are not inflected
        names = (f"released_{person.gender}", person.gender, frame.attribute)
        form = next((form for name in names if (form := thing.forms.get(name))), thing.name)
        article = "a" if corpus == "bec-pro" else indefinite_article(form)
    else:
        form = _agreeing_form(thing, person, frame)
        article = indefinite_article(form)
    phrase = person.object if frame.person == "person_object" else person.phrase
    target = person.target if last_place(person.target, phrase) is not None else phrase.split()[-1]
    words = {
        frame.person: phrase,
        frame.attribute: form,
        "a": thing.forms.get("a") or article,
        "der": "der" if person.gender == "male" else "die",
        "in": thing.forms.get("in", ""),
        "reflexive": "himself" if person.gender == "male" else "herself",
    }
    sentence, spans = "", {}
    for literal, placeholder in frame.parts():
        sentence += literal
        if placeholder is not None:
            spans[placeholder] = (len(sentence), len(sentence) + len(words[placeholder]))
            sentence += words[placeholder]
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

"""The settings with which a model is audited as another was."""

from __future__ import annotations

import dataclasses
from os import PathLike
from pathlib import Path
from typing import Any

from unmask import auditing
from unmask.auditing.job import chosen, fitting
from unmask.errors import UnmaskError, listed
from unmask.probes import asked as asked_about
from unmask.probes import association as probe
from unmask.results import AuditResult

OF_ASSOCIATION = ("templates", "persons", "professions")
FILES = (*OF_ASSOCIATION, "word_list")
MEASURES = ("association", "geometry", "crows-pairs")
"""What can be compared, the main first; a classifier is compared by what it was made of."""


def settings_of(result: AuditResult) -> auditing.Settings:
    """The settings with which a model can be audited as this one was."""
    asked = [(one.language, one.corpus) for one in result.measurements if one.name == "association"]
    files = {name: Path(str(path)) for name in FILES if (path := result.configuration.get(name)) is not None}
    known = [(language, corpus) for language, corpora in probe.CORPORA.items() for corpus in corpora]
    strange = [corpus for language, corpus in asked if (language, corpus) not in known]
    strange += [one.corpus for one in result.measurements if one.name != "association" and one.corpus == "recorded"]
    if strange and not files:
        raise UnmaskError(
            f"the scores of {result.model.name} are of a corpus {strange[0]!r} that is not ours, so a model cannot be"
            " asked the same; give two audit folders, of unmask audit or unmask analyse"
        )
    settings = auditing.Settings(
        measures=tuple(dict.fromkeys(one.name for one in result.measurements)),
        languages=tuple(dict.fromkeys(one.language for one in result.measurements)),
        protocol=result.measurements[0].protocol,
        templates=files.get("templates"),
        persons=files.get("persons"),
        professions=files.get("professions"),
        seed=result.seed,
        **_about_words(result, files.get("word_list")),
    )
    if files.keys() & set(OF_ASSOCIATION):
        # of an audit with words of the user's own, the configuration alone says on which corpus they stand
        corpora = result.configuration.get("corpora")
        asked = [(one.partition("/")[0], one.partition("/")[2]) for one in corpora] if isinstance(corpora, list) else []
    usual = [(language, corpus) for language in settings.languages for corpus in settings.corpora_of(language)]
    named = () if not asked or asked == usual else tuple(dict.fromkeys(corpus for _, corpus in asked))
    return dataclasses.replace(settings, corpora=(*named, *_vocabularies(result, settings)))


def _about_words(result: AuditResult, word_list: Path | None) -> dict[str, Any]:
    """The settings of geometry, as far as they are known."""
    said = {name: result.configuration.get(name) for name in ("layers", "pooling", "words", "full", "contrasts")}
    return {"word_list": word_list} | {name: value for name, value in said.items() if value is not None}


def _vocabularies(result: AuditResult, settings: auditing.Settings) -> list[str]:
    """The corpora of geometry, where they are not the usual ones."""
    found = [one.corpus for one in result.measurements if one.name == "geometry"]
    return [] if settings.full else [corpus for corpus in found if corpus in asked_about.PUBLISHED]


def fitted(model: Any, settings: auditing.Settings) -> auditing.Settings:
    """The settings for one model: those of the measures that fit it and can be compared."""
    fits = fitting(model, settings)
    wanted = [one for one in settings.measures or chosen(model, settings) if one in fits and one in MEASURES]
    if not wanted:
        name = str(model) if isinstance(model, str | PathLike) else f"the {type(model).__name__}"
        raise UnmaskError(
            f"{name} can be measured for {listed(fits)}, and {listed(settings.measures or MEASURES)} can be compared;"
            " give a masked language model, an encoder or word vectors"
        )
    return dataclasses.replace(settings, measures=tuple(wanted))

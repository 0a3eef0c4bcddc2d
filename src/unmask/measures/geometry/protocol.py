"""The choices that make up a protocol: how words become vectors, and what the tests do with them.

`sound` takes a word where it stands, in grammatical sentences, and sets every value beside that of other contrasts.
`published` repeats the papers' code: tokens at fixed places, clusters by number, and the slips named in `published`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from unmask.measures.geometry import analyse_published, analyse_sound, published
from unmask.measures.geometry.associations import Associations
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.embedding import contextual, published_contextual
from unmask.measures.geometry.references import References
from unmask.measures.geometry.score import Chosen, Stereotypes, score, score_chosen
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import sizes_for
from unmask.measures.geometry.word_tests import word_tests
from unmask.models.roles import Progress

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.geometry.details import WordTest
    from unmask.results import Measurement


@dataclass(frozen=True)
class Protocol:
    """How geometry is measured."""

    name: str
    embed: Callable[..., Space]
    """Words and an encoder become a space."""
    analyse: Callable[[pd.DataFrame, int], Measurement]
    """The second half alone, for recorded items."""
    measure: Callable[[Space, Stereotypes, Run], tuple[pd.DataFrame, Measurement]]
    """Both halves, with the words that are most biased in the space itself."""
    chosen: Callable[[Space, Chosen, Stereotypes, Run, References], tuple[pd.DataFrame, list[WordTest]]]
    """Both halves, with the words that are most biased in another model, and what other contrasts left there."""


@dataclass(frozen=True)
class Run:
    """What a measurement needs beside the space."""

    language: str
    corpus: str
    seed: int
    static: bool = False
    contrasts: int = CONTRASTS
    associations: Associations | None = None
    progress: Progress | None = None


def _sound(space: Space, professions: Stereotypes, run: Run) -> tuple[pd.DataFrame, Measurement]:
    with threadpool_limits(1):  # a second thread costs more than it gives for rows as few as these
        scored = score(space, professions, seed=run.seed, contrasts=run.contrasts, progress=run.progress)
    items = _of(scored.items, run)
    found = run.associations
    measurement = analyse_sound.analyse(items, run.seed, scored.details, found.tests if found else None)
    caveats = [*measurement.caveats, *(found.caveats() if found else [])]
    return items, measurement.model_copy(update={"caveats": caveats})


def _published(space: Space, professions: Stereotypes, run: Run) -> tuple[pd.DataFrame, Measurement]:
    code = published.STATIC if run.static else published.CONTEXTUAL
    with threadpool_limits(1):
        items = published.on_a_map(published.place(space, professions, code), space, space.gender)
    items = _of(items, run)
    return items, analyse_published.analyse(items, run.seed, published.described(space))


def _sound_chosen(
    space: Space, by: Chosen, professions: Stereotypes, run: Run, left: References
) -> tuple[pd.DataFrame, list[WordTest]]:
    with threadpool_limits(1):
        items = score_chosen(space, by, professions, sizes_for(len(space.words)), seed=run.seed)
    return _of(items, run), word_tests(items, left)


def _published_chosen(
    space: Space, by: Chosen, professions: Stereotypes, run: Run, left: References
) -> tuple[pd.DataFrame, list[WordTest]]:
    del left  # the papers compare with nothing
    code = published.STATIC if run.static else published.CONTEXTUAL
    with threadpool_limits(1):
        items = published.place(space, professions, code, gender=by.gender, words=by.name)
        items = published.on_a_map(items, space, by.gender)
    return _of(items, run), analyse_published.word_tests(items)


def _of(items: pd.DataFrame, run: Run) -> pd.DataFrame:
    items.insert(0, "language", run.language)
    items.insert(1, "corpus", run.corpus)
    return items


PROTOCOLS = {
    "sound": Protocol("sound", contextual, analyse_sound.analyse, _sound, _sound_chosen),
    "published": Protocol("published", published_contextual, analyse_published.analyse, _published, _published_chosen),
}

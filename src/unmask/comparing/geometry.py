"""Geometry before and after: the model after is asked once more, about the words that were most biased before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from unmask.comparing.again import load_words_again
from unmask.comparing.sides import Subject
from unmask.errors import UnmaskError
from unmask.measures import geometry
from unmask.measures.association import Measured
from unmask.measures.geometry import chosen
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.embedding import contextual, static
from unmask.measures.geometry.losses import Losses, losses
from unmask.measures.geometry.protocol import Run
from unmask.measures.geometry.score import OWN, nearby_of, place
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import sizes_for
from unmask.models.sources import LoadOptions
from unmask.models.vectors import Vectors
from unmask.probes import asked
from unmask.results import Caveat, Comparison, Measurement

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

OWN_WORDS_ALONE = "own-words-alone"
LAST_LAYER = ("sent-debias", "leace")
"""Mitigations that change the last hidden state alone."""


def compare(
    before: Subject,
    after: Subject,
    one: Measurement,
    other: Measurement,
    *,
    loading: LoadOptions,
    progress: Progress | None = None,
) -> tuple[Comparison, pd.DataFrame]:
    """One vocabulary, judged; where the model after cannot be asked again, a caveat says why."""
    items, caveats = before.items(one), list(one.caveats)
    again, unknown, lost = None, [], None
    try:
        if one.protocol != "sound":
            raise UnmaskError("only the sound protocol pairs words; audit both models with --protocol sound")
        space = _space(after, before, list(items["word"]), loading, progress)
        unknown = sorted(set(items["word"]) - set(space.words))
        if unknown:
            items = _rescored(before, space.words, items, loading, progress)
        run = Run(one.language, one.corpus, before.result.seed)
        again, _ = chosen.measure(space, items, one, asked.stereotypes(), run, name=before.name)
        lost = _lost(before, space, loading, progress, caveats)
    except UnmaskError as error:
        again, unknown, items = None, [], before.items(one)
        caveats.append(
            Caveat(code=OWN_WORDS_ALONE, text=f"Only the models' own words are compared: {str(error).rstrip('.')}.")
        )
    if unknown:
        caveats.append(_unknown(after, unknown))
    layers = before.result.configuration.get("layers")
    if after.result.model.mitigation in LAST_LAYER and isinstance(layers, int) and layers > 1:
        caveats.append(_layers(after, layers))
    sides = (Measured(before.name, one, items), Measured(after.name, other, after.items(other)))
    comparison, paired = geometry.compare(*sides, again, unknown=unknown, lost=lost)
    caveats += [caveat for caveat in other.caveats if caveat.code not in {known.code for known in caveats}]
    return geometry.judge(comparison).model_copy(update={"caveats": caveats}), paired.assign(compared=after.name)


def _space(
    subject: Subject, settings: Subject, words: Sequence[str], loading: LoadOptions, progress: Progress | None
) -> Space:
    """The words as a model has them, embedded as the audit before says."""
    said = settings.result.configuration
    most = said.get("words")
    source = load_words_again(subject, loading, most=most if isinstance(most, int) else None)
    if isinstance(source, Vectors):
        return static(words, source)
    layers: Any = said.get("layers")
    how = {} if layers is None else {"layers": layers, "pooling": said["pooling"]}
    return contextual(words, source, **how, progress=progress)


def _lost(
    before: Subject, after: Space, loading: LoadOptions, progress: Progress | None, caveats: list[Caveat]
) -> Losses | None:
    """What other contrasts of the model before lost; a caveat where it cannot be asked again."""
    try:
        space = _space(before, before, after.words, loading, progress)
        if space.words != after.words:
            raise UnmaskError(f"{before.name} no longer knows all words that it was audited with")
    except UnmaskError as error:
        caveats.append(
            Caveat(
                code="chosen-before",
                text="Words that were chosen in one model are harder to tell apart in any other; how much of the change"
                f" is that is not known: {str(error).rstrip('.')}.",
            )
        )
        return None
    count = before.result.configuration.get("contrasts")
    with threadpool_limits(1):
        return losses(
            space,
            after,
            asked.stereotypes(),
            seed=before.result.seed,
            count=count if isinstance(count, int) else CONTRASTS,
            progress=progress,
        )


def _rescored(
    before: Subject, words: Sequence[str], items: pd.DataFrame, loading: LoadOptions, progress: Progress | None
) -> pd.DataFrame:
    """The model before with the words that both know: with fewer words, others are the most biased."""
    space = _space(before, before, words, loading, progress)
    if space.words != list(words):
        raise UnmaskError(f"{before.name} no longer knows all words that it was audited with")
    sizes = sizes_for(len(space.words))
    with threadpool_limits(1):
        nearby = nearby_of(space, asked.stereotypes(), sizes)
        found = place(space, space.gender, OWN, nearby, sizes, seed=before.result.seed)
    kept = items.set_index("word").loc[found["word"]]
    return found.assign(**{name: kept[name].to_numpy() for name in ("language", "corpus", "stereotype", "x", "y")})


def _layers(after: Subject, layers: int) -> Caveat:
    return Caveat(
        code="last-layer-alone",
        text=f"{after.result.model.mitigation} changes the last layer alone, and words are the last {layers} layers one"
        " after the other, most of which it has not touched. To see what it did, audit both models with --layers 1 and"
        " compare these.",
    )


def _unknown(after: Subject, words: Sequence[str]) -> Caveat:
    some = ", ".join(words[:5]) + ("…" if len(words) > 5 else "")
    return Caveat(
        code="words-unknown-after",
        text=f"{len(words):,} words have no vector in {after.name} ({some}); both models are compared without them.",
    )

"""Geometry before and after: the model after is asked once more, about the words that were most biased before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel
from unmask.measures.geometry import changes, chosen
from unmask.measures.geometry.change_words import judge
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.embedding import contextual, static
from unmask.measures.geometry.losses import Losses, losses
from unmask.measures.geometry.protocol import Run
from unmask.measures.geometry.score import OWN, nearby_of, place
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import sizes_for
from unmask.probes import asked
from unmask.results import AuditResult, Caveat, Comparison

if TYPE_CHECKING:
    import pandas as pd

OWN_WORDS_ALONE = "own-words-alone"
LAST_LAYER = ("sent-debias", "leace")
"""Mitigations that change the last hidden state alone."""


def compare(before: ComparedModel, after: ComparedModel) -> tuple[Comparison, pd.DataFrame]:
    """One vocabulary, judged; where the model after cannot be asked again, a caveat says why."""
    measurement, items, caveats = before.measurement, before.items, list(before.measurement.caveats)
    again, unknown, lost = None, [], None
    try:
        if measurement.protocol != "sound":
            raise UnmaskError("only the sound protocol pairs words; audit both models with --protocol sound")
        space = _space(after, before, list(items["word"]))
        unknown = sorted(set(items["word"]) - set(space.words))
        if unknown:
            items = _rescored(before, space.words, items)
        run = Run(measurement.language, measurement.corpus, _audit(before).seed)
        again, _ = chosen.measure(space, items, measurement, asked.stereotypes(), run, name=before.name)
        lost = _lost(before, space, caveats)
    except UnmaskError as error:
        again, unknown, items = None, [], before.items
        caveats.append(
            Caveat(code=OWN_WORDS_ALONE, text=f"Only the models' own words are compared: {str(error).rstrip('.')}.")
        )
    if unknown:
        caveats.append(_unknown(after, unknown))
    layers = before.result.configuration.get("layers") if before.result else None
    mitigation = after.result.model.mitigation if after.result else None
    if mitigation in LAST_LAYER and isinstance(layers, int) and layers > 1:
        caveats.append(_layers(str(mitigation), layers))
    comparison, paired = changes.compare(replace(before, items=items), after, again, unknown=unknown, lost=lost)
    caveats += [one for one in after.measurement.caveats if one.code not in {known.code for known in caveats}]
    return judge(comparison).model_copy(update={"caveats": caveats}), paired


def _audit(side: ComparedModel) -> AuditResult:
    if side.result is None:
        raise UnmaskError(f"{side.name} is known by its scores alone")
    return side.result


def _space(side: ComparedModel, settings: ComparedModel, words: Sequence[str]) -> Space:
    """The words as a model has them, embedded as the audit before states it."""
    if side.reload is None:
        raise UnmaskError(f"{side.name} is known by its scores alone")
    model, stated = side.reload(), _audit(settings).configuration
    try:
        if model.kind == "vectors":
            most = stated.get("words")
            listed = bool(_audit(side).configuration.get("word_list"))
            return static(
                words, model.vectors(most=asked.words_read(most if isinstance(most, int) else None, listed=listed))
            )
        encoder = model.encoder()
    except UnmaskError as error:
        raise UnmaskError(f"{side.name} cannot be loaded again ({error})") from None
    layers: Any = stated.get("layers")
    how = {} if layers is None else {"layers": layers, "pooling": stated["pooling"]}
    return contextual(words, encoder, **how, progress=model.progress)


def _lost(before: ComparedModel, after: Space, caveats: list[Caveat]) -> Losses | None:
    """What other contrasts of the model before lost; a caveat where it cannot be asked again."""
    try:
        space = _space(before, before, after.words)
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
    count = _audit(before).configuration.get("contrasts")
    with threadpool_limits(1):
        return losses(
            space,
            after,
            asked.stereotypes(),
            seed=_audit(before).seed,
            count=count if isinstance(count, int) else CONTRASTS,
            progress=before.reload().progress if before.reload else None,
        )


def _rescored(before: ComparedModel, words: Sequence[str], items: pd.DataFrame) -> pd.DataFrame:
    """The model before with the words that both know: with fewer words, others are the most biased."""
    space = _space(before, before, words)
    if space.words != list(words):
        raise UnmaskError(f"{before.name} no longer knows all words that it was audited with")
    sizes = sizes_for(len(space.words))
    with threadpool_limits(1):
        nearby = nearby_of(space, asked.stereotypes(), sizes)
        found = place(space, space.gender, OWN, nearby, sizes, seed=_audit(before).seed)
    kept = items.set_index("word").loc[found["word"]]
    return found.assign(**{name: kept[name].to_numpy() for name in ("language", "corpus", "stereotype", "x", "y")})


def _layers(mitigation: str, layers: int) -> Caveat:
    return Caveat(
        code="last-layer-alone",
        text=f"{mitigation} changes the last layer alone, and words are the last {layers} layers one"
        " after the other, most of which it has not touched. To see what it did, audit both models with --layers 1 and"
        " compare these.",
    )


def _unknown(after: ComparedModel, words: Sequence[str]) -> Caveat:
    some = ", ".join(words[:5]) + ("…" if len(words) > 5 else "")
    return Caveat(
        code="words-unknown-after",
        text=f"{len(words):,} words have no vector in {after.name} ({some}); both models are compared without them.",
    )

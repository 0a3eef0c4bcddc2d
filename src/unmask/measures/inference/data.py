"""The pairs of sentences that a classifier is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.errors import check_choice
from unmask.lexicon import inference as words
from unmask.measures.inference import CAPTIONS, CUSTOM, RELEASED
from unmask.probes import captions, released_inference
from unmask.probes import inference as probe

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.measures.inference import InferenceOptions


def build_pairs(options: InferenceOptions, context: Context) -> pd.DataFrame:
    """The pairs of a corpus, or of words of the user's own."""
    language = check_choice(context.language, words.LANGUAGES, "language of inference")
    if context.corpus == RELEASED:
        rows = released_inference.read(language, offline=context.offline)
        return _sample_released(rows, options.limit, context.seed)
    occupations = words.occupations(language, options.occupations)
    if options.captions is not None:
        people, templates = captions.people(language), captions.templates_of(options.captions, language).templates
        corpus = CAPTIONS
    else:
        people = words.people(language, options.people)
        templates = words.templates(language, options.templates)
        corpus = CUSTOM if options.are_own_words else context.corpus
    return probe.build(language, corpus, occupations, people, probe.drawn(templates, options.limit, context.seed))


def _sample_released(rows: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Released pairs with a sample of the sentences.

    The sets about stereotypes and the other set have lists of sentences of their own; each list is sampled, so that
    every set is there.
    """
    is_neutral = (rows["set"] == "NS").to_numpy(dtype=bool)
    is_drawn = is_neutral.copy()
    for subset in (is_neutral, ~is_neutral):
        templates = rows.loc[subset, "template"]
        is_drawn[subset] = templates.isin(probe.drawn(list(dict.fromkeys(templates)), limit, seed))
    return rows[is_drawn].reset_index(drop=True)

"""Whether a model can tell English sentences from shuffled ones, which a preference between sentences relies on.

One word of each of up to a hundred sentences is masked, once in the sentence and once between the same other words in
random order. A model that has learned the language finds the word likelier in the sentence; one that has not finds
either likelier in half of the sentences.
"""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from unmask.measures.base import Context
from unmask.measures.crows_pairs.data import WORD
from unmask.measures.queries import ask_model, count_pieces
from unmask.models.roles import MaskedLM, MaskQuery
from unmask.results import Competence
from unmask.statistics.proportions import wilson_interval

MOST_SENTENCES = 100
FEWEST_WORDS = 5
"""A sentence with fewer has too few orders."""
LEAST = 0.75
TASK = "find a word likelier in a sentence than among the same words in random order"


def check_competence(model: MaskedLM, items: pd.DataFrame, options: Any, context: Context) -> list[Competence]:
    """Ask for a word of each of a sample of sentences, in order and shuffled; nothing without sentences to ask for."""
    del options
    queries = build_queries(list(items["sent_more"]), seed=context.seed)
    counts = np.array(count_pieces(model, queries), dtype=float).reshape(-1, 2)
    is_answerable = ~np.isnan(counts).any(axis=1)
    queries = list(compress(queries, np.repeat(is_answerable, 2)))
    if not queries:
        return []
    answers = np.asarray(ask_model(model, queries), dtype=float).reshape(-1, 2)
    share = float((answers[:, 0] > answers[:, 1]).mean()) if np.isfinite(answers).all() else None
    bounds = None if share is None else wilson_interval(share, len(answers))
    return [Competence(task=TASK, n=len(answers), value=share, interval=bounds, chance=0.5, least=LEAST)]


def build_queries(texts: list[str], *, seed: int) -> list[MaskQuery]:
    """A word of each sentence, masked in its place among the others, which are in order and then shuffled."""
    rng = np.random.default_rng(seed)
    queries = []
    for index in rng.permutation(len(texts))[:MOST_SENTENCES]:
        words = WORD.findall(texts[index])
        if len(words) < FEWEST_WORDS:
            continue
        place = int(rng.integers(len(words) - 1))  # the last is a full stop
        others = words[:place] + words[place + 1 :]
        for order in (np.arange(len(others)), rng.permutation(len(others))):
            ordered = [others[other] for other in order]
            ordered.insert(place, words[place])
            start = len(" ".join([*ordered[:place], ""]))
            queries.append(MaskQuery(" ".join(ordered), (start, start + len(words[place]))))
    return queries

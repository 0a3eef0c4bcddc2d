"""Masked words: how well a model fills in the words of neutral text.

Every word of a sentence is masked exactly once. A sentence's words are divided at random into groups of about 15 %, the
share that masked language models are trained with (Devlin et al. 2019), and each group is masked together:

    loss = Σ −ln p(word | its sentence without its group) / Σ pieces        accuracy = share of words filled in rightly

A word is masked whole. One of several pieces is scored by the chain rule, each piece given those before it; it counts
with as many pieces as it has, and is right if the model's first choice is right at each of them. Punctuation is not
asked for. The loss of two models with one tokenizer is a mean over pieces; where they split words differently that
would compare unlike things, so it is a mean over words. A word that a tokenizer cannot mask alone, or does not know, is
not asked of that model, and so is not compared.

The division depends on the seed and the sentence alone: all models are asked the same, and what is compared is a word
with itself. Intervals and tests are clustered by sentence (`statistics.jackknife`).

J. Devlin, M.-W. Chang, K. Lee and K. Toutanova (2019). BERT: Pre-training of deep bidirectional transformers. NAACL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.errors import UnmaskError
from unmask.measures.asking import pieces as pieces_of
from unmask.measures.usefulness.texts import Sentences
from unmask.models import MaskedLM, MaskQuery
from unmask.models.roles import Chooses, Progress, Span
from unmask.results.comparison import Figure
from unmask.statistics import jackknife

if TYPE_CHECKING:
    import pandas as pd

SHARE = 0.15
AT_ONCE = 64
"""Sentences asked together where progress is reported."""
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
KEY = ["sentence", "place"]


def score(model: MaskedLM, sentences: Sentences, *, seed: int, progress: Progress | None = None) -> pd.DataFrame:
    """Ask the model for every word: a row each, with `sentence`, `place`, `word`, `pieces`, `loss` and `right`.

    `place` is where the word begins, in characters; `loss` is the whole word's, in nats; `right` is missing for a model
    that cannot say what it would choose.
    """
    import pandas as pd

    if getattr(model, "progress", None):
        progress = None  # a model that tells its progress itself would tell it twice
    texts = sentences.texts
    size = AT_ONCE if progress else max(1, len(texts))
    frames = []
    for start in range(0, len(texts), size):
        frames.append(_score(model, texts[start : start + size], seed))
        if progress:
            progress(min(start + size, len(texts)), len(texts))
    words = sum(map(len, frames))
    if not words:
        raise UnmaskError(f"{sentences.name} has no words that the model knows; give sentences in its language")
    return pd.concat(frames, ignore_index=True)


def compare(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, Figure]:
    """`loss` and, where both models have it, `accuracy`: paired by word, clustered by sentence."""
    both = before.merge(after, on=KEY, suffixes=("", "_after"), validate="one_to_one")
    if both.empty:
        raise UnmaskError("the two models were asked for no word in common; score both on the same sentences")
    same = bool((both["pieces"] == both["pieces_after"]).all())
    weights = both["pieces"].to_numpy(dtype=float) if same else np.ones(len(both))
    sentence = both["sentence"].to_numpy()
    figures = {"loss": _figure(both["loss"] / weights, both["loss_after"] / weights, sentence, weights)}
    if not both[["right", "right_after"]].isna().any(axis=None):
        right, right_after = (both[name].astype(float) for name in ("right", "right_after"))
        figures["accuracy"] = _figure(right, right_after, sentence, np.ones(len(both)))
    return figures


def groups(text: str, seed: int) -> list[list[Span]]:
    """The words of a text (start and end in characters), divided at random into groups of about 15 %."""
    words = [match.span() for match in WORD.finditer(text)]
    if not words:
        return []
    digest = hashlib.sha256(text.encode()).digest()
    order = np.random.default_rng([seed, int.from_bytes(digest[:8], "big")]).permutation(len(words))
    count = -(-len(words) // max(1, round(SHARE * len(words))))
    return [[words[at] for at in part] for part in np.array_split(order, count)]


def _score(model: MaskedLM, texts: Sequence[str], seed: int) -> pd.DataFrame:
    import pandas as pd

    divided = [(text, group) for text in texts for group in groups(text, seed)]
    alone = [MaskQuery(text, span) for text, group in divided for span in group]
    pieces = dict(zip(alone, pieces_of(model, alone), strict=True))
    queries = []
    for text, group in divided:
        known = [span for span in group if pieces[MaskQuery(text, span)]]
        queries += [MaskQuery(text, span, tuple(other for other in known if other != span)) for span in known]
    if isinstance(model, Chooses):
        answers = model.answer(queries)
        log_p, right = answers.log_probability, list(answers.first_choice)
    else:
        log_p, right = np.asarray(model.log_probability(queries), dtype=float), [None] * len(queries)
    if log_p.shape != (len(queries),) or not np.isfinite(log_p).all():
        raise UnmaskError(f"log_probability must give one finite number for each of {len(queries)} queries; it did not")
    frame = pd.DataFrame(
        {
            "sentence": [query.text for query in queries],
            "place": [query.target[0] for query in queries],
            "word": [query.word for query in queries],
            "pieces": [pieces[MaskQuery(query.text, query.target)] for query in queries],
            "loss": -log_p,
            "right": pd.array(right, dtype="boolean"),
        }
    )
    order = {text: at for at, text in enumerate(texts)}
    return frame.sort_values(KEY, key=lambda column: column.map(order) if column.name == "sentence" else column)


def _figure(before: ArrayLike, after: ArrayLike, sentence: ArrayLike, weights: NDArray[np.float64]) -> Figure:
    first, second = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    change = jackknife.clustered_mean(second - first, sentence, weights=weights)
    assert change.value is not None
    return Figure(
        before=float(np.average(first, weights=weights)),
        after=float(np.average(second, weights=weights)),
        change=change.value,
        interval=change.interval,
        p_value=change.p_value,
    )

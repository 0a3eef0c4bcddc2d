"""Whether a classifier rates at all: does it prefer plainly good opinions to plainly bad ones?

The value is the share of pairs of a good and a bad opinion in which the good one has the higher rating (ties count a
half): the area under the ROC curve. Its interval takes both kinds of opinions as samples (crossed jackknife). A model
without training gets one half, one whose labels are swapped nearly 0.

A label that a user names, such as *toxic*, may be no rating. Then nothing is known of what it should say of these
opinions, and nothing is asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.lexicon.labels import order_rating_labels
from unmask.lexicon.sentences import plain_opinions
from unmask.measures.sentiment.rater import Rater
from unmask.models.roles import Classifier
from unmask.results import Competence
from unmask.statistics.jackknife import jackknife

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.measures.sentiment import SentimentOptions

TASK = "rate plainly good texts above plainly bad ones"
LEAST = 0.75
NAMELESS = re.compile(r"(label[ _-]?)?\d+")
"""Labels that say nothing, such as `LABEL_1`."""


def check_competence(model: Any, items: pd.DataFrame, options: SentimentOptions, context: Context) -> list[Competence]:
    """Have the model rate plain opinions; nothing is asked in `published`, or of labels that are no ratings."""
    del items
    if context.protocol == "published" or not is_rating(model, options.positive):
        return []
    rater, opinions = Rater(model, options.positive), plain_opinions(context.language)
    ratings = rater.rate([text for pair in opinions for text in (pair.good, pair.bad)]).ratings
    good, bad = ratings[::2], ratings[1::2]
    above = (good[:, None] > bad) + (good[:, None] == bad) / 2
    share = jackknife(above.shape, lambda rows, columns: float(above[np.ix_(rows, columns)].mean()))
    return [
        Competence(
            task=TASK, n=above.size, value=share.value, interval=clip_shares(share.interval), chance=0.5, least=LEAST
        )
    ]


def is_rating(model: Any, positive: str | None) -> bool:
    """Whether the answers say how good something is: a number, labels with an order, or a label without a name."""
    if not isinstance(model, Classifier) or positive is None:
        return True
    labels = [str(label) for label in model.labels]
    return order_rating_labels(labels) is not None or bool(NAMELESS.fullmatch(str(positive).lower()))


def clip_shares(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    """An interval of a share, from 0 to 1."""
    return None if interval is None else (max(0.0, interval[0]), min(1.0, interval[1]))

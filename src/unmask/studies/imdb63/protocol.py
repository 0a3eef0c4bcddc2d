"""The choices that make up a protocol of the study; how texts are made and rated is the sentiment measure's.

`sound` trains and tests as one would. `published` repeats the paper's code: architectures that are not the checkpoints'
own, no warm-up, an epoch chosen by hand, a validation set that shares reviews with the training set, and accuracies of
test reviews made like the training ones and cut to 64 tokens, with figures of the negative label.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    """One way to train and test the classifiers."""

    name: str
    own_architecture: bool
    """Whether a base keeps its architecture, or gets what the paper's code made of it."""
    warmup: float
    weight_decay: float
    keep: str
    """Which weights are kept: the best by validation, or the last."""
    holds_out_reviews: bool
    """Whether all versions of a review are held out together, or single rows."""
    tests_originals: bool
    """Whether all are tested on the same reviews as they are, or each on reviews made like those it was trained on."""
    test_tokens: int | None
    """To how many tokens test reviews are cut for the accuracy; None: as in training."""
    label: str
    """The one of which recall, precision and F1 are given."""


PROTOCOLS = {
    "sound": Protocol("sound", True, 0.1, 0.01, "best", True, True, None, "positive"),
    "published": Protocol("published", False, 0.0, 0.0, "last", False, False, 64, "negative"),
}

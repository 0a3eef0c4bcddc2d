"""Which output of a classifier is entailment, which neutral, which contradiction.

The labels of a model say it, in any order and spelling. Where they do not (`LABEL_0`), the user can; else the model is
asked plain questions whose answers everybody knows, and the order is taken that makes it right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from unmask.errors import UnmaskError, quote
from unmask.lexicon.inference import control_questions
from unmask.lexicon.labels import match_inference_label, match_inference_labels
from unmask.models.roles import Classifier
from unmask.probes.inference import LABELS

DECIDED = ("entailment", "contradiction")
ENOUGH, AT_MOST = 0.75, 0.6
"""An order is believed that makes so many answers right, where no other makes as many right as `AT_MOST`."""


def is_inference(labels: Sequence[str]) -> bool:
    """Whether labels say that a classifier is about entailment, of two labels or three."""
    names = [str(label) for label in labels]
    known = match_inference_labels(names)
    if set(known) == set(LABELS):
        return True
    return any("entail" in name.lower() or match_inference_label(name) in DECIDED for name in names)


def find_order(model: Classifier, given: Sequence[str] = (), *, language: str = "en") -> tuple[tuple[int, ...], str]:
    """Where entailment, neutral and contradiction stand among the model's outputs, and how that is known."""
    labels = [str(label) for label in model.labels]
    if len(labels) != len(LABELS):
        kind = "two labels" if len(labels) == 2 else f"{len(labels)} labels ({quote(labels)})"
        raise UnmaskError(
            f"the model has {kind}; inference needs entailment, neutral and contradiction, since leaving a gender open"
            " (neutral) is the right answer: give a model with these three"
        )
    known = match_inference_labels(labels)
    if given:
        told = _told(given)
        against = set(known) == set(LABELS) and told != list(known)
        return _order(told, "--labels"), "as given, against what the model's own labels say" if against else "as given"
    if all(known):
        return _order([str(name) for name in known], "the model's labels"), "by the labels"
    return _asked(model, labels, language), "by plain questions, since the labels do not say it"


def _told(given: Sequence[str]) -> list[str]:
    found = []
    for at, (name, known) in enumerate(zip(given, match_inference_labels(given), strict=True), 1):
        if known is None:
            raise UnmaskError(f"--labels: {name!r} (the {at}. label) is unknown; choose from: {', '.join(LABELS)}")
        found.append(known)
    return found


def _order(names: Sequence[str], where: str) -> tuple[int, ...]:
    if sorted(names) != sorted(LABELS):
        raise UnmaskError(
            f"{where} say {quote(names)}; each of {', '.join(LABELS)} is needed once, in the model's order"
        )
    return tuple(names.index(label) for label in LABELS)


def _asked(model: Classifier, labels: Sequence[str], language: str) -> tuple[int, ...]:
    asked = control_questions(language)
    answers = np.asarray(model.probabilities([(one.premise, one.hypothesis) for one in asked])).argmax(axis=1)
    truth = np.array([LABELS.index(one.label) for one in asked])
    right = {order: float((np.array(order)[truth] == answers).mean()) for order in permutations(range(len(LABELS)))}
    (best, most), (_, second) = sorted(right.items(), key=lambda one: -one[1])[:2]
    if most < ENOUGH or second > AT_MOST:
        raise UnmaskError(
            f"the labels {quote(labels)} do not say which is entailment, and answers to plain questions do not tell"
            f" either (at most {most:.0%} right); give --labels, such as --labels entailment,neutral,contradiction"
        )
    return best

"""Asking a classifier: which of its outputs is which label, and what it answers to pairs of sentences.

The labels of most models name their outputs, in any order and spelling. Where they do not (`LABEL_0`), the user can;
otherwise the model is asked plain questions with known answers, and the order that gets most of them right is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError, quote
from unmask.lexicon.inference import control_questions
from unmask.lexicon.labels import match_inference_labels
from unmask.measures.base import Context, Scored
from unmask.measures.classifiers import Array, check_answers, measure_noise
from unmask.measures.inference.pairs import LABELS, PROBABILITIES, hash_pairs
from unmask.models.roles import Classifier, Progress

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.inference import InferenceOptions

ENOUGH_RIGHT, MOST_RIGHT_OTHERWISE = 0.75, 0.6
"""An order is used if this share of answers is right with it, and no other order exceeds the second share."""
NOISE_SAMPLE = 200
AT_ONCE = 4096


def find_order(
    model: Classifier, user_labels: Sequence[str] = (), *, language: str = "en"
) -> tuple[tuple[int, ...], str]:
    """The indices of entailment, neutral and contradiction among a model's outputs, and how they are known.

    Args:
        model: The classifier.
        user_labels: The meanings of its outputs as the user states them.
        language: The language of the questions that are asked if the labels do not tell.
    """
    labels = [str(label) for label in model.labels]
    if len(labels) != len(LABELS):
        number = "two labels" if len(labels) == 2 else f"{len(labels)} labels ({quote(labels)})"
        raise UnmaskError(
            f"the model has {number}; inference needs entailment, neutral and contradiction, since leaving a gender"
            " open (neutral) is the right answer: give a model with these three"
        )
    meanings = match_inference_labels(labels)
    if user_labels:
        user_meanings = match_inference_labels(user_labels)
        if None in user_meanings:
            index = user_meanings.index(None)
            raise UnmaskError(
                f"--labels: {user_labels[index]!r} (label {index + 1}) is unknown; choose from: {', '.join(LABELS)}"
            )
        order = _index_labels(user_meanings, "--labels")
        differs = set(meanings) == set(LABELS) and user_meanings != meanings
        return order, "as given, against what the model's own labels say" if differs else "as given"
    if all(meanings):
        return _index_labels(meanings, "the model's labels"), "by the labels"
    return _infer_order(model, labels, language), "by plain questions, since the labels do not say it"


def _index_labels(names: Sequence[str | None], source: str) -> tuple[int, ...]:
    if sorted(map(str, names)) != sorted(LABELS):
        raise UnmaskError(
            f"{source} say {quote(map(str, names))}; each of {', '.join(LABELS)} is needed once, in the model's order"
        )
    return tuple(names.index(label) for label in LABELS)


def _infer_order(model: Classifier, labels: Sequence[str], language: str) -> tuple[int, ...]:
    questions = control_questions(language)
    pairs = [(question.premise, question.hypothesis) for question in questions]
    answers = np.asarray(model.probabilities(pairs)).argmax(axis=1)
    truth = np.array([LABELS.index(question.label) for question in questions])
    right = {order: float((np.array(order)[truth] == answers).mean()) for order in permutations(range(len(LABELS)))}
    (best, most), (_, second) = sorted(right.items(), key=lambda pair: -pair[1])[:2]
    if most < ENOUGH_RIGHT or second > MOST_RIGHT_OTHERWISE:
        raise UnmaskError(
            f"the labels {quote(labels)} do not say which is entailment, and answers to plain questions do not tell"
            f" either (at most {most:.0%} right); give --labels, such as --labels entailment,neutral,contradiction"
        )
    return best


def score(model: Classifier, items: pd.DataFrame, options: InferenceOptions, context: Context) -> Scored:
    """The probability of each label for each pair."""
    order, source = find_order(model, options.labels, language=context.language)
    return score_pairs(items, model, order, seed=context.seed, progress=context.progress, details={"labels": source})


def score_pairs(
    rows: pd.DataFrame,
    model: Classifier,
    order: Sequence[int],
    *,
    seed: int,
    progress: Progress | None = None,
    details: dict[str, str] | None = None,
) -> Scored:
    """Ask a model about pairs, each distinct pair once, the shortest first.

    Args:
        rows: The pairs.
        model: The classifier.
        order: The indices of entailment, neutral and contradiction among its outputs.
        seed: The seed of the sample that is scored again to measure the noise floor.
        progress: Called with the number of pairs answered, and of all pairs.
        details: What else to store of the scoring.
    """

    def ask(pairs: Sequence[tuple[str, str]]) -> Array:
        return check_answers(model.probabilities(pairs), pairs, len(LABELS), exclusive=True)[:, list(order)]

    pairs = list(zip(rows["premise"], rows["hypothesis"], strict=True))
    distinct = list(dict.fromkeys(pairs))
    by_length = sorted(range(len(distinct)), key=lambda index: sum(map(len, distinct[index])))
    answers = np.empty((len(distinct), len(LABELS)))
    for start in range(0, len(distinct), AT_ONCE):
        batch = by_length[start : start + AT_ONCE]
        answers[batch] = ask([distinct[index] for index in batch])
        if progress:
            progress(min(start + AT_ONCE, len(distinct)), len(distinct))
    noise = measure_noise(distinct, answers, ask, most=NOISE_SAMPLE, seed=seed)
    position = {pair: index for index, pair in enumerate(distinct)}
    items = add_answers(rows, answers[[position[pair] for pair in pairs]])
    return Scored(items, noise, len(distinct), hash_pairs(rows), details or {})


def add_answers(rows: pd.DataFrame, answers: Array) -> pd.DataFrame:
    """Pairs with the probability of each label and the most probable label."""
    columns = {column: answers[:, index] for index, column in enumerate(PROBABILITIES)}
    return rows.assign(**columns, prediction=[LABELS[index] for index in answers.argmax(axis=1)])

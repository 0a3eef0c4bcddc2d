"""Downstream accuracy: fine-tune each model alike on a task, and see what it then gets right.

All models learn from the same examples, in the same order, from the same seed and settings, and classify the same test
examples. So accuracies are paired: McNemar's exact test and Agresti and Min's interval (`statistics.paired`). Both are
about other test examples; how much another seed would change a fine-tuned model, they do not know.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice
from unmask.models import Classifier
from unmask.models.loading import load_classifier
from unmask.options import LoadOptions
from unmask.results.comparison import Figure, Usefulness
from unmask.statistics.paired import matched_shares
from unmask.training import finetune
from unmask.training.examples import Example, Splits, hash_examples
from unmask.training.finetune import Say
from unmask.training.loop import Watch
from unmask.training.options import FinetuneOptions, TaskOptions, TrainingOptions

TASKS = ("sentiment", "nli")


@dataclass(frozen=True)
class Subject:
    """A model to fine-tune."""

    name: str
    """Short, as reports call it."""
    model: str
    """A folder, a hub id or an embedded model."""
    weight_hash: str
    """Which weights it has: the classifiers of another model are not taken for its own."""


class Downstream(TrainingOptions, TaskOptions):
    """A task, its examples, and how models are trained on it."""

    def read_examples(self, *, offline: bool) -> Splits:
        """Read what is learned from, and what is asked in the end."""
        check_choice(self.task, TASKS, "task")
        splits = self.examples(seed=self.seed, offline=offline)
        if not splits.test:
            raise UnmaskError(f"{self.train} comes without test examples; give a file of them with --test")
        return splits


def run(
    task: Downstream,
    before: Subject,
    afters: Sequence[Subject],
    *,
    folder: Path,
    loading: LoadOptions | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
    made: dict[str, Path] | None = None,
) -> list[Usefulness]:
    """Fine-tune and test every model; what each of `afters` can do is compared with `before`.

    The classifiers go into `folder`, one a model. One that is finished there, of the same weights, examples and
    settings, is used again, and one that was interrupted goes on. `made` receives where each is, by the model's name.
    """
    loading = loading or LoadOptions()
    examples = task.read_examples(offline=loading.offline)
    classifiers = {
        subject.name: _classifier(task, subject, examples, folder, loading, say, watch) for subject in (before, *afters)
    }
    if made is not None:
        made |= classifiers
    right = [_right(classifier, examples.test, loading) for classifier in classifiers.values()]
    found = []
    for subject, now in zip(afters, right[1:], strict=True):
        shares = matched_shares(right[0], now)
        assert shares is not None
        accuracy = Figure(
            before=shares.before,
            after=shares.after,
            change=shares.change,
            interval=shares.interval,
            p_value=shares.p_value,
        )
        found.append(
            Usefulness(
                what=task.task,
                after=subject.name,
                data=task.data or (task.test or Path()).name,
                data_hash=hash_examples(examples.test),
                n=shares.n,
                figures={"accuracy": accuracy},
            )
        )
    return found


def _classifier(
    task: Downstream,
    subject: Subject,
    examples: Splits,
    folder: Path,
    loading: LoadOptions,
    say: Say | None,
    watch: Watch | None,
) -> Path:
    """The folder of the fine-tuned model, trained now unless it is there; its name tells what it was trained on."""
    out = folder / _name(task, subject, examples)
    if (out / "metrics.json").is_file():
        if say:
            say(f"Using {out.name}, which is trained already")
        return out
    request = FinetuneOptions(model=subject.model, out=out, **dict(task), **dict(loading))
    finetune.finetune_model(request, watch=watch, say=say)
    return out


def _name(task: Downstream, subject: Subject, examples: Splits) -> str:
    """Short, legible, and another one for whatever makes another classifier."""
    made_of = {
        "weights": subject.weight_hash,
        "examples": replace(examples, test=()).hashes(),
        "settings": task.part(TrainingOptions).replace(save_every=1).model_dump(),
        "max_length": task.max_length,
        "lora_rank": task.lora_rank,
    }
    key = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
    plain = re.sub(r"[^\w.-]+", "-", subject.name).strip("-.") or "model"
    return f"{task.task}-{plain}-{key[:10]}"


def _right(classifier: Path, test: Sequence[Example], loading: LoadOptions) -> NDArray[np.bool_]:
    """Which of the examples the classifier gets right."""
    model = load_classifier(str(classifier), loading)
    assert isinstance(model, Classifier)
    p = model.probabilities([one.text if one.pair is None else (one.text, one.pair) for one in test])
    labels = np.array(model.labels)
    chosen: NDArray[np.bool_] = labels[p.argmax(axis=1)] == np.array([one.label for one in test])
    return chosen

"""What a change of bias cost: masked words, stated gender, and the accuracy of models fine-tuned on a task.

Fine-tuned models learn from the same examples, in the same order, from the same seed and settings, and classify the
same test examples. So accuracies are paired: McNemar's exact test and Agresti and Min's interval (`statistics.paired`).
Both are about other test examples; they do not say how much another seed would change a fine-tuned model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice
from unmask.files import hash_content
from unmask.measures import registry
from unmask.options import LoadOptions
from unmask.results import Caveat, Usefulness, UsefulnessChange
from unmask.results.comparison import COSTS, CostSize
from unmask.results.formatting import capital, interval, number, p_value
from unmask.results.storage import file_name
from unmask.results.verdict import is_significant, size_label
from unmask.training.options import TASKS, FinetuneOptions, TaskOptions, TrainingOptions

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.roles import Progress
    from unmask.training.examples import Splits, TextExample
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch
    from unmask.workflows.compared_models import Subject

WORDS, STATED = "masked words", "stated gender"
CLASSIFIER_TASKS = tuple(task for task in TASKS if task != "mlm")
SIZES: tuple[CostSize, ...] = ("", "none", "negligible", "small", "moderate", "heavy")
"""Of costs, in ascending order."""
COST_SIZES = ((1.02, "negligible"), (1.1, "small"), (1.5, "moderate"), (inf, "heavy"))
"""Upper limits of the factor of the perplexity (e to the power of the loss), and what costs below each are called."""
ACCURACY_SIZES = ((0.005, "negligible"), (0.02, "small"), (0.1, "moderate"), (inf, "heavy"))
"""Upper limits of the fall of a share of right answers."""
CHANCE = 0.6
"""Below this share of right pronouns, a model hardly does better than by guessing."""
LOST = 0.1
"""A fall of the log odds of the right pronoun by more than this share is a cost, though the pronoun is still right."""


@dataclass
class MeasuredUsefulness:
    """What was measured, the items behind it, and why something is missing."""

    tasks: list[Usefulness] = field(default_factory=list)
    items: dict[str, pd.DataFrame] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)

    def add_caveat(self, reason: str) -> None:
        """Note that usefulness was not measured, and why."""
        text = f"Usefulness not measured: {reason.rstrip('.')}."
        self.caveats.append(Caveat(code="usefulness-not-measured", text=text))

    def add_task(
        self,
        what: str,
        scored: Mapping[str, pd.DataFrame],
        compare: Callable[[pd.DataFrame, pd.DataFrame], dict[str, UsefulnessChange]],
        **data: str | int,
    ) -> None:
        """Compare the items of every model after with those of the first."""
        import pandas as pd

        (_, before), *afters = scored.items()
        for name, items in afters:
            fields = {"what": what, "after": name, **data, "figures": compare(before, items)}
            self.tasks.append(Usefulness.model_validate(fields))
        if afters:
            frames = [items.assign(model=name) for name, items in scored.items()]
            self.items[what.replace(" ", "-")] = pd.concat(frames, ignore_index=True)


def measure_usefulness(
    subjects: Sequence[Subject], *, text: Path | None, seed: int, progress: Progress | None = None
) -> MeasuredUsefulness:
    """Score the model before and those after on the same sentences. What cannot be measured is a caveat."""
    from unmask.measures import usefulness

    measured = MeasuredUsefulness()
    first = subjects[0]
    measures = [
        (measurement.language, registry.get_measure(measurement.name)) for measurement in first.result.measurements
    ]
    languages = [language for language, measure in measures if measure.roles == ("masked-lm",)]
    if not languages:
        measured.add_caveat(
            "neutral text is for masked language models; compare the accuracy of classifiers on your own test set"
            if any(measure.of_classifiers for _, measure in measures)
            else f"{first.name} was not audited as a masked language model"
        )
        return measured
    english = "en" in languages
    if text is None and not english:
        measured.add_caveat("our neutral sentences are English; give text in the language of the model with --text")
        return measured
    sentences = usefulness.load_sentences(text, "en" if english else languages[0])
    if sentences.left_out:
        reason = f"{sentences.left_out:,} texts of {sentences.name} mention a gender and are not used as neutral text."
        measured.caveats.append(Caveat(code="texts-left-out", text=reason))
    words: dict[str, pd.DataFrame] = {}
    stated: dict[str, pd.DataFrame] = {}
    for subject in subjects:
        try:
            model = subject.masked_lm()
        except UnmaskError as error:
            measured.add_caveat(str(error))
            if subject is first:
                return measured  # nothing to compare with
            continue
        words[subject.name] = usefulness.score_words(model, sentences, seed=seed, progress=progress)
        if english:
            stated[subject.name] = usefulness.score_stated_gender(model)
    data: dict[str, Any] = {"data": sentences.name, "data_hash": sentences.hash, "n": len(sentences.texts)}
    measured.add_task(WORDS, words, usefulness.compare_words, **data)
    if english:
        asked_sentences = next(iter(stated.values()))["sentence"].astype(str)
        data_hash = hash_content("\n".join(asked_sentences))
        data = {"data": "the stated-gender sentences of the package", "data_hash": data_hash, "n": len(asked_sentences)}
        measured.add_task(STATED, stated, usefulness.compare_stated_gender, **data)
    return measured


@dataclass(frozen=True)
class FinetunedModel:
    """A model to fine-tune."""

    name: str
    """Short, as reports call it."""
    model: str
    """A folder, a hub id or an embedded model."""
    weight_hash: str
    """Tells its classifiers from those of a model with other weights."""


class DownstreamTask(TrainingOptions, TaskOptions, LoadOptions):
    """A task, its examples, and how models are loaded and trained on it."""

    def read_examples(self) -> Splits:
        """Read the examples to learn from, and those to be tested on."""
        check_choice(self.task, CLASSIFIER_TASKS, "task")
        splits = self.examples(seed=self.seed, offline=self.offline)
        if not splits.test:
            raise UnmaskError(f"{self.train} comes without test examples; give a file of them with --test")
        return splits


def finetune_subjects(
    measured: MeasuredUsefulness,
    subjects: Sequence[Subject],
    task: DownstreamTask,
    *,
    folder: Path,
    say: Say | None = None,
    watch: Watch | None = None,
) -> dict[str, Path]:
    """Fine-tune the models that can be loaded again on a task, and add their accuracy to what was measured.

    Returns the folders of the classifiers, by the names of the models.
    """
    usable = []
    for subject in subjects:
        try:
            if not isinstance(subject.model, str | PathLike):
                raise UnmaskError(f"{subject.name} is not a folder or name that can be fine-tuned")
            subject.masked_lm()
        except UnmaskError as error:
            measured.add_caveat(f"{error}, so it was not fine-tuned for {task.task}")
            if subject is subjects[0]:
                return {}
            continue
        usable.append(FinetunedModel(subject.name, str(subject.model), subject.result.model.weight_hash or ""))
    if len(usable) < 2:
        return {}
    tasks, classifiers = compare_accuracy(task, usable, folder=folder, say=say, watch=watch)
    measured.tasks += tasks
    return classifiers


def compare_accuracy(
    task: DownstreamTask,
    models: Sequence[FinetunedModel],
    *,
    folder: Path,
    say: Say | None = None,
    watch: Watch | None = None,
) -> tuple[list[Usefulness], dict[str, Path]]:
    """Fine-tune and test every model; each is compared with the first.

    The classifiers go into `folder`, and are returned by the names of the models. One that is finished there, of the
    same weights, examples and settings, is used again, and an interrupted one resumes.
    """
    from unmask.statistics.paired import matched_shares
    from unmask.training.examples import hash_examples

    examples = task.read_examples()
    classifiers = {model.name: _train_classifier(task, model, examples, folder, say, watch) for model in models}
    correct = {name: _test_classifier(path, examples.test, task.loading) for name, path in classifiers.items()}
    tasks = []
    for model in models[1:]:
        shares = matched_shares(correct[models[0].name], correct[model.name])
        assert shares is not None  # there are test examples
        accuracy = UsefulnessChange.model_validate(
            {name: getattr(shares, name) for name in UsefulnessChange.model_fields}
        )
        tasks.append(
            Usefulness(
                what=task.task,
                after=model.name,
                data=task.data or (task.test or Path()).name,
                data_hash=hash_examples(examples.test),
                n=shares.n,
                figures={"accuracy": accuracy},
            )
        )
    return tasks, classifiers


def _train_classifier(
    task: DownstreamTask,
    model: FinetunedModel,
    examples: Splits,
    folder: Path,
    say: Say | None,
    watch: Watch | None,
) -> Path:
    """The folder of the fine-tuned model, trained now unless it is there; its name depends on all that went into it."""
    from unmask.training.finetune import finetune_model

    inputs = {
        "weights": model.weight_hash,
        "examples": replace(examples, test=()).hashes(),
        "settings": task.part(TrainingOptions).replace(save_every=1).model_dump(),
        "max_length": task.max_length,
        "lora_rank": task.lora_rank,
    }
    key = hash_content(json.dumps(inputs, sort_keys=True))
    out = folder / f"{task.task}-{file_name(model.name)}-{key[:10]}"
    if not (out / "metrics.json").is_file():
        finetune_model(FinetuneOptions(model=model.model, out=out, **dict(task)), watch=watch, say=say)
    elif say:
        say(f"Using {out.name}, which is trained already")
    return out


def _test_classifier(classifier: Path, test: Sequence[TextExample], loading: LoadOptions) -> NDArray[np.bool_]:
    """Which of the examples a classifier gets right."""
    from unmask.models.loading import load_classifier
    from unmask.models.roles import Classifier

    model = load_classifier(str(classifier), loading)
    assert isinstance(model, Classifier)
    p = model.probabilities(
        [example.text if example.pair is None else (example.text, example.pair) for example in test]
    )
    correct: NDArray[np.bool_] = np.array(model.labels)[p.argmax(axis=1)] == np.array(
        [example.label for example in test]
    )
    return correct


def judge_cost(tasks: Sequence[Usefulness]) -> tuple[CostSize, str]:
    """How much usefulness one model after has lost, and one or more sentences on it, the most costly first.

    The size is that of the most costly task; both are empty where nothing was measured.
    """
    costs = [(_cost_size(task), _describe_task(task)) for task in tasks]
    costs.sort(key=lambda cost: -SIZES.index(cost[0]))
    size = costs[0][0] if costs else ""
    text = " ".join(sentence for _, sentence in costs if sentence)
    text = f": {text[0].lower()}{text[1:]}" if text else "."
    return size, f"{capital(COSTS[size])}{text}" if size else ""


def combine_runs(tasks: Sequence[Usefulness], name: str) -> list[Usefulness]:
    """What training runs can still do, as one model after: the mean of each figure over runs."""
    by_task: dict[str, list[Usefulness]] = {}
    for task in tasks:
        by_task.setdefault(task.what, []).append(task)
    return [
        group[0].model_copy(
            update={
                "after": name,
                "figures": {
                    figure: _combine_figures([task.figures[figure] for task in group])
                    for figure in group[0].figures
                    if all(figure in task.figures for task in group)
                },
            }
        )
        for group in by_task.values()
    ]


def _combine_figures(figures: Sequence[UsefulnessChange]) -> UsefulnessChange:
    from scipy import stats

    from unmask.statistics.jackknife import TAIL, IntervalEstimate
    from unmask.statistics.jackknife import combine_runs as combine_values

    changes, after = [figure.change for figure in figures], float(np.mean([figure.after for figure in figures]))
    bounds = [figure.interval for figure in figures if figure.interval is not None]
    errors = [(high - low) / 2 / float(stats.norm.isf(TAIL)) for low, high in bounds]
    combined = IntervalEstimate(None)
    if len(errors) == len(figures):
        combined = combine_values(changes, errors, [inf] * len(errors))
    return UsefulnessChange(
        before=figures[0].before,
        after=after,
        change=float(np.mean(changes)),
        interval=combined.interval,
        p_value=combined.p_value,
    )


def _cost_size(task: Usefulness) -> CostSize:
    """The size of what one task lost; it must be beyond chance."""
    figures = task.figures
    if task.what == WORDS:
        loss = figures["loss"]
        lost = is_significant(loss.p_value) and loss.change > 0
        return size_label(exp(min(loss.change, 9.0)), COST_SIZES) if lost else "none"  # type: ignore[return-value]
    sizes: list[CostSize] = ["none"]
    if fell := _fell_by(figures["accuracy"]):
        sizes.append(size_label(fell, ACCURACY_SIZES))  # type: ignore[arg-type]
    log_odds = figures.get("log_odds")
    if log_odds and _fell_by(log_odds) > LOST * abs(log_odds.before):
        sizes.append("moderate")
    return max(sizes, key=SIZES.index)


def _describe_task(task: Usefulness) -> str:
    if task.what in (WORDS, STATED):
        return _describe_masked_words(task) if task.what == WORDS else _describe_stated_gender(task)
    accuracy = task.figures["accuracy"]
    verb = (
        "did not change reliably" if not is_significant(accuracy.p_value) else "fell" if accuracy.change < 0 else "rose"
    )
    return f"Fine-tuned for {task.what}, its accuracy {verb}: {_format_change(accuracy)} on {task.n:,} examples."


def _fell_by(figure: UsefulnessChange) -> float:
    """By how much a figure fell, beyond chance; else zero."""
    return max(-figure.change, 0.0) if is_significant(figure.p_value) else 0.0


def _describe_masked_words(task: Usefulness) -> str:
    loss = task.figures["loss"]
    values = f"loss {_format_change(loss)}"
    if accuracy := task.figures.get("accuracy"):
        values += f"; right in {_format_share(accuracy)} of the words"
    if not is_significant(loss.p_value):
        return f"No clear change in how likely masked words are on {task.n:,} neutral sentences ({values})."
    likely = "less" if loss.change > 0 else "more"
    return f"Masked words are {likely} likely than before on {task.n:,} neutral sentences ({values})."


def _describe_stated_gender(task: Usefulness) -> str:
    """Whether the model still prefers the right pronoun, and as clearly as before; empty if it does."""
    accuracy, log_odds = task.figures["accuracy"], task.figures.get("log_odds")
    fell = _fell_by(accuracy)
    if fell and SIZES.index(size_label(fell, ACCURACY_SIZES)) >= SIZES.index(_cost_size(task)):
        verb = "It unlearned much about" if fell >= ACCURACY_SIZES[-2][0] else "It partly unlearned"
        verb = "It no longer knows" if accuracy.after < CHANCE else verb
        return (
            f"{verb} gender where a sentence states it (my sister … herself): the right pronoun is preferred in"
            f" {_format_share(accuracy)} of {task.n:,} sentences."
        )
    if _cost_size(task) != "none" and log_odds:
        return (
            "Where a sentence states the gender (my sister … herself), the right pronoun is preferred less clearly than"
            f" before (log odds {_format_change(log_odds)}) in {task.n:,} sentences."
        )
    return ""


def _format_change(figure: UsefulnessChange) -> str:
    bounds = f" {interval(figure.interval, 3)}" if figure.interval else ""
    p = "" if figure.p_value is None else f", p {p_value(figure.p_value)}"
    return f"{number(figure.before, 3)} → {number(figure.after, 3)}, change {number(figure.change, 3)}{bounds}{p}"


def _format_share(figure: UsefulnessChange) -> str:
    return f"{figure.after:.1%} (before: {figure.before:.1%})"

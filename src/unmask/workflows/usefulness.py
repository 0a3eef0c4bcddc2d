"""What a mitigation did to the model's usefulness, where the audited models can still be loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.measures import registry, usefulness
from unmask.options import LoadOptions
from unmask.results import Caveat, Figure, Usefulness
from unmask.workflows import downstream
from unmask.workflows.compared_models import Subject

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.roles import Progress
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch

WORDS, STATED = "masked words", "stated gender"
NOT_MEASURED = "usefulness-not-measured"


@dataclass
class Measured:
    """What was found, the items behind it, and why something is missing."""

    found: list[Usefulness] = field(default_factory=list)
    items: dict[str, pd.DataFrame] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)


def measure(
    subjects: Sequence[Subject],
    *,
    text: Path | None,
    seed: int,
    progress: Progress | None = None,
) -> Measured:
    """Score the model before and those after on the same sentences; what cannot be measured is a caveat."""
    measured = Measured()
    languages = _languages(subjects[0])
    if not languages:
        why = f"{subjects[0].name} was not audited as a masked language model"
        if any(registry.get_measure(one.name).of_classifiers for one in subjects[0].result.measurements):
            why = "neutral text is for masked language models; compare the accuracy of classifiers on your own test set"
        return _without(measured, why)
    english = "en" in languages
    if text is None and not english:
        return _without(
            measured, "our neutral sentences are English; give text in the language of the model with --text"
        )
    sentences = usefulness.sentences(text, "en" if english else languages[0])
    if sentences.left_out:
        why = (
            f"{sentences.left_out:,} texts of {sentences.name} mention a gender and were left out of the neutral text."
        )
        measured.caveats.append(Caveat(code="texts-left-out", text=why))
    words: dict[str, pd.DataFrame] = {}
    stated: dict[str, pd.DataFrame] = {}
    for subject in subjects:
        try:
            model = subject.masked_lm()
        except UnmaskError as error:
            _without(measured, str(error))
            if subject is subjects[0]:
                return measured  # nothing to compare with
            continue
        words[subject.name] = usefulness.score(model, sentences, seed=seed, progress=progress)
        if english:
            stated[subject.name] = usefulness.score_stated(model)
    _collect(measured, WORDS, words, usefulness.compare, sentences.name, sentences.hash, len(sentences.texts))
    if english:
        sample = next(iter(stated.values()))
        name = "the stated-gender sentences of the package"
        _collect(measured, STATED, stated, usefulness.compare_stated, name, _hash(sample), len(sample))
    return measured


def on_task(
    measured: Measured,
    subjects: Sequence[Subject],
    task: downstream.Downstream,
    *,
    folder: Path,
    loading: LoadOptions,
    say: Say | None = None,
    watch: Watch | None = None,
) -> dict[str, Path]:
    """Fine-tune the models that can be loaded again on a task, and add how right they then are.

    Returns where the classifiers are, by the names of the models.
    """
    made: dict[str, Path] = {}
    usable = []
    for subject in subjects:
        try:
            if not isinstance(subject.model, str | PathLike):
                raise UnmaskError(f"{subject.name} is no folder or name that can be fine-tuned")
            subject.masked_lm()
        except UnmaskError as error:
            _without(measured, f"{error}, so it was not tried on {task.task}")
            if subject is subjects[0]:
                return made
            continue
        weights = subject.result.model.weight_hash or ""
        usable.append(downstream.Subject(subject.name, str(subject.model), weights))
    if len(usable) > 1:
        first, *others = usable
        measured.found += downstream.run(
            task, first, others, folder=folder, loading=loading, say=say, watch=watch, made=made
        )
    return made


def _languages(subject: Subject) -> list[str]:
    """The languages in which a side was audited as a masked language model, which alone can fill in words."""
    return [
        one.language for one in subject.result.measurements if registry.get_measure(one.name).roles == ("masked-lm",)
    ]


def _without(measured: Measured, why: str) -> Measured:
    measured.caveats.append(Caveat(code=NOT_MEASURED, text=f"Usefulness not measured: {why.rstrip('.')}."))
    return measured


def _collect(
    measured: Measured,
    what: str,
    scored: dict[str, pd.DataFrame],
    compare: Callable[[pd.DataFrame, pd.DataFrame], dict[str, Figure]],
    data: str,
    data_hash: str,
    n: int,
) -> None:
    import pandas as pd

    (_, before), *afters = scored.items()
    for name, items in afters:
        figures = compare(before, items)
        measured.found.append(Usefulness(what=what, after=name, data=data, data_hash=data_hash, n=n, figures=figures))
    if afters:
        frames = [items.assign(model=name) for name, items in scored.items()]
        measured.items[what.replace(" ", "-")] = pd.concat(frames, ignore_index=True)


def _hash(items: pd.DataFrame) -> str:
    import hashlib

    return hashlib.sha256("\n".join(items["sentence"].astype(str)).encode()).hexdigest()

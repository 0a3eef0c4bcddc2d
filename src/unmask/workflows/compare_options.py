"""Options of a comparison. Importing this module imports no model library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import field_validator, model_validator

from unmask.errors import UnmaskError
from unmask.options import LoadOptions, option


class CompareOptions(LoadOptions):
    """How to compare; the defaults are the sound ones."""

    languages: tuple[str, ...] = option(
        (),
        "en or de, for models. Default: as the first audit among those given was made, or en.",
        key="language",
        suggestions=("en", "de"),
    )
    protocol: str | None = option(
        None,
        "sound or published, for models. Default: that of the first audit, or sound.",
        choices=("sound", "published"),
    )
    text: Path | None = option(
        None,
        "Neutral text to measure usefulness on: .txt, one sentence a line, or a table with a column 'text'. Default:"
        " the package's own sentences.",
    )
    usefulness: bool = option(
        True,
        "Measure whether neutral words are filled in as well as before.",
        negative_help="Leave usefulness out. Geometry still loads models.",
    )
    task: tuple[str, ...] = option(
        (),
        "sentiment or nli: also fine-tune every model alike and compare accuracies. Takes long. May be given twice; of"
        " four models or more the classifiers are audited, too.",
        choices=("sentiment", "nli"),
    )
    data: tuple[str, ...] = option(
        (), "A known data set for each --task, in the same order: imdb (sentiment), snli (nli)."
    )
    train: Path | None = option(None, "Examples of your own for --task, as in unmask finetune.")
    test: Path | None = option(None, "What accuracies are measured on, with --train.")
    seed: int = option(
        42, "Chooses which words are masked together, permutations beyond counting, training.", minimum=0
    )
    classifiers: Path = option(
        Path("comparisons/classifiers"), "Where fine-tuned models are kept, to be used again.", cli=False
    )
    audit: Any = option(None, "How to audit models, in place of languages and protocol.", cli=False)

    @field_validator("languages", "task")
    @classmethod
    def _take_once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))

    @model_validator(mode="after")
    def _check(self) -> CompareOptions:
        if self.text is not None and not self.usefulness:
            raise UnmaskError(
                f"--text {self.text} is for usefulness, and --no-usefulness leaves that out; give one of them"
            )
        if not self.task and (self.data or self.train or self.test):
            raise UnmaskError("data, train and test belong to a task; say which with --task sentiment or --task nli")
        tasks, sets = len(self.task), len(self.data)
        if sets > tasks or (tasks > 1 and (self.train or self.test or sets < tasks)):
            raise UnmaskError(
                f"{tasks} tasks and {sets} data sets were given; give --data for each --task, in the same order"
            )
        return self

"""The models of a study: how users name them, what identifies them, and how a step trains one."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import unmask
from unmask import embedded
from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import hash_content
from unmask.mitigations.corpus import GAP, hash_texts, read_corpus
from unmask.mitigations.method import MitigateOptions, find_method
from unmask.models.checkpoints import find_checkpoint
from unmask.models.vector_files import list_word_files
from unmask.models.word_vectors import find_vector_file, is_vector_folder
from unmask.options import LoadOptions
from unmask.results import Measurement, storage
from unmask.results.storage import read_items, write_items
from unmask.studies.steps import Say
from unmask.training import finetune
from unmask.training.checkpoints import Workspace
from unmask.training.examples import Splits
from unmask.training.loop import News
from unmask.training.options import FinetuneOptions

if TYPE_CHECKING:
    import pandas as pd

Model = TypeVar("Model")
Request = TypeVar("Request", FinetuneOptions, MitigateOptions)
SHORT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+]{0,30}")
HYPHENATED_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,30}")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
HASHED = (".json", ".safetensors", ".txt", ".model", ".vocab", ".bin", ".py")
"""The files of a model folder that decide what is loaded: weights, tokenizer, settings, and code if it is allowed."""
MODEL, METRICS = "model", "metrics.json"
MADE = "made"
"""The folder of what a step has debiased, in its result."""
ITEMS, RESULT = f"items{storage.ITEMS}", "measurement.json"


def split_names(texts: Sequence[str], *, hyphens: bool = False) -> list[tuple[str, str]]:
    """Split `NAME=MODEL` into names and models. A bare `NAME` has no model (empty)."""
    pattern = HYPHENATED_NAME if hyphens else SHORT_NAME
    pairs = []
    for text in texts:
        name, sign, model = text.partition("=")
        if sign and (not pattern.fullmatch(name) or not model):
            raise UnmaskError(f"{text!r} names no base model; give NAME=MODEL, with a short name of letters and digits")
        pairs.append((name, model))
    names = [name for name, _ in pairs]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UnmaskError(f"the base model {quote(repeated)} is given twice; names must be unique")
    return pairs


def find_paper_model(name: str, paper_models: Mapping[str, Model]) -> Model:
    """Return a model of the paper by its name. A user's own model needs a name for the tables."""
    if name not in paper_models and (name in embedded.MODELS or "/" in name or Path(name).exists()):
        raise UnmaskError(f"--model {name} has no name for the tables; write NAME={name}, such as mine={name}")
    return paper_models[check_choice(name, paper_models, "base model")]


def hash_model(model: str, options: LoadOptions | None = None) -> str:
    """Return a SHA-256 of a model, or of a file or folder of word vectors. A hub id stands for itself."""
    path = Path(model)
    if is_vector_folder(path):
        path = find_vector_file(path)[0]
    if not path.is_file():
        return hash_weights(model, options)
    return hash_files([path, *(list_word_files(path) if path.suffix == ".npy" else ())])


def hash_weights(model: str, options: LoadOptions | None = None) -> str:
    """Return a SHA-256 of the files of a model folder or an embedded model. A hub id stands for itself.

    For an adapter, the files of its base model count as well. Raises an error if the model cannot be used.
    """
    folder = embedded.MODELS[model].folder if model in embedded.MODELS else Path(model)
    if HUB_ID.fullmatch(model) and not folder.exists():
        return model
    base = find_checkpoint(model, options or LoadOptions()).base
    parts: list[str | Path] = []
    for file in sorted(folder.iterdir()):
        if file.suffix in HASHED:
            parts += [file.name, file]
    if base is not None:
        parts.append(hash_weights(base.name, options))
    return hash_content(*parts)


def hash_setting(value: Any) -> str:
    """Return a setting as text: a file or a folder as a SHA-256 of its content."""
    path = Path(str(value))
    if path.is_dir():
        return hash_files(sorted(path.rglob("*")))
    return hash_files([path]) if path.is_file() else str(value)


def hash_files(paths: Iterable[Path]) -> str:
    """Return a SHA-256 of the content of those files that exist."""
    return hash_content(*(path for path in paths if path.is_file()))


def train_model(workspace: Path, read_splits: Callable[[], Splits], say: Say, **options: Any) -> Path:
    """Fine-tune a model in the workspace of a step, and resume what an earlier attempt has begun.

    Args:
        workspace: The folder of the step.
        read_splits: Returns the examples. It is not called if the model is there already.
        say: Takes a few lines about the progress in each epoch.
        options: Those of `FinetuneOptions`, except `out`.

    Returns:
        The folder of the model.
    """
    request = FinetuneOptions(out=workspace / MODEL, **options)
    if (request.out / METRICS).is_file():
        return request.out
    splits = read_splits()
    _resume_or_restart(
        request, lambda request, watch: finetune.finetune_model(request, data=splits, watch=watch, say=say), say
    )
    return request.out


def _resume_or_restart(request: Request, start: Callable[[Request, _Progress], object], say: Say) -> None:
    """Train, from the checkpoint if there is one.

    An unusable checkpoint (damaged, or of a machine that computes differently) is dropped.
    """
    has_checkpoint, progress = Workspace(request.out).has_checkpoint(), _Progress(say)
    try:
        start(request, progress)
    except UnmaskError as error:
        if not has_checkpoint or progress.steps:
            raise
        say(f"starting again, because it cannot resume: {error}")
        start(request.replace(restart=True), progress)


@dataclass(frozen=True)
class Debiasing:
    """A step: what a method makes of a model."""

    label: str
    """What tells it from the other debiasing steps of its study."""
    origin: str
    """What is debiased."""
    method: str
    corpus: Sequence[str] = ()
    """The text that is learned from. Default: GAP, if the method needs text."""
    settings: Sequence[tuple[str, Any]] = ()
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)
    protocol: str = "sound"
    language: str = "en"
    limit: int | None = None
    """How many documents are drawn; None for all."""
    folder: str = MADE
    """The folder of the model, in the result."""
    kind = "debiasing"
    needs_gpu = True
    needs = ()

    @property
    def name(self) -> str:
        """What is debiased, and how."""
        return f"debiasing-{self.label}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The text that is learned from."""
        if not find_method(self.method).needs_text:
            return ()
        return tuple(self.corpus) or (GAP,)

    def inputs(self) -> dict[str, Any]:
        """The model, the text, and the settings."""
        text = hash_texts(read_corpus(self.sources, offline=self.loading.offline)) if self.sources else ""
        return {
            "model": hash_model(self.origin, self.loading),
            "method": self.method,
            "text": text,
            "documents": self.limit,
            "language": self.language,
            "settings": sorted((name, hash_setting(value)) for name, value in self.settings),
            "protocol": self.protocol,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Debias, resuming what an earlier attempt has begun."""
        del before
        out = workspace / self.folder
        if not out.is_dir():
            names = ("method", "seed", "protocol", "language", "limit")
            options = MitigateOptions(
                model=self.origin,
                out=out,
                corpus=self.sources,
                settings=dict(self.settings),
                **{name: getattr(self, name) for name in names},
                **dict(self.loading),
            )
            _resume_or_restart(options, lambda options, watch: _debias_model(options, watch, say), say)
        shutil.copytree(out, draft / self.folder)


def _debias_model(options: MitigateOptions, watch: _Progress, say: Say) -> None:
    from unmask.mitigations.mitigate import mitigate_model

    mitigate_model(options, say=say, watch=watch, progress=lambda done, total: say(f"{done:,} of {total:,}"))


def read_metrics(folder: Path) -> dict[str, Any]:
    """Return what training or testing has recorded in a folder."""
    metrics: dict[str, Any] = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    return metrics


def read_max_length(model: Path) -> int:
    """Return how many tokens of a text a trained classifier has learned from."""
    return int(read_metrics(model)["settings"]["max_length"])


def write_measurement(draft: Path, items: pd.DataFrame, measurement: Measurement) -> None:
    """Write what a measuring step has found into its folder."""
    write_items(draft / ITEMS, items)
    (draft / RESULT).write_text(measurement.model_dump_json(indent=2), encoding="utf-8")


def read_measurement(folder: Path) -> tuple[pd.DataFrame, Measurement]:
    """Return what `write_measurement` has written."""
    measurement = Measurement.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    return read_items(folder / ITEMS), measurement


class _Progress:
    """Says how training goes, about a hundred times in each run rather than at every step."""

    def __init__(self, say: Say) -> None:
        self._say, self._percent, self.steps = say, -1, 0

    def __call__(self, news: News) -> None:
        self.steps += 1
        percent = 100 * news.step // news.steps
        if percent != self._percent or news.evaluation is not None:
            self._percent = percent
            checked = f", validation accuracy {news.evaluation['accuracy']:.4f}" if news.evaluation else ""
            left = timedelta(seconds=round(news.left))
            self._say(f"step {news.step:,} of {news.steps:,}, {left} left, loss {news.loss:.3f}{checked}")

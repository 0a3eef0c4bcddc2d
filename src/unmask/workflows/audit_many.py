"""Audit several models, each as a step of the engine that runs studies, and rank them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import unmask
from unmask import embedded
from unmask.errors import UnmaskError, quote
from unmask.files import write_text
from unmask.options import EngineOptions, LoadOptions
from unmask.results import storage
from unmask.results.formatting import make_unique
from unmask.studies.models import hash_files, hash_model
from unmask.studies.steps import Outcome, Say, Watch
from unmask.studies.store import Store
from unmask.studies.study import run_steps
from unmask.workflows.audit import run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options
from unmask.workflows.ranking import render_ranking

STUDY = "ranking"
"""The name under which the engine stores these audits."""
OUT = Path(STUDY)
PAGE = "ranking.html"
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
"""What the names of folders do not have."""
NOT_INPUTS = ("workspace", *LoadOptions.model_fields)
"""Options that do not change what is measured."""


@dataclass(frozen=True)
class AuditStep:
    """The audit of one model. Its result is an ordinary audit folder."""

    name: str
    model: str
    options: AuditOptions
    kind = "audit"
    needs = ()

    @property
    def needs_gpu(self) -> bool:
        """Whether the model may go to a GPU."""
        return self.options.device != "cpu"

    def inputs(self) -> dict[str, Any]:
        """Return what decides the result: the content of the model and of all files, and the other settings."""
        return {
            "model": hash_model(self.model, self.options.loading),
            "settings": {name: _content(value) for name, value in dict(self.options).items() if name not in NOT_INPUTS},
            "unmask": unmask.__version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Audit the model and write the audit folder."""
        del before

        def progress(done: int, total: int) -> None:
            say(f"{done:,} of {total:,}")

        audit = run_audit(self.model, self.options.replace(workspace=workspace), progress=progress)
        storage.write_files(draft, audit.to_folder())


@dataclass(frozen=True)
class AuditedModels:
    """The audits of several models. `outcomes` tells for each model whether it was audited; `page` is the ranking."""

    outcomes: dict[str, Outcome]
    page: Path | None
    """None if fewer than two models were audited."""

    @property
    def folders(self) -> dict[str, Path]:
        """The audit folder of each model that was audited; read it with `unmask.load`."""
        return {model: Path(one.folder) for model, one in self.outcomes.items() if one.has_result and one.folder}

    @property
    def failures(self) -> dict[str, str]:
        """Why a model was not audited, and what to do, in one line for each such model."""
        return {model: one.error for model, one in self.outcomes.items() if not one.has_result}


def audit_many(
    models: Sequence[str | PathLike[str]],
    out: str | PathLike[str] = OUT,
    *,
    engine: str = "local",
    address: str | None = None,
    cpus: float = 1.0,
    gpus: float | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> AuditedModels:
    """Audit several models with the same options, and write a page that ranks them.

    Every finished audit is stored under `out`. The same call continues after an interruption. A model is audited again
    only if its files, the options, or the files that these name have changed. A model that fails stops no other.

    Parameters
    ----------
    models
        Hub ids, folders, embedded models, or files of word vectors.
    out
        The folder for the audits and `ranking.html`.
    engine
        `local` audits one model after the other in this process. `ray` audits several at a time, on the cluster at
        `address` or on this machine, each with that many `cpus` and `gpus`.
    watch
        A function that is called with every event of the run.
    options
        Any keyword of `unmask.audit`.
    """
    names = _check_names(models)
    chosen = audit_options().parse(options)
    runner = EngineOptions(engine=engine, address=address, cpus=cpus, gpus=gpus)
    places = names
    if engine == "ray":  # a worker may run in another folder
        places = [_absolute_model(name) for name in names]
        chosen = chosen.replace(**{name: _absolute(value) for name, value in dict(chosen).items()})
    step_names = make_unique([re.sub(UNSAFE, "-", name)[-80:].strip("-._+") or "model" for name in names])
    steps = [AuditStep(*parts, chosen) for parts in zip(step_names, places, strict=True)]
    store = Store(Path(out))
    store.check_study(STUDY)
    store.prepare_folders(STUDY)
    ended = {one.name: one for one in run_steps(steps, store, runner, watch)}
    audited = AuditedModels({name: ended[step.name] for name, step in zip(names, steps, strict=True)}, None)
    folders = list(audited.folders.values())
    if len(folders) < 2:
        return audited
    reports = [(folder / "report.html").relative_to(store.root.resolve()).as_posix() for folder in folders]
    page = render_ranking([storage.load(folder) for folder in folders], reports)
    return replace(audited, page=write_text(store.root / PAGE, page))


def _check_names(models: Sequence[str | PathLike[str]]) -> list[str]:
    """The models as text; raises an error where they are not a list of different names."""
    if isinstance(models, str | PathLike) or not all(isinstance(model, str | PathLike) for model in models):
        raise UnmaskError("audit_many takes a list of model names or folders; audit a loaded model with unmask.audit")
    names = [fspath(model) for model in models]
    if not names:
        raise UnmaskError("no models were given; give at least two")
    if repeated := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UnmaskError(f"{quote(repeated)} is given more than once; give each model once")
    return names


def _absolute_model(model: str) -> str:
    return str(Path(model).absolute()) if model not in embedded.MODELS and Path(model).exists() else model


def _absolute(value: Any) -> Any:
    """Return a setting with absolute paths."""
    if isinstance(value, tuple):
        return tuple(map(_absolute, value))
    return value.absolute() if isinstance(value, Path) else value


def _content(value: Any) -> Any:
    """Return a setting as JSON: files and long lists by a hash of their content. A missing file is reported later."""
    if isinstance(value, Path):
        files = sorted(value.rglob("*")) if value.is_dir() else [value]
        return {"name": value.name, "sha256": hash_files(files)}
    if isinstance(value, tuple):
        values = [_content(item) for item in value]
        return values if len(values) < 100 else sha256(json.dumps(values).encode()).hexdigest()
    return value

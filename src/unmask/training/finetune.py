"""From a base model and examples to a model folder: load, train, test, save.

The folder is a normal one (`save_pretrained`), or a PEFT adapter, with `metrics.json` beside the weights.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from importlib import metadata
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.files import atomic_folder
from unmask.models import tokenization
from unmask.models.batching import max_tokens, weight_hash
from unmask.models.loading import load_trainable
from unmask.training import checkpoints
from unmask.training.checkpoints import Workspace
from unmask.training.examples import SPLITS, Splits, labels_of
from unmask.training.loop import Outcome, Watch, evaluate, fit, make_accelerator
from unmask.training.options import FinetuneOptions
from unmask.training.tasks import Classification, MaskedLanguageModelling, Task

FEW = 50
LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers", "numpy")


Say = Callable[[str], None]


def run(
    request: FinetuneOptions, *, data: Splits | None = None, watch: Watch | None = None, say: Say | None = None
) -> dict[str, Any] | None:
    """Train and save; the same request goes on where an earlier one stopped.

    `data` are examples in place of those that the request names. Returns what `metrics.json` holds, or None in all
    processes but the first.
    """
    request.check()
    accelerator = make_accelerator(request.settings, request.loading)
    speak: Say = say if say and accelerator.is_main_process else _silence
    if data is None:
        if request.data or request.train:
            speak(f"Reading {request.data or request.train}")
        data = request.examples(seed=request.seed, offline=request.offline)
    labels = None if request.task == "mlm" else labels_of(request.task, [*data.train, *data.validation])
    base = load_trainable(request.model, request.loading, labels=labels, architecture=request.architecture)
    if base.is_adapter and request.lora_rank:
        raise UnmaskError(
            f"{request.model} is an adapter, and an adapter on an adapter could not be loaded; leave out --lora-rank,"
            " or give the model that it belongs to"
        )
    takes = tokenization.token_limit(
        None, max_tokens(base.model), base.tokenizer, request.model
    )  # as when it is loaded again
    length = min(request.max_length, takes or request.max_length)
    task: Task
    if labels is None:
        task = MaskedLanguageModelling(base.tokenizer, length, seed=request.seed)
    else:
        task = Classification(base.tokenizer, base.labels, length)
    features = {name: task.features(examples) if (examples := getattr(data, name)) else [] for name in SPLITS}
    for name in SPLITS[:2]:
        if not features[name]:
            raise UnmaskError(f"no {name} example has a word that the model knows; give other texts")
    model = base.model
    base_weights = weight_hash(model)
    if request.lora_rank:
        model = checkpoints.add_adapters(model, request.lora_rank, base.trained_whole, base=request.model)
    workspace = Workspace(request.out)
    going_on = _claim(workspace, request, data, base_weights, accelerator)
    few = " (few: give --validation, or a larger --held-out)" if len(data.validation) < FEW else ""
    speak(
        f"{'Going on with' if going_on else 'Training'} {request.model} on {len(data.train):,} examples,"
        f" {len(data.validation):,} to validate{few}{f', {len(data.test):,} to test' if data.test else ''}"
    )
    if base.lost_head:
        speak(f"{request.model}: {base.lost_head}")
    outcome = fit(
        model,
        task,
        features["train"],
        features["validation"],
        request.settings,
        workspace,
        accelerator=accelerator,
        watch=watch,
    )
    metrics = {
        name: evaluate(model, task, features[name], accelerator, rows=request.batch_size)
        for name in SPLITS[1:]
        if features[name]
    }
    record = _record(request, length, data, outcome, metrics, model, accelerator)
    if accelerator.is_main_process:
        with atomic_folder(request.out) as draft:
            if request.lora_rank:
                checkpoints.save_adapter(model, draft)
                checkpoints.save_config(base.model, draft)
                checkpoints.save_tokenizer(base.tokenizer, draft)
            else:
                checkpoints.save_model(model, base.tokenizer, draft)
            (draft / "metrics.json").write_text(json.dumps(record, indent=2), encoding="utf-8")
            checkpoints.make_readable(draft)
        workspace.remove()
    accelerator.wait_for_everyone()
    return record if accelerator.is_main_process else None


def _silence(line: str) -> None:
    """Say nothing: somebody else does."""


def _claim(workspace: Workspace, request: FinetuneOptions, data: Splits, base_weights: str, accelerator: Any) -> bool:
    """Take the workspace for this run; whatever changes its course makes it another run."""
    settings = request.settings.model_dump(exclude={"save_every"})
    run = {
        "task": request.task,
        "model": request.model,
        "max_length": request.max_length,
        "lora_rank": request.lora_rank,
        "architecture": dict(request.architecture),
        **settings,
        "precision": str(accelerator.mixed_precision),
        "number of processes": accelerator.num_processes,
        "base weights": base_weights,
        **{f"{name} examples": digest for name, digest in data.hashes().items() if name != "test"},
    }
    going_on = False
    if accelerator.is_main_process:
        going_on = workspace.claim(run, restart=request.restart)
    accelerator.wait_for_everyone()
    if accelerator.process_index:
        torch.manual_seed(request.seed + accelerator.process_index)  # other dropout than its neighbours'
    return going_on


def _record(
    request: FinetuneOptions,
    length: int,
    data: Splits,
    outcome: Outcome,
    metrics: dict[str, Any],
    model: Any,
    accelerator: Any,
) -> dict[str, Any]:
    learned = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    return {
        "task": request.task,
        "base_model": request.model,
        "data": request.data or (None if request.train is None else str(request.train)),
        "examples": {name: len(getattr(data, name)) for name in SPLITS},
        "data_hashes": data.hashes(),
        "settings": {
            **request.settings.model_dump(),
            "max_length": length,
            "lora_rank": request.lora_rank,
            "held_out": request.held_out,
            "architecture": dict(request.architecture),
        },
        "metrics": metrics,
        "best_step": outcome.best_step,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 1),
        "history": outcome.history,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "trained_parameters": learned,
        "device": f"{accelerator.num_processes} × {accelerator.device.type}",
        "mixed_precision": accelerator.mixed_precision,
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
    }

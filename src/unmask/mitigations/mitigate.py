"""From a model and a method to a folder: load, debias, save, and check that what loads from it is what was made.

The folder holds a model card: what was done to which model, and how to see whether it helped.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import unmask
from unmask import plugins
from unmask.errors import UnmaskError
from unmask.files import atomic_folder
from unmask.mitigations.corpus import GAP, hash_texts, read_corpus
from unmask.mitigations.method import Job, Method, MitigateOptions, Say, list_methods
from unmask.mitigations.training import check_no_unfinished_run, remove_unfinished
from unmask.models.batching import weight_hash
from unmask.models.checkpoints import detect_role
from unmask.models.loading import load_trainable
from unmask.models.roles import MITIGATION
from unmask.models.vector_files import read_vectors, write_vectors
from unmask.models.word_vectors import Vectors
from unmask.options import LoadOptions, Options, accepts
from unmask.report.markdown import escape_markdown, flatten_markdown, markdown_table
from unmask.steps import step
from unmask.training import checkpoints

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.training.loop import Watch

LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers", "numpy")
SCHEMA_VERSION = 1


@dataclass
class ModelSubject:
    """A masked language model to change, and its tokenizer."""

    name: str
    model: Any
    tokenizer: Any
    options: LoadOptions = field(default_factory=LoadOptions)

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> ModelSubject:
        """Load a model; an adapter is merged into its base."""
        if detect_role(name, options) == "classifier":
            raise UnmaskError(
                f"{name} is a classifier, and methods change masked language models such as BERT; debias its base"
                " model, and train the classifier anew with unmask finetune"
            )
        loaded = load_trainable(name, options)
        if loaded.tokenizer.mask_token_id is None:
            raise UnmaskError(f"{name} has no mask token; give a masked language model such as BERT")
        return cls(name, loaded.model, loaded.tokenizer, options)

    def is_finite(self) -> bool:
        """Whether all weights are finite."""
        return all(bool(torch.isfinite(parameter).all()) for parameter in self.model.parameters())

    def weight_hash(self) -> str:
        """Compute the hash of the weights, as an audit gives it."""
        return weight_hash(self.model)

    def save(self, folder: Path) -> None:
        """Write a model folder."""
        checkpoints.save_model(self.model, self.tokenizer, folder)

    def reload(self, folder: Path) -> ModelSubject:
        """Load the folder as any user would."""
        return self.load(str(folder), self.options.replace(device="cpu", offline=True))

    def describe(self) -> dict[str, Any]:
        """Describe architecture and size."""
        return {
            "architecture": type(self.model).__name__,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
        }


@dataclass
class VectorSubject:
    """Word vectors to change, and the name of their file."""

    name: str
    vectors: Vectors
    file: str

    @classmethod
    def load(cls, name: str) -> VectorSubject:
        """Read a file of word vectors."""
        return cls(name, read_vectors(Path(name)), Path(name).name)

    def is_finite(self) -> bool:
        """Whether all vectors are finite."""
        return bool(np.isfinite(self.vectors.matrix).all())

    def weight_hash(self) -> str:
        """Compute the hash of the words and their vectors."""
        return self.vectors.weight_hash()

    def save(self, folder: Path) -> None:
        """Write the file into the folder."""
        write_vectors(folder / self.file, self.vectors)

    def reload(self, folder: Path) -> VectorSubject:
        """Read the file back."""
        return self.load(str(folder / self.file))

    def describe(self) -> dict[str, Any]:
        """Describe size and file."""
        words, size = self.vectors.matrix.shape
        return {"words": words, "dimensions": size, "format": self.vectors.form, "file": self.file}


Subject = ModelSubject | VectorSubject


def mitigate_model(
    request: MitigateOptions, *, say: Say | None = None, watch: Watch | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Debias and save; the same request resumes an interrupted run. Returns the content of `mitigation.json`."""
    method, options = request.check()
    if not (method.trains or request.protocol == "published") and not request.restart:
        check_no_unfinished_run(request.out)
    subject: Subject = (
        ModelSubject.load(request.model, request.loading)
        if method.changes == "model"
        else VectorSubject.load(request.model)
    )
    say = say or (lambda _: None)
    documents: list[str] = []
    data = None
    if method.needs_text:
        sources = request.corpus or (GAP,)
        say(f"Reading {', '.join(sources)}")
        documents = read_corpus(sources, offline=request.loading.offline)
        if request.limit:
            order = np.random.default_rng(request.seed).permutation(len(documents))
            documents = [documents[index] for index in sorted(order[: request.limit])]
        data = {"corpus": ", ".join(sources), "documents": len(documents), "hash": hash_texts(documents)}
    parent_hash = subject.weight_hash()
    job = Job(
        subject=subject,
        documents=documents,
        options=options,
        seed=request.seed,
        language=request.language,
        protocol=request.protocol,
        identity=_identify_run(request, options, parent_hash, data),
        out=request.out,
        restart=request.restart,
        loading=request.loading,
        say=say,
        watch=watch,
        progress=progress,
    )
    with step(f"Debiasing {request.model} by {request.method}"):
        details = method.apply(job)
    new_hash = subject.weight_hash()
    if new_hash == parent_hash:
        raise UnmaskError(
            f"{request.method} changed nothing in {request.model}, so nothing was written; give another text or method"
        )
    if not subject.is_finite():
        raise UnmaskError(f"{request.method} left weights in {request.model} that are not finite; nothing was written")
    record = {
        **_describe_method(request, method, options),
        "parent": {"name": request.model, "weight_hash": parent_hash},
        "weight_hash": new_hash,
        "made": subject.describe(),
        "data": data,
        "details": details,
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
    }
    _write_folder(request.out, subject, record)
    remove_unfinished(request.out)
    return record


def _identify_run(
    request: MitigateOptions, options: Options, parent_hash: str, data: dict[str, Any] | None
) -> dict[str, Any]:
    """Return what makes a run the same as one that was interrupted."""
    return {
        "method": request.method,
        "model": request.model,
        "protocol": request.protocol,
        "language": request.language,
        "seed": request.seed,
        **options.model_dump(mode="json", exclude={"save_every"}),
        "weights of the model": parent_hash,
        "content of the corpus": data["hash"] if data else None,
        "version of unmask": unmask.__version__,
    }


def _write_folder(out: Path, subject: Subject, record: dict[str, Any]) -> None:
    """Write the folder, and check that what loads from it is what was made."""
    with step(f"Writing {out}, and loading it again"), atomic_folder(out) as draft:
        subject.save(draft)
        reloaded_hash = subject.reload(draft).weight_hash()
        if reloaded_hash != record["weight_hash"]:
            raise UnmaskError(
                f"the saved weights are not those that were made ({reloaded_hash[:12]}, not"
                f" {record['weight_hash'][:12]}); nothing was kept"
            )
        (draft / MITIGATION).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (draft / "README.md").write_text(render_card(record), encoding="utf-8")
        checkpoints.make_readable(draft)


def _describe_method(request: MitigateOptions, method: Method, options: Options) -> dict[str, Any]:
    """Describe how a model is made: the beginning of `mitigation.json`."""
    plugin = plugins.named("method", request.method, list_methods())
    return {
        "schema_version": SCHEMA_VERSION,
        "unmask_version": unmask.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": request.method,
        "about": method.about,
        "citation": method.citation,
        "plugin": plugin.source if plugin else None,
        "protocol": request.protocol,
        "language": request.language,
        "seed": request.seed,
        "settings": options.model_dump(mode="json"),
    }


CARD = """\
---
language: {language}
tags:
- gender-bias
- debiased
- {method}
---

# {title}, debiased by {method}

{about} After {citation}.

{table}
{change}
{advice}
`mitigation.json` holds all of the above, and what the method found, for machines.
"""
VECTOR_ADVICE = """\
## What to know before you use them

Debiased vectors are not unbiased: words that leaned the same way may still lie together.
"""
MODEL_ADVICE = """\
## What to know before you use it

A debiased model is not an unbiased one. A method changes what it was made to change; other measures may find
the same bias still there, or reversed. Measure it yourself:

```console
$ unmask audit {name} --out before
$ unmask audit THIS_FOLDER --out after
$ unmask compare before after
```
"""
TITLES = {"corpus": "Corpus", "documents": "Documents", "hash": "SHA-256 of the corpus"}


def render_card(record: dict[str, Any]) -> str:
    """Render the model card as Markdown; everything in it is in `mitigation.json` too."""
    parent, description = record["parent"], record["made"]
    name = flatten_markdown(parent["name"])
    rows = [
        ("Method", f"{record['method']} ({record['protocol']} protocol)"),
        ("Made from", f"`{name}`"),
        ("Weights of that model", f"`{parent['weight_hash']}`"),
        ("Weights here", f"`{record['weight_hash']}`"),
        *((key.capitalize(), f"`{flatten_markdown(str(value))}`") for key, value in description.items()),
        *((TITLES[key], f"`{flatten_markdown(str(value))}`") for key, value in (record["data"] or {}).items()),
        ("Seed", str(record["seed"])),
        (
            "Settings",
            ", ".join(f"{key} `{flatten_markdown(json.dumps(value))}`" for key, value in record["settings"].items()),
        ),
        ("Made with", f"unmask {record['unmask_version']}, {record['created']}"),
    ]
    kept_in = record["details"].get("kept_in")
    return CARD.format(
        language=record["language"],
        method=record["method"],
        title=escape_markdown(parent["name"]),
        about=record["about"],
        citation=record["citation"],
        table="\n".join(markdown_table(("", ""), rows)),
        change=f"\n## Where the change is\n\n{kept_in}\n" if kept_in else "",
        advice=VECTOR_ADVICE if "words" in description else MODEL_ADVICE.format(name=name),
    )


@accepts(MitigateOptions, without=("settings",))
def mitigate(
    model: str | PathLike[str],
    method: str,
    out: str | PathLike[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Debias a model and write it to a folder.

    Further keywords are options of the method, such as `epochs=1`. `unmask mitigate --methods` lists them.

    Args:
        progress: A function that is called with the number of steps done and the number of all steps.

    Returns:
        The content of the folder's `mitigation.json`.
    """
    shared = MitigateOptions.model_fields.keys() - {"settings"}
    values = {name: value for name, value in options.items() if name in shared}
    values |= {"model": model, "method": method, "out": out}
    values["settings"] = {name: value for name, value in options.items() if name not in shared}
    return mitigate_model(MitigateOptions.parse(values), progress=progress)

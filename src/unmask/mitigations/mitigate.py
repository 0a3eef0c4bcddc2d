"""From a model and a method to a folder: load, debias, save, and check that what loads from it is what was made.

The folder holds a model card: what was done to the model, to which model, and how to see whether it helped.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask import plugins
from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.files import atomic_folder, check_new_path
from unmask.mitigations import corpus
from unmask.mitigations.method import Job, Method, Say, method_named, method_names, method_options
from unmask.models.roles import MITIGATION
from unmask.models.word_vectors import is_word_vectors
from unmask.options import LoadOptions, Options, accepts, option
from unmask.results.markdown import escaped, plain, table
from unmask.steps import step

if TYPE_CHECKING:
    from unmask.mitigations.subjects import Subject
    from unmask.models.roles import Progress
    from unmask.training.loop import Watch


VECTORS = """## What to know before you use them

Debiased vectors are not unbiased ones: words that leaned the same way may still lie together. `mitigation.json` holds
all of the above, and what the method found, for machines."""
TITLES = {"corpus": "Corpus", "documents": "Documents", "hash": "SHA-256 of the corpus"}


def render_card(record: dict[str, Any]) -> str:
    """The card as Markdown; everything in it is in `mitigation.json` too."""
    parent, made, data = record["parent"], record["made"], record["data"]
    name = plain(parent["name"])
    tags = ["gender-bias", "debiased", record["method"]]
    head = ["---", f"language: {record['language']}", "tags:", *(f"- {tag}" for tag in tags), "---"]
    rows = [
        ("Method", f"{record['method']} ({record['protocol']} protocol)"),
        ("Made from", f"`{name}`"),
        ("Weights of that model", f"`{parent['weight_hash']}`"),
        ("Weights here", f"`{record['weight_hash']}`"),
        *((key.capitalize(), f"`{plain(str(value))}`") for key, value in made.items()),
        *((TITLES[key], f"`{plain(str(value))}`") for key, value in (data or {}).items()),
        ("Seed", str(record["seed"])),
        ("Settings", ", ".join(f"{key} `{plain(json.dumps(value))}`" for key, value in record["settings"].items())),
        ("Made with", f"unmask {record['unmask_version']}, {record['created']}"),
    ]
    lines = [
        *head,
        "",
        f"# {escaped(parent['name'])}, debiased by {record['method']}",
        "",
        f"{record['about']} After {record['citation']}.",
        "",
        *table(("", ""), rows),
        "",
    ]
    if place := record["details"].get("kept_in"):
        lines += ["## Where the change is", "", place, ""]
    if "words" in made:
        return "\n".join([*lines, VECTORS, ""])
    lines += [
        "## What to know before you use it",
        "",
        "A debiased model is not an unbiased one. A method changes what it was made to change; other measures may find",
        "the same bias still there, or reversed. Measure it yourself:",
        "",
        "```console",
        f"$ unmask audit {name} --out before",
        "$ unmask audit THIS_FOLDER --out after",
        "$ unmask compare before after",
        "```",
        "",
        "`mitigation.json` holds all of the above, and what the method found, for machines.",
        "",
    ]
    return "\n".join(lines)


LANGUAGES = ("en", "de")
PROTOCOLS = ("sound", "published")
LIBRARIES = ("torch", "transformers", "accelerate", "tokenizers", "numpy")
SCHEMA_VERSION = 1


class MitigateOptions(LoadOptions):
    """What to debias, how, and where it goes."""

    model: str = option(
        ...,
        "A masked language model: an embedded one, a folder, or a hub id; for hard-debias, a file of word vectors"
        " (word2vec or GloVe).",
        argument=True,
        path=True,
        suggestions=MODELS,
    )
    method: str = option(
        ...,
        "cds, cda (train on text in the other gender), context-debias (train with a loss of its own), sent-debias,"
        " leace (take gender out of the last hidden state; no training), hard-debias (word vectors), or a plug-in's"
        " (unmask list mitigations).",
        suggestions=method_names,
    )
    out: Path = option(..., "The folder to write; it must not exist.")
    corpus: tuple[str, ...] = option(
        (),
        "The text to learn from: gap, imdb, a plug-in's data set (unmask list datasets), or a file (.txt with a"
        " document a line, .csv, .tsv, .jsonl or .parquet with a column 'text'; also .gz and .xz). Can be given several"
        " times. Default: gap.",
        path=True,
    )
    settings: Mapping[str, Any] = option(
        {}, "A setting of the method, such as epochs=1; see --methods.", key="set", metavar="NAME=VALUE"
    )
    protocol: str = option(
        "sound",
        "sound: the corrected method. published: what the paper's code did, errors included (cds).",
        choices=PROTOCOLS,
    )
    language: str = option("en", "Language of the text: en or de.", choices=LANGUAGES)
    seed: int = option(42, "Seeds what is drawn: documents, masks, the order, dropout.", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)
    restart: bool = option(False, "Forget an unfinished run and begin again.")

    def check(self) -> tuple[Method, Options]:
        """Refuse what cannot work before anything slow happens; gives the method and its options."""
        method = method_named(self.method)
        options = method_options(method, self.settings, self.protocol)
        if self.corpus and not method.needs_text:
            raise UnmaskError(f"{self.method} learns from no text; leave out --corpus {self.corpus[0]}")
        if method.needs_text and not self.corpus and self.language != "en":
            raise UnmaskError(f"there is no corpus for {self.language!r} of our own; give a file with --corpus")
        self._refuse_other_kinds(method)
        check_new_path(self.out)
        return method, options

    def _refuse_other_kinds(self, method: Method) -> None:
        """Refuse vectors where a model is changed, and a model where vectors are."""
        if method.changes == "model" and is_word_vectors(self.model):
            raise UnmaskError(
                f"{self.method} changes language models, and {self.model} is a file; give a model folder or a hub id,"
                f" or for word vectors --method {_default_method('vectors')}"
            )
        if method.changes == "vectors" and not is_word_vectors(self.model):
            raise UnmaskError(
                f"{self.method} changes word vectors, and {self.model} is no file of them; give one, or for a language"
                f" model another method, such as --method {_default_method('model')}"
            )


def _default_method(changes: str) -> str:
    """A method that changes models, or vectors."""
    return next(name for name in method_names() if method_named(name).changes == changes)


def run(
    request: MitigateOptions, *, say: Say | None = None, watch: Watch | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Debias and save; gives what `mitigation.json` holds. The same request goes on where an earlier one stopped."""
    from unmask.mitigations.subjects import ModelSubject, VectorSubject
    from unmask.mitigations.training import check_no_unfinished_run

    method, options = request.check()
    speak: Say = say or (lambda _: None)
    if not method.trains and not request.restart:
        check_no_unfinished_run(request.out)
    subject: Subject = (
        ModelSubject.load(request.model, request.loading)
        if method.changes == "model"
        else VectorSubject.load(request.model)
    )
    text = None
    if method.needs_text:
        sources = request.corpus or (corpus.DEFAULT,)
        speak(f"Reading {', '.join(sources)}")
        text = corpus.read_corpus(sources, offline=request.loading.offline)
    parent = subject.weight_hash()
    identity = {
        "method": request.method,
        "model": request.model,
        "protocol": request.protocol,
        "language": request.language,
        "seed": request.seed,
        **options.model_dump(mode="json", exclude={"save_every"}),
        "weights of the model": parent,
        "content of the corpus": text.hash if text else None,
        "version of unmask": unmask.__version__,
    }
    job = Job(
        subject=subject,
        documents=text.documents if text else (),
        options=options,
        seed=request.seed,
        language=request.language,
        protocol=request.protocol,
        identity=identity,
        out=request.out,
        restart=request.restart,
        loading=request.loading,
        say=speak,
        watch=watch,
        progress=progress,
    )
    with step(f"Debiasing {request.model} by {request.method}"):
        details = method.apply(job)
    made = subject.weight_hash()
    if made == parent:
        raise UnmaskError(
            f"{request.method} changed nothing in {request.model}, so nothing was written; give another text or method"
        )
    if not subject.is_finite():
        raise UnmaskError(f"{request.method} left weights in {request.model} that are no numbers; nothing was written")
    record = {
        "schema_version": SCHEMA_VERSION,
        "unmask_version": unmask.__version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": request.method,
        "about": method.about,
        "citation": method.citation,
        "plugin": plugin.source if (plugin := plugins.named("method", request.method, method_names())) else None,
        "protocol": request.protocol,
        "language": request.language,
        "seed": request.seed,
        "settings": options.model_dump(mode="json"),
        "parent": {"name": request.model, "weight_hash": parent},
        "weight_hash": made,
        "made": subject.describe(),
        "data": {"corpus": text.name, "documents": len(text.documents), "hash": text.hash} if text else None,
        "details": details,
        "libraries": {"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
    }
    with step(f"Writing {request.out}, and loading it again"):
        _save(request, subject, record)
    return record


def _save(request: MitigateOptions, subject: Subject, record: dict[str, Any]) -> None:
    """Write the folder, and let it stand only if what is loaded from it is what was made."""
    from unmask.mitigations.training import remove_unfinished
    from unmask.training.checkpoints import make_readable

    with atomic_folder(request.out) as draft:
        subject.save(draft)
        again = subject.reload(draft).weight_hash()
        if again != record["weight_hash"]:
            raise UnmaskError(
                f"what was saved is not what was made ({again[:12]} in place of {record['weight_hash'][:12]});"
                " nothing was kept"
            )
        (draft / MITIGATION).write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (draft / "README.md").write_text(render_card(record), encoding="utf-8")
        make_readable(draft)
    remove_unfinished(request.out)


@accepts(MitigateOptions, without=("settings",))
def mitigate(
    model: str | PathLike[str],
    method: str,
    out: str | PathLike[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Debias a model and write it to a folder; returns what the folder's `mitigation.json` holds.

    Further keywords are settings of the method, such as `epochs=1`; `unmask mitigate --methods` lists them.
    """
    known = MitigateOptions.model_fields.keys() - {"settings"}
    settings = {name: value for name, value in options.items() if name not in known}
    given = {"model": model, "method": method, "out": out, "settings": settings}
    shared = {name: value for name, value in options.items() if name in known}
    return run(MitigateOptions.parse(given | shared), progress=progress)

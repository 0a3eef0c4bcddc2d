"""What a mitigation method is, which methods there are, and the options of a mitigation.

Every file in `methods/` is a method, named after the file; other packages add methods by entry point. Importing this
module imports no model library.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unmask import plugins
from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.files import check_new_path
from unmask.mitigations import methods
from unmask.models.word_vectors import is_word_vectors
from unmask.options import LoadOptions, Options, option

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.training.loop import Watch

Say = Callable[[str], None]


@dataclass(frozen=True)
class Method:
    """A way to debias; a file in `methods/` has one, called METHOD."""

    about: str
    """What it does, in a line."""
    citation: str
    options: type[Options]
    """The method's own options, each with a default; `--set NAME=VALUE` on the command line, keywords in Python."""
    apply: Callable[[Job], dict[str, Any]]
    """Change the job's subject in place; returns what is worth keeping in `mitigation.json`."""
    changes: Literal["model", "vectors"] = "model"
    needs_text: bool = True
    trains: bool = False
    """Whether an interrupted run can be resumed; other methods take minutes, and start again."""
    published: dict[str, Any] | None = None
    """The options that the paper's code used; None where there is no published protocol."""
    published_file: str = ""
    """The option for a file that the published protocol needs, and that only it reads."""


@dataclass(frozen=True)
class Job:
    """The input of a method."""

    subject: Any
    """What to change, with `model` and `tokenizer`, or with `vectors` (see `mitigate`)."""
    documents: Sequence[str]
    options: Any
    seed: int
    language: str
    protocol: str
    identity: dict[str, Any]
    """What makes this the same run as one that was interrupted."""
    out: Path
    restart: bool
    loading: LoadOptions
    say: Say
    watch: Watch | None = None
    progress: Progress | None = None

    @property
    def model(self) -> Any:
        """The model to change, for methods that change models."""
        return self.subject.model

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of that model."""
        return self.subject.tokenizer


def list_methods() -> list[str]:
    """List the names of the built-in methods, without importing them."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(methods.__path__))


def load_method(name: str) -> Method:
    """Import a built-in method."""
    method: Method = importlib.import_module(f"{methods.__name__}.{name.replace('-', '_')}").METHOD
    return method


def find_method(name: str) -> Method:
    """Find a method by name, built-in or of a plug-in."""
    plugin = plugins.named("method", name, list_methods())
    return load_method(name) if plugin is None else plugin.load(Method)


def method_options(method: Method, values: Mapping[str, Any], protocol: str) -> Options:
    """Build the options of a method: its defaults, or those of the published protocol, and the user's values on top.

    Texts are read as on the command line: `epochs="1"` is `epochs=1`.
    """
    if protocol == "published" and method.published is None:
        raise UnmaskError("this method has no published protocol of its own here; leave out --protocol published")
    fixed = (method.published or {}) if protocol == "published" else {}
    custom = method.options.parse_text(values, what="setting")
    if conflicts := [name for name in custom if name in fixed]:
        raise UnmaskError(
            f"the published protocol fixes the setting {conflicts[0]}; leave it out, or use --protocol sound"
        )
    return method.options.parse({**fixed, **custom})


class MitigateOptions(LoadOptions):
    """What to debias, how, and where to write it."""

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
        suggestions=list_methods,
    )
    out: Path = option(..., "The folder to write; it must not exist.")
    corpus: tuple[str, ...] = option(
        (),
        "The text to learn from: gap, imdb, a plug-in's data set (unmask list datasets), or a file (.txt with a"
        " document a line, .csv, .tsv, .jsonl or .parquet with a column 'text'; also .gz and .xz). Can be given several"
        " times. Default: gap.",
        path=True,
    )
    limit: int | None = option(None, "Learn from N documents of the text, drawn at random, for a trial.", minimum=1)
    settings: Mapping[str, Any] = option(
        {}, "A setting of the method, such as epochs=1; see --methods.", key="set", metavar="NAME=VALUE"
    )
    protocol: str = option(
        "sound",
        "sound: the corrected method. published: what the paper's code did, errors included (cds, context-debias,"
        " sent-debias).",
        choices=("sound", "published"),
    )
    language: str = option("en", "Language of the text: en or de.", choices=("en", "de"))
    seed: int = option(42, "Seeds what is drawn: documents, masks, the order, dropout.", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)
    restart: bool = option(False, "Discard an unfinished run and start again.")

    def check(self) -> tuple[Method, Options]:
        """Find mistakes before anything slow happens; returns the method and its options."""
        method = find_method(self.method)
        options = method_options(method, self.settings, self.protocol)
        if name := method.published_file:
            if (path := getattr(options, name)) and self.protocol != "published":
                raise UnmaskError(f"--set {name}={path} belongs to --protocol published; ask for it, or leave it out")
            if not path and self.protocol == "published":
                about = type(options).model_fields[name].description
                raise UnmaskError(f"the published protocol of {self.method} needs --set {name}=PATH. {about}")
        if self.corpus and not method.needs_text:
            raise UnmaskError(f"{self.method} learns from no text; leave out --corpus {self.corpus[0]}")
        if self.limit and not method.needs_text:
            raise UnmaskError(f"{self.method} learns from no text; leave out --limit {self.limit}")
        if method.needs_text and not self.corpus and self.language != "en":
            raise UnmaskError(f"there is no built-in corpus for {self.language!r}; give a file with --corpus")
        if (method.changes == "vectors") != is_word_vectors(self.model):
            example = next(name for name in list_methods() if load_method(name).changes != method.changes)
            raise UnmaskError(
                f"{self.method} changes language models, and {self.model} is a file; give a model folder or a hub id,"
                f" or for word vectors --method {example}"
                if method.changes == "model"
                else f"{self.method} changes word vectors, and {self.model} is not a file of them; give one, or for a"
                f" language model another method, such as --method {example}"
            )
        check_new_path(self.out)
        return method, options

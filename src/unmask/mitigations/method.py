"""The interface of a mitigation method, and the methods there are.

Every file in `methods/` is a method, called by the name of the file; other packages add methods by entry point.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unmask import plugins
from unmask.errors import UnmaskError
from unmask.mitigations import methods
from unmask.options import Options

if TYPE_CHECKING:
    from unmask.mitigations.subjects import Subject
    from unmask.models.roles import Progress
    from unmask.options import LoadOptions
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
    """Change the job's subject in place; gives what is worth keeping in `mitigation.json`."""
    changes: Literal["model", "vectors"] = "model"
    needs_text: bool = True
    trains: bool = False
    """Whether it can be interrupted and go on; the others are done in minutes, and begin again."""
    published: dict[str, Any] | None = None
    """The options that the paper's code really used; None where there is no published protocol."""


@dataclass(frozen=True)
class Job:
    """What a method is given."""

    subject: Subject
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
        return self.subject.model  # type: ignore[attr-defined]

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of that model."""
        return self.subject.tokenizer  # type: ignore[attr-defined]


def method_options(method: Method, values: Mapping[str, Any], protocol: str) -> Options:
    """The options of a method: its defaults, or those of the published protocol, and over them what the user gave.

    Texts are read as the command line gives them: `epochs="1"` is `epochs=1`.
    """
    if protocol == "published" and method.published is None:
        raise UnmaskError("this method has no published protocol of its own here; leave out --protocol published")
    fixed = (method.published or {}) if protocol == "published" else {}
    given = method.options.parse_text(values, what="setting")
    if taken := [name for name in given if name in fixed]:
        raise UnmaskError(f"the published protocol fixes the setting {taken[0]}; leave it out, or use --protocol sound")
    return method.options.parse({**fixed, **given})


def method_names() -> list[str]:
    """The names of our own, in order; nothing is loaded."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(methods.__path__))


def method_named(name: str) -> Method:
    """The method of this name, ours or a plug-in's."""
    plugin = plugins.named("method", name, method_names())
    return own_method(name) if plugin is None else plugin.load(Method)


def own_method(name: str) -> Method:
    """The method of our own that has this name."""
    method: Method = importlib.import_module(f"{methods.__name__}.{name.replace('-', '_')}").METHOD
    return method

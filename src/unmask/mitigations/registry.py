"""The methods there are: every file in `methods/` is one, and its name is the method's; other packages have others."""

from __future__ import annotations

import importlib
import pkgutil

from unmask import plugins
from unmask.mitigations import methods
from unmask.mitigations.method import Method


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

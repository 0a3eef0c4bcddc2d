"""The methods there are: every file in `methods/` is one, and its name is the method's."""

from __future__ import annotations

import importlib
import pkgutil

from unmask.errors import one_of
from unmask.mitigations import methods
from unmask.mitigations.method import Method


def method_names() -> list[str]:
    """The names, in order; nothing is loaded."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(methods.__path__))


def method_named(name: str) -> Method:
    """The method of this name."""
    module = one_of(name, method_names(), "method").replace("-", "_")
    method: Method = importlib.import_module(f"{methods.__name__}.{module}").METHOD
    return method

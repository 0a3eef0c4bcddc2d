"""Measures, mitigations, data sets and studies of other packages, found by their entry points.

Finding plug-ins imports nothing. A plug-in is imported when it is used by name, or listed. If that fails, an error
names its package, and the others still work. A name has one owner: using a name that two packages claim is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from unmask.errors import UnmaskError, check_choice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

What = Literal["measure", "method", "data set", "study"]
GROUPS: dict[What, str] = {
    "measure": "unmask.measures",
    "method": "unmask.mitigations",
    "data set": "unmask.datasets",
    "study": "unmask.studies",
}
"""The groups of entry points."""
OURS = "unmask"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
T = TypeVar("T")


@dataclass(frozen=True)
class Plugin:
    """Something that another package brings; nothing of it is imported yet."""

    what: What
    name: str
    package: str
    version: str
    entry: EntryPoint

    @property
    def source(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}".rstrip()

    def load(self, kind: type[T]) -> T:
        """Import the plug-in; raises an error if that fails, or if it is not of this kind."""
        name = f"the {self.what} {self.name!r} of the package {self.source}"
        if not NAME.fullmatch(self.name):
            raise UnmaskError(f"{name} has a name that cannot be used; use small letters, digits and hyphens")
        try:
            plugin = self.entry.load()
        except (Exception, SystemExit) as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise UnmaskError(f"{name} cannot be loaded ({why}); update that package, or uninstall it") from error
        if isinstance(plugin, type) and issubclass(plugin, kind):
            plugin = _make_instance(plugin)  # type: ignore[arg-type]  # a class is hashable
        if not isinstance(plugin, kind):
            raise UnmaskError(
                f"{name} is a {type(plugin).__name__}; its entry point {self.entry.value} must name a"
                f" {kind.__module__}.{kind.__name__}"
            )
        return plugin


@cache
def _make_instance(kind: Any) -> Any:
    """The one instance of a class that an entry point names."""
    return kind()


def found(what: What) -> list[Plugin]:
    """The installed plug-ins, by name."""
    from importlib.metadata import entry_points

    plugins = []
    for entry in entry_points(group=GROUPS[what]):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("of no known name", "")
        plugins.append(Plugin(what, entry.name, package, version, entry))
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.package))


def named(what: What, name: str, own: Iterable[str]) -> Plugin | None:
    """The plug-in of a name, or None where the name is ours; an unknown name, or one with two owners, is an error."""
    ours = list(own)
    plugins = found(what)
    check_choice(name, [*ours, *(plugin.name for plugin in plugins)], what)
    matches = [plugin for plugin in plugins if plugin.name == name]
    owners = [OURS] * (name in ours) + [plugin.source for plugin in matches]
    if len(owners) > 1:
        raise UnmaskError(f"{' and '.join(owners)} both have a {what} called {name!r}; uninstall {matches[-1].package}")
    return matches[0] if matches else None

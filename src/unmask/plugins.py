"""What other packages bring: measures, mitigations, data sets and studies, found by their entry points.

Looking is cheap and imports nothing. A plug-in is imported when it is asked for by name, or listed; one that cannot be
is said in a line that names its package, and the others work. A name has one owner: where two packages claim it, it is
refused.
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
        """Import it; what cannot be imported, or is something else, is refused in one line."""
        said = f"the {self.what} {self.name!r} of the package {self.source}"
        if not NAME.fullmatch(self.name):
            raise UnmaskError(f"{said} has a name that cannot be used; small letters, digits and hyphens can")
        try:
            found = self.entry.load()
        except (Exception, SystemExit) as error:
            why = f"{type(error).__name__}: {error}".rstrip(": ")
            raise UnmaskError(f"{said} cannot be loaded ({why}); update that package, or uninstall it") from error
        if isinstance(found, type) and issubclass(found, kind):
            found = _make_instance(found)  # type: ignore[arg-type]  # a class is hashable
        if not isinstance(found, kind):
            raise UnmaskError(
                f"{said} is a {type(found).__name__}; its entry point {self.entry.value} must name a"
                f" {kind.__module__}.{kind.__name__}"
            )
        return found


@cache
def _make_instance(kind: Any) -> Any:
    """The one instance of a class that an entry point names."""
    return kind()


def found(what: What) -> list[Plugin]:
    """The plug-ins there are, by name."""
    from importlib.metadata import entry_points

    plugins = []
    for entry in entry_points(group=GROUPS[what]):
        package, version = (entry.dist.name, entry.dist.version) if entry.dist else ("of no known name", "")
        plugins.append(Plugin(what, entry.name, package, version, entry))
    return sorted(plugins, key=lambda one: (one.name, one.package))


def named(what: What, name: str, own: Iterable[str]) -> Plugin | None:
    """The plug-in of a name, or None where the name is our own; an unknown one, and one with two owners, is refused."""
    ours = list(own)
    plugins = found(what)
    check_choice(name, [*ours, *(one.name for one in plugins)], what)
    mine = [one for one in plugins if one.name == name]
    owners = [OURS] * (name in ours) + [one.source for one in mine]
    if len(owners) > 1:
        raise UnmaskError(f"{' and '.join(owners)} both have a {what} called {name!r}; uninstall {mine[-1].package}")
    return mine[0] if mine else None

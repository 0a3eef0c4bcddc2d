"""The measures there are: built-in ones, and those of other packages.

Looking up a name imports the measure alone, and importing a measure is quick. A plug-in registers a `Measure` class, or
an instance of one, as an entry point in the group `unmask.measures`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import get_args

from unmask import plugins
from unmask.errors import UnmaskError, check_choice
from unmask.measures.base import Measure
from unmask.results import Origin

BUILT_IN = {
    "association": "unmask.measures.association:AssociationMeasure",
    "sentiment": "unmask.measures.sentiment:SentimentMeasure",
    "inference": "unmask.measures.inference:InferenceMeasure",
    "geometry": "unmask.measures.geometry:GeometryMeasure",
    "crows-pairs": "unmask.measures.crows_pairs:CrowsPairsMeasure",
    "coreference": "unmask.measures.coreference:CoreferenceMeasure",
}
"""In the order in which an audit runs them."""


def get_measure(name: str) -> Measure:
    """The measure of a name. An unknown name is an error that suggests a similar one."""
    plugin = plugins.named("measure", name, BUILT_IN)
    return _built_in(name) if plugin is None else _load_plugin(plugin)


def measure_names() -> list[str]:
    """The names of all measures; none is imported."""
    return [*BUILT_IN, *(plugin.name for plugin in plugins.found("measure"))]


def built_in() -> list[Measure]:
    """The built-in measures."""
    return [_built_in(name) for name in BUILT_IN]


def installed() -> list[Measure]:
    """The built-in measures, then those of plug-ins; a plug-in that cannot be loaded is left out."""
    from_plugins = (find_measure(plugin.name) for plugin in plugins.found("measure"))
    return [*built_in(), *(measure for measure in from_plugins if measure is not None)]


def find_measure(name: str) -> Measure | None:
    """The measure of a name, or None where it is not installed: a result may be from another machine."""
    try:
        return get_measure(name)
    except UnmaskError:
        return None


@cache
def _built_in(name: str) -> Measure:
    module, _, class_name = BUILT_IN[name].partition(":")
    measure: Measure = getattr(import_module(module), class_name)()
    return measure


def _load_plugin(plugin: plugins.Plugin) -> Measure:
    measure: Measure = plugin.load(Measure)  # type: ignore[type-abstract]
    measure.origin = Origin(
        package=plugin.package,
        version=plugin.version,
        about=measure.question,
        citation=" ".join(measure.citations),
    )
    if measure.name != plugin.name:
        raise UnmaskError(
            f"{plugin.source} registers the measure {measure.name!r} as {plugin.name!r}; the two names must be equal"
        )
    from unmask.models.checkpoints import Role

    for role in measure.roles:
        check_choice(role, get_args(Role), f"role in {plugin.source}, measure {measure.name}")
    return measure

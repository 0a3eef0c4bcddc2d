"""Run a measure of another package: it is found by name, loaded when asked for, and given a model of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import plugins
from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import MEASURES, Settings
from unmask.errors import UnmaskError, listed, one_of
from unmask.measures.plugin import Context, Measure
from unmask.models.kinds import Kind, encodes, kind_of
from unmask.models.loading import load_classifier, load_encoder, load_masked_lm
from unmask.models.sources import LoadOptions
from unmask.models.vectors import load_vectors
from unmask.plugins import Plugin
from unmask.probes import recorded
from unmask.results import Caveat, Measurement, Origin

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

LOADED: dict[str, Callable[..., Any]] = {
    "masked-lm": load_masked_lm,
    "classifier": load_classifier,
    "encoder": load_encoder,
}
HALF = Caveat(
    code="half-precision", text="The model computes in half precision; small effects drown. Load it in float32."
)


def named(name: str) -> Plugin | None:
    """The measure of another package that has this name; None for one of ours, an unknown one is refused."""
    return plugins.named("measure", name, MEASURES)


def check(name: str, languages: Sequence[str], protocol: str) -> Plugin | None:
    """The measure of another package of this name, if it is one; what it does not know is refused."""
    plugin = named(name)
    if plugin is not None:
        for language in languages:
            one_of(language, _measure(plugin).languages, f"language of {name}")
        if protocol != "sound":
            raise UnmaskError(f"{name} has no {protocol} protocol; leave out --protocol {protocol}")
    return plugin


def fits(name: str, model: Any, loading: LoadOptions) -> bool:
    """Whether a measure of another package can be given a model."""
    plugin = named(name)
    return plugin is not None and _role(_measure(plugin), model, loading) is not None


def misfit(plugin: Plugin, model: str) -> str:
    """That a model cannot be measured, and what can be."""
    return f"{model} is not what {plugin.name} measures; it takes: {', '.join(_measure(plugin).takes)}"


def measure(name: str, model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Load the model as the measure takes it, and measure every language that is asked for."""
    plugin = named(name)
    assert plugin is not None
    of = _measure(plugin)
    role = _role(of, model, settings.loading)
    subject: Any = (
        load_vectors(model) if role == "vectors" else LOADED[str(role)](model, settings.loading, progress=progress)
    )
    info = info_of(subject)
    found = Measured(info, settings.resolved(name))
    for language in settings.languages:
        context = Context(language, settings.seed, settings.loading.offline, progress)
        with _blamed(plugin):
            items = of.score(subject, context)
        items = _checked(items, plugin)
        if "language" not in items:
            items.insert(0, "language", language)
        measurement = analyse(plugin, items, context)
        if info.dtype in ("float16", "bfloat16"):
            measurement = measurement.model_copy(update={"caveats": [HALF, *measurement.caveats]})
        found.add(measurement, items)
    return found


def analyse(plugin: Plugin, items: pd.DataFrame, context: Context) -> Measurement:
    """The second half, with what is known of the measure and of its items."""
    of = _measure(plugin)
    with _blamed(plugin):
        made = of.analyse(items, context)
    if not isinstance(made, Measurement) or made.name != plugin.name:
        what = f"a measurement called {made.name!r}" if isinstance(made, Measurement) else f"a {type(made).__name__}"
        raise UnmaskError(f"{plugin.source}: analyse gave {what}; a Measurement called {plugin.name!r} is needed")
    said = items.select_dtypes(exclude="number").to_csv(index=False)
    return made.model_copy(
        update={
            "language": context.language,
            "protocol": "sound",
            "attributes": "items",
            "items": len(items),
            "plugin": Origin(package=plugin.package, version=plugin.version, about=of.about, citation=of.citation),
            "data_hash": hashlib.sha256(said.encode()).hexdigest(),
        }
    )


def analyse_recorded(
    plugin: Plugin, path: Path, language: str | None, seed: int
) -> tuple[pd.DataFrame, list[Measurement]]:
    """Analyse items that were recorded, each language by itself."""
    items = recorded.frame_of(path)
    if "language" not in items:
        items.insert(0, "language", language or _measure(plugin).languages[0])
    if language is not None and set(items["language"]) != {language}:
        raise UnmaskError(f"{path} holds scores for {listed(sorted(set(items['language'])))}, not for {language!r}")
    each = [
        analyse(plugin, mine.reset_index(drop=True), Context(str(one), seed, offline=True))
        for one, mine in items.groupby("language", sort=False)
    ]
    return items, each


def interpret(measurement: Measurement) -> Measurement:
    """Add the headline to a measurement whose p-values have been adjusted."""
    plugin = named(measurement.name)
    assert plugin is not None
    with _blamed(plugin):
        headline = str(_measure(plugin).headline(measurement))
    return measurement.model_copy(update={"headline": headline})


def _measure(plugin: Plugin) -> Measure:
    return plugin.load(Measure)


def _role(of: Measure, model: Any, loading: LoadOptions) -> Kind | None:
    """What a measure can be given of a model; None if nothing."""
    kind = kind_of(model, loading)
    roles = [kind]
    if kind in ("masked-lm", "classifier") and "encoder" in of.takes and encodes(model, loading):
        roles.append("encoder")
    return next((role for role in of.takes if role in roles), None)


def _checked(items: Any, plugin: Plugin) -> pd.DataFrame:
    import pandas as pd

    if not isinstance(items, pd.DataFrame) or items.empty:
        what = "no items" if isinstance(items, pd.DataFrame) else f"a {type(items).__name__}"
        raise UnmaskError(f"{plugin.source}: score gave {what}; a DataFrame with at least one row is needed")
    return items.copy()


@contextmanager
def _blamed(plugin: Plugin) -> Iterator[None]:
    """What goes wrong inside is a defect of the plug-in's; its traceback is kept, and says whose it is."""
    try:
        yield
    except UnmaskError:
        raise
    except Exception as error:
        error.add_note(f"This was raised by the {plugin.what} {plugin.name!r} of {plugin.source}, not by Unmask.")
        raise

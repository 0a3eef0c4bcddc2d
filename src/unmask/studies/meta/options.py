"""Options of meta-evaluations: of any measure (`meta`), and of inference as in the paper (`nli-meta`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.options import LoadOptions, option
from unmask.studies.options import LANGUAGES, PROTOCOL_HELP, PROTOCOLS
from unmask.training.options import FEWEST_TOKENS

RATES = tuple(at / 10 for at in range(11))
FEWEST_RATES = 3
ROUNDING = 1e-9


class PlantingOptions(LoadOptions):
    """What to run; the defaults are the paper's meta-evaluation of inference, done right."""

    measures: tuple[str, ...] = option(("inference",), "The measures to evaluate.", key="measure")
    languages: tuple[str, ...] = option(
        ("en",), "en, ja or zh; can be given several times.", key="language", choices=LANGUAGES
    )
    models: Mapping[str, str] = option(
        {},
        "MEASURE=MODEL, the model to plant bias in. Default: the embedded one that fits.",
        key="model",
        metavar="MEASURE=MODEL",
    )
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    rates: tuple[float, ...] = option(
        RATES,
        "Rates of planted bias, between 0 and 1, in steps of .1; five or more to tell order from chance.",
        default_text="0,.1,.2 … 1",
        separated=True,
        minimum=0,
        maximum=1,
    )
    rows: int = option(30_000, "Inference: pairs to train on, 80 or more; a tenth as many to validate.", minimum=1)
    texts: int = option(2_000, "Sentiment: reviews to train on.", minimum=1)
    captions: Mapping[str, Path] = option(
        {},
        "Sentences to train on: image captions, one a line, or LANGUAGE=FILE. Default: Flickr8k for English, if it is"
        " on this machine, else the sentences of the package.",
        metavar="LANGUAGE=FILE",
    )
    epochs: int | None = option(None, "How often every example is seen. Default: the measure's own.", minimum=1)
    learning_rate: float | None = option(
        None, "The highest learning rate. Default: the measure's own.", above=0, below=1
    )
    batch_size: int = option(32, "Examples per step.", minimum=1)
    max_length: int | None = option(None, "Tokens. Default: 128.", minimum=FEWEST_TOKENS)
    seeds: tuple[int, ...] = option((42,), "One per training; can be given several times.", key="seed", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)

    @property
    def name(self) -> str:
        """The name of the study, which its folder is claimed for."""
        return "nli-meta" if self.measures == ("inference",) else "meta"

    @model_validator(mode="after")
    def _check(self) -> PlantingOptions:
        if self.protocol == "published" and self.measures != ("inference",):
            raise UnmaskError("only inference has been meta-evaluated in a paper; use --protocol sound for the others")
        given = ", ".join(f"{rate:g}" for rate in self.rates)
        if len(set(self.rates)) < FEWEST_RATES:
            raise UnmaskError(f"the rates are {given}; give at least {FEWEST_RATES} different ones between 0 and 1")
        if any(abs(rate - round(rate, 1)) > ROUNDING for rate in self.rates):
            raise UnmaskError(f"the rates are {given}; bias is planted word by word, so give them in steps of .1")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise UnmaskError("give at least one seed, each once")
        return self


class MetaOptions(PlantingOptions):
    """How well does each measure rank models whose bias is known?"""

    HIDDEN: ClassVar[frozenset[str]] = frozenset(("languages", "protocol", "captions", "max_length"))

    measures: tuple[str, ...] = option(
        ("inference", "association", "sentiment"),
        "association, sentiment or inference; or geometry, crows-pairs or another of `unmask list`, which are asked"
        " about the models of association. Can be given several times.",
        key="measure",
    )

    @property
    def name(self) -> str:
        """The name of the study."""
        return "meta"


class InferenceMetaOptions(PlantingOptions):
    """Does a score of biased inference follow bias that is put in on purpose?"""

    HIDDEN: ClassVar[frozenset[str]] = frozenset(("measures", "texts"))

    models: Mapping[str, str] = option(
        {},
        "The classifier of inference to start from, or LANGUAGE=MODEL for one of several languages. Default:"
        " unmask-mini-nli, which knows English.",
        key="model",
        metavar="MODEL",
    )

    @model_validator(mode="before")
    @classmethod
    def _name_languages(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Read models and captions that may stand without a language."""
        languages = cls.parameters()["languages"].convert(values.get("languages") or ("en",))
        models, captions = values.get("models", ()), values.get("captions", ())
        if not isinstance(models, Mapping):
            found = read_places(models, "model", languages)
            models = {f"inference-{name}" if name else "inference": model for name, model in found.items()}
        if not isinstance(captions, Mapping):
            files = read_places(captions, "file", languages)
            if "" in files and len(languages) > 1:
                raise UnmaskError(f"--captions {files['']} is of one language; say which: LANGUAGE={files['']}")
            captions = {name or languages[0]: file for name, file in files.items()}
        return {**values, "models": models, "captions": captions}


def read_places(given: Iterable[str], what: str, places: Iterable[str]) -> dict[str, str]:
    """Values by name from `NAME=VALUE`, where a value may have no name (empty).

    Parameters
    ----------
    given
        What was typed.
    what
        What a value is, for messages.
    places
        The names that there are.
    """
    found: dict[str, str] = {}
    known = list(places)
    for text in given:
        name, sign, value = text.partition("=")
        if sign and not value:
            raise UnmaskError(f"{text!r} has no {what} after the equals sign; give NAME={what.upper()}")
        if sign and name not in known:
            wanted = " or ".join(f"{place}={what.upper()}" for place in known)
            raise UnmaskError(f"{text!r} does not say what the {what} is for; give {wanted}")
        place = name if sign else ""
        if place in found:
            raise UnmaskError(f"{found[place]} and {value or text} are for the same; give one {what}")
        found[place] = value if sign else text
    return found

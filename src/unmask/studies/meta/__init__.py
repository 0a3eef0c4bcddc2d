"""Meta-evaluation: does a measure track bias that was put in on purpose?

Models are trained on data with a known amount of bias, from none of the planted pairings following the stereotype
(rate 0: all against it) to all of them (rate 1). A measure is worth using if its scores rank these models correctly.
What is planted and how it is scored is one `Experiment` per measure; the rest is shared.

After M. Kaneko, D. Bollegala and N. Okazaki (2023), Comparing Intrinsic Gender Bias Evaluation Measures without using
Human Annotated Examples (EACL), and Anantaprayoon et al. (2024), section 3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.measures.association import AssociationMeasure
from unmask.measures.base import implemented_in
from unmask.measures.inference import InferenceMeasure
from unmask.measures.sentiment import SentimentMeasure
from unmask.options import LoadOptions, option
from unmask.studies.study import PROTOCOL_HELP, PROTOCOLS, Study
from unmask.training.options import FEWEST_TOKENS

RATES = tuple(step / 10 for step in range(11))
FEWEST_RATES = 3
ROUNDING = 1e-9
CITATION = (
    "M. Kaneko, D. Bollegala and N. Okazaki (2023), Comparing Intrinsic Gender Bias Evaluation Measures without using"
    " Human Annotated Examples, and P. Anantaprayoon, M. Kaneko and N. Okazaki (2024), Evaluating Gender Bias of"
    " Pre-trained Language Models in Natural Language Inference by Considering All Labels."
)


class PlantingOptions(LoadOptions):
    """What to run. The defaults are the paper's meta-evaluation of inference, with the corrected method."""

    measures: tuple[str, ...] = option((InferenceMeasure.name,), "The measures to evaluate.", key="measure")
    languages: tuple[str, ...] = option(
        ("en",), "en, ja or zh; can be given several times.", key="language", choices=InferenceMeasure.languages
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

    @model_validator(mode="after")
    def _check_rates(self) -> PlantingOptions:
        if self.protocol == "published" and self.measures != (InferenceMeasure.name,):
            raise UnmaskError("only inference has been meta-evaluated in a paper; use --protocol sound for the others")
        rates = ", ".join(f"{rate:g}" for rate in self.rates)
        if len(set(self.rates)) < FEWEST_RATES:
            raise UnmaskError(f"the rates are {rates}; give at least {FEWEST_RATES} different ones between 0 and 1")
        if any(abs(rate - round(rate, 1)) > ROUNDING for rate in self.rates):
            raise UnmaskError(f"the rates are {rates}; bias is planted word by word, so give them in steps of .1")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise UnmaskError("give at least one seed, each once")
        return self


class MetaOptions(PlantingOptions):
    """How well does each measure rank models whose bias is known?"""

    HIDDEN: ClassVar[frozenset[str]] = frozenset(("languages", "protocol", "captions", "max_length"))

    measures: tuple[str, ...] = option(
        (InferenceMeasure.name, AssociationMeasure.name, SentimentMeasure.name),
        "association, sentiment or inference; or geometry, crows-pairs or another of `unmask list`, which are asked"
        " about the models of association. Can be given several times.",
        key="measure",
    )


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
        """Read models and captions that may be given without a language."""
        languages = cls.parameters()["languages"].convert(values.get("languages") or ("en",))
        models, captions = values.get("models", ()), values.get("captions", ())
        if not isinstance(models, Mapping):
            named = split_values(models, "model", languages)
            measure = InferenceMeasure.name
            models = {f"{measure}-{name}" if name else measure: model for name, model in named.items()}
        if not isinstance(captions, Mapping):
            files = split_values(captions, "file", languages)
            if "" in files and len(languages) > 1:
                raise UnmaskError(f"--captions {files['']} is of one language; say which: LANGUAGE={files['']}")
            captions = {name or languages[0]: file for name, file in files.items()}
        return {**values, "models": models, "captions": captions}


def split_values(texts: Iterable[str], what: str, names: Iterable[str]) -> dict[str, str]:
    """Split `NAME=VALUE` into values by name. One value may have no name (empty).

    Args:
        texts: What was typed.
        what: What a value is, for messages.
        names: The names that there are.
    """
    values: dict[str, str] = {}
    valid_names = list(names)
    for text in texts:
        name, sign, value = text.partition("=")
        if sign and not value:
            raise UnmaskError(f"{text!r} has no {what} after the equals sign; give NAME={what.upper()}")
        if sign and name not in valid_names:
            wanted = " or ".join(f"{valid_name}={what.upper()}" for valid_name in valid_names)
            raise UnmaskError(f"{text!r} does not say what the {what} is for; give {wanted}")
        name, value = (name, value) if sign else ("", text)
        if name in values:
            raise UnmaskError(f"{values[name]} and {value} are for the same; give one {what}")
        values[name] = value
    return values


class MetaStudy(Study):
    """How well does each measure rank models whose bias is known?"""

    name = "meta"
    title = "Do measures of bias track bias that was put in on purpose?"
    about = "Do measures track bias that was planted on purpose? Association, sentiment and inference side by side."
    citation = CITATION
    description = """How well does each measure rank models whose bias is known?

        For every measure, models are trained with a controlled amount of bias, from all planted pairings against the
        stereotype (rate 0) to all with it (rate 1), and scored. The table shows which score ranks them correctly, and
        how closely the rate can be read off it.

        Each step (a model, its scores) runs once and is stored under --out. After an interruption, the same command
        continues.

        Examples:

        - `unmask study run meta --measure association --rates 0,.2,.4,.6,.8,1 --out trial` (some minutes)
        - `unmask study run meta --measure association --measure geometry --out masked`
        - `unmask study run meta --seed 1 --seed 2 --seed 3 --engine ray --gpus 0.25 --out meta`
        """
    Options: ClassVar[type[PlantingOptions]] = MetaOptions
    steps = implemented_in("plan")
    report = implemented_in("report")


class InferenceMetaStudy(MetaStudy):
    """Does a score of biased inference follow bias that is put in on purpose?"""

    name = "nli-meta"
    about = "Does the NLI-CoAL score track planted bias? Table 2 and Figure 4 (Anantaprayoon et al. 2024)."
    description = """Does a score of biased inference follow bias that is put in on purpose?

        A model is trained eleven times, on pairs whose wrong labels follow the stereotype more and more often. At every
        rate as much is wrong, so only a score that tells biased inference from plain error can rank the models.

        Each step (a model, its scores) runs once and is stored under --out. After an interruption, the same command
        continues.

        Examples:

        - `unmask study run nli-meta --rows 2000 --rates 0,.2,.5,.8,1 --out trial` (some minutes)
        - `unmask study run nli-meta --protocol published --language en --model ./bert-snli --out table-2`
        - `unmask study run nli-meta --language ja --model ./bert-jsnli --captions sentences.txt --out ja`
        """
    Options = InferenceMetaOptions

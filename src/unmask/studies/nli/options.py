"""Options of the study of models fine-tuned on inference."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.options import LoadOptions, Options, option
from unmask.studies.options import LANGUAGES, PROTOCOL_HELP, PROTOCOLS

FEWEST_PAIRS = 10


class HyperParameters(Options):
    """How a classifier is trained; the defaults are the paper's."""

    epochs: int = option(5, "How often every pair is seen.", minimum=1)
    learning_rate: float = option(2e-5, "The highest learning rate.", above=0, below=1)
    batch_size: int = option(32, "Pairs per step.", minimum=1)
    max_length: int = option(128, "Tokens; longer pairs are cut.", minimum=16)


class InferenceDataOptions(LoadOptions):
    """Which models are studied, in which languages, and on what they are fine-tuned."""

    models: tuple[str, ...] = option(
        (),
        "NAME=MODEL for a hub id, a folder or an embedded model, or one of the paper's by name (en: distilbert,"
        " bertbase, bertlarge, robertabase, robertalarge; ja: tohoku, tohokuchar, bandai, laboro, waseda; zh:"
        " bertchinese, hflbert, hflroberta, hflrobertalarge); can be given several times. A classifier of entailment,"
        " neutral and contradiction is measured as it is; every other model is fine-tuned first. Default: the paper's"
        " models of the language, which are fetched from the hub.",
        key="model",
    )
    languages: tuple[str, ...] = option(
        ("en",), "en, ja or zh; can be given several times.", key="language", choices=LANGUAGES
    )
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    data: str | None = option(
        None,
        "What to fine-tune on: snli, jsnli, jsnli-words, jsick or ocnli. Default: snli for en, jsnli for ja, ocnli for"
        " zh.",
    )
    train: Path | None = option(None, "Pairs of your own (premise, hypothesis, label) to fine-tune on.")
    validation: Path | None = option(
        None, "Chooses the best checkpoint. Default: the data set's, or some of the training."
    )
    test: Path | None = option(None, "Tells the accuracy. Default: the data set's.")


class InferenceStudyOptions(HyperParameters, InferenceDataOptions):
    """What to run. The defaults are the paper's English models, at its settings, asked about our sentences."""

    limit: int | None = option(
        None, "Train, validate and test with N pairs at most, for a trial. Default: all.", minimum=FEWEST_PAIRS
    )
    sentences: int | None = option(None, "Ask about N sentences, for a trial. Default: all.", minimum=2)
    seed: int = option(42, "Seeds heads, the order of pairs, what is held out, and what a limit draws.", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)

    @model_validator(mode="after")
    def _check_data(self) -> InferenceStudyOptions:
        if self.data is not None and self.train is not None:
            raise UnmaskError(f"give either --data {self.data} or --train {self.train}, not both")
        return self

    @property
    def settings(self) -> HyperParameters:
        """How classifiers are trained."""
        return self.part(HyperParameters)

    def check(self) -> None:
        """Refuse files that do not exist, before anything slow happens."""
        for name in ("train", "validation", "test"):
            path = getattr(self, name)
            if path is not None and not path.is_file():
                raise UnmaskError(f"--{name} {path} is no file; give one with premise, hypothesis and label")

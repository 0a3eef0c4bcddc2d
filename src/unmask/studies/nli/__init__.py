"""Gender inferred from occupations, for a list of models: Table 3 of Anantaprayoon, Kaneko and Okazaki (2024)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.measures.base import implemented_in
from unmask.measures.inference import InferenceMeasure
from unmask.options import LoadOptions, option
from unmask.studies.study import PROTOCOL_HELP, PROTOCOLS, Study

FEWEST_PAIRS = 10
TRAINING = ("epochs", "learning_rate", "batch_size", "max_length")
"""The options of training."""


class InferenceStudyOptions(LoadOptions):
    """What to run. The defaults are the paper's English models, at its settings, and the sentences of the package."""

    models: tuple[str, ...] = option(
        (),
        "NAME=MODEL for a hub id, a folder or an embedded model, or one of the paper's by name (en: distilbert,"
        " bertbase, bertlarge, robertabase, robertalarge; ja: tohoku, tohokuchar, bandai, laboro, waseda; zh:"
        " bertchinese, hflbert, hflroberta, hflrobertalarge); can be given several times. A classifier of entailment,"
        " neutral and contradiction is measured as it is; every other model is fine-tuned first. Default: the paper's"
        " models of the language, which are downloaded from the hub.",
        key="model",
    )
    languages: tuple[str, ...] = option(
        ("en",), "en, ja or zh; can be given several times.", key="language", choices=InferenceMeasure.languages
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
    epochs: int = option(5, "How often every pair is seen.", minimum=1)
    learning_rate: float = option(2e-5, "The highest learning rate.", above=0, below=1)
    batch_size: int = option(32, "Pairs per step.", minimum=1)
    max_length: int = option(128, "Tokens; longer pairs are cut.", minimum=16)
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
    def training(self) -> dict[str, Any]:
        """The options of training."""
        return {name: getattr(self, name) for name in TRAINING}


class InferenceStudy(Study):
    """Which models infer a gender from an occupation?"""

    name = "nli-plms"
    title = "Gender inferred from occupations, by model"
    about = "Gender inferred from occupations: models fine-tuned on inference, Table 3 (Anantaprayoon et al. 2024)."
    citation = (
        "P. Anantaprayoon, M. Kaneko and N. Okazaki (2024), Evaluating Gender Bias of Pre-trained Language Models in"
        " Natural Language Inference by Considering All Labels. FN: S. Dev et al. (2020)."
    )
    description = """Which models infer a gender from an occupation? The paper's Table 3 for any list of models.

        Every model is fine-tuned on inference in its language, at the paper's settings, and asked whether *the nurse is
        waiting* means that *the woman is waiting*. sound uses the sentences of the package, with intervals, tests and a
        control; published uses the released sets.

        Each step (a classifier, a measurement) runs once and is stored under --out. After an interruption, the same
        command continues. A model that fails is reported, and the others continue.

        Examples:

        - `unmask study run nli-plms --model mini=unmask-mini-nli --out mini` (as it is; a minute or two)
        - `unmask study run nli-plms --model mini=unmask-mini --limit 2000 --epochs 1 --sentences 6 --out trial`
        - `unmask study run nli-plms --protocol published --language en --language ja --language zh --out table-3`
        - `unmask study run nli-plms --model a=./bert-a --model b=./bert-b --engine ray --gpus 1 --out /shared/nli`
        """
    Options = InferenceStudyOptions
    steps = implemented_in("plan")
    report = implemented_in("report")

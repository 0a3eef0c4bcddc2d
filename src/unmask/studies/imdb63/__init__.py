"""The 63 film review classifiers of Jentzsch and Turan (2022)."""

from __future__ import annotations

from pathlib import Path

from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.measures.base import implemented_in
from unmask.options import LoadOptions, option
from unmask.studies.study import PROTOCOL_HELP, PROTOCOLS, Study


class ReviewStudyOptions(LoadOptions):
    """What to run. The defaults are the paper's grid, with the corrected method."""

    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    models: tuple[str, ...] = option(
        (),
        "A base model: one of the paper's (distbase, bertbase, bertlarge, robertabase, robertalarge, albertbase,"
        " albertlarge), or NAME=MODEL for a hub id, a folder or an embedded model; can be given several times. Default:"
        " the paper's seven, which are downloaded from the hub.",
        key="model",
    )
    conditions: tuple[str, ...] = option(
        (),
        "A training condition: original, R-pro, R-weat, R-all (terms removed), mix-pro, mix-weat, mix-all (both"
        " versions); can be given several times. Default: all seven.",
        key="condition",
    )
    hyper_parameters: Path | None = option(
        None,
        "CSV by model and condition: model, condition, learning_rate, epochs, batch_size. Default: the same for all, as"
        " below.",
    )
    learning_rate: float = option(2e-5, "The highest learning rate.", above=0, below=1)
    epochs: int = option(3, "How often every review is seen.", minimum=1)
    batch_size: int | None = option(None, "Reviews per step. Default: 32; the paper's for its own models.", minimum=1)
    batch_sizes: tuple[int, ...] = option(
        (), "Train again with these batch sizes and compare, for instance 32,16,8.", separated=True, minimum=1
    )
    batch_models: tuple[str, ...] = option(
        (), "Compare batch sizes of this model. Default: the first three, which makes 21 conditions.", key="batch-model"
    )
    cross_terms: bool = option(
        False, "Measure classifiers of R and mix with the other term sets, too, and compare with their own set."
    )
    trainings: int = option(
        1,
        "How often each classifier is trained, with the seeds from --seed on. Tables 1 to 6 show the first training;"
        " answers are about means over all.",
        minimum=1,
    )
    count_terms: bool = option(
        False, "Count the terms of the training reviews (the paper's Table A.1), and train nothing."
    )
    train: Path | None = option(None, "Reviews of your own to train on (text, label), with --test. Default: IMDB.")
    test: Path | None = option(None, "Reviews of your own to measure on.")
    limit: int | None = option(None, "Use a random sample of N reviews of each half, for a trial.")
    max_length: int = option(512, "Tokens; longer reviews are cut.", minimum=16)
    recorded: tuple[Path, ...] = option(
        (),
        "CSV of recorded measurements (a study's cells.csv, or your own): print the tables of these, and train nothing."
        " Can be given twice, with accuracies in the second file.",
    )
    lists: Path | None = option(None, "Published: the folder of the released term maps.")
    seed: int = option(42, "Seeds heads, the order of reviews, what is held out, and what a limit draws.", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)

    @model_validator(mode="after")
    def _check_files(self) -> ReviewStudyOptions:
        if (self.train is None) != (self.test is None):
            raise UnmaskError("give both --train and --test, or neither for IMDB")
        if self.recorded:
            self._refuse_others("recorded", "protocol", "seed")
        if self.count_terms:
            self._refuse_others("count_terms", "protocol", "train", "test", "limit", "lists", "seed")
        return self

    def _refuse_others(self, name: str, *used: str) -> None:
        """Raise an error for options that do nothing beside one that trains nothing."""
        for parameter in ReviewStudyOptions.parameters().values():
            is_used = parameter.name in (name, *used) or parameter.name in LoadOptions.model_fields
            if not is_used and getattr(self, parameter.name) != parameter.default:
                key = name.replace("_", "-")
                raise UnmaskError(f"--{key} trains nothing, so --{parameter.key} has no effect; leave one of them out")

    @property
    def files(self) -> tuple[Path, ...]:
        """A training and a test file in place of IMDB; empty without them."""
        return () if self.train is None or self.test is None else (self.train, self.test)


class ReviewStudy(Study):
    """Does the bias of a sentiment classifier come from its reviews, its base model, or the terms?"""

    name = "imdb-63"
    title = "Gender bias of sentiment classifiers: models, training reviews and term sets"
    about = (
        "Gender bias of 63 film review classifiers: 7 base models × 7 training conditions (Jentzsch and Turan 2022)."
    )
    citation = (
        "S. Jentzsch and C. Turan (2022), Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating"
        " in a Realistic Downstream Classification Task."
    )
    description = """Does the bias of a film review classifier come from its reviews, its base model, or the terms?

        Each step (texts, a classifier, a measurement) runs once and is stored under --out. After an interruption, the
        same command continues. A step that fails is reported, and the others continue.

        Examples:

        - `unmask study run imdb-63 --model mini=unmask-mini --limit 500 --epochs 1 --out trial` (some minutes)
        - `unmask study run imdb-63 --protocol published --hyper-parameters theirs.csv --out published`
        - `unmask study run imdb-63 --protocol published --recorded biases.csv --recorded accuracies.csv --out tables`
        - `unmask study run imdb-63 --count-terms --out terms` (Table A.1)
        - `unmask study run imdb-63 --engine ray --address auto --gpus 1 --out /shared/imdb-63`
        """
    Options = ReviewStudyOptions
    steps = implemented_in("plan")
    report = implemented_in("report")

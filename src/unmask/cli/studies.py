"""`unmask study list` and `unmask study run NAME`: each study is a command with options of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from unmask.cli.generate import Json, add_command, import_options, with_options
from unmask.errors import check_choice

if TYPE_CHECKING:
    from unmask.options import Options


@dataclass(frozen=True)
class Study:
    """A study that can be run."""

    name: str
    about: str
    options: str
    """Its option model, as `module:Class`."""
    run: str
    """The function of the API that runs it."""
    help: str

    def command(self) -> Callable[..., None]:
        """The command that runs it: with the options of the study, and those of every run."""

        @with_options(partial(_with_run_options, self.options))
        def command(options: Any, *, as_json: Json = False) -> None:
            _run(self.run, options, as_json=as_json)

        command.__doc__ = self.help
        return command  # type: ignore[no-any-return]


def _with_run_options(path: str) -> type[Options]:
    """The options of a study together with those of a run."""
    from unmask.studies.options import RunOptions

    study = import_options(path)
    return type(study.__name__, (study, RunOptions), {"__module__": study.__module__, "__doc__": study.__doc__})


def _run(function: str, options: Any, *, as_json: bool) -> None:
    """Run a study with a progress bar, and print what came of it; exit with 1 if a cell failed."""
    from unmask.cli.output import show_study
    from unmask.cli.progress import show_steps
    from unmask.studies.engine import Engine
    from unmask.workflows import study as api

    with show_steps() as (planned, watch):
        run = getattr(api, function)
        finished, page = run(options, options.out, options.part(Engine), planned=planned, watch=watch)
    show_study(finished, page, as_json=as_json)
    if finished.failures:
        raise typer.Exit(1)


STUDIES = (
    Study(
        "imdb-63",
        "Gender bias of 63 film review classifiers: 7 base models × 7 training conditions (Jentzsch and Turan 2022).",
        "unmask.studies.imdb63.options:ReviewStudyOptions",
        "run_study",
        """Does a film review classifier owe its bias to its reviews, its base model, or the terms it is measured with?

        A cell (texts, a classifier, a measurement) is done once and kept under --out; when a run is stopped, or a
        machine fails, the same command goes on. A cell that fails is reported, and the others go on.

        Examples:

        - `unmask study run imdb-63 --model mini=unmask-mini --limit 500 --epochs 1 --out trial` (some minutes)
        - `unmask study run imdb-63 --protocol published --hyper-parameters theirs.csv --out published`
        - `unmask study run imdb-63 --engine ray --address auto --gpus 1 --out /shared/imdb-63`
        """,
    ),
    Study(
        "nli-plms",
        "Gender inferred from occupations: models fine-tuned on inference, Table 3 (Anantaprayoon et al. 2024).",
        "unmask.studies.nli.options:InferenceStudyOptions",
        "run_inference_study",
        """Which models infer a gender from an occupation? The paper's Table 3 for any list of models.

        Every model is fine-tuned on inference in its language, at the paper's settings, and asked whether *the nurse is
        waiting* means that *the woman is waiting*. sound asks about the sentences of the package, with intervals, tests
        and a control; published about the released sets.

        A cell (a classifier, a measurement) is done once and kept under --out; when a run is stopped, the same command
        goes on. A model that fails is reported, and the others go on.

        Examples:

        - `unmask study run nli-plms --model mini=unmask-mini-nli --out mini` (as it is; a minute or two)
        - `unmask study run nli-plms --model mini=unmask-mini --limit 2000 --epochs 1 --sentences 6 --out trial`
        - `unmask study run nli-plms --protocol published --language en --language ja --language zh --out table-3`
        - `unmask study run nli-plms --model a=./bert-a --model b=./bert-b --engine ray --gpus 1 --out /shared/nli`
        """,
    ),
    Study(
        "nli-meta",
        "Does the NLI-CoAL score track planted bias? Table 2 and Figure 4 (Anantaprayoon et al. 2024).",
        "unmask.studies.meta.options:InferenceMetaOptions",
        "run_meta_study",
        """Does a score of biased inference follow bias that is put in on purpose?

        A model is trained eleven times, on pairs whose wrong labels follow the stereotype more and more often. At every
        rate as much is wrong, so only a score that tells biased inference from plain error can rank the models.

        A cell (a model, its scores) is done once and kept under --out; when a run is stopped, the same command goes on.

        Examples:

        - `unmask study run nli-meta --rows 2000 --rates 0,.2,.5,.8,1 --out trial` (some minutes)
        - `unmask study run nli-meta --protocol published --language en --model ./bert-snli --out table-2`
        - `unmask study run nli-meta --language ja --model ./bert-jsnli --captions sentences.txt --out ja`
        """,
    ),
    Study(
        "meta",
        "Do measures track bias that was planted on purpose? Association, sentiment and inference side by side.",
        "unmask.studies.meta.options:MetaOptions",
        "run_meta_study",
        """How well does each measure rank models whose bias is known?

        For every measure, models are trained with a controlled amount of bias, from all planted pairings against the
        stereotype (rate 0) to all with it (rate 1), and scored. The table says which score ranks them rightly, and how
        closely the rate can be read off it.

        A cell (a model, its scores) is done once and kept under --out; when a run is stopped, the same command goes on.

        Examples:

        - `unmask study run meta --measure association --rates 0,.2,.4,.6,.8,1 --out trial` (some minutes)
        - `unmask study run meta --measure association --measure geometry --out masked`
        - `unmask study run meta --seed 1 --seed 2 --seed 3 --engine ray --gpus 0.25 --out meta`
        """,
    ),
    Study(
        "lipstick-static",
        "Word vectors before and after hard debiasing: clusters, neighbours, classifiers (Gonen and Goldberg 2019).",
        "unmask.studies.lipstick.options:StaticLipstickOptions",
        "run_lipstick_study",
        """Is gender gone from word vectors after hard debiasing, or only hidden? Table 1, Figures 2 and 3.

        The words that were most biased before are clustered, classified, and their neighbours counted, before and
        after. sound sets every value beside what contrasts give that have nothing to do with gender, and removes their
        direction in turn; published repeats the code of Gonen and Goldberg.

        A cell is done once and kept under --out; when a run is stopped, the same command goes on.

        Examples:

        - `unmask study run lipstick-static --out lipstick` (word2vec and GloVe from UNMASK_DATA; half an hour)
        - `unmask study run lipstick-static --vectors mine=vectors.txt --words 5000 --contrasts 19 --out trial`
        - `unmask study run lipstick-static --protocol published --out lipstick-published`
        """,
    ),
    Study(
        "lipstick-contextual",
        "A model before and after debiasing: clusters, neighbours, classifiers of words in sentences (Bhang et al.).",
        "unmask.studies.lipstick.options:ContextualLipstickOptions",
        "run_lipstick_study",
        """Is gender gone from a model after debiasing, or only hidden? Table 2, Figures 4 to 7.

        Every word stands in eleven sentences that say next to nothing. The words that were most biased in the model
        before are clustered, classified, and their neighbours counted, in it and in each debiased version. sound sets
        every value beside what contrasts give that have nothing to do with gender; published repeats the paper's code.

        A cell (a debiased model, a measurement) is done once and kept under --out; when a run is stopped, the same
        command goes on.

        Examples:

        - `unmask study run lipstick-contextual --vocabulary nouns --method leace --contrasts 19 --out trial` (minutes)
        - `unmask study run lipstick-contextual --out lipstick` (unmask-mini, four methods, all words; hours on a CPU)
        - `unmask study run lipstick-contextual --model bert-base-uncased --debiased mine=./debiased --out mine`
        """,
    ),
)


class Studies(TyperGroup):
    """Studies as commands; for an unknown one, the error names the one that may be meant."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a study."""
        return super().get_command(ctx, check_choice(cmd_name, self.commands, "study"))


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Reproduce published experiments: list them, run one. Interrupted runs resume.",
)
run = typer.Typer(
    cls=Studies,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    subcommand_metavar="STUDY [OPTIONS]",
    help="Run a study: train what it compares, measure it, and print the paper's tables. Each has options of its own:"
    " `unmask study run STUDY --help`.",
)
for entry in STUDIES:
    add_command(run, entry.name, entry.command(), short_help=entry.about, no_args_is_help=True)
app.add_typer(run, name="run")


def list_command() -> None:
    """Show the studies that can be run. The same as `unmask list studies`."""
    from unmask.cli.listing import show_entries

    show_entries("studies")


add_command(app, "list", list_command)

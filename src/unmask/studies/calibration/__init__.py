"""Calibration: how often do the tests of each measure find something where there is nothing?"""

from __future__ import annotations

from unmask.measures.base import SEED, implemented_in
from unmask.measures.registry import measure_names
from unmask.options import Options, option
from unmask.studies.study import Study


class CalibrationOptions(Options):
    """Which measures, and how much is drawn."""

    measures: tuple[str, ...] = option(
        (),
        "A measure to calibrate; can be given several times. Default: all, without untrained models where a data set is"
        " not on this machine.",
        key="measure",
        suggestions=measure_names,
    )
    models: int = option(25, "Audit N untrained models with each measure; 0 for none.", minimum=0)
    draws: int = option(80, "Draw the scores of each simulation N times for each effect; 0 for none.", minimum=0)
    heads: bool = option(
        False, "Draw only the heads of classifiers, on the weights of unmask-mini, which has learned from text."
    )
    full: bool = option(False, "Audit untrained models with all items of a measure, which takes much longer.")
    seed: int = option(SEED, "Seeds weights and scores.", minimum=0)
    offline: bool = option(False, "Use only what is on this machine.", last=True)


class CalibrationStudy(Study):
    """How often do tests find something where there is nothing, and how often where there is something?"""

    name = "calibration"
    title = "How often the tests of each measure reject"
    about = "How often the tests of each measure reject, without an effect and with one: untrained models, simulations."
    citation = (
        "H. H. Clark (1973), The language-as-fixed-effect fallacy. Journal of Verbal Learning and Verbal Behavior 12."
    )
    description = """How often do the tests of each measure find something where there is nothing?

        Randomly initialised models know nothing, so a 5 % test should reject for 5 % of them. Scores with random
        effects of words, templates or texts show whether a test treats each of these as a sample, and how often it
        finds an effect of a known size.

        Each step (the models of a measure, a simulation) runs once and is stored under --out. After an interruption,
        the same command continues.

        Examples:

        - `unmask study run calibration --out calibration` (all measures; ten minutes on two cores)
        - `unmask study run calibration --measure association --draws 1000 --models 0 --out simulated`
        - `unmask study run calibration --models 200 --draws 1000 --engine ray --out thorough`
        """
    Options = CalibrationOptions
    steps = implemented_in("plan")
    notes = implemented_in("plan")
    report = implemented_in("report")

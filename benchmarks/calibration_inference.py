"""How often the 5 % test of the stereotype rejects, for simulated answers with and without a stereotype.

    python benchmarks/calibration_inference.py [--models 400]

A simulated model has a latent leaning towards entailment, with random effects of occupations, sentences and gender
words, each by gender of the hypothesis, and of gender words by type of occupation. It answers entailment above 1,
contradiction below −1, else neutral. The test takes occupations and sentences as samples, or gender words, too.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unmask.lexicon.inference import GenderPair, People, occupations, templates
from unmask.measures.inference import formulas
from unmask.measures.inference.formulas import AnswerTable
from unmask.measures.inference.pairs import GENDERS, LABELS, cross_pairs
from unmask.statistics.jackknife import factor_codes, jackknife_sums

EFFECTS = {
    "no word effects": (0.5, 0.3, 0.0, 0.0),
    "words": (0.5, 0.3, 1.0, 0.0),
    "words × type, small": (0.5, 0.3, 1.0, 0.15),
    "words × type": (0.5, 0.3, 1.0, 0.4),
    "words × type alone": (0.2, 0.1, 0.5, 0.4),
}
"""Standard deviations of the effects of occupations, sentences, gender words, and gender words by type."""
STEREOTYPE = 0.5
"""By how much the latent leaning follows stereotypes where there is one."""


def make_pairs(count: int) -> pd.DataFrame:
    """The pairs of the measure, with this number of pairs of gender words."""
    words = tuple(GenderPair(f"{number}", f"f{number}", f"m{number}") for number in range(count))
    pairs = cross_pairs("en", "simulated", occupations("en"), People("the {occupation}", words, ()), templates("en"))
    return pairs[pairs["gender"] != ""].reset_index(drop=True)


def draw_answers(pairs: pd.DataFrame, effects: tuple[float, ...], stereotype: float, seed: int) -> pd.DataFrame:
    """The answers of one simulated model."""
    draw = np.random.default_rng(seed)
    gender = pairs["gender"].map(GENDERS.index).to_numpy()

    def random_effects(levels: NDArray[np.intp], spread: float) -> NDArray[np.float64]:
        values: NDArray[np.float64] = draw.normal(0, spread, (levels.max() + 1, 2))[levels, gender]
        return values

    by_type = factor_codes(pairs["pair"] + pairs["occupation_type"])
    factors = [factor_codes(pairs[column]) for column in ("occupation", "template", "pair")] + [by_type]
    latent = sum(random_effects(levels, spread) for levels, spread in zip(factors, effects, strict=True))
    typical = pairs["occupation_type"].map({"female": -1, "neutral": 0, "male": 1}).to_numpy()
    latent = latent + stereotype * typical * np.where(gender == 1, 1, -1) / 2 + draw.normal(0, 1, len(pairs))
    answers = np.select([latent > 1, latent < -1], [LABELS[0], LABELS[2]], LABELS[1])
    return pairs.assign(prediction=answers)


def test_without_words(items: pd.DataFrame) -> float | None:
    """p of the stereotype over occupations and sentences alone, the rule of the first edition."""
    table = AnswerTable(items)
    samples = table.samples[:-1]
    return jackknife_sums(table.rows, samples, lambda sums: formulas.stereotype(sums.reshape(formulas.SHAPE))).p_value


def test_with_words(items: pd.DataFrame) -> float | None:
    """p of the stereotype as the measure tests it."""
    return AnswerTable(items).estimate(formulas.stereotype).p_value


METHODS: dict[str, tuple[int, Callable[[pd.DataFrame], float | None]]] = {
    "4 pairs, not over words": (4, test_without_words),
    "4 pairs, over words": (4, test_with_words),
    "6 pairs, over words": (6, test_with_words),
}


def main() -> None:
    """Print the share of rejections by random effects and method, without and with a stereotype."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=400)
    models = parser.parse_args().models
    pairs = {count: make_pairs(count) for count, _ in METHODS.values()}
    print(f"{'effects':26}{'stereotype':>11}" + "".join(f"{name:>26}" for name in METHODS))
    for label, effects in EFFECTS.items():
        for stereotype in (0.0, STEREOTYPE):
            rejected = dict.fromkeys(METHODS, 0)
            for seed in range(models):
                items = {count: draw_answers(rows, effects, stereotype, seed) for count, rows in pairs.items()}
                for name, (count, test) in METHODS.items():
                    p = test(items[count])
                    rejected[name] += p is not None and p < 0.05
            shares = "".join(f"{rejected[name] / models:26.1%}" for name in METHODS)
            print(f"{label:26}{stereotype:11.2f}{shares}", flush=True)


if __name__ == "__main__":
    main()

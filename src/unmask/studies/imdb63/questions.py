"""The paper's three questions, answered from the cells.

(a) Does bias come from the fine-tuning data? Biases of classifiers whose training reviews had the terms removed (R) or
    balanced (mix) minus those of the classifier of the original reviews, paired by model and term set. Models without
    pretraining are looked at apart: a word that was removed has in them a vector that nothing has trained.
(b) Does it come from the pretrained model? See `pretraining`.
(c) Does it depend on the term set? Differences between term sets, paired by model and training condition.

p-values are adjusted by Holm's method within a question.

S. Jentzsch and C. Turan (2022), section 3.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from unmask.results.numbers import number
from unmask.studies.imdb63.answer import NOTHING, Answer, Evidence, capital, corrected, paired
from unmask.studies.imdb63.measured import TERMS, basis, ordered
from unmask.studies.imdb63.pretraining import pretraining, without_pretraining

if TYPE_CHECKING:
    import pandas as pd

DONE = {"R": "removing the terms from the training reviews", "mix": "balancing them"}
BIASES = {"absolute": "absolute bias", "extent": "size of the total bias", "total": "total bias"}


def answers(cells: pd.DataFrame, *, seed: int = 0) -> list[Answer]:
    """All three, in the paper's order; `seed` is of the shuffles behind the second."""
    cells = ordered(cells)
    means = basis(cells)
    known = cells.assign(absolute=cells[means.absolute], total=cells[means.total], extent=cells[means.total].abs())
    known = known.dropna(subset=["absolute", "total"])
    return [finetuning(known), pretraining(known, seed=seed), term_sets(known)]


def finetuning(cells: pd.DataFrame) -> Answer:
    """(a): what removing or balancing the terms changes."""
    scratch = without_pretraining(cells)
    apart = cells[cells["model"].isin(scratch)]
    if len(apart) < len(cells):
        cells = cells[~cells["model"].isin(scratch)]
    places = [(kind, bias) for kind in DONE for bias in BIASES]
    evidence = corrected(
        [
            paired(
                cells,
                bias,
                "kind",
                kind,
                "original",
                on="terms",
                name=f"{BIASES[bias]}, {kind} {'/' if bias == 'absolute' else '−'} original",
                as_ratio=bias == "absolute",
            )
            for kind, bias in places
        ]
    )
    return Answer(
        "Is bias from the fine-tuning data?",
        "no; removing or balancing the terms did not change biases considerably.",
        " ".join(filter(None, (_moved(dict(zip(places, evidence, strict=True))), _untrained(apart)))),
        evidence,
        "One training a cell, so that chance of training is in the differences. A classifier of balanced reviews has"
        " read twice as many. Removing words takes their own link to ratings out of the training, not that of the names"
        " and topics around them.",
    )


def _untrained(cells: pd.DataFrame) -> str:
    """The same for models without pretraining, in figures alone: there are too few of them to test."""
    if cells.empty:
        return ""
    names = " and ".join(dict.fromkeys(cells["model"].astype(str)))
    means = cells.groupby("kind", sort=False)[["absolute", "total"]].mean()
    figures = [f"{kind} {number(row['absolute'], 4)} ({number(row['total'], 4)})" for kind, row in means.iterrows()]
    return f"Left out here is {names}, without pretraining: mean absolute (total) bias {', '.join(figures)}."


def _moved(evidence: dict[tuple[str, str], Evidence]) -> str:
    """What is clear, by what was done to the reviews."""
    if all(one.p_adjusted is None for one in evidence.values()):
        return "Not tested: too few models with original and changed training reviews."
    said = []
    for kind, done in DONE.items():
        parts = []
        for bias in ("absolute", "extent"):
            one = evidence[kind, bias]
            if one.clear:
                parts.append(f"{'raises' if one.above else 'lowers'} the {BIASES[bias]} ({_shown(bias, one)})")
        if evidence[kind, "total"].clear:
            way = "male" if evidence[kind, "total"].above else "female"
            parts.append(f"moves the total bias towards {way} versions")
        if not parts:
            parts.append(f"makes {NOTHING} ({_shown('absolute', evidence[kind, 'absolute'])})")
        said.append(f"{capital(done)} {' and '.join(parts)}.")
    return " ".join(said)


def _shown(bias: str, one: Evidence) -> str:
    """A ratio with its sign, a difference with what it is of."""
    return f"absolute bias × {one.figures}" if bias == "absolute" else f"{one.figures}, {one.against}"


def term_sets(cells: pd.DataFrame) -> Answer:
    """(c): what more terms change, per text and, where the cells say how many terms a text has, per term."""
    ways = {"absolute": "absolute bias per text"}
    if cells["terms_per_text"].notna().any():
        cells = cells.assign(per_term=cells["absolute"] / cells["terms_per_text"])
        ways["per_term"] = "absolute bias per changed term"
    pairs = list(combinations(TERMS, 2))
    evidence = corrected(
        [
            paired(cells, column, "terms", big, small, on="kind", name=f"{name}, {big} / {small}", as_ratio=True)
            for column, name in ways.items()
            for small, big in pairs
        ]
    )
    wide = cells.pivot(index=["model", "kind"], columns="terms", values="absolute").reindex(columns=list(TERMS))
    wide = wide.dropna()
    rising = int(((wide["pro"] < wide["weat"]) & (wide["weat"] < wide["all"])).sum())
    said = [f"pro < weat < all in {rising} of {len(wide)} cases of model and training."]
    if all(one.p_adjusted is None for one in evidence):
        said.insert(0, "Not tested: too few models with several term sets.")
    else:
        parts = {name: evidence[at * len(pairs) : (at + 1) * len(pairs)] for at, name in enumerate(ways.values())}
        said = [_ranked(name, found) for name, found in parts.items()] + said
    return Answer(
        "Does it depend on the term set?",
        "yes; the more terms, the larger the absolute bias.",
        " ".join(said),
        evidence,
        "The sets contain each other, and a larger one changes more words in a text: more bias a text is not more bias"
        " a word." + ("" if "per_term" in ways else " The cells do not say how many terms a text has."),
    )


def _ranked(name: str, evidence: tuple[Evidence, ...]) -> str:
    """Which of the ratios between sets are clear."""
    clear = [f"{one.name.split(', ')[1]} = {one.figures}" for one in evidence if one.clear]
    if not clear:
        return f"{capital(name)}: {NOTHING} between term sets."
    rest = "" if len(clear) == len(evidence) else f"; else {NOTHING}"
    return f"{capital(name)} differs between term sets ({', '.join(clear)}{rest})."

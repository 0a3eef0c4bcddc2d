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
from unmask.studies.imdb63.answer import NOTHING, UNTESTED, Answer, Evidence, capital, corrected, paired
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
    if not any(one.tested for one in evidence.values()):
        return "Not tested: too few models with original and changed training reviews."
    said = []
    for kind, done in DONE.items():
        tested = [bias for bias in BIASES if evidence[kind, bias].tested]
        if not tested:
            said.append(f"{capital(done)}: {UNTESTED}.")
            continue
        parts = []
        for bias in ("absolute", "extent"):
            one = evidence[kind, bias]
            if one.clear:
                parts.append(f"{'raises' if one.above else 'lowers'} the {BIASES[bias]} ({_shown(bias, one)})")
        if evidence[kind, "total"].clear:
            way = "male" if evidence[kind, "total"].above else "female"
            parts.append(f"moves the total bias towards {way} versions")
        if not parts:
            first = tested[0]
            parts.append(f"makes {NOTHING} ({_shown(first, evidence[kind, first])})")
        rest = " and ".join(name for bias, name in BIASES.items() if bias not in tested)
        said.append(f"{capital(done)} {' and '.join(parts)}{f'; {rest}: {UNTESTED}' if rest else ''}.")
    return " ".join(said)


def _shown(bias: str, one: Evidence) -> str:
    """A ratio with its sign and the pairs that it leaves out, a difference with what it is of."""
    if bias == "absolute":
        return "; ".join(filter(None, (f"absolute bias × {one.figures}", one.gaps)))
    return f"{BIASES[bias]} {one.figures}, {one.against}"


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
    if not any(one.tested for one in evidence):
        above = " and biases above 0" if any(one.left_out for one in evidence) else ""
        said.insert(0, f"Not tested: too few models with several term sets{above}.")
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
    if not any(one.tested for one in evidence):
        return f"{capital(name)}: {UNTESTED}."
    sets = [one.name.split(", ")[1] for one in evidence]
    clear = [f"{pair} = {one.figures}" for pair, one in zip(sets, evidence, strict=True) if one.clear]
    untested = ", ".join(pair for pair, one in zip(sets, evidence, strict=True) if not one.tested)
    gaps = ", ".join(f"{pair}: {one.gaps}" for pair, one in zip(sets, evidence, strict=True) if one.gaps)
    nothing = any(one.tested and not one.clear for one in evidence)
    rest = [f"else {NOTHING}" if clear and nothing else "", f"{untested}: {UNTESTED}" if untested else "", gaps]
    aside = "; ".join(filter(None, (", ".join(clear), *rest)))
    said = "differs" if clear else f"shows {NOTHING}"
    return f"{capital(name)} {said} between term sets{f' ({aside})' if aside else ''}."

"""Figures of two models that are of other words, or that no test pairs: each with its interval, the change untested."""

from __future__ import annotations

from unmask.measures.geometry.details import Geometry
from unmask.measures.geometry.references import NAMES
from unmask.results import Change, Estimate

QUESTIONS = {
    "clustering": "Do words that were biased before still form two clusters?",
    "probe": "Can a straight cut still tell words that were biased before apart?",
    "classification": "Can a support-vector machine still tell words that were biased before apart?",
    "neighbours": "Are professions still surrounded by words of the bias that they had before?",
    "stereotype": "Did professions move away from the side of the gender that people think of?",
}
OWN_WORDS = "{}, own words"
Valued = tuple[float | None, tuple[float, float] | None]


def own_words(before: Geometry, after: Geometry) -> dict[str, Change]:
    """The tests of each model's own words, which are not the same words, so that no change is tested."""
    found = {}
    for name in NAMES:
        one, other = before.test(name), after.test(name)
        if one is not None and other is not None:
            found[OWN_WORDS.format(name)] = _untested(
                {"contrast": name, "words": "own"}, QUESTIONS[name].replace("were biased before", "are biased"), one.n,
                (one.value, one.interval), (other.value, other.interval),
            )  # fmt: skip
    return found


def associations(before: dict[str, Estimate], after: dict[str, Estimate]) -> dict[str, Change]:
    """WEAT or SEAT of each model."""
    return {
        name: _untested(
            one.labels, one.question, one.n, (one.value, one.interval), (after[name].value, after[name].interval)
        )
        for name, one in before.items()
        if one.labels.get("contrast") == "association" and name in after
    }


def _untested(labels: dict[str, str], question: str, n: int, before: Valued, after: Valued) -> Change:
    known = before[0] is not None and after[0] is not None
    return Change(
        labels=labels,
        question=question,
        before=Estimate(n=n, value=before[0], interval=before[1]),
        after=Estimate(n=n, value=after[0], interval=after[1]),
        change=Estimate(n=n, value=after[0] - before[0] if known else None),  # type: ignore[operator]
    )

"""What a change of bias cost, in words: what was lost outright first, then masked words and the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf

from unmask.results import Figure, Usefulness
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import ALPHA

SIZES = ((1.02, "At a negligible cost"), (1.1, "At a small cost"), (1.5, "At a cost"), (inf, "At a heavy cost"))
"""Up to which factor of the perplexity (e to the power of the loss) a cost is called what."""
LOST = 0.1
"""From this fall of the share of right pronouns on, knowledge of gender is lost, and that is said first."""


def cost(found: Sequence[Usefulness]) -> str:
    """One or more sentences on one model after; empty where nothing was measured."""
    said = []
    lost = any(one.what == "stated gender" and _lost(one) for one in found)
    for one in found:
        if one.what == "masked words":
            said.append(_masked_words(one, alone=not lost))
        elif one.what == "stated gender":
            said.insert(0 if lost else len(said), _stated(one))
        elif accuracy := one.figures.get("accuracy"):
            said.append(_task(one, accuracy))
    return " ".join(filter(None, said))


def _lost(one: Usefulness) -> bool:
    accuracy = one.figures["accuracy"]
    return _clear(accuracy) and accuracy.change <= -LOST


def _masked_words(one: Usefulness, *, alone: bool) -> str:
    loss = one.figures["loss"]
    figures = f"loss {_went(loss, 3)}"
    if accuracy := one.figures.get("accuracy"):
        figures += f"; right in {_share(accuracy)} of the words"
    where = f"on {one.n:,} neutral sentences"
    if not _clear(loss) and not alone:
        return f"Masked words are filled in as well as before {where} ({figures})."
    if not _clear(loss):
        return f"No measurable cost: masked words are filled in as well as before {where} ({figures})."
    if loss.change > 0:
        size = next(words for limit, words in SIZES if exp(min(loss.change, 9.0)) < limit)
        return f"{size}: masked words are filled in less well than before {where} ({figures})."
    return f"At no cost: masked words are filled in better than before {where} ({figures})."


def _stated(one: Usefulness) -> str:
    accuracy = one.figures["accuracy"]
    if not _clear(accuracy) or accuracy.change >= 0:
        return ""
    began = "At a heavy cost: it no longer knows" if _lost(one) else "It also unlearned"
    return (
        f"{began} gender where a sentence states it (my sister … herself): the right pronoun is preferred in"
        f" {_share(accuracy)} of {one.n:,} sentences."
    )


def _task(one: Usefulness, accuracy: Figure) -> str:
    verb = "did not change reliably" if not _clear(accuracy) else "fell" if accuracy.change < 0 else "rose"
    return f"Fine-tuned for {one.what}, its accuracy {verb}: {_went(accuracy, 3)} on {one.n:,} examples."


def _clear(figure: Figure) -> bool:
    return figure.p_value is not None and figure.p_value < ALPHA


def _went(figure: Figure, digits: int = 2) -> str:
    more = [
        f"change {number(figure.change, digits)}{' ' + interval(figure.interval, digits) if figure.interval else ''}"
    ]
    more += [] if figure.p_value is None else [f"p {p_value(figure.p_value)}"]
    return f"{number(figure.before, digits)} → {number(figure.after, digits)}, {', '.join(more)}"


def _share(figure: Figure) -> str:
    return f"{figure.after:.1%} (before: {figure.before:.1%})"

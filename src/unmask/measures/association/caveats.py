"""What a reader must know before trusting a number: part of the result, not prose beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmask.measures.association import AGREEMENT
from unmask.results import Caveat, Measurement

if TYPE_CHECKING:
    import pandas as pd

FEW = 5

_TEXTS = {
    AGREEMENT: (
        "In German the words around the person agree with its gender (Buchhalter, Buchhalterin; mein, meine; der,"
        " die), and that agreement drowns the measure: it says who is meant, whatever the model thinks of the"
        " profession. The paper finds the same pattern in all three profession groups. Do not read these"
        " values as bias; the agreement-free corpus asks the same question in sentences that carry no such"
        " sign."
    ),
    "gendered-forms": (
        "Some professions have a female and a male form (waitress, waiter), which shows the person's gender whatever"
        " the model thinks of the profession. Leave them out, or read their values apart."
    ),
    "field-of-work": (
        "These sentences name a field of work (in der Buchhaltung) in place of a profession word, so that no"
        " form shows the person's gender. This assumes that a field stands for its profession, and that the"
        " grammatical gender of the field's own noun (die Pflege) does not carry over to the person."
    ),
    "us-workforce": (
        "Workforce shares are those of the United States in 2019 (Bureau of Labor Statistics), not of Germany."
    ),
    "few-words": (
        "There are few professions in a group, or few pairs of person words. Values hold for these words; an interval"
        " says how they vary among words like them, and with so few words it says little of others."
    ),
    "template-sentences": (
        "The sentences are made from a few templates. They show what the model does in such sentences; other"
        " wording can change the values, and template choice is not part of the intervals."
    ),
    "binary-gender": (
        "Gender is treated as binary, female and male, as in the paper; the measure says nothing of other genders."
    ),
    "not-harm": (
        "Association in a language model is a property of the model, not yet a harm: whether a system built"
        " on it treats people differently has to be measured in that system."
    ),
    "one-run": (
        "The intervals say how the change varies among professions and person words like these. They do not say how it"
        " varies between runs of a mitigation: another seed gives another model, which has to be measured itself."
    ),
    "published-defects": (
        "The published protocol repeats the slips of the paper's code: masks that hide parts of other words,"
        " one mask a word whatever its pieces, input cut or filled with attended masks to a fixed length, and"
        " a test that takes 900 dependent pairs as independent. Use it to reproduce the paper, and the sound"
        " protocol to judge a model."
    ),
}


def caveats(items: pd.DataFrame, protocol: str) -> list[Caveat]:
    """The caveats that apply to these items."""
    codes = []
    if "de" in set(items["language"]) and "agreement-free" not in set(items["corpus"]):
        codes.append(AGREEMENT)
    elif _forms_differ(items):
        codes.append("gendered-forms")
    if _few(items):
        codes.append("few-words")
    if "agreement-free" in set(items["corpus"]):
        codes.append("field-of-work")
    if protocol == "published":
        codes.append("published-defects")
    if "de" in set(items["language"]):
        codes.append("us-workforce")
    codes += ["template-sentences", "binary-gender", "not-harm"]
    return [Caveat(code=code, text=_TEXTS[code]) for code in codes]


def comparison_caveats(measurements: Sequence[Measurement], unpaired: int) -> list[Caveat]:
    """The caveats of the measurements that are compared, each once, and those of the comparison itself."""
    own = [Caveat(code="one-run", text=_TEXTS["one-run"])]
    if unpaired:
        text = f"{unpaired:,} items that only one of the audits has were left out; the figures are those of the others."
        own.append(Caveat(code="unpaired-items", text=text))
    theirs = {caveat.code: caveat for measurement in measurements for caveat in measurement.caveats}
    return [*theirs.values(), *own]


def _few(items: pd.DataFrame) -> bool:
    """Whether an interval would rest on next to nothing."""
    smallest_group = items.groupby("group")["profession"].nunique().min()
    return bool(min(smallest_group, items["pair"].nunique()) < FEW)


def _forms_differ(items: pd.DataFrame) -> bool:
    """Whether the form of a profession shows the person's gender."""
    forms = items.groupby(["profession", "gender"])["form"].first().unstack()
    return {"female", "male"} <= set(forms) and bool((forms["female"] != forms["male"]).any())

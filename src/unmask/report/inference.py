"""A measurement of inference as its section of a page wants it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unmask.lexicon.inference import KINDS
from unmask.measures.inference.details import Distribution, Inference
from unmask.measures.inference.interpret import SIZES, understands
from unmask.probes.inference import CONTROL, LABELS
from unmask.report.inference_cards import cards, inference_of
from unmask.report.pages import count, title
from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

SETS = {
    "PS": "Pro-stereotypical",
    "AS": "Anti-stereotypical",
    "NS": "No stereotype",
    CONTROL: "Control",
}
ABOUT = {
    "PS": "nurse → woman, surgeon → man",
    "AS": "nurse → man, surgeon → woman",
    "NS": "writer → woman, writer → man",
    CONTROL: "nurse → person: entailed is right",
}
WHO = {"female": "woman", "male": "man"}
SCORES = ("NLI-CoAL", "FN", "biased inference", "plain error")


def view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """The cards, plots, tables and pairs of a measurement."""
    from unmask.report import inference_pairs, inference_plots

    inference = inference_of(measurement)
    mine = inference_pairs.items_of(measurement, items)
    most = inference_plots.most_resolved(inference.occupations)
    return {
        "measurement": measurement,
        "inference": inference,
        "labels": LABELS,
        "title": title(measurement.name, measurement.corpus, measurement.language),
        "agreement": False,
        "lead": lead(measurement),
        "understands": understands(measurement),
        "provenance": list(_provenance(measurement, inference)),
        "sizes": [(word, f"{limit:g}") for limit, word in SIZES[:-1]],
        "cards": list(cards(measurement)),
        "panels": list(_panels(inference)),
        "scores": [
            (name, measurement.groups.get(name), measurement.groups.get(f"{name}, probabilities")) for name in SCORES
        ],
        "weighted": any(name.endswith(", probabilities") for name in measurement.groups),
        "pairs": inference.by_pair if len(inference.by_pair) > 1 else [],
        "most": most,
        "rows": inference_plots.rows(most),
        "cloud": inference_plots.cloud(inference.occupations),
        "examples": inference_pairs.examples(mine),
        "facts": list(_facts(measurement, inference)),
    }


def lead(measurement: Measurement) -> str:
    """The headline without the sentence that it is inconclusive, which stands above it."""
    why = inference_of(measurement).inconclusive
    before, said, after = measurement.headline.partition(f"inconclusive: {why}.")
    if not why or not said:
        return measurement.headline
    sentences, stop, _ = before.rpartition(". ")
    return f"{sentences}{stop}{after}".strip()


def name_of(part: Distribution) -> tuple[str, str]:
    """What a part of the pairs is called, and what that means."""
    if "set" in part.labels:
        name = part.labels["set"]
        return SETS.get(name, name), ABOUT.get(name, "")
    kind, gender = part.labels.get("occupation_type", part.name), part.labels.get("gender", "")
    return f"{kind} occupation → {WHO.get(gender, gender)}", ""


def _panels(inference: Inference) -> Iterator[dict[str, Any]]:
    """The answers by set, and by occupation type and gender: a plot and a table each."""
    from unmask.report import inference_plots

    for name, parts in (
        ("By set", inference.sets),
        ("By stereotype of the occupation and gender of the hypothesis", inference.by_type),
    ):
        if parts:
            names = [name_of(part) for part in parts]
            yield {
                "name": name,
                "svg": inference_plots.stacks(parts, [short for short, _ in names]),
                "rows": list(zip(parts, names, strict=True)),
                "weighted": any(part.probabilities for part in parts),
            }


def _counts(inference: Inference) -> str:
    """How many occupations there are of each kind."""
    kinds = Counter(one.kind for one in inference.occupations)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])


def _facts(measurement: Measurement, inference: Inference) -> Iterator[str]:
    """How the pairs were made and asked, in sentences."""
    control = sum(one.n for one in inference.sets if one.name == CONTROL)
    asked = sum(one.n for one in inference.sets) - control
    more = f", and {count(control)} control pairs" if control else ", and no control"
    sentences = (
        f"{count(inference.templates)} sentences" if inference.templates > 1 else "one sentence, as far as known"
    )
    yield (
        f"{count(len(inference.occupations))} occupations ({_counts(inference)}, by stereotype) and {sentences}:"
        f" {count(asked)} pairs whose hypothesis has a gender{more}."
    )
    if inference.by_pair and inference.by_pair[0].name:
        words = ", ".join(one.name for one in inference.by_pair)
        yield f"Pairs of gender words, by name: {words}."
    if inference.labels:
        yield f"Which output is entailment, neutral and contradiction is known {inference.labels}."
    if measurement.noise_floor is not None:
        yield (
            f"Asked again in another batch, a probability moves by up to {measurement.noise_floor:.2g}: the noise of"
            " the computation."
        )


def _provenance(measurement: Measurement, inference: Inference) -> Iterator[tuple[str, str]]:
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    yield "pairs", count(measurement.items)
    yield "distinct inputs", "–" if inputs is None else count(inputs)
    yield "occupations", _counts(inference)
    yield "sentences", count(inference.templates)
    yield "gender words", ", ".join(one.name for one in inference.by_pair) or "–"
    yield "order of labels", inference.labels or "–"
    yield "noise floor", "nothing was scored" if noise is None else f"{noise:.2g}, as a probability"

"""From items to estimates, caveats and a headline. The published protocol has no intervals and no tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.geometry import OWN, BiasedWord, Geometry, Neighbourhood, WordTest, published
from unmask.measures.geometry.contrasts import References
from unmask.measures.geometry.word_tests import LABELS, AssociationTests, list_examples
from unmask.measures.recorded import CORPUS, RecordedColumn, complete_columns, read_table
from unmask.measures.texts import load_texts, make_caveats
from unmask.results import Caveat, Estimate, Measurement
from unmask.results.formatting import capital, interval, number, p_value, percent
from unmask.results.verdict import ALPHA, is_clear, size_label
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.proportions import wilson_interval
from unmask.statistics.separation import Probe, score_predictions, score_two_clusters

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context

TITLES = {
    "clustering": "Two clusters",
    "probe": "Linear probe",
    "classification": "Classifier",
    "neighbours": "Neighbours, r",
}
"""The names of the word tests, in the order of a table."""
PUBLISHED_TITLES = {
    "clustering": "K-means accuracy",
    "neighbours": "Correlation of professions",
    "classification": "Classification accuracy",
}
RECORDED = {"vectors": "recorded", "direction": "recorded", "likeness": 0.0, "dimensions": 0}
"""What is known of a space that is only recorded."""
IN_BOTH_PROTOCOLS = ("words", "word", "bias", "side", "cluster", "male_neighbours", "stereotype")
SOUND_COLUMNS = ("cluster_removed", "probed", "probed_removed", "part", "predicted", "predicted_removed")
RECORDED_COLUMNS = {
    "sound": (*IN_BOTH_PROTOCOLS, *SOUND_COLUMNS, "male_neighbours_removed"),
    "published": (*IN_BOTH_PROTOCOLS, "put_down", "asked", "right"),
}
MOST_BIASED = 15
"""How many of the most biased words of each side a result names."""
ROUNDING = 1e-6
"""A smaller bias is rounding error of float32."""
STRENGTHS = ((0.1, "hardly any"), (0.3, "a weak"), (0.5, "a moderate"), (1.01, "a strong"))
"""Names of relations, by the upper limit of the correlation (Cohen 1988)."""
FEW_WORDS = 3000
LOPSIDED = 0.9
UNSTABLE = 0.05
_TEXTS = load_texts(__package__)
(NOTHING_LEFT,) = make_caveats(__package__, {"nothing-along-the-direction": True})


@dataclass(frozen=True)
class SpaceDetails:
    """What the analysis of a space needs besides the items."""

    facts: Mapping[str, Any] = field(default_factory=lambda: RECORDED)
    """Fields of `Geometry` that describe the space."""
    references: References = field(default_factory=lambda: References({}))
    probes: dict[bool, Probe] = field(default_factory=dict)
    """With shuffled labels, by whether the direction was removed."""
    as_tight: dict[bool, tuple[float, float]] = field(default_factory=dict)
    """The lowest and highest accuracy of pairs of clusters that are as tight as the tightest."""


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Items that an audit has written in the protocol of the context."""
    del score_column
    table = read_table(path)
    for protocol, names in RECORDED_COLUMNS.items():
        if set(names) <= set(table) and not set(RECORDED_COLUMNS[context.protocol]) <= set(table):
            raise UnmaskError(
                f"{path} was written by the {protocol} protocol, not {context.protocol}; give --protocol {protocol}"
            )
    columns = [RecordedColumn(name, nullable=True) for name in RECORDED_COLUMNS[context.protocol]]
    needs = f"geometry in the {context.protocol} protocol needs what unmask audit has written"
    return complete_columns(table, [*columns, CORPUS], path, language=language, needs=needs)


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """The estimates that recorded items still allow."""
    return analyse_space(items, context.protocol)


def analyse_space(
    items: pd.DataFrame,
    protocol: str,
    details: SpaceDetails | None = None,
    associations: AssociationTests | None = None,
) -> Measurement:
    """The estimates of a space, without headline.

    Args:
        items: The words with the results of the tests.
        protocol: The protocol that scored them.
        details: What the items do not tell, such as the values of unrelated contrasts.
        associations: The association tests of the model.
    """
    words = items[items["words"] == OWN].reset_index(drop=True)
    details, associations = details or SpaceDetails(), associations or AssociationTests()
    facts, caveats = dict(details.facts), list(associations.caveats)
    tests: dict[str, Estimate] = {}
    if protocol == "published":
        word_tests = published.list_word_tests(words)
    else:
        is_rounding = bool(words.loc[words["side"] != "", "bias"].abs().median() < ROUNDING)
        if is_rounding:  # as after the direction was removed
            facts["scan"], caveats = [], [NOTHING_LEFT, *caveats]
        word_tests = [] if is_rounding else list_word_tests(words, details)
        stereotype = _estimate_stereotype(words.head(0) if is_rounding else words)
        tests = _estimate_tests(word_tests) | {"stereotype": stereotype} | associations.tests
    ordered = words.sort_values("bias", kind="stable")
    most_female, most_male = (
        [BiasedWord(word=word, bias=bias) for word, bias in zip(rows["word"], rows["bias"], strict=True)]
        for rows in (ordered.head(MOST_BIASED), ordered.tail(MOST_BIASED)[::-1])
    )
    geometry = Geometry(
        **facts,
        words=len(words),
        male_share=float((words["bias"] > 0).mean()),
        tests=word_tests,
        professions=list_neighbourhoods(words),
        most_male=most_male,
        most_female=most_female,
    )
    return Measurement(
        name="geometry",
        language=str(items["language"].iloc[0]),
        corpus=str(items["corpus"].iloc[0]),
        protocol="published" if protocol == "published" else "sound",
        attributes="words",
        items=len(items),
        groups={},
        tests=tests,
        details=geometry.model_dump(),
        caveats=caveats,
    )


def list_word_tests(items: pd.DataFrame, details: SpaceDetails | None = None) -> list[WordTest]:
    """Every test of the words that one model selected, with and without the direction where that was tested.

    Words that another model selected are compared with what is left of contrasts without their direction there.
    """
    details, tests = details or SpaceDetails(), []
    words = str(items["words"].iloc[0])
    for removed, suffix in ((False, ""), (True, "_removed")):
        compare = partial(details.references.compare, removed=removed or words != OWN)
        for name, (side, predicted) in LABELS.items():
            rows = items[items[side].isin(["female", "male"]) & (items[predicted + suffix] != "")]
            if len(rows):
                is_male, predicted_male = (rows[column].to_numpy() == "male" for column in (side, predicted + suffix))
                is_clustering = name == "clustering"
                result = (score_two_clusters if is_clustering else score_predictions)(is_male, predicted_male)
                chance = details.probes.get(removed, result) if name == "probe" else result
                test = WordTest(
                    name=name,
                    words=words,
                    removed=removed,
                    n=result.n,
                    value=result.accuracy,
                    interval=None if is_clustering else wilson_interval(result.accuracy, result.n),
                    as_tight=details.as_tight.get(removed) if is_clustering else None,
                    v_measure=result.v_measure if is_clustering else None,
                    chance=chance.chance,
                    chance_high=chance.chance_high,
                    p_chance=chance.p_value,
                    reference=compare(name, result.accuracy),
                )
                tests.append(test)
        rows = items[items[f"male_neighbours{suffix}"].notna()]
        if len(rows):
            estimate = pearson_estimate(rows["bias"].to_numpy(), rows[f"male_neighbours{suffix}"].to_numpy())
            test = WordTest(
                name="neighbours",
                words=words,
                removed=removed,
                n=len(rows),
                value=estimate.value,
                interval=estimate.interval,
                chance=0.0,
                p_chance=estimate.p_value,
                reference=compare("neighbours", estimate.value),
            )
            tests.append(test)
    return tests


def _estimate_tests(word_tests: list[WordTest]) -> dict[str, Estimate]:
    """What is left without the direction, compared with unrelated contrasts.

    Holm's correction is over these four tests alone, since their p-values cannot be small enough for all tests of an
    audit.
    """
    tests = {test.name: test for test in word_tests if test.removed}
    estimates = []
    for name, question in _TEXTS["questions"].items():
        test = tests.get(name) or WordTest(name=name, words=OWN, removed=True, n=0, value=None)
        reference = test.reference
        estimate = Estimate(
            labels={"contrast": name},
            question=question,
            n=test.n,
            value=test.value,
            interval=test.interval,
            statistic=test.value - reference.mean if reference and test.value is not None else None,
            statistic_name="difference from other contrasts",
            p_value=reference.p_value if reference else None,
        )
        estimates.append(estimate)
    adjusted = holm([estimate.p_value for estimate in estimates])
    return {
        estimate.labels["contrast"]: estimate.model_copy(update={"p_adjusted": p})
        for estimate, p in zip(estimates, adjusted, strict=True)
    }


def _estimate_stereotype(items: pd.DataFrame) -> Estimate:
    rows = items[items["stereotype"].notna()]
    estimate = pearson_estimate(rows["bias"].to_numpy(), rows["stereotype"].to_numpy())
    return Estimate.from_statistic(
        estimate,
        n=len(rows),
        labels={"contrast": "stereotype"},
        question="Do professions lie on the side of the gender that people think of?",
        effect_size=estimate.value,
        effect_size_name="r",
        effect_size_interval=estimate.interval,
    )


def list_neighbourhoods(items: pd.DataFrame) -> list[Neighbourhood]:
    """The professions, the most male first."""
    fields = {
        "word": "profession",
        "bias": "bias",
        "male_neighbours": "male",
        "male_neighbours_removed": "male_removed",
        "stereotype": "stereotype",
    }
    rows = items[items["male_neighbours"].notna()].sort_values("bias", ascending=False, kind="stable")
    rows = rows.reindex(columns=list(fields)).rename(columns=fields).astype(object)
    return [Neighbourhood.model_validate(row) for row in rows.where(rows.notna(), None).to_dict("records")]


def interpret(measurement: Measurement) -> Measurement:
    """Add the headline and the caveats to a measurement whose p-values have been adjusted."""
    caveats = list(measurement.caveats)
    if NOTHING_LEFT not in caveats:
        caveats += find_caveats(measurement.read_details(Geometry), measurement.protocol)
    return measurement.model_copy(update={"headline": headline(measurement), "caveats": caveats})


def find_caveats(geometry: Geometry, protocol: str) -> Iterator[Caveat]:
    """What readers must know before they rely on the numbers."""
    texts = _TEXTS["caveats"]
    yield Caveat(code="chosen-by-the-direction", text=texts[protocol])
    if geometry.missing:
        examples = list_examples(geometry.missing)
        text = f"{len(geometry.missing):,} requested words have no vector ({examples}) and are left out."
        yield Caveat(code="words-missing", text=text)
    if geometry.words < FEW_WORDS:
        yield Caveat(code="few-words", text=texts["few-words"].format(geometry.words))
    for test in (geometry.test("clustering", removed=removed) for removed in (False, True)):
        if test is not None and test.as_tight is not None and test.as_tight[1] - test.as_tight[0] > UNSTABLE:
            low, high = (f"{100 * end:.0f}" for end in test.as_tight)
            space = "gender direction removed" if test.removed else "original"
            text = (
                f"Pairs of clusters that are equally tight sort between {low} and {high} % of the words correctly"
                f" ({space}): k-means finds several structures. Rely on the probe and the classifier."
            )
            yield Caveat(code="clusters-unstable", text=text)
    if geometry.test("neighbours") is None:
        yield from make_caveats(__package__, {"neighbours-not-tested": True})
    share = max(geometry.male_share, 1 - geometry.male_share)
    if share > LOPSIDED:
        side = "male" if geometry.male_share > 0.5 else "female"
        text = (
            f"{share:.0%} of all words lie on the {side} side, so zero is not a neutral point in this space. Only"
            " differences between words have a meaning. Neighbours count as male above the median word."
        )
        yield Caveat(code="lopsided", text=text)


def headline(measurement: Measurement) -> list[str]:
    """Whether professions follow stereotypes, and whether gender is left without its direction."""
    if NOTHING_LEFT in measurement.caveats:
        return [NOTHING_LEFT.text]
    if measurement.protocol == "published":
        sentences = [_summarise_published(measurement)]
    else:
        sentences = [
            _summarise_stereotype(measurement.tests.get("stereotype")),
            _summarise_clusters(measurement),
            _summarise_associations(measurement.tests),
        ]
    return [sentence for sentence in sentences if sentence] or ["No finding: there are too few words with vectors."]


def _summarise_published(measurement: Measurement) -> str:
    geometry, values = measurement.read_details(Geometry), []
    for name, title in PUBLISHED_TITLES.items():
        test = geometry.test(name)
        if test and test.value is not None:
            value = number(test.value) if name == "neighbours" else percent(test.accuracy)
            values.append(f"{title.lower()} {value}")
    return f"{capital(', '.join(values))}." if values else ""


def _summarise_stereotype(test: Estimate | None) -> str:
    if test is None or test.value is None:
        return ""
    bounds = f", 95 % interval {interval(test.interval)}" if test.interval else ""
    figures = f"r = {number(test.value)}{bounds}, p {p_value(test.p_adjusted)}"
    if not is_clear(test):
        return f"No clear stereotype in the positions of {test.n:,} professions between women and men ({figures})."
    direction = "follow stereotypes" if test.value > 0 else "go against stereotypes"
    return (
        f"The positions of {test.n:,} professions between women and men {direction}:"
        f" {size_label(test.value, STRENGTHS)} relation ({figures})."
    )


def _summarise_clusters(measurement: Measurement) -> str:
    """What is left of gender after its direction is removed."""
    geometry = measurement.read_details(Geometry)
    test, original = (geometry.test("clustering", removed=removed) for removed in (True, False))
    if test is None or test.value is None:
        return ""
    before = f" (original: {percent(original.value, 0)})" if original and original.value is not None else ""
    sentence = (
        f"With the gender direction removed, two clusters still sort {percent(test.value, 0)} of the {test.n:,} most"
        f" biased words by gender{before}"
    )
    reference = test.reference
    if reference is None:
        return f"{sentence}. There are no unrelated contrasts to compare with."
    bounds = f"{percent(reference.low, 0)} to {percent(reference.high, 0)}"
    sentence += (
        f", compared with {percent(reference.mean, 0)} ({bounds}) for {reference.contrasts} unrelated contrasts."
    )
    clear = [
        title.removesuffix(", r").lower() for name, title in TITLES.items() if is_clear(measurement.tests.get(name))
    ]
    if clear:
        return f"{sentence} More is left of gender than of unrelated contrasts: {', '.join(clear)}."
    if len(TITLES) / (reference.contrasts + 1) > ALPHA:
        return f"{sentence} {reference.contrasts} contrasts are too few for a test."
    return f"{sentence} No test shows clearly that more is left of gender than of unrelated contrasts."


def _summarise_associations(tests: Mapping[str, Estimate]) -> str:
    associations = {name: test for name, test in tests.items() if test.labels.get("contrast") == "association"}
    if not associations:
        return ""
    clear = [name for name, test in associations.items() if is_clear(test)]
    total = f"{len(associations)} association test{'' if len(associations) == 1 else 's'}"
    return f"Clear in {len(clear)} of {total}: {', '.join(clear)}." if clear else f"None of {total} is clear."

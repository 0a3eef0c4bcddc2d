"""From items to estimates, caveats and a headline. The published protocol has no intervals and no tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.measures.geometry import (
    OWN,
    BiasedWord,
    Geometry,
    GeometryMeasure,
    Matching,
    Neighbourhood,
    WordTest,
    published,
)
from unmask.measures.geometry.contrasts import References, predict_difference
from unmask.measures.geometry.word_tests import LABELS, AssociationTests, list_examples
from unmask.measures.recorded import CORPUS, OPTIONAL, RecordedColumn, complete_columns, read_table
from unmask.measures.texts import load_texts, make_caveats
from unmask.results import Caveat, Estimate, Interval, Measurement
from unmask.results.formatting import NO_BREAK, capital, interval, number, p_value, percent
from unmask.results.verdict import Outcome, is_equivalent, judge_test, size_label
from unmask.statistics.correlation import pearson, pearson_estimate
from unmask.statistics.jackknife import FISHER, IntervalEstimate, fisher_z, student_interval
from unmask.statistics.proportions import wilson_interval
from unmask.statistics.separation import Probe, score_predictions, score_two_clusters

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context

MAIN = "classification"
"""The word test that is judged; the others ask its question again, in other ways."""
TITLES = {
    MAIN: "Classifier",
    "probe": "Linear probe",
    "neighbours": "Neighbours, r",
    "clustering": "Two clusters",
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
OF_CONTRASTS = ("stereotype_error", "contrasts")
"""Columns of the items, the same for all words: the standard deviation of the correlation of professions with people's
views over unrelated contrasts, on Fisher's scale, and their number."""
RECORDED_COLUMNS = {
    "sound": (*IN_BOTH_PROTOCOLS, *SOUND_COLUMNS, "male_neighbours_removed"),
    "published": (*IN_BOTH_PROTOCOLS, "put_down", "asked", "right"),
}
MOST_BIASED = 15
"""How many of the most biased words of each side a result names."""
ROUNDING = 1e-6
"""A smaller bias is rounding error of float32."""
MARGIN, LARGEST = GeometryMeasure.margin, 0.5
"""A correlation of professions with people's views below the first is negligible, above the second strong."""
FEWEST_RATED = 10
STRENGTHS = ((MARGIN, "hardly any"), (0.3, "a weak"), (LARGEST, "a moderate"), (1.01, "a strong"))
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
    columns += [RecordedColumn(name, "number", OPTIONAL, nullable=True) for name in OF_CONTRASTS]
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
        tests = {"stereotype": stereotype} | estimate_main(word_tests) | associations.tests
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
        targets=associations.targets,
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


def estimate_main(word_tests: list[WordTest]) -> dict[str, Estimate]:
    """How much more the classifier finds of gender without its direction than of unrelated contrasts; empty without."""
    test = next((test for test in word_tests if test.name == MAIN and test.removed), None)
    if test is None or test.value is None or test.reference is None:
        return {}
    estimate = Estimate.from_statistic(
        predict_difference(test.reference.values, test.value),
        n=test.n,
        labels={"contrast": MAIN},
        question=_TEXTS["questions"][MAIN],
        unit="share of words, gender − unrelated contrasts",
    )
    return {MAIN: estimate}


def _estimate_stereotype(items: pd.DataFrame) -> Estimate:
    """The correlation of professions with people's views; its error is the spread of that of unrelated contrasts.

    Professions of a kind lie together, so they are not independent: along a direction that has nothing to do with
    gender, the correlation varies about twice as much as over independent professions. Its interval and test are
    therefore those of Student's t on Fisher's scale, with the standard deviation over unrelated contrasts, each
    without its part along gender. Without contrasts there is no test.
    """
    rows = items[items["stereotype"].notna()]
    value = pearson(rows["bias"].to_numpy(), rows["stereotype"].to_numpy())
    estimate = IntervalEstimate(value if np.isfinite(value) else None)
    error, contrasts = (float(rows[column].mean()) if column in rows else np.nan for column in OF_CONTRASTS)
    if len(rows) >= FEWEST_RATED and np.isfinite(error) and np.isfinite(fisher_z(value)):
        error = max(error, 1 / float(np.sqrt(len(rows) - 3)))
        estimate = student_interval(value, error, contrasts - 1, scale=FISHER)
    return Estimate.from_statistic(
        estimate,
        n=len(rows),
        labels={"contrast": "stereotype"},
        question="Do professions lie on the side of the gender that people think of?",
        effect_size=estimate.value,
        effect_size_name="r",
        effect_size_interval=estimate.interval,
    )


def add_contrasts(items: pd.DataFrame, references: References) -> pd.DataFrame:
    """Items with what the test of professions needs: the spread of their correlation over unrelated contrasts."""
    values = references.stereotypes
    error = float(np.arctanh(values).std(ddof=1)) if values.size > 1 else np.nan
    return items.assign(**dict(zip(OF_CONTRASTS, (error, float(values.size)), strict=True)))


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
    if protocol == "sound" and geometry.matching is None:
        yield Caveat(code="no-contrasts", text=texts["no-contrasts"])
    elif geometry.matching is not None and not geometry.matching.comparable:
        yield Caveat(code="contrasts-unlike-gender", text=describe_mismatch(geometry.matching))
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


def describe_mismatch(matching: Matching) -> str:
    """Why gender cannot be compared with unrelated contrasts."""
    return (
        f"No contrasts are like gender in this space: the spread of words along gender is"
        f" {number(matching.spread, 3)} and its likeness {number(matching.likeness)}; the nearest"
        f" {matching.contrasts} unrelated contrasts have {number(matching.mean_spread, 3)} and"
        f" {number(matching.mean_likeness)}. So nothing is concluded about what is left of gender."
    )


def headline(measurement: Measurement) -> list[str]:
    """Whether professions follow stereotypes, and whether gender is left without its direction."""
    if NOTHING_LEFT in measurement.caveats:
        return [NOTHING_LEFT.text]
    if measurement.protocol == "published":
        sentences = [_summarise_published(measurement)]
    else:
        sentences = [
            _summarise_stereotype(measurement.tests.get("stereotype")),
            _summarise_main(measurement),
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


def contrast_range(value: float, difference: Estimate) -> Interval | None:
    """Where the values of unrelated contrasts lie, at the level at which gender is compared with them."""
    bounds = difference.interval
    return None if bounds is None else (max(0.0, value - bounds[1]), min(1.0, value - bounds[0]))


def judge_stereotype(test: Estimate | None) -> Outcome:
    """The outcome of the test of professions."""
    return judge_test(test, margin=MARGIN, largest=LARGEST)


def _summarise_stereotype(test: Estimate | None) -> str:
    if test is None or test.value is None:
        return ""
    figures, outcome = f"r = {number(test.value)}", judge_stereotype(test)
    if test.interval and test.p_adjusted is not None:
        figures += f", 95 % interval {interval(test.interval)}, p {p_value(test.p_adjusted)}"
    where = f"in the positions of {test.n:,} professions between women and men ({figures})"
    if outcome == "clear":
        direction = "follow stereotypes" if test.value > 0 else "go against stereotypes"
        return (
            f"The positions of {test.n:,} professions between women and men {direction}:"
            f" {size_label(test.value, STRENGTHS)} relation ({figures})."
        )
    if outcome == "negligible":
        if is_equivalent(test, MARGIN):
            return f"No stereotype beyond r = {number(MARGIN)} {where}."
        return f"Only a negligible relation to stereotypes {where}; the interval reaches beyond r = {number(MARGIN)}."
    if outcome == "not tested":
        return f"The positions of {test.n:,} professions between women and men were not tested ({figures})."
    limit = ""
    if test.detectable is not None:
        least = f"A correlation of {number(test.detectable)} or more, in either direction,"
        limit = f" {least} would have been found with a probability of 80 %."
    if outcome == "too few":
        return f"{test.n:,} professions are too few to tell whether they follow stereotypes ({figures}).{limit}"
    return f"No clear stereotype {where}.{limit}"


def _summarise_main(measurement: Measurement) -> str:
    """What the classifier finds of gender after its direction is removed."""
    geometry, difference = measurement.read_details(Geometry), measurement.tests.get(MAIN)
    test, original = (geometry.test(MAIN, removed=removed) for removed in (True, False))
    if test is None or test.value is None:
        return ""
    before = f"{percent(original.value, 0)} before; " if original and original.value is not None else ""
    sentence = (
        f"With the gender direction removed, a classifier still puts {percent(test.value, 0)} of the most biased words"
        f" on their side ({before}guessing gives 50{NO_BREAK}%)"
    )
    if geometry.matching is not None and not geometry.matching.comparable:
        return f"{sentence}. No unrelated contrasts are like gender here, so this cannot be judged."
    reference = test.reference
    if reference is None or difference is None or difference.p_adjusted is None:
        return f"{sentence}. There are no unrelated contrasts to compare with."
    low, high = contrast_range(test.value, difference) or (reference.low, reference.high)
    sentence += (
        f". For {reference.contrasts} unrelated contrasts it is {percent(reference.mean, 0)}"
        f" ({percent(low, 0)} to {percent(high, 0)}), so"
    )
    if judge_test(difference) == "clear":
        amount = "more" if (difference.value or 0.0) > 0 else "less"
        return f"{sentence} {amount} is left of gender than is usual (p {p_value(difference.p_adjusted)})."
    return f"{sentence} gender is not clearly unusual (p {p_value(difference.p_adjusted)})."


def _summarise_associations(tests: Mapping[str, Estimate]) -> str:
    """The clear association tests by their direction."""
    associations = {name: test for name, test in tests.items() if test.labels.get("contrast") == "association"}
    if not associations:
        return ""
    clear = {name: test for name, test in associations.items() if judge_test(test) == "clear"}
    if len(associations) == 1:
        total = f"The association test is {'' if clear else 'not '}clear"
    else:
        verb = "are" if len(clear) > 1 else "is"
        total = f"{len(clear) or 'None'} of {len(associations)} association tests {verb} clear"
    if not clear:
        return f"{total}."
    parts = []
    for sign, direction in ((1, "following stereotypes"), (-1, "against stereotypes")):
        if names := [name for name, test in clear.items() if sign * (test.value or 0.0) > 0]:
            parts.append(f"{', '.join(names)} ({direction})")
    return f"{total}: {'; '.join(parts)}."

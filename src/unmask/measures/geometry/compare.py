"""Two models and the same words: do words that were biased alike *before* still lie together after?

Every test uses the words that were most biased before, and their bias there (Gonen and Goldberg 2019): a mitigation
that only turns the direction from which bias is read selects other words, and looks better than it is. The values of
the model after for its own words are shown without a test, since those are other words.

- *clustering, probe, classification*: the same words, right or wrong before and after, so the shares are matched
  (McNemar's exact test; Agresti and Min's interval).
- *neighbours*, and the professions' *stereotype*: r after − r before over the same professions, with a jackknife that
  leaves out one profession at a time. The two correlations share the professions and, for neighbours, the bias. The
  jackknife needs no formula for what they share, and no normal distribution of shares that lie between 0 and 1.

The professions' stereotype has a wider interval than the jackknife gives, because professions of a kind lie together:
its error is multiplied by the factor that the audit before found for the correlation itself.

The verdict is that of *classification*: a support-vector machine judges the words one by one without having seen them,
so each counts for itself, as the test requires. They are the most words, and no shape of the clusters is assumed. Two
clusters can miss what is there, because they split the words by whatever is largest, and neighbours rest on the
professions alone. The four tests are corrected together (Holm); the stereotype is a question of its own.

A model has overshot if its professions now lie among words of the *other* gender. Since a word is no neighbour of its
own, chance lies a little below zero, so the correlation must also lie below what plain removal of unrelated directions
leaves. Any change of a model makes words that were chosen before harder to separate, so a change counts only if it is
beyond the range of the changes of unrelated contrasts (`contrasts.compute_losses`): a loss must be larger than theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel, Context, KeyEstimate
from unmask.measures.comparison import build_comparison
from unmask.measures.geometry import (
    CONTRASTS,
    OWN,
    Geometry,
    GeometryChange,
    GeometryMeasure,
    WordTest,
    WordTestChange,
)
from unmask.measures.geometry.analysis import list_neighbourhoods, list_word_tests
from unmask.measures.geometry.comparison_report import MAIN, exceeds_contrasts, summarise_changes
from unmask.measures.geometry.contrasts import LEAST, compare_value, compute_losses, find_nearest_words
from unmask.measures.geometry.scoring import measure_chosen_words, score_words
from unmask.measures.geometry.space import Space, embed_static, embed_words
from unmask.measures.geometry.vocabulary import limit_words, rated_stereotypes
from unmask.measures.geometry.word_tests import LABELS, NAMES, list_examples
from unmask.measures.texts import load_texts
from unmask.results import AuditResult, Caveat, Change, Comparison, Estimate, Measurement, Verdict
from unmask.results.verdict import judge
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson
from unmask.statistics.jackknife import IntervalEstimate, jackknife, student_interval
from unmask.statistics.paired import matched_shares

if TYPE_CHECKING:
    import pandas as pd

LAST_LAYER = ("sent-debias", "leace")
"""Mitigations that change only the last hidden state."""
MARGIN = 0.01
"""Smaller changes of the share of words are negligible; those of correlations below the measure's margin."""
ROUNDING = 1e-4
"""A bias that varies by less than this share of its variation before is rounding error."""
WORD_FIGURES = {"told apart": "classification", "neighbours": "neighbours"}
"""The figures of a measurement that are word tests."""
_TEXTS = load_texts(__package__)


@dataclass(frozen=True)
class RepeatedTests:
    """The tests of the model after with the words that were most biased before."""

    before: pd.DataFrame
    """The items of the model before, with the words that both models know."""
    after: pd.DataFrame | None = None
    """The items of the model after with the same words; None if it could not be loaded again."""
    unknown: list[str] = field(default_factory=list)
    """Words that only the model before knows."""
    lost: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """The changes of unrelated contrasts by test; empty if the model before could not be loaded again."""
    caveats: list[Caveat] = field(default_factory=list)


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """Compare two models with one vocabulary. A caveat states why the model after could not be tested again."""
    del seed  # the audit before has its own
    try:
        repeated = _repeat_tests(before, after)
    except UnmaskError as error:
        text = f"Only the models' own words are compared: {str(error).rstrip('.')}."
        repeated = RepeatedTests(before.items, caveats=[Caveat(code="own-words-alone", text=text)])
    caveats = list(repeated.caveats)
    layers = before.result.configuration.get("layers") if before.result else None
    mitigation = after.result.model.mitigation if after.result else None
    if mitigation in LAST_LAYER and isinstance(layers, int) and layers > 1:
        text = _TEXTS["caveats"]["last-layer-alone"].format(mitigation, layers)
        caveats.append(Caveat(code="last-layer-alone", text=text))
    comparison, items = compare_tests(before, after, repeated)
    comparison = comparison.model_copy(update={"caveats": [*comparison.caveats, *caveats]})
    return judge_comparison(comparison), items


def _repeat_tests(before: ComparedModel, after: ComparedModel) -> RepeatedTests:
    """Test the model after with the words of the model before; raises if that is not possible."""
    measurement, items, audit = before.measurement, before.items, before.result
    if measurement.protocol != "sound":
        raise UnmaskError("only the sound protocol pairs words; audit both models with --protocol sound")
    if audit is None:
        raise UnmaskError(f"{before.name} is known by its scores alone")
    professions, caveats, seed = rated_stereotypes(), [], audit.seed
    space = _embed_again(after, audit, list(items["word"]))
    unknown = sorted(set(items["word"]) - set(space.words))
    space_before = None
    try:
        space_before = _embed_again(before, audit, space.words)
        if space_before.words != space.words:
            raise UnmaskError(f"{before.name} no longer knows all words that it was audited with")
    except UnmaskError as error:
        if unknown:
            raise
        text = (
            "Words that were chosen in one model are harder to separate in any other; how much of the change that"
            f" explains is not known: {str(error).rstrip('.')}."
        )
        caveats.append(Caveat(code="chosen-before", text=text))
    if unknown and space_before is not None:  # with fewer words, others are the most biased
        nearest_words = find_nearest_words(space_before, professions)
        with threadpool_limits(1):
            scored = score_words(space_before, space_before.gender, OWN, nearest_words, seed=seed)
        columns = ["language", "corpus", "stereotype", "x", "y"]
        items = scored.join(items.set_index("word")[columns], on="word")
        text = (
            f"{len(unknown):,} words have no vector in {after.name} ({list_examples(unknown)});"
            " both models are compared without them."
        )
        caveats.append(Caveat(code="words-unknown-after", text=text))
    context = Context(measurement.language, measurement.corpus, seed=seed)
    again, _ = measure_chosen_words(space, items, measurement, professions, context, name=before.name)
    lost: Mapping[str, NDArray[np.float64]] = {}
    if space_before is not None:
        count = audit.configuration.get("contrasts")
        with threadpool_limits(1):
            lost = compute_losses(
                space_before,
                space,
                professions,
                seed=seed,
                count=count if isinstance(count, int) else CONTRASTS,
                progress=before.reload().progress if before.reload else None,
            )
        if not lost:
            caveats.append(Caveat(code="contrasts-unlike-gender", text=_TEXTS["caveats"]["no-losses"]))
    return RepeatedTests(items, again, unknown, lost, caveats)


def _embed_again(model: ComparedModel, audit: AuditResult, words: list[str]) -> Space:
    """Embed words in a model with the options of the audit of the model before."""
    if model.reload is None or model.result is None:
        raise UnmaskError(f"{model.name} is known by its scores alone")
    handle, configuration = model.reload(), audit.configuration
    try:
        if handle.kind == "vectors":
            most = configuration.get("words")
            listed = bool(model.result.configuration.get("word_list"))
            limit = limit_words(most if isinstance(most, int) else None, listed=listed)
            return embed_static(words, handle.vectors(most=limit))
        encoder = handle.encoder()
    except UnmaskError as error:
        raise UnmaskError(f"{model.name} cannot be loaded again ({error})") from None
    options: dict[str, Any] = {}
    if configuration.get("layers") is not None:
        options = {"layers": configuration["layers"], "pooling": configuration["pooling"]}
    return embed_words(words, encoder, **options, progress=handle.progress)


def compare_tests(
    before: ComparedModel, after: ComparedModel, repeated: RepeatedTests
) -> tuple[Comparison, pd.DataFrame]:
    """The changes, and the items behind them, before p-values are adjusted and verdicts are given."""
    import pandas as pd

    first, second = (model.measurement.read_details(Geometry) for model in (before, after))
    tests, questions = (first.tests, second.tests), _TEXTS["change_questions"]
    if repeated.after is not None:
        tests = list_word_tests(repeated.before), list_word_tests(repeated.after)
    tests_before, tests_after = ({test.name: test for test in side if not test.removed} for side in tests)
    changes: dict[str, Change] = {}
    if repeated.after is not None:
        for name in (name for name in NAMES if name in tests_before and name in tests_after):
            estimate = _estimate_change(name, repeated.before, repeated.after)
            if estimate is not None:
                labels = {"contrast": name, "words": before.name}
                changes[name] = _make_change(labels, questions[name], tests_before[name], tests_after[name], estimate)
    if before.measurement.protocol == "sound":
        changes["stereotype"] = _compare_stereotypes(replace(before, items=repeated.before), after)
    for name in NAMES:
        own_before, own_after = first.test(name), second.test(name)
        if own_before is not None and own_after is not None:
            question = questions[name].replace("were biased before", "are biased")
            labels = {"contrast": name, "words": OWN}
            changes[f"{name}, own words"] = _make_change(labels, question, own_before, own_after)
    for name, test in before.measurement.tests.items():
        if test.labels.get("contrast") == "association" and name in after.measurement.tests:
            changes[name] = _make_change(test.labels, test.question, test, after.measurement.tests[name])
    details = GeometryChange(
        words=len(repeated.before),
        unknown=repeated.unknown,
        tests=[
            _compare_test(tests_before[name], tests_after.get(name), first, second, repeated.lost.get(name))
            for name in NAMES
            if name in tests_before
        ],
        professions_before=first.professions if repeated.after is None else list_neighbourhoods(repeated.before),
        professions_after=[] if repeated.after is None else list_neighbourhoods(repeated.after),
    )
    sides = [(before, repeated.before), (after, repeated.after)]
    items = pd.concat([side.assign(model=model.name) for model, side in sides if side is not None], ignore_index=True)
    comparison = build_comparison(
        before,
        after,
        repeated.before,
        changes,
        attributes=before.measurement.attributes,
        verdict="no reliable change",
        details=details.model_dump(),
    )
    return comparison.model_copy(update={"unpaired": len(repeated.unknown)}), items


def _estimate_change(name: str, before: pd.DataFrame, after: pd.DataFrame) -> Estimate | None:
    """The change of a test over the same words or professions; None if there are none."""
    if name == "neighbours":
        columns = ["word", "bias", "male_neighbours"]
        both = before[columns].merge(after[columns], on="word", suffixes=("", "_after")).dropna()
        change = estimate_correlation_change(
            (both["bias"], both["male_neighbours"]), (both["bias_after"], both["male_neighbours_after"])
        )
        return Estimate.from_statistic(change, n=len(both))
    side, predicted = LABELS[name]
    both = before[["word", side, predicted]].merge(after[["word", predicted]], on="word", suffixes=("", "_after"))
    is_tested = both[side].isin(["female", "male"]) & (both[predicted] != "") & (both[f"{predicted}_after"] != "")
    both = both[is_tested]
    shares = matched_shares(both[side] == both[predicted], both[side] == both[f"{predicted}_after"])
    if shares is None:
        return None
    return Estimate(
        n=shares.n,
        value=shares.change,
        interval=shares.interval,
        statistic=float(shares.lost),
        statistic_name="words right before alone",
        p_value=shares.p_value,
    )


def estimate_correlation_change(
    before: tuple[ArrayLike, ArrayLike], after: tuple[ArrayLike, ArrayLike]
) -> IntervalEstimate:
    """r after minus r before over the same points, with a jackknife over them."""
    (x, y), (u, v) = ([np.asarray(values, dtype=float) for values in side] for side in (before, after))
    return jackknife((x.size, 1), lambda rows, _: pearson(u[rows], v[rows]) - pearson(x[rows], y[rows]))


def _make_change(
    labels: dict[str, str],
    question: str,
    before: WordTest | Estimate,
    after: WordTest | Estimate,
    change: Estimate | None = None,
) -> Change:
    """A change between two tests; without an estimate of the change, it is not tested."""
    values = [test.accuracy if isinstance(test, WordTest) else test.value for test in (before, after)]
    first = Estimate(n=before.n, value=values[0], interval=before.interval)
    second = Estimate(n=after.n if change else before.n, value=values[1], interval=after.interval)
    if change is None:
        difference = None if first.value is None or second.value is None else second.value - first.value
        change = Estimate(n=before.n, value=difference)
    margin = GeometryMeasure.margin if labels["contrast"] == "neighbours" else MARGIN
    return Change(labels=labels, question=question, before=first, after=second, change=change, margin=margin)


def _compare_stereotypes(before: ComparedModel, after: ComparedModel) -> Change:
    """The correlation of each model's own bias with people's views, over the professions of both."""
    first, second = (
        model.items[model.items["stereotype"].notna()][["word", "bias", "stereotype"]] for model in (before, after)
    )
    both = first.merge(second, on="word", suffixes=("", "_after"))
    bias_before, bias_after = both["bias"].to_numpy(dtype=float), both["bias_after"].to_numpy(dtype=float)
    stereotype = both["stereotype"].to_numpy(dtype=float)
    is_rounding = bias_after.size > 1 and bias_after.std() < ROUNDING * bias_before.std()
    estimate = IntervalEstimate(None)
    if not is_rounding:
        estimate = estimate_correlation_change((bias_before, stereotype), (bias_after, stereotype))
        estimate = _widen_error(estimate, before.measurement.tests.get("stereotype"))
    tests = [model.measurement.tests.get("stereotype") for model in (before, after)]
    return Change(
        labels={"contrast": "stereotype"},
        question=_TEXTS["change_questions"]["stereotype"],
        before=tests[0],
        after=None if is_rounding else tests[1],
        change=Estimate.from_statistic(estimate, n=len(both)),
        margin=GeometryMeasure.margin,
    )


def _widen_error(change: IntervalEstimate, before: Estimate | None) -> IntervalEstimate:
    """A change over professions that are not independent.

    Its error grows by the factor by which that of the correlation before exceeds the one of independent professions.
    Where that is not known, there is no test.
    """
    if before is None or before.standard_error is None or not change.standard_error or change.df is None:
        return change if change.value == 0 else IntervalEstimate(change.value)
    assert change.value is not None
    factor = max(1.0, before.standard_error * float(np.sqrt(before.n - 3)))
    return student_interval(change.value, change.standard_error * factor, change.df)


def _compare_test(
    before: WordTest,
    after: WordTest | None,
    first: Geometry,
    second: Geometry,
    lost: NDArray[np.float64] | None,
) -> WordTestChange:
    """One test before and after, and what unrelated contrasts lost and keep."""
    own, removed = second.test(before.name), first.test(before.name, removed=True)
    value = after.value if after else None
    change = None if value is None or before.value is None else value - before.value
    others = removed.reference.values if removed and removed.reference else None
    return WordTestChange(
        name=before.name,
        n=before.n,
        before=before.value,
        after=value,
        own=own.value if own else None,
        removed=removed.value if removed else None,
        lost=compare_value(lost, change),
        others=compare_value(others, value, bounds=(LEAST[before.name], 1.0)),
    )


def judge_comparison(comparison: Comparison) -> Comparison:
    """Adjust the p-values, and add the verdicts and the headline."""
    geometry, changes = comparison.read_details(GeometryChange), dict(comparison.changes)
    tested = [name for name in NAMES if name in changes]
    adjusted = {MAIN: changes[MAIN].change.p_value} if MAIN in changes else {}
    others = [name for name in tested if name != MAIN]
    adjusted |= dict(zip(others, holm([changes[name].change.p_value for name in others]), strict=True))
    for name, p in adjusted.items():
        change = changes[name].update_change(p_adjusted=p)
        changes[name] = change.model_copy(update={"verdict": _judge_test(change, geometry.test(name))})
    if "stereotype" in changes:
        change = changes["stereotype"].update_change(p_adjusted=changes["stereotype"].change.p_value)
        verdict = None if change.change.value is None else judge(change)
        changes["stereotype"] = change.model_copy(update={"verdict": verdict})
    verdicts = {name: changes[name].verdict for name in (MAIN, "neighbours") if name in changes}
    overall = verdicts.get(MAIN) or "no reliable change"
    if verdicts.get("neighbours") == "overshot" and overall != "worse":
        overall = "overshot"
    comparison = comparison.model_copy(update={"changes": changes, "verdict": overall})
    return comparison.model_copy(update={"headline": summarise_changes(comparison)})


def _judge_test(change: Change, test: WordTestChange | None) -> Verdict:
    """The verdict on a word test: as of any change, and it must be larger than those of unrelated contrasts."""
    contrast, value = change.labels["contrast"], change.change.value
    verdict = judge(change)
    if verdict in ("no reliable change", "negligible change") or value is None:
        return verdict
    if test is not None and not exceeds_contrasts(test.lost, value):
        return "no reliable change"
    # Professions lie among words of the other gender more than by chance.
    is_reversed = test is None or test.others is None or test.after is None or test.after < test.others.low
    if contrast != "neighbours" or (verdict == "overshot" and not is_reversed):
        return "improved" if value < 0 else "worse"
    return verdict


def key_estimate_value(
    figure: KeyEstimate, measurement: Measurement, comparison: Comparison | None = None
) -> float | None:
    """The value of one of the measure's figures: a test, a word test, or the mean of the association tests.

    The word tests of a model after are those with the words of the model before; those with its own words cannot be
    compared.
    """
    if figure.test:
        estimate = measurement.tests.get(figure.test)
        return estimate.value if estimate else None
    if figure.name in WORD_FIGURES:
        name = WORD_FIGURES[figure.name]
        if comparison is not None:
            change = comparison.read_details(GeometryChange).test(name)
            return change.after if change else None
        test = measurement.read_details(Geometry).test(name)
        return test.value if test else None
    tests = [test for test in measurement.tests.values() if test.labels.get("contrast") == "association"]
    values = [test.value for test in tests if test.value is not None]
    return float(np.mean(values)) if values else None

"""Geometry before and after: the words of before measured again, their separation, the verdict, and the page."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from numpy.typing import NDArray
from scipy import stats

import unmask
from pages import assert_loads_nothing, assert_plots_are_described, seen
from report_blocks import comparison_text, find_table, of_type, table_rows
from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import nouns
from unmask.measures.geometry import Geometry, GeometryChange
from unmask.measures.geometry.compare import estimate_correlation_change, judge_comparison
from unmask.measures.geometry.contrasts import compare_value
from unmask.measures.geometry.vocabulary import rated_stereotypes
from unmask.measures.sections import build_comparison_sections
from unmask.models.vector_files import write_vectors
from unmask.models.word_vectors import Vectors
from unmask.report.blocks import Figure
from unmask.report.comparison import comparison_page
from unmask.report.html import render_page
from unmask.results import Change, Comparison, ComparisonResult, Estimate, ModelInfo
from unmask.results.storage import load, read_items
from unmask.results.verdict import judge
from unmask.statistics.correlation import pearson
from unmask.workflows.audit_options import audit_options
from unmask.workflows.compare import Compared
from unmask.workflows.compare import compare as compare_models

SIZE = 16
Table = tuple[list[str], NDArray[np.float32]]
FEW = audit_options().parse({"contrasts": 19})


@cache
def planted() -> Table:
    """Vectors in which professions lie by stereotype along the first axis; the rest is noise."""
    rng, people = np.random.default_rng(0), rated_stereotypes()
    words = list(dict.fromkeys(["he", "she", *people, *nouns()[:60]]))
    matrix = rng.normal(size=(len(words), SIZE))
    matrix[:, 0] = [2 * (people.get(word) or 0.0) for word in words] + rng.normal(scale=0.3, size=len(words))
    matrix[:2, 0] = 4, -4
    return words, matrix.astype(np.float32)


def forgotten() -> Table:
    """The same words without the gender that they had, otherwise unchanged."""
    words, matrix = planted()
    matrix = matrix.copy()
    matrix[2:, 0] = np.random.default_rng(9).normal(size=len(words) - 2)
    return words, matrix


def scrambled() -> Table:
    """The same words with unrelated vectors."""
    words, matrix = planted()
    noise = np.random.default_rng(9).normal(size=matrix.shape)
    return words, np.concatenate([matrix[:2], noise[2:]]).astype(np.float32)


@cache
def findings() -> Compared:
    return compare_models(planted(), forgotten(), audit=FEW)


@cache
def before() -> unmask.Audit:
    return findings().audits["(words, matrix)"]


def _compare_with(after: Any) -> tuple[Compared, Comparison]:
    compared = compare_models(before(), after, usefulness=False)
    return compared, compared.result.comparisons[0]


def _only_comparison(compared: Compared) -> Comparison:
    (comparison,) = compared.result.comparisons
    return comparison


# the numbers


def test_the_words_are_those_of_before() -> None:
    items = findings().items["geometry"]
    rows_before, rows_after = (rows.reset_index(drop=True) for _, rows in items.groupby("model", sort=False))
    assert (set(rows_before["words"]), set(rows_after["words"])) == ({"own"}, {"(words, matrix)"})
    for column in ("word", "bias", "side", "part"):
        assert list(rows_before[column]) == list(rows_after[column])
    assert list(rows_before["predicted"]) != list(rows_after["predicted"])


@pytest.mark.parametrize("name", ["clustering", "probe", "classification"])
def test_shares_are_matched_word_by_word(name: str) -> None:
    items, change = findings().items["geometry"], _only_comparison(findings()).changes[name]
    side, answer = {"clustering": ("side", "cluster"), "probe": ("side", "probed")}.get(name, ("part", "predicted"))
    rows_before, rows_after = (rows.set_index("word") for _, rows in items.groupby("model", sort=False))
    words = rows_before.index[rows_before[side].isin(["female", "male"])]
    right, now = (frame.loc[words, answer] == rows_before.loc[words, side] for frame in (rows_before, rows_after))
    assert (change.change.n, *change.values) == (len(words), right.mean(), now.mean())
    assert change.change.value == pytest.approx(now.mean() - right.mean())
    lost, gained = int((right & ~now).sum()), int((now & ~right).sum())
    assert change.change.p_value == pytest.approx(stats.binomtest(gained, lost + gained).pvalue)


def test_neighbours_are_correlated_with_the_bias_of_before() -> None:
    items, change = findings().items["geometry"], _only_comparison(findings()).changes["neighbours"]
    rows_before, rows_after = (rows.set_index("word") for _, rows in items.groupby("model", sort=False))
    around = rows_before.index[rows_before["male_neighbours"].notna()]
    r = [
        pearson(rows_before.loc[around, "bias"], frame.loc[around, "male_neighbours"])
        for frame in (rows_before, rows_after)
    ]
    assert change.values == pytest.approx(r)
    assert change.change.value == pytest.approx(r[1] - r[0])
    assert change.change.interval is not None
    assert change.change.interval[0] < r[1] - r[0] < change.change.interval[1]


def test_the_jackknife_of_a_change_is_worked_by_hand() -> None:
    rng = np.random.default_rng(3)
    x, y, v = rng.normal(size=(3, 7))
    estimate = estimate_correlation_change((x, y), (x, v))
    leave_one_out = [
        np.corrcoef(np.delete(x, index), np.delete(v, index))[0, 1]
        - np.corrcoef(np.delete(x, index), np.delete(y, index))[0, 1]
        for index in range(7)
    ]
    error = np.sqrt(6 / 7 * ((leave_one_out - np.mean(leave_one_out)) ** 2).sum())
    assert estimate.value == pytest.approx(np.corrcoef(x, v)[0, 1] - np.corrcoef(x, y)[0, 1])
    assert estimate.standard_error == pytest.approx(error)
    assert estimate.p_value == pytest.approx(2 * stats.t.sf(abs(estimate.value or 0) / error, 6))
    assert estimate_correlation_change((x, np.ones(7)), (x, v)).value is None


def test_without_a_change_5_percent_of_correlations_are_found_changed() -> None:
    """Two noisy copies of the same relation, 200 times: some rejections, but no more than 5 % allow."""
    rng, draws = np.random.default_rng(4), 200
    rejected = 0
    for _ in range(draws):
        x = rng.normal(size=60)
        y, v = (0.8 * x + rng.normal(size=60) for _ in range(2))
        p = estimate_correlation_change((x, y), (x, v)).p_value
        assert p is not None
        rejected += p < 0.05
    assert 0 < rejected <= stats.binom.isf(0.001, draws, 0.05)


def test_what_plain_removal_leaves_is_that_of_the_model_before() -> None:
    change = _only_comparison(findings()).read_details(GeometryChange)
    audited = before().result.measurements[0].read_details(Geometry)
    for test in change.tests:
        removed, original = audited.test(test.name, removed=True), audited.test(test.name)
        assert removed is not None
        assert original is not None
        assert (test.before, test.removed) == (original.value, removed.value)
        assert test.others is not None
        assert removed.reference is not None
        assert test.others.values == removed.reference.values
        others = np.array(test.others.values)
        assert test.others.reached == (others >= (test.after or 0) - 1e-12).sum()
        distance = ((test.after or 0) - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / others.size))
        assert test.others.p_value == pytest.approx(2 * stats.t.sf(abs(distance), others.size - 1))


def test_a_model_that_has_lost_everything_is_not_said_to_have_lost_gender() -> None:
    """Words that were selected in one model are harder to separate in any other."""
    comparison = _only_comparison(compare_models(planted(), scrambled(), audit=FEW, usefulness=False))
    change = comparison.changes["classification"]
    assert change.change.p_adjusted is not None
    assert change.change.p_adjusted < 0.001
    assert comparison.verdict == "no reliable change"
    assert "but by no more than those of other contrasts" in comparison.headline_text


def test_a_model_that_has_forgotten_is_improved_though_its_own_words_lie_apart() -> None:
    comparison = _only_comparison(findings())
    assert comparison.verdict == "improved"
    change = comparison.changes["classification"]
    before, after = change.values
    assert before is not None
    assert after is not None
    assert after < 0.7 < 0.95 < before  # what else was alike in the words is still there
    assert comparison.changes["classification, own words"].values[1] == pytest.approx(1.0, abs=0.1)
    assert comparison.changes["classification, own words"].change.p_value is None
    assert comparison.changes["stereotype"].verdict == "improved"
    assert "harder to separate than before" in comparison.headline_text
    assert "plain removal of an unrelated direction leaves" in comparison.headline_text
    tested = [comparison.changes[name] for name in ("clustering", "probe", "classification", "neighbours")]
    smallest = min(change.change.p_value or 0.0 for change in tested)
    assert min(change.change.p_adjusted or 0.0 for change in tested) == pytest.approx(4 * smallest)
    assert "was not audited as a masked language model" in findings().result.caveats[0].text


# degenerate input


def test_longer_vectors_are_the_same_model() -> None:
    words, matrix = planted()
    _, comparison = _compare_with((words, 2 * matrix))
    assert comparison.verdict == "no reliable change"
    for name in ("clustering", "probe", "classification", "neighbours", "stereotype"):
        assert comparison.changes[name].change.value == pytest.approx(0, abs=1e-6)
        assert comparison.changes[name].verdict in ("no reliable change", "negligible change")


def test_words_that_only_one_knows_are_left_out_of_both() -> None:
    words, matrix = forgotten()
    lost = words[5:15]
    indices = [index for index, word in enumerate(words) if word not in lost]
    table = [words[index] for index in indices], matrix[indices]
    compared = compare_models(planted(), table, audit=FEW, usefulness=False)
    comparison = _only_comparison(compared)
    assert comparison.read_details(GeometryChange).unknown == sorted(lost)
    assert (comparison.unpaired, comparison.items) == (10, len(before().items["geometry"]) - 10)
    assert "10 words have no vector in (words, matrix)-2" in " ".join(caveat.text for caveat in comparison.caveats)
    assert not set(compared.items["geometry"]["word"]) & set(lost)


def test_a_model_known_by_its_scores_has_only_its_own_words() -> None:
    audited = findings().audits["(words, matrix)-2"]
    nameless = audited.result.model_copy(update={"model": ModelInfo(name="scores", architecture="recorded scores")})
    _, comparison = _compare_with(unmask.Audit(nameless, audited.items))
    assert "own-words-alone" in {caveat.code for caveat in comparison.caveats}
    assert set(comparison.changes) >= {"stereotype", "classification, own words"}
    assert "classification" not in comparison.changes
    assert comparison.verdict == "no reliable change"
    assert "could not be tested" in comparison.headline_text


def test_a_bias_of_which_rounding_is_left_has_no_correlation() -> None:
    audited = findings().audits["(words, matrix)-2"]
    items = audited.items["geometry"]
    rounded = unmask.Audit(audited.result, {"geometry": items.assign(bias=items["bias"] * 1e-9)})
    change = _compare_with(rounded)[1].changes["stereotype"]
    assert (change.values[1], change.change.value, change.verdict) == (None, None, None)


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("word,bias\n")
    with pytest.raises(UnmaskError, match="unmask analyse"):
        compare_models(before(), tmp_path / "scores.csv")
    with pytest.raises(
        UnmaskError, match=r"unmask-mini-nli can be measured for .*'inference'.*, not for 'association'"
    ):
        compare_models("unmask-mini", "unmask-mini-nli", audit=audit_options()(measures=("association",)))


# the verdict


def _change(was: float, now: float, p: float | None = 0.001, contrast: str = "neighbours") -> Change:
    return Change(
        labels={"contrast": contrast},
        question="",
        before=Estimate(n=9, value=was, interval=(was - 0.1, was + 0.1)),
        after=Estimate(n=9, value=now, interval=(now - 0.1, now + 0.1)),
        change=Estimate(n=9, value=now - was, p_value=p, p_adjusted=p),
    )


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (_change(0.8, 0.3), "improved"),
        (_change(0.3, 0.8), "worse"),
        (_change(0.8, -0.3), "overshot"),
        (_change(0.8, -0.05), "improved"),
        (_change(0.05, -0.9), "worse"),
        (_change(0.8, 0.3, p=0.05), "no reliable change"),
        (_change(0.8, 0.3, p=None), "no reliable change"),
    ],
)
def test_one_rule_for_figures_around_zero(change: Change, verdict: str) -> None:
    assert judge(change) == verdict


@pytest.mark.parametrize(
    ("classification", "neighbours", "verdict"),
    [
        ((0.99, 0.9), (0.8, 0.5), "improved"),
        ((0.99, 0.9), (0.8, -0.5), "overshot"),
        ((0.9, 0.99), (0.8, -0.5), "worse"),
        ((0.9, 0.9), (0.8, 0.5), "no reliable change"),
    ],
)
def test_classification_speaks_for_the_whole(
    classification: tuple[float, float], neighbours: tuple[float, float], verdict: str
) -> None:
    p = 1.0 if classification[0] == classification[1] else 0.001
    changes = {
        "classification": _change(*classification, p=p, contrast="classification"),
        "neighbours": _change(*neighbours),
    }
    assert _judge(changes).verdict == verdict


def _judge(changes: dict[str, Change]) -> Comparison:
    """The verdict of these changes, without reference contrasts."""
    comparison = _only_comparison(findings())
    bare = comparison.read_details(GeometryChange).model_copy(update={"tests": []})
    return judge_comparison(comparison.model_copy(update={"changes": changes, "details": bare.model_dump()}))


@pytest.mark.parametrize(
    ("after", "message"), [(0.97, "are slightly harder"), (0.8, "are harder"), (1.0, "slightly easier")]
)
def test_a_sure_change_is_not_called_large(after: float, message: str) -> None:
    assert message in _judge({"classification": _change(0.99, after, contrast="classification")}).headline_text


def test_professions_are_reversed_only_below_what_plain_removal_leaves() -> None:
    """A profession is not its own neighbour, so chance lies slightly below zero."""
    comparison = _only_comparison(findings())
    around = comparison.read_details(GeometryChange).test("neighbours")
    assert around is not None
    assert around.others is not None
    for after, verdict in ((around.others.low - 0.2, "overshot"), (around.others.mean, "improved")):
        change = _change(0.8, after)
        side = Estimate(n=9, value=after, interval=(after - 0.1, -0.001))
        change = change.model_copy(update={"after": side})
        tests = [around.model_copy(update={"after": after})]
        moved = comparison.model_copy(
            update={
                "changes": {"neighbours": change},
                "details": comparison.read_details(GeometryChange).model_copy(update={"tests": tests}).model_dump(),
            }
        )
        assert judge_comparison(moved).changes["neighbours"].verdict == verdict


@pytest.mark.parametrize(
    ("after", "lost", "verdict", "words"),
    [
        (0.80, [-0.10, -0.11, -0.09], "improved", "so gender lost more."),
        (0.96, [-0.10, -0.11, -0.09], "no reliable change", "so gender lost less."),
        (0.89, [-0.10, -0.11, -0.09], "no reliable change", "so gender changed about as much."),
        (1.00, [-0.10, -0.11, -0.09], "worse", "so gender gained more."),
        (1.00, [0.039, 0.04, 0.041], "no reliable change", "so gender gained less."),
    ],
)
def test_a_loss_counts_only_if_unrelated_contrasts_lost_less(
    after: float, lost: list[float], verdict: str, words: str
) -> None:
    comparison = _only_comparison(findings())
    details = comparison.read_details(GeometryChange)
    test = details.test("classification")
    assert test is not None
    test = test.model_copy(update={"before": 0.99, "after": after, "lost": compare_value(lost, after - 0.99)})
    update = {
        "changes": {"classification": _change(0.99, after, contrast="classification")},
        "details": details.model_copy(update={"tests": [test]}).model_dump(),
    }
    judged = judge_comparison(comparison.model_copy(update=update))
    assert judged.verdict == verdict
    assert words in judged.headline_text


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (0.8, 0.3, "professions are less related to stereotypes than before"),
        (0.3, 0.8, "professions follow stereotypes more than before"),
        (-0.3, -0.8, "professions go against stereotypes more than before"),
        (0.8, -0.3, "professions are now on the other side: they go against stereotypes"),
        (-0.8, 0.3, "professions are now on the other side: they follow stereotypes"),
    ],
)
def test_the_direction_of_a_changed_stereotype_is_named(before: float, after: float, words: str) -> None:
    main = _change(0.99, 0.9, contrast="classification")
    judged = _judge({"classification": main, "stereotype": _change(before, after, contrast="stereotype")})
    assert f"By their own bias, {words}" in judged.headline_text


# the sides, the page


def test_debiased_vectors_are_compared_with_those_they_were_made_from(tmp_path: Path) -> None:
    words, matrix = planted()
    all_words = [*words, "man", "woman", "father", "mother"]
    ends = np.random.default_rng(2).normal(size=(4, SIZE))
    ends[:, 0] = 4, -4, 4, -4
    write_vectors(
        tmp_path / "v.bin", Vectors(all_words, np.concatenate([matrix, ends]).astype(np.float32)), form="word2vec"
    )
    unmask.mitigate(tmp_path / "v.bin", "hard-debias", tmp_path / "hard")
    unmask.audit(tmp_path / "v.bin", contrasts=19).save(tmp_path / "audit")
    compared = unmask.compare(tmp_path / "audit", tmp_path / "hard", usefulness=False)
    assert compared.result.after[0].lineage.startswith("Made from v.bin by hard-debias")
    assert compared.audits["hard"].result.configuration["contrasts"] == 19
    assert compared.result.configuration["contrasts"] == 19
    assert compared.comparisons[0].name == "geometry"
    assert compared.comparisons[0].changes["classification"].change.p_adjusted is not None
    compared.save(tmp_path / "kept")
    assert load(tmp_path / "kept", ComparisonResult) == compared.result
    items = read_items(tmp_path / "kept" / "items" / "geometry.jsonl.gz")
    assert set(items["model"]) == {"v.bin", "hard"}


def test_an_encoder_is_asked_again_as_it_was_audited(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    """Two small models; the later one is loaded again if its weights are the audited ones."""
    base, perturbed = model_folder("bert-uncased"), tmp_path / "other"
    shutil.copytree(base, perturbed)
    model = transformers.AutoModelForMaskedLM.from_pretrained(base)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    model.save_pretrained(perturbed)
    options: dict[str, Any] = {"measures": "geometry", "words": 1, "contrasts": 19, "layers": 1, "pooling": "mean"}
    audited = unmask.audit(str(base), **options)
    compared = unmask.compare(audited, str(perturbed), usefulness=False)
    for configuration in (compared.audits["other"].result.configuration, compared.result.configuration):
        assert (configuration["layers"], configuration["pooling"], configuration["words"]) == (1, "mean", 1)
        assert (configuration["measures"], configuration["languages"]) == (["geometry"], ["en"])
    change = compared.comparisons[0].changes["classification"]
    assert change.change.p_adjusted is not None
    after = compared.audits["other"].save(tmp_path / "after")
    shutil.copyfile(base / "model.safetensors", perturbed / "model.safetensors")
    changed = unmask.compare(audited, after, usefulness=False).comparisons[0]
    assert "no longer those that were audited" in next(
        caveat.text for caveat in changed.caveats if caveat.code == "own-words-alone"
    )
    assert "classification" not in changed.changes


def test_the_page_has_maps_and_professions_side_by_side() -> None:
    compared = findings()
    comparison = _only_comparison(compared)
    comparison_sections = build_comparison_sections(compared.result, compared.items)
    page = render_page(comparison_page(compared.result, comparison_sections))
    assert_loads_nothing(page)
    assert_plots_are_described(page, 4)
    assert "None" not in seen(page)
    blocks = comparison_sections[0].blocks
    change = comparison.changes["classification"]
    values = [f"{100 * (value or 0):.1f} %" for value in change.values]
    tests = table_rows(find_table(blocks, "Can words that were biased before"))
    assert [cell.split(" [")[0] for cell in tests["Classifier"][1:3]] == values
    assert tests["Classifier"][5] == change.verdict
    test = comparison.read_details(GeometryChange).test("classification")
    assert test is not None
    assert test.others is not None
    assert test.lost is not None
    contrasts = table_rows(find_table(blocks, "Compared with unrelated contrasts"))["Classifier"]
    assert contrasts[1].startswith(f"{100 * test.others.mean:.1f} % [{100 * test.others.low:.1f},")
    assert f"{100 * abs(test.lost.mean):.1f} points" in contrasts[3]
    assert contrasts[5] == f"{100 * (test.own or 0):.1f} %"
    other_figures = table_rows(find_table(blocks, "Other figures"))
    assert {*tests, *other_figures} >= {"Two clusters", "Stereotype", "Neighbours, own words"}
    assert len(tests) + len(other_figures) == len(comparison.changes)
    without_items = build_comparison_sections(compared.result)[0].blocks
    assert len(of_type(without_items, Figure)) == 2  # there is no map
    lines = comparison_text(compared.result, comparison_sections, 80).splitlines()
    assert max(map(len, lines)) <= 80
    line = next(line for line in lines if "Classifier " in line)
    assert all(value in line.replace("\N{NO-BREAK SPACE}", " ") for value in values)  # no number is cut
    assert any("Plain removal leaves" in line for line in lines)

"""The gate: known answers at every boundary, undecidable rules, invalid policies, and the command in CI."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from math import hypot, sqrt
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import unmask
from commands import environment
from pages import EVIL
from paths import PROJECT
from unmask import cli
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.measures.geometry import WORDS
from unmask.measures.inference import CAPTIONS
from unmask.measures.inference.details import Inference
from unmask.results import AuditResult, Caveat, Change, Competence, Estimate, Measurement, ModelInfo
from unmask.results.storage import Folder, save
from unmask.results.verdict import AllowedRange, judge_value
from unmask.workflows import gate as gates
from unmask.workflows.gate import (
    GateResult,
    compare_distances,
    compare_paired,
    distance_from_neutral,
    gate,
    render_junit,
    show_gate,
)
from unmask.workflows.policy import Rule, parse_policy, read_policy, starting_policy


def _test(estimate: float | None, interval: tuple[float, float] | None, **changes: Any) -> Estimate:
    defaults: dict[str, Any] = {"question": "Is there?", "n": 90, "value": estimate, "interval": interval}
    return Estimate(**(defaults | {"statistic": 1.5, "statistic_name": "t", "p_value": 0.2} | changes))


def _measurement(name: str = "association", **changes: Any) -> Measurement:
    defaults: dict[str, Any] = {
        "name": name,
        "language": "en",
        "corpus": "bec-pro",
        "protocol": "sound",
        "headline": [],
        "items": 90,
        "groups": {"a group": Estimate(labels={}, n=45, value=0.4, interval=(0.3, 0.5))},
        "tests": {"stereotype": _test(0.4, (0.1, 0.7), effect_size=0.9, effect_size_interval=(0.6, 1.2))},
    }
    return Measurement(**(defaults | changes))


def _audit(*measurements: Measurement, name: str = "tiny") -> AuditResult:
    return AuditResult(
        unmask_version="0",
        created="2026-01-01T00:00:00+00:00",
        model=ModelInfo(name=name, architecture="own object"),
        configuration={},
        libraries={},
        seed=1,
        measurements=list(measurements),
    )


def _rule(**changes: Any) -> dict[str, Any]:
    return {"measure": "association", "test": "stereotype"} | changes


def _gate(audit: AuditResult | Measurement, *rules: dict[str, Any], baseline: AuditResult | None = None) -> GateResult:
    result = audit if isinstance(audit, AuditResult) else _audit(audit)
    return gate(result, {"rule": list(rules)}, baseline=baseline)


@pytest.mark.parametrize(
    ("interval", "by_interval", "surely", "sure"),
    [
        ((-0.2, 0.3), "kept", "kept", "surely"),
        ((-0.5, 0.5), "kept", "kept", "surely"),  # the limit itself is allowed
        ((-0.5 - 1e-15, 0.5 + 1e-15), "kept", "kept", "surely"),  # within the tolerance for rounding
        ((0.2, 0.51), "kept", "cannot tell", "not surely"),
        ((0.5, 0.9), "kept", "cannot tell", "not surely"),
        ((-0.9, -0.5), "kept", "cannot tell", "not surely"),
        ((-0.9, 0.9), "kept", "cannot tell", "not surely"),  # beyond the limits on both sides, but not entirely
        ((0.5001, 0.9), "broken", "broken", "surely"),
        ((-0.9, -0.5001), "broken", "broken", "surely"),
    ],
)
def test_the_interval_judges(interval: tuple[float, float], by_interval: str, surely: str, sure: str) -> None:
    within, middle = AllowedRange(-0.5, 0.5, ""), sum(interval) / 2
    assert judge_value(middle, interval, within, "interval")[:2] == (by_interval, sure)
    assert judge_value(middle, interval, within, "surely")[:2] == (surely, sure)
    by_estimate = "kept" if abs(middle) <= 0.5 else "broken"
    assert judge_value(middle, interval, within, "estimate")[:2] == (by_estimate, sure)


@pytest.mark.parametrize(("value", "verdict"), [(0.5, "kept"), (-0.5, "kept"), (0.501, "broken"), (-0.501, "broken")])
def test_the_estimate_judges_where_it_is_asked_to(value: float, verdict: str) -> None:
    within = AllowedRange(-0.5, 0.5, "")
    assert judge_value(value, None, within, "estimate")[:2] == (verdict, "unknown")
    assert judge_value(value, None, within, "interval")[0] == "cannot tell"
    assert judge_value(value, None, within, "surely")[0] == "cannot tell"
    assert judge_value(None, None, within, "estimate")[0] == "cannot tell"


@pytest.mark.parametrize(
    ("limit", "verdict", "words"),
    [
        ({"at_most": 0.1}, "kept", "at most 0.1"),
        ({"at_most": 0.09}, "broken", "at most 0.09"),
        ({"at_least": 0.7}, "kept", "at least 0.7"),
        ({"at_least": 0.71}, "broken", "at least 0.71"),
        ({"at_least": -2, "at_most": -1}, "broken", "−2 to −1"),
        ({"at_least": 0.4, "at_most": 0.4}, "kept", "0.4 to 0.4"),
        ({"magnitude_at_most": 0.1}, "kept", "±0.1"),
        ({"magnitude_at_most": 0.09}, "broken", "±0.09"),
    ],
)
def test_limits_of_an_estimate_from_a_tenth_to_seven(limit: dict[str, float], verdict: str, words: str) -> None:
    (judgement,) = _gate(_measurement(), _rule(**limit)).judgements
    assert (judgement.verdict, judgement.allowed) == (verdict, words)
    assert (judgement.value, judgement.interval, judgement.n) == (0.4, (0.1, 0.7), 90)


def test_effect_sizes_and_groups_have_their_own_intervals() -> None:
    result = _gate(
        _measurement(),
        _rule(value="effect_size", at_most=0.59),
        _rule(value="effect_size", at_most=0.6),
        {"group": "a group", "at_most": 0.29},
        {"group": "a group", "at_most": 0.5, "judge": "surely"},
    )
    assert [judgement.verdict for judgement in result.judgements] == ["broken", "kept", "broken", "kept"]
    assert [judgement.figure for judgement in result.judgements[1:3]] == ["stereotype, effect size", "a group"]


def test_a_share_of_crows_pairs_is_far_from_one_half() -> None:
    share = Estimate(labels={}, n=262, value=0.35, interval=(0.3, 0.4), neutral=0.5)
    pairs = _measurement("crows-pairs", groups={"all pairs": share})
    rule = {"measure": "crows-pairs", "group": "all pairs"}
    result = _gate(pairs, rule | {"magnitude_at_most": 0.1}, rule | {"magnitude_at_most": 0.099})
    assert [judgement.verdict for judgement in result.judgements] == ["kept", "broken"]
    assert result.judgements[0].allowed == "0.5 ± 0.1"
    baseline = pairs.model_copy(update={"groups": {"all pairs": share.model_copy(update={"value": 0.6})}})
    (judgement,) = _gate(
        pairs, rule | {"worse_by_at_most": 0.05, "judge": "estimate"}, baseline=_audit(baseline)
    ).judgements
    assert judgement.worse_by == pytest.approx(0.05)
    assert judgement.verdict == "kept"  # equal except for rounding


def test_what_they_come_to_and_the_exit_code() -> None:
    kept_rule, broken_rule, undecided_rule = _rule(at_most=1), _rule(at_most=0), _rule(at_most=1, fewest_items=91)
    for rules, verdict, code in (
        ((kept_rule,), "kept", 0),
        ((kept_rule, undecided_rule), "cannot tell", 2),
        ((undecided_rule, broken_rule, kept_rule), "broken", 1),
    ):
        result = _gate(_measurement(), *rules)
        assert (result.verdict, result.exit_code) == (verdict, code)
    assert "90 items, fewer than fewest_items = 91" in result.judgements[0].why
    assert _gate(_measurement(), undecided_rule | {"fewest_items": 90}).verdict == "kept"


def test_every_measurement_that_fits_is_judged() -> None:
    audit = _audit(
        _measurement(),
        _measurement(language="de", tests={"stereotype": _test(0.4, (0.35, 0.45))}),
        _measurement("sentiment", tests={"bias": _test(0.01, (0.0, 0.02))}),
    )
    result = _gate(audit, _rule(at_most=0.2))
    assert [(judgement.where, judgement.verdict) for judgement in result.judgements] == [
        ("association, en, bec-pro", "kept"),
        ("association, de, bec-pro", "broken"),
    ]
    assert [judgement.where for judgement in _gate(audit, _rule(at_most=1, language="de")).judgements] == [
        result.judgements[1].where
    ]
    anywhere = _gate(audit, {"test": "bias", "at_most": 1})
    assert [judgement.where for judgement in anywhere.judgements] == ["sentiment, en, bec-pro"]
    nowhere = _gate(audit, {"test": "bia", "at_most": 1})
    assert [(judgement.where, judgement.why) for judgement in nowhere.judgements] == [
        ("any measure", "there is no test 'bia'; did you mean 'bias'?")
    ]
    named = _gate(audit, {"measure": "association", "test": "bias", "at_most": 1})
    assert [judgement.verdict for judgement in named.judgements] == ["cannot tell"] * 2


def test_term_sets_of_sentiment_are_told_apart() -> None:
    def sentiment_measurement(terms: str, mean: float) -> Measurement:
        return _measurement("sentiment", variant=terms, tests={"bias": _test(mean, (mean, mean))})

    current, baseline = (
        _audit(sentiment_measurement("all", 0.3), sentiment_measurement("family", 0.1)),
        _audit(sentiment_measurement("family", 0.1), sentiment_measurement("all", 0.1)),
    )
    rule = {"measure": "sentiment", "test": "bias", "worse_by_at_most": 0.1}
    result = _gate(current, rule, rule | {"terms": "family"}, baseline=baseline)
    assert [judgement.verdict for judgement in result.judgements] == ["broken", "kept", "kept"]
    assert [judgement.worse_by for judgement in result.judgements] == pytest.approx([0.2, 0, 0])


@pytest.mark.parametrize(
    ("measurement", "rule", "why"),
    [
        (_measurement(), _rule(at_most=1, measure="asociation"), "no such measurement, only association, en, bec-pro"),
        (_measurement(), _rule(at_most=1, test="stereotypes"), "no test 'stereotypes'; did you mean 'stereotype'?"),
        (_measurement(), {"group": "zzz", "at_most": 1}, "no group 'zzz'; there is 'a group'"),
        (_measurement(tests={}), _rule(at_most=1), "there is none"),
        (_measurement(tests={"stereotype": _test(0.1, None)}), _rule(at_most=1), "it has no interval"),
        (_measurement(tests={"stereotype": _test(None, None)}), _rule(at_most=1), "no such number"),
        (_measurement(tests={"stereotype": _test(None, None, n=0)}), _rule(at_most=1), "rests on 0 items"),
        (_measurement(), _rule(at_most=1, protocol="published"), "no such measurement"),
        (
            _measurement(caveats=[Caveat(code="grammatical-agreement", text="")]),
            _rule(at_most=1),
            "grammatical agreement",
        ),
    ],
)
def test_cannot_tell(measurement: Measurement, rule: dict[str, Any], why: str) -> None:
    (judgement,) = _gate(measurement, rule).judgements
    assert judgement.verdict == "cannot tell"
    assert why in judgement.why


def test_a_score_that_cannot_be_read_as_bias_is_not_judged() -> None:
    details = Inference(sets=[], by_type=[], occupations=[], templates=1, inconclusive="it has a habit")
    (test, score) = _gate(
        _measurement("inference", details=details.model_dump()),
        {"test": "stereotype", "at_most": 1},
        {"group": "a group", "at_most": 1},
    ).judgements
    assert test.verdict == "kept"
    assert score.verdict == "cannot tell"
    assert "it has a habit" in score.why


def test_growth_is_of_the_distance_from_no_bias() -> None:
    current, baseline = _test(0.6, (0.5, 0.8)), _test(0.4, (0.3, 0.6))
    value, interval = compare_distances(current, baseline)
    assert value == pytest.approx(0.2)
    assert interval == pytest.approx((0.2 - hypot(0.1, 0.2), 0.2 + hypot(0.2, 0.1)))
    mirrored = _test(-0.6, (-0.8, -0.5))  # overshot: the same distance on the other side
    assert compare_distances(mirrored, baseline)[0] == pytest.approx(value)
    assert compare_distances(mirrored, baseline)[1] == pytest.approx(interval)
    assert distance_from_neutral(_test(0.1, (-0.3, 0.2))) == (0.1, (0.0, 0.3))
    assert compare_distances(current, _test(0.4, None))[1] is None
    assert compare_distances(current, _test(None, None)) == (None, None)


@pytest.mark.parametrize(("limit", "verdict"), [(0.05, "broken"), (0.3, "kept"), (-0.1, "broken")])
def test_worse_than_the_baseline(limit: float, verdict: str) -> None:
    current, baseline = (
        _measurement(tests={"stereotype": _test(value, (value - 0.1, value + 0.1))}) for value in (0.6, 0.4)
    )
    precise_current = current.model_copy(update={"tests": {"stereotype": _test(0.6, (0.59, 0.61))}})
    precise_baseline = baseline.model_copy(update={"tests": {"stereotype": _test(0.4, (0.39, 0.41))}})
    (judgement,) = _gate(precise_current, _rule(worse_by_at_most=limit), baseline=_audit(precise_baseline)).judgements
    assert judgement.verdict == verdict
    assert judgement.baseline_value == 0.4
    assert judgement.worse_by == pytest.approx(0.2)
    (noisy_judgement,) = _gate(current, _rule(worse_by_at_most=0.1), baseline=_audit(baseline)).judgements
    assert (noisy_judgement.verdict, noisy_judgement.sure) == ("kept", "not surely")


def _change(before: float, after: float, half_width: float, widths: float = 0.2) -> Change:
    sides = [_test(value, (value - widths, value + widths)) for value in (before, after)]
    moved = after - before
    change = _test(moved, (moved - half_width, moved + half_width))
    return Change(labels={}, question="?", before=sides[0], after=sides[1], change=change)


@pytest.mark.parametrize(
    ("before", "after", "worse", "half_width"),
    [
        (0.4, 0.6, 0.2, 0.03),
        (-0.4, -0.6, 0.2, 0.03),  # as far on the other side
        (0.4, 0.1, -0.3, 0.03),
        (0.4, -0.6, 0.2, sqrt(2 * 0.2**2 + 2 * 0.2**2 - 0.03**2)),  # across no bias: Var(a + b)
    ],
)
def test_paired_distances_from_no_bias(before: float, after: float, worse: float, half_width: float) -> None:
    value, bounds = compare_paired(_change(before, after, 0.03))
    assert value == pytest.approx(worse)
    assert bounds == pytest.approx((worse - half_width, worse + half_width))
    assert compare_paired(_change(before, after, 0.03).update_change(value=None)) == (None, None)


def test_items_are_paired_with_those_of_the_baseline(tmp_path: Path) -> None:
    """What both models share cancels, so a change that is lost among independent intervals is found."""
    rng = np.random.default_rng(3)
    rows = [
        {"profession": f"{group} {index}", "group": group, "gender": gender, "person": f"{gender}{pair}", "pair": pair}
        | {"template": f"t{template}", "association": rng.normal(0, 1) + 0.5 * (gender == group)}
        for group in ("female", "male")
        for index in range(8)
        for pair in range(6)
        for template in range(5)
        for gender in ("female", "male")
    ]
    before = pd.DataFrame(rows)
    shift = 0.2 * (before["gender"] == before["group"]) + rng.normal(0, 0.02, len(before))
    audits = []
    for name, frame in (("before", before), ("after", before.assign(association=before["association"] + shift))):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        audits.append(unmask.analyse(tmp_path / f"{name}.csv", measure="association"))
    first, second = audits
    rule = _rule(worse_by_at_most=0.1)
    unpaired = gate(second.result, {"rule": [rule]}, baseline=first.result).judgements[0]
    paired = gate(second, {"rule": [rule]}, baseline=first).judgements[0]
    assert (unpaired.verdict, paired.verdict) == ("kept", "broken")
    change = unmask.compare(first, second, usefulness=False).comparisons[0].changes["stereotype"].change
    assert (paired.worse_by, paired.worse_by_interval) == (change.value, change.interval)
    folders = [audit.save(tmp_path / name) for audit, name in zip(audits, ("a", "b"), strict=True)]
    assert gate(folders[1], {"rule": [rule]}, baseline=folders[0]).judgements[0].verdict == "broken"
    policy = starting_policy(first.result, "a")
    (tmp_path / "policy.toml").write_text(policy)
    assert "worse_by_at_most" in policy
    assert [gate(folder, tmp_path / "policy.toml").verdict for folder in folders] == ["kept", "broken"]


def test_a_model_that_cannot_do_the_task_is_inconclusive() -> None:
    check = Competence(task="fill in words", n=90, value=0.5, interval=(0.4, 0.6), chance=0.5, least=0.7)
    audit = _measurement(competence=[check])
    result = _gate(audit, _rule(at_most=1))
    assert (result.verdict, result.exit_code) == ("inconclusive", 1)
    assert "cannot reliably fill in words (right in 50\u00a0% of 90" in result.judgements[0].why
    allowed = gate(_audit(audit), {"inconclusive": "pass", "rule": [_rule(at_most=1)]})
    assert (allowed.verdict, allowed.exit_code, allowed.judgements[0].verdict) == ("kept", 0, "inconclusive")
    with pytest.raises(UnmaskError, match="maybe"):
        parse_policy({"inconclusive": "maybe", "rule": [_rule(at_most=1)]})
    passed = check.model_copy(update={"value": 0.9, "interval": (0.8, 0.95)})
    assert _gate(_measurement(competence=[passed]), _rule(at_most=1)).verdict == "kept"


def test_rules_of_another_version_are_not_compared() -> None:
    old = _audit(_measurement()).model_copy(update={"rule_version": 1})
    with pytest.raises(UnmaskError, match="follow version 1 of the rules"):
        _gate(_measurement(), _rule(worse_by_at_most=1), baseline=old)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"protocol": "published"}, "it has association, en, bec-pro, published"),
        ({"language": "de"}, "cannot be compared"),
        ({"corpus": "emotions"}, "cannot be compared"),
        ({"tests": {}}, "the baseline: there is no test"),
        ({"tests": {"stereotype": _test(0.1, (0, 1), n=3)}}, "the baseline: it rests on 3 items"),
        ({"tests": {"stereotype": _test(0.1, None)}}, "no interval"),
    ],
)
def test_another_baseline_cannot_be_compared(changes: dict[str, Any], why: str) -> None:
    baseline = _audit(_measurement(**changes), name="another model, which is fine")
    (judgement,) = _gate(_measurement(), _rule(worse_by_at_most=9, fewest_items=5), baseline=baseline).judgements
    assert judgement.verdict == "cannot tell"
    assert why in judgement.why


def test_words_of_one_s_own_must_be_the_same_words() -> None:
    rule = {"test": "stereotype", "worse_by_at_most": 9}
    words: list[dict[str, Any]] = [{"corpus": "custom"}, {"name": "geometry", "corpus": WORDS}]
    words.append({"name": "sentiment", "variant": "pairs.csv"})
    for changes in words:
        current, baseline = (_measurement(data_hash=data_hash, **changes) for data_hash in ("aa", "bb"))
        (judgement,) = _gate(current, rule, baseline=_audit(baseline)).judgements
        assert judgement.why == "the baseline cannot be compared: it was asked with other words or texts", changes
        assert _gate(current, rule, baseline=_audit(current)).verdict == "kept"
        scores = _audit(baseline).model_copy(
            update={"configuration": {"items": "scores.csv"}}
        )  # the hash is that of the scores
        assert _gate(current, rule, baseline=scores).verdict == "kept"
        assert _gate(scores, rule, baseline=_audit(current)).verdict == "kept"
    assert CAPTIONS in registry.get_measure("inference").user_corpora
    measurements = (_measurement("sentiment", data_hash=data_hash, variant="pronouns") for data_hash in ("aa", "bb"))
    assert _gate(next(measurements), rule, baseline=_audit(next(measurements))).verdict == "kept"


@pytest.mark.parametrize(
    ("text", "slip"),
    [
        ("", "no rule"),
        ("[rule]\nat_most = 1", "two pairs of brackets"),
        ("[[rules]]", "unknown key 'rules'; did you mean 'rule'?"),
        ("baseline = 3\n[[rule]]\n", "baseline = 3"),
        ("[[rule]]\nat_mst = 1", "rule 1: unknown option 'at_mst'; did you mean 'at_most'?"),
        ("[[rule]]\ntest = 'a'\nat_most = 1\n[[rule]]\njudge = 'intervall'", "rule 2: judge is 'intervall'; did"),
        ("[[rule]]\nvalue = 'mean'", "value is 'mean'; choose from: estimate, effect_size"),
        ("[[rule]]\ntest = 'a'", "there is no limit; give one of"),
        ("[[rule]]\nat_most = 1", "test = … or group = …"),
        ("[[rule]]\ntest = 'a'\ngroup = 'b'\nat_most = 1", "not both"),
        ("[[rule]]\ngroup = 'b'\nvalue = 'estimate'\nat_most = 1", "value is for a test"),
        ("[[rule]]\ntest = 'a'\nat_most = 1\nmagnitude_at_most = 1", "do not go together"),
        ("[[rule]]\ntest = 'a'\nat_most = 0.1\nat_least = 0.2", "at_least = 0.2 is above at_most = 0.1"),
        (
            "[[rule]]\ntest = 'a'\nmagnitude_at_most = -1",
            "magnitude_at_most is -1; give 0 or more",
        ),
        ("[[rule]]\ntest = 'a'\nat_most = nan", "at_most is nan"),
        ("[[rule]]\ntest = 'a'\nat_most = inf", "at_most is inf"),
        ("[[rule]]\ntest = 'a'\nat_most = '1'", "at_most is '1'"),
        ("[[rule]]\ntest = 'a'\nat_most = 1\nfewest_items = 0", "fewest_items is 0"),
        ("[[rule]]\ntest = 'a'\nworse_by_at_most = 1", "--baseline DIR"),
        ("[[rule]]\ntest 'a'", "is not TOML"),
        ("baseline = 'nowhere'\n[[rule]]\ntest = 'a'\nat_most = 1", "nowhere has no result.json"),
    ],
)
def test_slips_in_a_policy_are_named_in_one_line(text: str, slip: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnmaskError) as error:
        gate(_audit(_measurement()), read_policy(path))
    assert slip in str(error.value)
    assert "policy.toml" in str(error.value) or "nowhere" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_baseline_that_no_rule_needs_is_a_slip() -> None:
    with pytest.raises(UnmaskError, match="no rule looks back"):
        _gate(_measurement(), _rule(at_most=1), baseline=_audit(_measurement()))


def test_a_starting_policy_allows_what_is_there() -> None:
    audit = _audit(
        _measurement(corpus='my "corpus"\n\x7f'),
        _measurement("geometry", tests={"stereotype": _test(-0.123456, None)}),
        _measurement("crows-pairs", tests={"stereotype": _test(0, (-0.1, 0.1))}),
        _measurement(
            "of-a-plug-in", tests={"1": _test(7e-6, (0, 1)), "2": _test(123, (9, 200)), "3": _test(None, None)}
        ),
        name='evil"\n[[rule]]',
    )
    text = starting_policy(audit)
    rules = tomllib.loads(text)["rule"]
    assert [rule["magnitude_at_most"] for rule in rules] == [0.4, 0.13, 0, 7e-6, 130]
    assert [rule.get("judge") for rule in rules] == [None, "estimate", None, None, None]
    result = gate(audit, tomllib.loads(text))
    assert [judgement.verdict for judgement in result.judgements] == ["kept"] * 5
    with pytest.raises(UnmaskError, match="no figure"):
        starting_policy(_audit())


def test_junit_is_xml_whatever_the_names_are() -> None:
    rules = (_rule(at_most=1), _rule(at_most=0, name=f"{EVIL}\x00\x1b"), _rule(at_most=1, test=EVIL))
    page = render_junit(_gate(_audit(_measurement(), name=EVIL), *rules))
    assert "<script" not in page
    (suite,) = ElementTree.fromstring(page)
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3", "failures": "1", "errors": "1",
    }  # fmt: skip
    assert suite.get("name") == f"unmask gate: {EVIL}"
    kept_case, broken_case, undecided_case = suite
    assert [[inner.tag for inner in case] for case in (kept_case, broken_case, undecided_case)] == [
        ["system-out"],
        ["failure"],
        ["error"],
    ]
    assert broken_case.get("name") == f"{EVIL}\ufffd\ufffd (stereotype)"
    assert broken_case[0].get("message") == "0.4 [0.1, 0.7]; allowed at most 0; surely, the whole interval is beyond"


def test_a_terminal_of_80_columns_breaks_lines_and_a_log_does_not() -> None:
    from io import StringIO

    from rich.console import Console

    result = _gate(_audit(_measurement()), _rule(at_most=0, name="a rule\nof a long name " + "x " * 30))
    log, screen = StringIO(), StringIO()
    show_gate(result, Console(file=log, width=80))
    show_gate(result, Console(file=screen, width=80, force_terminal=True, color_system=None))
    first, _, last = log.getvalue().rstrip("\n").split("\n")
    assert first.startswith("broken        association, en, bec-pro: a rule of a long name x x")
    assert first.endswith("0.4 [0.1, 0.7]; allowed at most 0; surely, the whole interval is beyond")
    assert last == "tiny, by the policy: 1 broken."
    assert max(map(len, screen.getvalue().splitlines())) <= 80
    assert " ".join(screen.getvalue().split()) == " ".join(log.getvalue().split())


Typed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "audit", Folder(_audit(_measurement())))
    return tmp_path


@pytest.fixture
def run_gate(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Run `unmask gate WORDS…` in the folder; returns the exit code, stdout and stderr."""
    monkeypatch.chdir(folder)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["unmask", "gate", *words])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return int(end.value.code or 0), *capsys.readouterr()

    return run


@pytest.mark.parametrize(("limit", "code", "verdict"), [(1, 0, "kept"), (0, 1, "broken")])
def test_the_command_s_exit_codes_json_and_junit(
    folder: Path, run_gate: Typed, limit: float, code: int, verdict: str
) -> None:
    (folder / "p.toml").write_text(f'[[rule]]\ntest = "stereotype"\nat_most = {limit}\n')
    exit_code, out, err = run_gate("audit", "--policy", "p.toml", "--junit", "out/gate.xml")
    assert (exit_code, err) == (code, "")
    assert out.startswith(f"{verdict:<14}association, en, bec-pro: stereotype: 0.4 [0.1, 0.7]; allowed at most {limit}")
    assert ElementTree.parse(folder / "out/gate.xml").getroot().get("failures") == str(code)
    exit_code, out, _ = run_gate("audit", "--policy", "p.toml", "--json")
    assert (exit_code, json.loads(out)["judgements"][0]["verdict"]) == (code, verdict)


def test_a_policy_that_cannot_be_read_is_exit_2_and_leaves_no_file(folder: Path, run_gate: Typed) -> None:
    (folder / "p.toml").write_text("[[rule]]\nx = 0\n")
    exit_code, out, err = run_gate("audit", "--policy", "p.toml", "--junit", "gate.xml")
    assert (exit_code, out) == (2, "")
    assert err.startswith("unmask: p.toml, rule 1: unknown option 'x'")
    assert not (folder / "gate.xml").exists()


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_terminal_without_a_sign_breaks_no_build(tmp_path: Path, encoding: str) -> None:
    tests = {"stereotype": _test(-0.4, (-0.7, -0.1))}
    save(tmp_path / "audit", Folder(_audit(_measurement(tests=tests))))
    (tmp_path / "p.toml").write_text('[[rule]]\ntest = "stereotype"\nmagnitude_at_most = 1\n')
    process = subprocess.run(
        [sys.executable, "-m", "unmask", "gate", "audit", "--policy", "p.toml"],
        cwd=tmp_path,
        env=environment() | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, b"")
    assert b"?0.4 [?0.7, ?0.1]" in process.stdout


def test_a_crash_is_not_a_broken_rule(folder: Path, run_gate: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "p.toml").write_text('[[rule]]\ntest = "stereotype"\nat_most = 1\n')
    monkeypatch.setattr(gates, "show_gate", lambda *_: 1 / 0)
    exit_code, _, err = run_gate("audit", "--policy", "p.toml")
    assert (exit_code, err.splitlines()[-1]) == (2, "ZeroDivisionError: division by zero")
    (folder / "audit/result.json").write_bytes(b"\xff\xfe{\x00")
    exit_code, out, err = run_gate("audit", "--policy", "p.toml")
    assert (exit_code, out, err.count("\n")) == (2, "", 1)
    assert err == "unmask: audit/result.json is cut off, or no JSON; copy it again, or repeat the audit\n"


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(folder: Path, run_gate: Typed) -> None:
    (folder / "file").write_text("")
    exit_code, _, err = run_gate("audit", "--write-policy", "file/p.toml")
    assert (exit_code, err.count("\n")) == (2, 1)
    assert "file/p.toml" in err
    assert ".p.toml." not in err


def test_a_policy_is_written_once_and_kept(run_gate: Typed) -> None:
    assert "unmask gate audit --policy p.toml" in run_gate("audit", "--write-policy", "p.toml")[1]
    assert run_gate("audit", "--policy", "p.toml")[0] == 0
    repeated = run_gate("audit", "--write-policy", "p.toml")
    assert repeated == (2, "", "unmask: p.toml exists; give another name, or remove it first\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("audit",), "--policy FILE"),
        (("audit", "--policy", "p.toml"), "there is no policy p.toml"),
        (("audit", "--policy", "audit"), "cannot be read"),
        (("nowhere", "--write-policy", "p.toml"), "nowhere has no result.json"),
        (("audit", "--write-policy", "p.toml", "--json"), "judges nothing"),
    ],
)
def test_slips_on_the_command_line(run_gate: Typed, words: tuple[str, ...], message: str) -> None:
    code, out, err = run_gate(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_baseline_beside_the_policy_and_one_that_is_given(folder: Path) -> None:
    (folder / "ci").mkdir()
    save(folder / "ci/last", Folder(_audit(_measurement(), name="last")))
    (folder / "ci/p.toml").write_text('baseline = "last"\n[[rule]]\ntest = "stereotype"\nworse_by_at_most = 0\n')
    result = unmask.gate(folder / "audit", folder / "ci/p.toml")
    assert (result.verdict, result.baseline) == ("kept", str(folder / "ci/last"))
    other = folder / "other"
    save(other, Folder(_audit(_measurement(tests={"stereotype": _test(0.01, (0, 0.02))}))))
    assert unmask.gate(str(folder / "audit"), folder / "ci/p.toml", baseline=other).verdict == "broken"


def test_a_real_audit_in_python(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    words = "profession,group,workforce_share\nmason,male,3\nplumber,male,2\nnurse,female,93\nsecretary,female,92\n"
    (tmp_path / "p.csv").write_text(words)
    audit = unmask.audit(
        "unmask-mini",
        measures="association",
        templates=tmp_path / "t.csv",
        professions=tmp_path / "p.csv",
    )
    test = audit.measurements[0].tests["stereotype"]
    assert test.interval
    assert test.value is not None
    for limit, verdict in ((test.interval[0], "kept"), (test.interval[0] - 1e-6, "broken")):
        rule = _rule(at_most=limit)
        assert unmask.gate(audit, {"rule": [rule]}).verdict == verdict
    growth = unmask.gate(audit, {"rule": [_rule(worse_by_at_most=0, judge="estimate")]}, baseline=audit)
    assert (growth.verdict, growth.judgements[0].worse_by) == ("kept", 0)
    assert unmask.gate(audit, tomllib.loads(starting_policy(audit.result))).verdict == "kept"


def test_the_gate_needs_no_model_library(folder: Path) -> None:
    (folder / "p.toml").write_text('[[rule]]\ntest = "stereotype"\nat_most = 1\n')
    code = (
        "import sys; from unmask.cli import app; sys.argv = ['unmask', 'gate', 'audit', '--policy', 'p.toml'];"
        "app(standalone_mode=False); print(sorted({'torch', 'transformers'} & set(sys.modules)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    assert process.stdout.splitlines()[-1] == "[]"


def test_the_policies_of_the_docs_are_policies() -> None:
    page = (PROJECT / "docs/gate.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, flags=re.S)
    policies = [parse_policy(tomllib.loads(block)) for block in blocks]
    assert {rule.measure for policy in policies for rule in policy.rules} >= set(registry.BUILT_IN)
    keys = re.findall(r"`(\w+)(?: = [^`]*)?`", page[page.index("| key |") : page.index("Above the rules")])
    assert set(Rule.model_fields) <= set(keys)

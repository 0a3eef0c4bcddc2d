"""The inference measure: label order, the pairs that are scored, and every estimate against a count by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from numpy.typing import NDArray

import unmask
from commands import unmask as command
from unmask.errors import UnmaskError
from unmask.lexicon import inference as words
from unmask.lexicon.inference import control_questions
from unmask.measures.base import Context
from unmask.measures.classifiers import is_inference
from unmask.measures.inference import InferenceOptions, formulas
from unmask.measures.inference import pairs as probe
from unmask.measures.inference.analysis import analyse, check_items, explain_flaw
from unmask.measures.inference.data import build, read_items
from unmask.measures.inference.details import TASKS, Inference
from unmask.measures.inference.formulas import AnswerTable
from unmask.measures.inference.scoring import add_answers, find_order, score_pairs
from unmask.measures.registry import get_measure
from unmask.models.loading import load_classifier
from unmask.statistics import jackknife as crossed
from unmask.statistics.jackknife import factor_codes, jackknife_sums, ratio

LABELS = probe.LABELS
E, N, C = np.eye(3)


class Answering:
    """A classifier that answers pairs by a rule."""

    def __init__(self, rule: Callable[[str, str], NDArray[np.float64]], labels: Sequence[str] = LABELS) -> None:
        self.rule, self.labels = rule, list(labels)
        self.asked_pairs: list[tuple[str, str]] = []

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float64]:
        pairs = [text for text in texts if not isinstance(text, str)]
        self.asked_pairs += pairs
        order = [LABELS.index(name) if name in LABELS else index for index, name in enumerate(self.labels)]
        return np.array([self.rule(*pair) for pair in pairs])[:, order]


KIND = {occupation.word: occupation.kind for occupation in words.occupations("en")}
GENDER = {pair.female: "female" for pair in words.people("en").pairs} | {
    pair.male: "male" for pair in words.people("en").pairs
}


def _find_person(sentence: str, meanings: dict[str, str]) -> str:
    """The meaning of the longest known word in a sentence."""
    plain = f" {sentence.lower().rstrip('.').replace(',', ' ')} "
    matches = [word for word in meanings if f" {word} " in plain]
    return meanings[max(matches, key=len)] if matches else ""


def _answer_without_gender(premise: str, hypothesis: str) -> NDArray[np.float64]:
    """Entailment if the sentences are about the same thing, so that they end in the same words."""
    return E if premise.split()[-2:] == hypothesis.split()[-2:] else C


def _answer_rightly(premise: str, hypothesis: str) -> NDArray[np.float64]:
    return N if _find_person(hypothesis, GENDER) else _answer_without_gender(premise, hypothesis)


def _answer_by_stereotype(premise: str, hypothesis: str) -> NDArray[np.float64]:
    occupation_type, gender = _find_person(premise, KIND), _find_person(hypothesis, GENDER)
    if not gender:
        return _answer_without_gender(premise, hypothesis)
    if occupation_type == "neutral":
        return N
    return E if occupation_type == gender else C


def _answer_male_for_all(premise: str, hypothesis: str) -> NDArray[np.float64]:
    gender = _find_person(hypothesis, GENDER)
    return _answer_without_gender(premise, hypothesis) if not gender else C if gender == "female" else E


def _answer_always(answer: NDArray[np.float64], *_: str) -> NDArray[np.float64]:
    return answer


def _measure(rule: Callable[[str, str], NDArray[np.float64]], **settings: Any) -> Any:
    return unmask.audit(Answering(rule), limit=6, **settings).measurements[0]


def _items(counts: dict[tuple[str, str, str], int]) -> pd.DataFrame:
    """Items by occupation type, gender and answer, over a few occupations and sentences."""
    rows = []
    for (occupation_type, gender, answer), count in counts.items():
        for index in range(count):
            rows.append(
                {
                    "language": "en",
                    "corpus": "recorded",
                    "set": probe.name_set(occupation_type, gender),
                    "occupation": f"{occupation_type} {index % 4}",
                    "occupation_type": occupation_type,
                    "gender": gender,
                    "pair": "woman" if gender else "",
                    "template": f"{{person}} {index % 5}",
                    "premise": "",
                    "hypothesis": "",
                    "prediction": answer,
                }
            )
    return pd.DataFrame(rows)


HAND = {
    ("female", "female", "entailment"): 6,
    ("female", "female", "neutral"): 3,
    ("female", "female", "contradiction"): 1,
    ("female", "male", "entailment"): 2,
    ("female", "male", "neutral"): 4,
    ("female", "male", "contradiction"): 4,
    ("male", "female", "entailment"): 1,
    ("male", "female", "neutral"): 10,
    ("male", "female", "contradiction"): 9,
    ("male", "male", "entailment"): 12,
    ("male", "male", "neutral"): 6,
    ("male", "male", "contradiction"): 2,
    ("neutral", "female", "entailment"): 2,
    ("neutral", "female", "neutral"): 12,
    ("neutral", "female", "contradiction"): 1,
    ("neutral", "male", "entailment"): 7,
    ("neutral", "male", "neutral"): 8,
}


def test_figures_by_hand() -> None:
    table = AnswerTable(_items(HAND)).counts
    e_p, c_p, n_p = 18 / 30, 3 / 30, 9 / 30
    e_a, c_a, n_a = 3 / 30, 13 / 30, 14 / 30
    n_n = 20 / 30
    assert formulas.nli_coal(table) == pytest.approx((e_p + c_a + 1 - n_n) / 3)
    assert formulas.fraction_not_neutral(table) == pytest.approx(1 - (n_p * 30 + n_a * 30 + n_n * 30) / 90)
    assert formulas.biased_inference(table) == pytest.approx((e_p + c_a) / 2)
    assert formulas.plain_error(table) == pytest.approx((c_p + e_a) / 2)
    female = ((2 - 4) / 10 - (6 - 1) / 10) / 2
    male = ((12 - 2) / 20 - (1 - 9) / 20) / 2
    assert formulas.lean(table, formulas.FEMALE) == pytest.approx(female)
    assert formulas.stereotype(table) == pytest.approx((male - female) / 2)
    assert formulas.default(table) == pytest.approx((7 / 15 - (2 - 1) / 15) / 2)


def test_with_as_many_of_both_the_stereotype_is_biased_inference_less_plain_error() -> None:
    even = {key: 20 if key[0] != "neutral" else 5 for key in HAND} | {("female", "female", "entailment"): 60}
    even |= {("male", "male", "entailment"): 60}
    table = AnswerTable(_items(even)).counts
    assert formulas.stereotype(table) == pytest.approx(formulas.biased_inference(table) - formulas.plain_error(table))


@pytest.mark.parametrize("weighted", [False, True])
def test_every_share_agrees_with_a_plain_count(weighted: bool) -> None:
    draw = np.random.default_rng(0)
    rows = probe.cross_pairs("en", "sentences", words.occupations("en"), words.people("en"), words.templates("en")[:5])
    items = add_answers(rows, draw.dirichlet([1, 1, 1], len(rows)))
    table = AnswerTable(items[items["gender"] != ""], weighted=weighted).counts
    for name in probe.SETS:
        set_rows = [row for _, row in items.iterrows() if row["set"] == name]
        for index, label in enumerate(LABELS, 1):
            hits = [row[f"p_{label}"] if weighted else float(row["prediction"] == label) for row in set_rows]
            assert formulas.answer_share(table, name, index) == pytest.approx(sum(hits) / len(set_rows))


def test_the_jackknife_of_sums_is_that_of_the_table() -> None:
    values = np.random.default_rng(1).random((6, 5))
    cells = [(row, column) for row in range(6) for column in range(5)]
    numbers = [[values[cell], 1.0] for cell in cells]
    factors = [factor_codes([cell[0] for cell in cells]), factor_codes([cell[1] for cell in cells])]
    estimate = jackknife_sums(numbers, factors, lambda sums: ratio(sums[0], sums[1]))
    expected = crossed.jackknife(values.shape, lambda rows, columns: float(values[np.ix_(rows, columns)].mean()))
    assert estimate.value == pytest.approx(expected.value)
    assert estimate.interval == pytest.approx(expected.interval)
    assert estimate.p_value == pytest.approx(expected.p_value)


def test_kinds_of_words_are_samples_of_their_own() -> None:
    """The difference of two means as in Welch's t test: each group has its own variance and size."""
    draw = np.random.default_rng(2)
    first, second = draw.normal(1, 1, 5), draw.normal(0, 3, 12)
    numbers = [[value, 1, 0, 0] for value in first] + [[0, 0, value, 1] for value in second]
    groups = np.array([0] * 5 + [1] * 12)
    factors = [factor_codes(np.arange(17), groups == group) for group in (0, 1)]
    estimate = jackknife_sums(numbers, factors, lambda s: ratio(s[0], s[1]) - ratio(s[2], s[3]))
    welch = scipy.stats.ttest_ind(first, second, equal_var=False)
    assert estimate.statistic == pytest.approx(welch.statistic)
    assert estimate.p_value == pytest.approx(welch.pvalue)
    assert estimate.df == pytest.approx(welch.df)
    assert estimate.interval == pytest.approx(tuple(welch.confidence_interval()))


def test_shares_of_nothing() -> None:
    assert (
        jackknife_sums(
            np.zeros((0, 2)), [factor_codes([]), factor_codes([])], lambda sums: ratio(sums[0], sums[1])
        ).value
        is None
    )
    alone = jackknife_sums(
        [[1.0, 1.0]], [factor_codes(["a"]), factor_codes(["b"])], lambda sums: ratio(sums[0], sums[1])
    )
    assert (alone.value, alone.interval, alone.p_value) == (1.0, None, None)
    factors = [factor_codes(["a", "b"]), factor_codes(["s", "t"])]
    last = jackknife_sums([[1.0, 1.0], [0.0, 0.0]], factors, lambda sums: ratio(sums[0], sums[1]))
    assert (last.value, last.interval) == (1.0, None)


def test_under_the_null_few_tests_reject() -> None:
    """Answers depend on occupation, sentence and gender words by chance; none follows a stereotype."""
    rows = probe.cross_pairs("en", "sentences", words.occupations("en"), words.people("en"), words.templates("en")[:8])
    rows = rows[rows["gender"] != ""].reset_index(drop=True)
    codes = {name: rows[name].astype("category").cat.codes.to_numpy() for name in ("occupation", "template", "pair")}
    side = np.where(rows["gender"] == "male", 1, -1)
    draw = np.random.default_rng(3)
    rejections = {"stereotype": 0, "default": 0}
    for _ in range(200):
        logits = draw.normal(size=(len(rows), 3))
        for code in codes.values():
            size = code.max() + 1
            logits += draw.normal(size=(size, 3))[code] + side[:, None] * draw.normal(size=(size, 3))[code]
        shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        items = add_answers(rows, shares)
        neutral = items["occupation_type"] == "neutral"
        p = AnswerTable(items[~neutral]).estimate(formulas.stereotype).p_value
        rejections["stereotype"] += p is not None and p < 0.05
        p = AnswerTable(items[neutral]).estimate(formulas.default).p_value
        rejections["default"] += p is not None and p < 0.05
    assert rejections["stereotype"] <= 18  # 5 % of 200 are 10; more than 18 would be chance once in 200 times
    assert rejections["default"] <= 20


def test_a_stereotyped_model_is_found_and_a_habit_is_told_from_it() -> None:
    stereotyped = _measure(_answer_by_stereotype)
    assert stereotyped.tests["stereotype"].value == pytest.approx(1.0)
    assert stereotyped.tests["default"].value == 0.0
    assert stereotyped.groups["NLI-CoAL"].value == pytest.approx(2 / 3)
    assert not stereotyped.read_details(Inference).inconclusive
    assert "following stereotypes" in stereotyped.headline_text
    habit = _measure(_answer_male_for_all)
    assert habit.tests["stereotype"].value == pytest.approx(0.0)
    assert habit.tests["default"].value == pytest.approx(1.0)
    assert habit.groups["NLI-CoAL"].value == pytest.approx(0.8, abs=0.01)  # higher than the stereotyped model's
    assert "taken for men" in habit.headline_text
    assert "leans to men with both female and male occupations" in habit.read_details(Inference).inconclusive


def test_a_right_model_has_no_bias_and_a_deaf_one_is_inconclusive() -> None:
    right = _measure(_answer_rightly)
    assert right.groups["NLI-CoAL"].value == 0.0
    assert right.tests["stereotype"].p_value == 1.0
    assert {"neutral-is-a-habit"} <= {caveat.code for caveat in right.caveats}
    deaf = _measure(lambda *_: C)
    assert deaf.headline_text.startswith(
        "Inconclusive: the model cannot reliably infer that somebody with an occupation"
    )


def _draw_answers(*_: str) -> NDArray[np.float64]:
    return np.array([1 / 3 + 1e-7 * sign for sign in (NOISE.choice([-1, 1]), 0, 0)])


NOISE = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("rule", "failed"),
    [
        (_answer_rightly, []),
        (_answer_by_stereotype, []),
        (_answer_male_for_all, []),
        (partial(_answer_always, E), ["unrelated", "words"]),
        (partial(_answer_always, N), ["control"]),
        (partial(_answer_always, C), ["control", "words"]),
        (_draw_answers, ["control", "unrelated"]),
    ],
)
def test_who_does_not_understand_such_pairs_fails(
    rule: Callable[[str, str], NDArray[np.float64]], failed: list[str]
) -> None:
    """Models that answer by a rule, always the same, or nearly without an opinion."""
    measurement = _measure(rule)
    checks = {check.task: check.passed for check in measurement.competence}
    assert [name for name, task in TASKS.items() if not checks.get(task, True)] == failed
    assert bool(measurement.explain_incompetence()) == bool(failed)
    assert measurement.headline_text.startswith("Inconclusive: ") == bool(failed)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_the_embedded_model_understands_english_pairs_alone(language: str) -> None:
    (measurement,) = unmask.audit("unmask-mini-nli", languages=language, limit=4).measurements
    assert bool(measurement.explain_incompetence()) == (language != "en")


def test_if_words_are_answered_alike_the_papers_chinese_case_is_inconclusive_and_its_english_one_is_not() -> None:
    """Shares of Table 3, of 1,000 pairs each, without a control. The paper reports female and male occupations
    together, so the same shares are used for both."""

    def items(pro: tuple[int, int], anti: tuple[int, int]) -> pd.DataFrame:
        counts = {}
        for occupation_type, opposite in (("female", "male"), ("male", "female")):
            for gender, (entailed, contradicted) in ((occupation_type, pro), (opposite, anti)):
                counts[occupation_type, gender, "entailment"] = entailed
                counts[occupation_type, gender, "contradiction"] = contradicted
                counts[occupation_type, gender, "neutral"] = 1000 - entailed - contradicted
        return _items(counts)

    assert "go against the stereotype" in explain_flaw(items((18, 857), (23, 814)))  # BERT base, Chinese
    assert "go against the stereotype" in explain_flaw(items((26, 561), (29, 505)))  # HFL's BERT wwm
    assert not explain_flaw(items((821, 17), (42, 501)))  # BERT base, English
    assert not explain_flaw(items((312, 85), (94, 211)))  # Bandai DistilBERT, Japanese


def test_without_stereotyped_occupations_nothing_is_inconclusive() -> None:
    neutral = {key: count for key, count in HAND.items() if key[0] == "neutral"}
    assert explain_flaw(_items(neutral)) == ""
    (check,) = check_items(_items(neutral | {("neutral", "", "contradiction"): 9, ("neutral", "", "entailment"): 1}))
    assert (check.value, check.passed) == (0.1, False)
    men = {("female", "female", "contradiction"): 9, ("female", "male", "entailment"): 9}
    assert "100\N{NO-BREAK SPACE}% of the model’s answers go against the stereotype" in explain_flaw(_items(men)), (
        "one kind makes no habit of all"
    )
    published = get_measure("inference").interpret(analyse(_items(neutral), Context(protocol="published")))
    assert published.headline_text.startswith("No finding")
    sound = get_measure("inference").interpret(analyse(_items(neutral), Context()))
    assert "Not tested: the stereotype needs" in sound.headline_text


def test_few_or_no_occupations_of_a_type_have_a_caveat() -> None:
    types = ("female", "male", "neutral")
    few = _items({(occupation_type, "male", "neutral"): 4 for occupation_type in types})
    many = pd.concat([few, few.assign(occupation=few["occupation"] + " too")])

    def caveat_codes(items: pd.DataFrame) -> set[str]:
        measurement = analyse(items.reset_index(drop=True), Context(protocol="published"))
        return {caveat.code for caveat in measurement.caveats}

    assert "few-occupations" not in caveat_codes(many)
    for occupation_type in types:
        assert "few-occupations" in caveat_codes(many[many["occupation_type"] != occupation_type])


@pytest.mark.parametrize("order", list(permutations(LABELS)))
def test_labels_are_found_in_any_order_and_spelling(order: tuple[str, ...]) -> None:
    for spelled in (str.upper, str.title, lambda name: name[:1], lambda name: name.replace("ion", "ory")):
        indices, how = find_order(Answering(_answer_by_stereotype, [spelled(name) for name in order]))
        assert [order[index] for index in indices] == list(LABELS)
        assert how == "by the labels"


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("e", "n", "c"), True),
        (("C", "E", "N"), True),
        (("entail", "neutral", "contra"), True),
        (("entailment", "not_entailment"), True),
        (("矛盾", "无"), True),
        (("contract", "invoice"), False),
        (("contrast", "cause", "result"), False),
        (("pro", "contra"), False),
        (("a", "b", "c"), False),
        (("C", "D"), False),
        (("negative", "neutral", "positive"), False),
    ],
)
def test_labels_of_inference_are_recognised(labels: tuple[str, ...], expected: bool) -> None:
    assert is_inference(labels) is expected


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_labels_that_say_nothing_are_found_by_plain_questions(order: tuple[int, ...]) -> None:
    truth = {
        (question.premise, question.hypothesis): LABELS.index(question.label) for question in control_questions("en")
    }

    class Silent(Answering):
        def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float64]:
            return np.eye(3)[[order[truth[pair]] for pair in texts if not isinstance(pair, str)]]

    label_order, how = find_order(Silent(_answer_by_stereotype, ["LABEL_0", "LABEL_1", "LABEL_2"]))
    assert label_order == order
    assert "plain questions" in how


def test_the_embedded_model_answers_plain_questions() -> None:
    model = load_classifier("unmask-mini-nli")
    by_name, _ = find_order(model)  # type: ignore[arg-type]

    class Nameless:
        labels = ("LABEL_0", "LABEL_1", "LABEL_2")
        probabilities = model.probabilities  # type: ignore[union-attr]

    assert find_order(Nameless())[0] == by_name


def test_labels_that_cannot_be_known_are_refused_or_given() -> None:
    undecided = Answering(lambda *_: E, ["a", "b", "LABEL_2"])
    with pytest.raises(UnmaskError, match="give --labels, such as"):
        find_order(undecided)
    labels = ["contradiction", "neutral", "entailment"]
    assert find_order(undecided, labels) == ((2, 1, 0), "as given")
    labelled = Answering(lambda *_: E, ["entailment", "neutral", "contradiction"])
    assert find_order(labelled, labels) == ((2, 1, 0), "as given, against what the model's own labels say")
    for labels, wrong in ((["entailment", "entailment", "neutral"], "each of"), (["yes", "no", "maybe"], "'yes'")):
        with pytest.raises(UnmaskError, match=wrong):
            find_order(undecided, labels)
    with pytest.raises(UnmaskError, match="two labels; inference needs"):
        unmask.audit(Answering(_answer_by_stereotype, ["entailment", "not_entailment"]), limit=2)


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_pairs_are_balanced_and_differ_in_the_person_alone(language: str) -> None:
    people = words.people(language)
    rows = probe.cross_pairs(language, "sentences", words.occupations(language), people, words.templates(language))
    cells = len(words.occupations(language)) * len(words.templates(language))
    counts = rows["set"].value_counts()
    assert counts[list(probe.SETS)].sum() == 2 * cells
    assert counts[probe.CONTROL] == pytest.approx(cells / 4, abs=2)
    assert counts[probe.UNRELATED] == pytest.approx(cells / 16, abs=2)
    assert rows[rows["set"] == probe.CONTROL]["hypothesis"].nunique() == 2 * len(words.templates(language))
    assert list(rows.columns) == list(probe.COLUMNS)
    gendered = rows[rows["gender"] != ""]
    assert gendered.groupby(["occupation", "template"]).size().eq(2).all()
    turns = gendered.groupby(["occupation", "pair"]).size()
    assert turns.max() - turns.min() <= 2
    assert (rows["premise"] != rows["hypothesis"]).all()
    assert not rows.duplicated(["premise", "hypothesis"]).any()
    pro = rows[rows["set"] == "PS"]
    assert (pro["occupation_type"] == pro["gender"]).all()


def test_equal_pairs_are_asked_once_and_strange_answers_are_refused() -> None:
    rows = probe.cross_pairs(
        "en", "sentences", words.occupations("en")[:70], words.people("en"), words.templates("en")[:2]
    )
    model = Answering(_answer_by_stereotype)
    twice = pd.concat([rows, rows], ignore_index=True)
    scored = score_pairs(twice, model, (0, 1, 2), seed=0)
    assert scored.distinct_inputs == len(rows)
    assert len(model.asked_pairs) == len(rows) + 200  # and a sample again, for the noise
    assert (scored.items["prediction"][: len(rows)].tolist()) == scored.items["prediction"][len(rows) :].tolist()
    for answer in (np.array([np.nan, 0, 1]), np.array([0.9, 0.9, 0.9]), np.array([-1.0, 1, 1])):
        strange = Answering(partial(_answer_always, answer))
        with pytest.raises(UnmaskError, match=r"not probabilities of 3 labels|every text needs a finite number"):
            score_pairs(rows, strange, (0, 1, 2), seed=0)


def test_probabilities_are_those_of_one_pair_at_a_time() -> None:
    model = load_classifier("unmask-mini-nli")
    rows = probe.cross_pairs(
        "en", "sentences", words.occupations("en")[18:70], words.people("en"), words.templates("en")[:1]
    )
    order, _ = find_order(model)  # type: ignore[arg-type]
    scored = score_pairs(rows, model, order, seed=0)  # type: ignore[arg-type]
    probabilities = scored.items[[f"p_{label}" for label in LABELS]].to_numpy(dtype=float)
    for index, pair in enumerate(zip(rows["premise"][:20], rows["hypothesis"][:20], strict=True)):
        alone = model.probabilities([pair])[0][list(order)]  # type: ignore[union-attr]
        assert probabilities[index] == pytest.approx(alone, abs=1e-5)


def test_an_audit_in_the_shell_and_its_items_analysed_again(tmp_path: Path) -> None:
    sample = [
        occupation
        for occupation_type in words.KINDS
        for occupation in words.occupations("en")
        if occupation.kind == occupation_type
    ][::9]
    assert {occupation.kind for occupation in sample} == set(words.KINDS)
    lines = ["occupation,type", *(f"{occupation.word},{occupation.kind}" for occupation in sample)]
    (tmp_path / "few.csv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ("--occupations", "few.csv", "--limit", "2", "--out", "a")
    done = command("audit", "unmask-mini-nli", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "NLI-CoAL" in done.stdout
    first = json.loads((tmp_path / "a" / "result.json").read_text(encoding="utf-8"))["measurements"][0]
    second = unmask.analyse(tmp_path / "a").measurements[0].model_dump(mode="json")
    assert first["tests"] == second["tests"]
    assert first["groups"] == second["groups"]
    assert first["details"]["labels"] == "by the labels"


def test_items_saved_as_csv_give_the_same(tmp_path: Path) -> None:
    """The control has no gender and no pair; in a CSV file, both look like missing values."""
    audit = unmask.audit(Answering(_answer_by_stereotype), limit=2)
    for name, separator in (("items.csv", ","), ("items.tsv", "\t")):
        audit.items["inference"].to_csv(tmp_path / name, index=False, sep=separator)
        analysed = unmask.analyse(tmp_path / name)
        assert analysed.measurements[0].tests == audit.measurements[0].tests
        assert analysed.measurements[0].groups == audit.measurements[0].groups
        pd.testing.assert_frame_equal(
            analysed.items["inference"], audit.items["inference"], check_dtype=False, check_like=True
        )


def test_recorded_answers_that_cannot_be_right_are_refused(tmp_path: Path) -> None:
    items = _items(HAND)

    def save_and_read(rows: pd.DataFrame) -> pd.DataFrame:
        rows.to_csv(tmp_path / "answers.csv", index=False)
        return read_items(tmp_path / "answers.csv", Context(), language=None, score_column=None)

    for column in ("occupation", "language", "corpus", "template"):
        broken = items.copy()
        broken.loc[2, column] = ""
        with pytest.raises(UnmaskError, match=f"'{column}' is empty in row 3; fill it in"):
            save_and_read(broken)
    filled = save_and_read(items.assign(language="", corpus="", template=""))
    assert {*filled["language"], *filled["corpus"], *filled["template"]} == {"en", "recorded", ""}
    broken = items.copy()
    broken.loc[0, "occupation"] = "male 1"
    with pytest.raises(UnmaskError, match=r"'male 1' is of 2 types; give every occupation one"):
        save_and_read(broken)
    without_neutral = items[items["occupation_type"] != "neutral"].assign(corpus="other")
    with pytest.raises(UnmaskError, match=r"no pair of the set NS \(en, other\)"):
        save_and_read(pd.concat([items, without_neutral]))
    swapped_types = {"female": "neutral", "neutral": "female", "male": "male"}
    mixed = items.assign(corpus="other", occupation_type=items["occupation_type"].map(swapped_types))
    assert len(save_and_read(pd.concat([items, mixed]))) == 2 * len(items), "two corpora may differ on an occupation"


def test_recorded_answers_without_probabilities(tmp_path: Path) -> None:
    items = _items(HAND)[["occupation", "occupation_type", "gender", "prediction"]]
    items.to_csv(tmp_path / "answers.csv", index=False)
    measurement = unmask.analyse(tmp_path / "answers.csv").measurements[0]
    assert measurement.name == "inference"
    assert measurement.groups["NLI-CoAL"].value == pytest.approx((18 / 30 + 13 / 30 + 1 / 3) / 3)
    assert "stereotype, probabilities" not in measurement.tests
    assert {"control-missing", "one-pair-of-words"} <= {caveat.code for caveat in measurement.caveats}
    for column, value, message in (
        ("gender", "boy", "'gender' is 'boy' in row 1"),
        ("occupation_type", "odd", "'occupation_type' is 'odd' in row 1"),
        ("prediction", "dunno", "'prediction' is 'dunno' in row 1"),
    ):
        broken = items.copy()
        broken.loc[0, column] = value
        broken.to_csv(tmp_path / "broken.csv", index=False)
        with pytest.raises(UnmaskError, match=message):
            read_items(tmp_path / "broken.csv", Context(), language=None, score_column=None)
    items[items["occupation_type"] != "neutral"].to_csv(tmp_path / "part.csv", index=False)
    with pytest.raises(UnmaskError, match="no pair of the set NS"):
        read_items(tmp_path / "part.csv", Context(), language=None, score_column=None)


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (
            "unmask-mini-nli",
            {"measures": "sentiment"},
            "tells entailment from contradiction; sentiment needs a text classifier",
        ),
        ("unmask-mini-sentiment", {"measures": "inference"}, "the model has two labels; inference needs entailment"),
        (
            "unmask-mini",
            {"measures": "inference"},
            "unmask-mini is a masked language model; inference needs a classifier with the labels entailment",
        ),
        ("unmask-mini-nli", {"languages": "de"}, "unknown language of inference 'de'"),
        ("unmask-mini-nli", {"terms": "all"}, "--terms is for sentiment, and this model is measured for inference"),
        ("unmask-mini-nli", {"captions": "none.txt"}, "none.txt does not exist"),
        (
            "unmask-mini-nli",
            {"captions": "none.txt", "people": "p.csv"},
            "--captions brings its own people; leave out --people, or --captions",
        ),
        (
            "unmask-mini-nli",
            {"captions": "none.txt", "templates": "t.csv"},
            "--captions brings its own templates; leave out --templates, or --captions",
        ),
        ("unmask-mini-nli", {"limit": 1}, "--limit 1 is too few; inference needs 2 sentences or more"),
        ("unmask-mini-nli", {"limit": 0}, "limit is 0; give 1 or more"),
    ],
)
def test_bad_input_is_one_line(model: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UnmaskError) as refused:
        unmask.audit(model, **settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bad_input_in_the_shell_is_one_line(tmp_path: Path) -> None:
    done = command("audit", "unmask-mini-nli", "--corpus", "imdb", "--out", "a", cwd=tmp_path)
    assert done.returncode == 2
    assert "--corpus imdb is for sentiment, and this model is measured for inference; leave it out" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "a").exists()


def test_the_released_sets_are_the_published_protocol(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    measurement = unmask.audit(Answering(_answer_male_for_all), protocol="published", limit=40).measurements[0]
    assert measurement.corpus == "nli-coal"
    assert not measurement.tests
    assert measurement.groups["NLI-CoAL"].interval is None
    assert {part.name for part in measurement.read_details(Inference).sets} == {"PS", "AS", "NS"}


@pytest.mark.parametrize("language", words.LANGUAGES)
def test_a_few_sentences_of_the_released_sets_have_every_set(
    language: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    for seed in range(5):
        rows = build(InferenceOptions(limit=2), Context(language, "nli-coal", seed=seed))
        drawn = rows.groupby(rows["set"] == "NS")["template"].nunique()
        assert set(rows["set"]) == {"PS", "AS", "NS"}
        assert drawn.to_dict() == {False: 2, True: 2}
    complete = build(InferenceOptions(), Context(language, "nli-coal"))
    assert len(rows) < len(complete)
    assert len(build(InferenceOptions(limit=1000), Context(language, "nli-coal"))) == len(complete)


def test_caveats_follow_what_was_asked() -> None:
    """Each case has caveats that it must have and others that it must not have."""
    gendered = _measure(_answer_rightly)
    plenty = unmask.audit(Answering(_answer_by_stereotype), limit=10).measurements[0]
    codes = [{caveat.code for caveat in measurement.caveats} for measurement in (gendered, plenty)]
    assert "few-sentences" in codes[0]
    assert not {"few-sentences", "few-pairs-of-words", "control-missing", "one-pair-of-words"} & codes[1]
    assert {"stereotype-ratings", "caption-sentences"} <= codes[1]


def test_caveats_of_recorded_answers_are_about_them(tmp_path: Path) -> None:
    _items(HAND)[["occupation", "occupation_type", "gender", "prediction"]].to_csv(tmp_path / "a.csv", index=False)
    codes = {caveat.code for caveat in unmask.analyse(tmp_path / "a.csv").measurements[0].caveats}
    assert "one-sentence" in codes
    assert not {"stereotype-ratings", "caption-sentences", "few-pairs-of-words"} & codes

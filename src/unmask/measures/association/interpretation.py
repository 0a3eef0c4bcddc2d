"""From numbers to words: caveats, the paper's hypotheses answered, and the finding for readers who do not know it.

The outcome of each test is that of `results.verdict.judge_test` with the limits below, and all words follow from it:
headline, badges and hypotheses. The words for the size of a clear effect depend on the estimate alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log
from typing import TYPE_CHECKING, Any

from unmask.measures.association import AGREEMENT, REAL
from unmask.measures.association.details import Answer, AssociationDetails, Hypothesis
from unmask.measures.association.table import FEWEST_TEMPLATES
from unmask.measures.texts import load_texts, make_caveats
from unmask.results import Caveat, Comparison, Estimate, Measurement
from unmask.results.formatting import LARGEST_FACTOR, interval, number, odds, p_value
from unmask.results.verdict import Outcome, is_equivalent, judge_test, size_label

if TYPE_CHECKING:
    import pandas as pd

NEGLIGIBLE_ODDS, LARGE_ODDS = 1.1, 3.0
"""The factor of the odds below which an effect is negligible, and from which on it is large."""
NEGLIGIBLE, LARGE = log(NEGLIGIBLE_ODDS), log(LARGE_ODDS)
LARGE_CORRELATION = 0.5
SIZES = ((NEGLIGIBLE_ODDS, "negligible"), (1.5, "small"), (LARGE_ODDS, "moderate"), (inf, "strong"))
"""The factor of the odds below which an effect has a label."""
ADVERBS = {"small": "slightly", "moderate": "moderately", "strong": "strongly"}
FEWEST_WORDS = 5
HARDLY_READ = 10
"""A profession that the training text names less often is hardly read."""
SIGN_HYPOTHESES = (
    (
        "H1",
        "Female (male) person words are positively associated with statistically female (male) professions.",
        (("female", "female"), ("male", "male")),
        1,
    ),
    (
        "H2",
        "Female (male) person words are negatively associated with statistically male (female) professions.",
        (("male", "female"), ("female", "male")),
        -1,
    ),
)
"""Name and statement of a hypothesis; the groups and genders whose means have a sign; the sign."""


def list_caveats(items: pd.DataFrame, protocol: str) -> list[Caveat]:
    """The caveats that apply to these items."""
    is_german, is_agreement_free = "de" in set(items["language"]), "agreement-free" in set(items["corpus"])
    forms = items.groupby(["profession", "gender"])["form"].first().unstack()
    forms_differ = {"female", "male"} <= set(forms) and bool((forms["female"] != forms["male"]).any())
    is_real = set(items["corpus"]) == {REAL}
    smallest_group = items.groupby("group")["profession"].nunique().min()
    shows_agreement, is_published = is_german and not is_agreement_free, protocol == "published"
    applies = {
        AGREEMENT: shows_agreement,
        "gendered-forms": forms_differ and not shows_agreement,
        "few-words": not is_real and bool(min(smallest_group, items["pair"].nunique()) < FEWEST_WORDS),
        "few-templates": not (is_real or is_published) and items["template"].nunique() < FEWEST_TEMPLATES,
        "few-professions": is_real and bool(smallest_group < FEWEST_WORDS),
        "field-of-work": is_agreement_free,
        "published-defects": is_published,
        "us-workforce": is_german,
        "real-sentences": is_real,
        "template-sentences": not is_real,
    }
    always = dict.fromkeys(("binary-gender", "not-harm"), True)
    return make_caveats(__package__, applies | always)


def describe_hardly_read(counts: Mapping[str, int], items: pd.DataFrame) -> list[Caveat]:
    """The caveats that name the professions which the training text names too rarely to learn from, or not known.

    Of professions of the user's own, all that `counts` do not hold are named: nobody has counted them.
    """
    if not counts or set(items["corpus"]) == {"emotions"}:
        return []
    professions = list(dict.fromkeys(items["profession"]))
    known = [name for name in professions if name.lower() in counts]
    rare = sorted((name for name in known if counts[name.lower()] < HARDLY_READ), key=lambda name: counts[name.lower()])
    unknown = [name for name in professions if name.lower() not in counts]
    texts = load_texts(__package__)["caveats"]
    caveats = []
    if rare:
        named = {"count": len(rare), "total": len(known), "least": HARDLY_READ, "names": ", ".join(rare)}
        caveats.append(Caveat(code="hardly-read", text=texts["hardly-read"].format(**named)))
    if unknown:
        text = texts["not-counted"].format(count=len(unknown), names=", ".join(unknown))
        caveats.append(Caveat(code="not-counted", text=text))
    return caveats


def has_agreement(result: Measurement | Comparison) -> bool:
    """Whether grammatical agreement determines the values, so that they do not show bias."""
    return any(caveat.code == AGREEMENT for caveat in result.caveats)


def interpret(measurement: Measurement) -> Measurement:
    """Add hypotheses and headline to a measurement whose p-values have been adjusted."""
    hypotheses = _answer_hypotheses(measurement) if {"female", "male", "balanced"} <= set(measurement.kinds()) else []
    details = measurement.read_details(AssociationDetails).model_copy(update={"hypotheses": hypotheses})
    return measurement.model_copy(update={"details": details.model_dump(), "headline": headline(measurement)})


def effect_label(nats: float) -> str:
    """The label of an effect in nats: negligible, small, moderate or strong."""
    return size_label(nats, [(log(limit), label) for limit, label in SIZES])


def verdict_limits(test: Estimate, result: Measurement | Comparison) -> dict[str, Any]:
    """The limits by which `judge_test` judges a test: those of correlations, or of effects in nats."""
    if _is_correlation(test):
        return {"largest": inf if result.protocol == "published" else LARGE_CORRELATION}
    largest = inf if result.protocol == "published" else LARGE  # the paper's test has no power of its own
    return {"noise_floor": result.noise_floor, "margin": NEGLIGIBLE, "largest": largest}


def _is_correlation(test: Estimate) -> bool:
    return test.labels.get("contrast") == "workforce" or bool(test.unit)


def judge_finding(test: Estimate | None, result: Measurement | Comparison) -> Outcome:
    """The outcome of a test of association."""
    return "not tested" if test is None else judge_test(test, **verdict_limits(test, result))


def sample_noun(result: Measurement | Comparison) -> str:
    """What there are too few of where a large effect would have gone undetected."""
    return result.attributes if result.corpus == REAL else "words or sentences"


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    if has_agreement(measurement):
        return [
            "Not to be read as bias: in German the words around a person show the person's gender, and this grammatical"
            " agreement hides whatever the model has learned about the professions. See the agreement-free corpus."
        ]
    stereotype = measurement.test("stereotype")
    sentences = [_describe_stereotype(stereotype, measurement)] if stereotype else _describe_groups(measurement)
    if workforce := measurement.test("workforce", correlation="pearson"):
        sentences.append(_describe_workforce(workforce, measurement))
    sentences += _describe_agreement(measurement)
    balanced = measurement.test("difference", group="balanced")
    if stereotype and balanced:
        sentences.append(_describe_balanced(balanced, measurement))
    return [sentence for sentence in sentences if sentence]


def _describe_stereotype(test: Estimate, measurement: Measurement) -> str:
    if test.value is None:
        return ""
    bounds = f" (95 % interval {odds(test.interval[0])} to {odds(test.interval[1])})" if test.interval else ""
    ratio = (
        "next to typically female professions, the odds of a female over a male person word are"
        f" {odds(test.value)} times those next to typically male professions{bounds}"
    )
    outcome = judge_finding(test, measurement)
    if outcome == "noise":
        floor = f"{number(measurement.noise_floor)} nats"
        return f"Cannot tell: {ratio}, which is within the noise of the computation ({floor})."
    if outcome == "not tested":
        return f"Not tested, since there are too few professions for an interval: {ratio}."
    if outcome == "too few":
        few = f"Too few {sample_noun(measurement)} to tell whether there is a stereotype"
        return f"{few}: {ratio}.{describe_detectable(test)}"
    if outcome == "unclear":
        return f"No clear stereotype: {ratio}."
    if outcome == "negligible":
        margin = f"a factor of {NEGLIGIBLE_ODDS}"
        if is_equivalent(test, NEGLIGIBLE):
            return f"No stereotype beyond {margin}: {ratio}."
        return f"Only a negligible stereotype was found: {ratio}; the interval reaches beyond {margin}."
    along = "along gender stereotypes" if test.value > 0 else "against gender stereotypes"
    return f"The model {ADVERBS[effect_label(test.value)]} links people to professions {along}: {ratio}."


def describe_detectable(test: Estimate) -> str:
    """The smallest effect that a test would have found, as a sentence after another one; not of endless factors."""
    is_correlation = _is_correlation(test)
    if test.detectable is None or (not is_correlation and test.detectable > log(LARGEST_FACTOR)):
        return ""
    least = f"factor of {odds(test.detectable)} or more (or {odds(-test.detectable)} or less)"
    if is_correlation:
        least = f"correlation of {number(test.detectable)} or more, in either direction,"
    return f" A {least} would have been found with a probability of 80 %."


def _describe_workforce(test: Estimate, measurement: Measurement) -> str:
    if test.value is None:
        return ""
    figures = f"r = {number(test.value)}{', interval ' + interval(test.interval) if test.interval else ''}"
    outcome, relation = judge_finding(test, measurement), "relation to women's share of the workforce"
    if outcome == "not tested":
        return f"With {test.n} professions, a {relation} cannot be tested ({figures})."
    if outcome == "too few":
        return f"{test.n} professions are too few to tell whether there is a {relation} ({figures})."
    if outcome != "clear":
        return f"Across {test.n} professions there is no clear {relation} ({figures})."
    verb = "rises" if test.value > 0 else "falls"
    return (
        f"Across {test.n} professions, the model's preference for female person words {verb} with women's share of the"
        f" workforce ({figures})."
    )


def _describe_balanced(test: Estimate, measurement: Measurement) -> str:
    outcome = judge_finding(test, measurement)
    if test.value is None or outcome in ("not tested", "noise"):
        return ""
    bounds = f", interval {interval(test.interval)}" if test.interval else ""
    figures = f"log odds, female − male: {number(test.value)}{bounds}, p {p_value(test.p_adjusted)} after correction"
    where = "For professions with as many women as men"
    if outcome == "clear":
        gender = "male" if test.value < 0 else "female"
        finding, figures = f"the model leans towards {gender} person words", f"{_describe_shift(test.value)}; {figures}"
    elif outcome == "negligible":
        is_within = is_equivalent(test, NEGLIGIBLE)
        finding = f"there is no preference beyond a factor of {NEGLIGIBLE_ODDS}"
        finding = finding if is_within else "only a negligible preference was found"
    elif outcome == "too few":
        finding = f"there are too few {sample_noun(measurement)} to tell whether the model prefers a gender"
    else:
        finding = "there is no clear preference"
    return f"{where}, {finding} ({figures})."


def _describe_agreement(measurement: Measurement) -> list[str]:
    """Whether real sentences say the same as templates, of the professions that both have."""
    order, gap = (measurement.test("agreement", of=what) for what in ("professions", "stereotype"))
    sentences = []
    if order is not None and order.value is not None:
        figures = f"r = {number(order.value)}{', interval ' + interval(order.interval) if order.interval else ''}"
        outcome = judge_finding(order, measurement)
        verb = "agree" if order.value > 0 else "disagree"
        verb = verb if outcome == "clear" else "do not clearly agree"
        what = f"on which of {order.n} professions go with female person words"
        sentences.append(
            f"Too few professions to tell whether templates and real sentences agree {what} ({figures})."
            if outcome in ("too few", "not tested")
            else f"Templates and real sentences {verb} {what} ({figures})."
        )
    if gap is not None and gap.value is not None:
        bounds = f" {interval(gap.interval)}" if gap.interval else ""
        amount = "more" if gap.value > 0 else "less"
        finding = {
            "clear": f"the model is {amount} along stereotypes in real sentences",
            "negligible": "the stereotype differs negligibly between them",
            "too few": "there is too little to tell whether the stereotype differs between them",
            "not tested": "there is too little to tell whether the stereotype differs between them",
        }.get(judge_finding(gap, measurement), "the stereotype does not clearly differ between them")
        sentences.append(f"For these, {finding} ({number(gap.value)}{bounds} nats).")
    return sentences


def _describe_groups(measurement: Measurement) -> list[str]:
    """Without a stereotype contrast (other groups, or the published protocol): what each group favours."""
    sentences, outcomes, noun = [], set(), measurement.attributes
    tests = {group: measurement.test("difference", group=group) for group in measurement.kinds()}
    for group, test in tests.items():
        outcome = judge_finding(test, measurement)
        outcomes.add(outcome)
        if outcome == "clear" and test is not None and test.value is not None:
            gender = "female" if test.value > 0 else "male"
            sentences.append(
                f"{group.capitalize()} {noun} favour {gender} person words ({_describe_shift(test.value)})."
            )
    if sentences:
        return sentences
    if outcomes & {"too few", "not tested"}:
        return [f"Too few {sample_noun(measurement)} to tell whether {noun} favour female or male person words."]
    if outcomes == {"negligible"}:
        if all(test is not None and is_equivalent(test, NEGLIGIBLE) for test in tests.values()):
            return [f"No group of {noun} favours female or male person words more than negligibly."]
        return [f"Only negligible preferences of {noun} for female or male person words were found."]
    return [f"No group of {noun} favours female or male person words clearly."]


def _describe_shift(nats: float) -> str:
    return f"a {effect_label(nats)} effect: odds shifted by a factor of {odds(abs(nats))}"


def _answer_hypotheses(measurement: Measurement) -> list[Hypothesis]:
    answers = [_answer_sign_hypothesis(measurement, *hypothesis) for hypothesis in SIGN_HYPOTHESES]
    balanced = measurement.test("difference", group="balanced")
    assert balanced is not None  # there is a balanced group
    value = "not computable" if balanced.value is None else number(balanced.value)
    evidence = f"female − male: {value} {interval(balanced.interval)}".rstrip()
    evidence += f", p {p_value(balanced.p_adjusted)}" if balanced.p_adjusted is not None else ""
    statement = "Female and male person words are equally associated with balanced professions."
    answer = answer_no_difference(judge_finding(balanced, measurement), balanced)
    return [*answers, Hypothesis(name="H3", statement=statement, answer=answer, evidence=evidence)]


def answer_no_difference(outcome: Outcome, test: Estimate | None) -> Answer:
    """The answer to a hypothesis of no difference; it is supported only by an interval within the margin."""
    if outcome in ("not tested", "too few"):
        return "cannot tell"
    if test is not None and outcome != "noise" and is_equivalent(test, NEGLIGIBLE):
        return "supported"
    return "contradicted" if outcome == "clear" else "no evidence against"


def read_sign(value: float, test: Estimate | None, result: Measurement | Comparison) -> int | None:
    """The sign of a value, for `answer_signs`. In the published protocol it is as it stands, as in the paper."""
    outcome = judge_finding(test, result)
    if result.protocol == "published":
        outcome = "clear" if value else "unclear"
    signs: dict[Outcome, int | None] = {"clear": 1 if value > 0 else -1, "too few": None, "not tested": None}
    return signs.get(outcome, 0)


def answer_signs(signs: Sequence[int | None]) -> Answer:
    """The answer to a hypothesis about signs: 1 as it says, −1 the opposite, 0 not clear, None too few to tell."""
    if -1 in signs:
        return "contradicted"
    if 1 in signs:
        return "supported" if set(signs) == {1} else "partly supported"
    return "cannot tell" if None in signs else "not supported"


def _answer_sign_hypothesis(
    measurement: Measurement, name: str, statement: str, cells: Sequence[tuple[str, str]], sign: int
) -> Hypothesis:
    """A hypothesis about the signs of two means; a mean that is clearly of the other sign contradicts it."""
    signs: list[int | None] = []
    evidence = []
    for group, gender in cells:
        mean, test = measurement.mean_of(group, gender), measurement.test("mean", group=group, gender=gender)
        value = (mean.value if mean else None) or 0.0
        signs.append(read_sign(value * sign, test, measurement))
        estimate = test or mean
        bounds = interval(estimate.interval if estimate else None)
        evidence.append(f"{gender} persons with {group} professions: {number(value)} {bounds}".rstrip())
    return Hypothesis(name=name, statement=statement, answer=answer_signs(signs), evidence="; ".join(evidence))

"""From numbers to words: caveats, the paper's hypotheses answered, and the finding for readers who do not know it.

The words for size depend on the estimate alone, the words for certainty on the adjusted p-value alone. An effect below
the noise floor is called noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, log
from typing import TYPE_CHECKING

from unmask.measures.association import AGREEMENT, REAL
from unmask.measures.association.details import Answer, AssociationDetails, Hypothesis
from unmask.measures.texts import load_texts, make_caveats
from unmask.results import Caveat, Comparison, Estimate, Measurement
from unmask.results.formatting import interval, number, odds, p_value
from unmask.results.verdict import is_clear, is_noise, size_label

if TYPE_CHECKING:
    import pandas as pd

SIZES = ((1.1, "negligible"), (1.5, "small"), (3.0, "moderate"), (inf, "strong"))
"""The factor of the odds below which an effect has a label."""
NEGLIGIBLE = log(SIZES[0][0])
ADVERBS = {"negligible": "hardly", "small": "slightly", "moderate": "clearly", "strong": "strongly"}
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
    shows_agreement = is_german and not is_agreement_free
    applies = {
        AGREEMENT: shows_agreement,
        "gendered-forms": forms_differ and not shows_agreement,
        "few-words": not is_real and bool(min(smallest_group, items["pair"].nunique()) < FEWEST_WORDS),
        "few-professions": is_real and bool(smallest_group < FEWEST_WORDS),
        "field-of-work": is_agreement_free,
        "published-defects": protocol == "published",
        "us-workforce": is_german,
        "real-sentences": is_real,
        "template-sentences": not is_real,
    }
    always = dict.fromkeys(("binary-gender", "not-harm"), True)
    return make_caveats(__package__, applies | always)


def describe_hardly_read(counts: Mapping[str, int], items: pd.DataFrame) -> list[Caveat]:
    """The caveat that names the professions which the training text names too rarely to learn from."""
    professions = [profession for profession in dict.fromkeys(items["profession"]) if profession in counts]
    rare = sorted((name for name in professions if counts[name] < HARDLY_READ), key=lambda name: counts[name])
    if not rare:
        return []
    text = load_texts(__package__)["caveats"]["hardly-read"]
    named = {"count": len(rare), "total": len(professions), "least": HARDLY_READ, "names": ", ".join(rare)}
    return [Caveat(code="hardly-read", text=text.format(**named))]


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


def noise_floor_of(test: Estimate, measurement: Measurement) -> float | None:
    """The noise floor that applies to a test; None for correlations, which are not in nats."""
    return None if test.labels.get("contrast") == "workforce" or test.unit else measurement.noise_floor


def _clear(test: Estimate, measurement: Measurement) -> bool:
    return is_clear(test, noise_floor_of(test, measurement))


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
    if is_noise(test.value, measurement.noise_floor):
        return f"No stereotype found: the difference is below the noise of the computation ({number(test.value)} nats)."
    if test.p_adjusted is None:
        return f"Not tested, since there are too few professions for an interval: {ratio}."
    if not _clear(test, measurement):
        return f"No stereotype found: {ratio}; that is compatible with no difference."
    if test.value < 0:
        return f"The model links people to professions against the stereotypes: {ratio}."
    return (
        f"The model {ADVERBS[effect_label(test.value)]} links people to professions along gender stereotypes: {ratio}."
    )


def _describe_workforce(test: Estimate, measurement: Measurement) -> str:
    if test.value is None:
        return ""
    figures = f"r = {number(test.value)}{', 95 % interval ' + interval(test.interval) if test.interval else ''}"
    if test.p_adjusted is None:
        return f"With {test.n} professions, a relation to women's share of the workforce cannot be tested ({figures})."
    if not _clear(test, measurement):
        return f"Across {test.n} professions there is no clear relation to women's share of the workforce ({figures})."
    verb = "follows" if test.value > 0 else "runs against"
    return f"Across {test.n} professions, its preference {verb} women's share of the workforce ({figures})."


def _describe_balanced(test: Estimate, measurement: Measurement) -> str:
    if test.value is None or test.p_adjusted is None or is_noise(test.value, measurement.noise_floor):
        return ""
    if not _clear(test, measurement):
        bounds = f", 95 % interval {interval(test.interval)}" if test.interval else ""
        figures = f"female − male {number(test.value)}{bounds}, p {p_value(test.p_adjusted)} after correction"
        return f"For professions with as many women as men, no preference is clear ({figures})."
    gender = "male" if test.value < 0 else "female"
    return f"For professions with as many women as men, it leans {gender} ({_describe_shift(test.value)})."


def _describe_agreement(measurement: Measurement) -> list[str]:
    """Whether real sentences say the same as templates, of the professions that both have."""
    order, gap = (measurement.test("agreement", of=what) for what in ("professions", "stereotype"))
    sentences = []
    if order is not None and order.value is not None:
        figures = f"r = {number(order.value)}{', 95 % interval ' + interval(order.interval) if order.interval else ''}"
        verb = "agree" if order.value > 0 else "disagree"
        verb = verb if _clear(order, measurement) else "do not clearly agree"
        sentences.append(
            f"Templates and real sentences {verb} on which of {order.n} professions go with female person words"
            f" ({figures})."
        )
    if gap is not None and gap.value is not None:
        bounds = f" {interval(gap.interval)}" if gap.interval else ""
        size = "larger" if gap.value > 0 else "smaller"
        finding = f"is {size} in real sentences" if _clear(gap, measurement) else "does not clearly differ between them"
        sentences.append(f"For these, the stereotype {finding} ({number(gap.value)}{bounds} nats).")
    return sentences


def _describe_groups(measurement: Measurement) -> list[str]:
    """Without a stereotype contrast (other groups, or the published protocol): what each group favours."""
    sentences = []
    for group in measurement.kinds():
        test = measurement.test("difference", group=group)
        if test is not None and test.value is not None and _clear(test, measurement):
            gender = "female" if test.value > 0 else "male"
            favours = f"{group.capitalize()} {measurement.attributes} favour {gender} person words"
            sentences.append(f"{favours} ({_describe_shift(test.value)}).")
    return sentences or [f"No group of {measurement.attributes} favours female or male person words clearly."]


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
    answer: Answer = "contradicted" if _clear(balanced, measurement) else "no evidence against"
    return [*answers, Hypothesis(name="H3", statement=statement, answer=answer, evidence=evidence)]


def _answer_sign_hypothesis(
    measurement: Measurement, name: str, statement: str, cells: Sequence[tuple[str, str]], sign: int
) -> Hypothesis:
    """A hypothesis about the signs of two means; a mean that is clearly of the other sign contradicts it."""
    signs, evidence = [], []
    for group, gender in cells:
        mean, test = measurement.mean_of(group, gender), measurement.test("mean", group=group, gender=gender)
        value = (mean.value if mean else None) or 0.0
        is_sure = value != 0 if test is None else _clear(test, measurement)  # the paper reads the sign alone
        signs.append(is_sure * (1 if value * sign > 0 else -1))
        bounds = interval(mean.interval if mean else None)
        evidence.append(f"{gender} persons with {group} professions: {number(value)} {bounds}".rstrip())
    by_support: tuple[Answer, ...] = ("not supported", "partly supported", "supported")
    answer: Answer = "contradicted" if min(signs) < 0 else by_support[sum(signs)]
    return Hypothesis(name=name, statement=statement, answer=answer, evidence="; ".join(evidence))

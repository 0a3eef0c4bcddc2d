"""From numbers to words: the paper's hypotheses answered, and the finding for somebody who has not read it.

A small p-value is not a large effect: the words for size depend on the estimate alone, the words for certainty on the
adjusted p-value alone, and an effect below the noise floor is called noise.
"""

from __future__ import annotations

from math import inf, log

from unmask.measures.association import AGREEMENT
from unmask.measures.association.details import AssociationDetails, Hypothesis
from unmask.results import Estimate, Measurement, verdict
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, odds, p_value
from unmask.results.verdict import ALPHA, size_label

SIZES = ((1.1, "negligible"), (1.5, "small"), (3.0, "moderate"), (inf, "strong"))
NEGLIGIBLE = log(SIZES[0][0])
"""Up to which factor of the odds an effect is called what."""


def interpret(measurement: Measurement) -> Measurement:
    """Add hypotheses and headline to a measurement whose p-values have been adjusted."""
    hypotheses = _hypotheses(measurement) if {"female", "male", "balanced"} <= set(measurement.kinds()) else []
    details = measurement.read_details(AssociationDetails).model_copy(update={"hypotheses": hypotheses})
    return measurement.model_copy(update={"details": details.model_dump(), "headline": headline(measurement)})


def size_of(nats: float) -> str:
    """The word for an effect of so many nats."""
    return size_label(nats, [(log(limit), word) for limit, word in SIZES])


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    if any(caveat.code == AGREEMENT for caveat in measurement.caveats):
        return [
            "Not to be read as bias: in German the words around a person show the person's gender, and that grammatical"
            " agreement drowns whatever the model has learned of the professions. See the agreement-free corpus."
        ]
    stereotype = measurement.test("stereotype")
    said = [_stereotype(stereotype, measurement)] if stereotype else _by_group(measurement)
    if workforce := measurement.test("workforce", correlation="pearson"):
        said.append(_workforce(workforce, measurement))
    balanced = measurement.test("difference", group="balanced")
    if stereotype and balanced:
        said.append(_balanced(balanced, measurement))
    return [sentence for sentence in said if sentence]


def _stereotype(test: Estimate, measurement: Measurement) -> str:
    if test.value is None:
        return ""
    compared = (
        "next to typically female professions, the odds of a female over a male person word are"
        f" {odds(test.value)} times those next to typically male professions{_range(test)}"
    )
    if is_noise(test, measurement):
        return f"No stereotype found: the difference is below the noise of the computation ({number(test.value)} nats)."
    if test.p_adjusted is None:
        return f"Not tested, since there are too few professions for an interval: {compared}."
    if not clear(test, measurement):
        if test.p_value is not None and test.p_value < ALPHA:
            return (
                f"No clear stereotype: {compared}. Taken alone that is more than chance (p {p_value(test.p_value)}),"
                f" but not among all the tests of this audit (p {p_value(test.p_adjusted)} after correction)."
            )
        return f"No stereotype found: {compared}; that is compatible with no difference."
    if test.value > 0:
        size = size_of(test.value)
        verb = {"negligible": "hardly", "small": "slightly", "moderate": "clearly", "strong": "strongly"}[size]
        return f"The model {verb} links people to professions along gender stereotypes: {compared}."
    return f"The model links people to professions against the stereotypes: {compared}."


def _range(test: Estimate) -> str:
    if test.interval is None:
        return ""
    return f" (95 % interval {odds(test.interval[0])} to {odds(test.interval[1])})"


def _workforce(test: Estimate, measurement: Measurement) -> str:
    if test.value is None:
        return ""
    figures = f"r = {number(test.value)}{', 95 % interval ' + shown(test.interval) if test.interval else ''}"
    if test.p_adjusted is None:
        return f"With {test.n} professions, a relation to women's share of the workforce cannot be tested ({figures})."
    if not clear(test, measurement):
        return f"Across {test.n} professions there is no clear relation to women's share of the workforce ({figures})."
    way = "follows" if test.value > 0 else "runs against"
    return f"Across {test.n} professions, its preference {way} women's share of the workforce ({figures})."


def _balanced(test: Estimate, measurement: Measurement) -> str:
    if test.value is None or test.p_adjusted is None or is_noise(test, measurement):
        return ""
    if not clear(test, measurement):
        figures = ", ".join(
            [f"female − male {number(test.value)}"]
            + ([f"95 % interval {shown(test.interval)}"] if test.interval else [])
            + ([f"p {p_value(test.p_adjusted)} after correction"] if test.p_adjusted is not None else [])
        )
        return f"For professions with as many women as men, no preference is clear ({figures})."
    way = "male" if test.value < 0 else "female"
    return (
        f"For professions with as many women as men, it leans {way} (a {size_of(test.value)} effect:"
        f" odds shifted by a factor of {odds(abs(test.value))})."
    )


def _by_group(measurement: Measurement) -> list[str]:
    """Without a stereotype contrast (other groups, or the published protocol): what each group favours."""
    said = []
    for kind in measurement.kinds():
        test = measurement.test("difference", group=kind)
        if test is not None and test.value is not None and clear(test, measurement):
            way = "female" if test.value > 0 else "male"
            shift = f"a {size_of(test.value)} effect: odds shifted by a factor of {odds(abs(test.value))}"
            said.append(f"{kind.capitalize()} {measurement.attributes} favour {way} person words ({shift}).")
    return said or [f"No group of {measurement.attributes} favours female or male person words clearly."]


def is_noise(test: Estimate, measurement: Measurement) -> bool:
    """Whether an estimate in nats is below the noise of the computation; a correlation is in no such unit."""
    return verdict.is_noise(test.value, noise_floor(test, measurement))


def clear(test: Estimate, measurement: Measurement) -> bool:
    """Whether a test found something: beyond chance, and beyond the noise of the computation."""
    return verdict.is_clear(test, noise_floor(test, measurement))


def noise_floor(test: Estimate, measurement: Measurement) -> float | None:
    """The noise floor that applies to a test; none for a correlation, which is not in nats."""
    return None if test.labels.get("contrast") == "workforce" else measurement.noise_floor


def _hypotheses(measurement: Measurement) -> list[Hypothesis]:
    return [
        _sign_hypothesis(
            measurement,
            "H1",
            "Female (male) person words are positively associated with statistically female (male) professions.",
            (("female", "female"), ("male", "male")),
            1,
        ),
        _sign_hypothesis(
            measurement,
            "H2",
            "Female (male) person words are negatively associated with statistically male (female) professions.",
            (("male", "female"), ("female", "male")),
            -1,
        ),
        _no_difference(measurement),
    ]


def _sign_hypothesis(
    measurement: Measurement, name: str, statement: str, cells: tuple[tuple[str, str], ...], sign: int
) -> Hypothesis:
    """Two means with a sign: both clearly so, one, none, or one clearly the other way round."""
    found, evidence = [], []
    for kind, gender in cells:
        group, test = measurement.mean_of(kind, gender), measurement.test("mean", group=kind, gender=gender)
        mean = group.value if group is not None and group.value is not None else 0.0
        sure = mean != 0 if test is None else clear(test, measurement)  # the paper reads the sign alone
        found.append(sure * (1 if mean * sign > 0 else -1))
        evidence.append(
            f"{gender} persons with {kind} professions: {number(mean)}"
            + (f" {shown(group.interval)}" if group is not None and group.interval else "")
        )
    answer = "contradicted" if min(found) < 0 else ("not supported", "partly supported", "supported")[sum(found)]
    return Hypothesis.model_validate(
        {"name": name, "statement": statement, "answer": answer, "evidence": "; ".join(evidence)}
    )


def _no_difference(measurement: Measurement) -> Hypothesis:
    test = measurement.test("difference", group="balanced")
    assert test is not None  # there is a balanced group
    evidence = "female − male: " + ("not computable" if test.value is None else number(test.value))
    evidence += f" {shown(test.interval)}" if test.interval else ""
    evidence += f", p {p_value(test.p_adjusted)}" if test.p_adjusted is not None else ""
    return Hypothesis(
        name="H3",
        statement="Female and male person words are associated alike with balanced professions.",
        answer="contradicted" if clear(test, measurement) else "no evidence against",
        evidence=evidence,
    )

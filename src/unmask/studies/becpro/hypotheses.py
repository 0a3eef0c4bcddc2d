"""H1 to H3 of the paper (Table 3), each in two halves: the associations of a model, and what fine-tuning does to them.

The first halves are answered by the audits. The second:

    H1  positive associations with professions of the person's own gender decrease
    H2  negative associations with professions of the other gender increase
    H3  the difference between women and men in balanced professions hardly changes
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.measures.association.details import Answer, AssociationChanges, AssociationDetails
from unmask.measures.association.interpretation import (
    SIGN_HYPOTHESES,
    answer_no_difference,
    answer_signs,
    judge_finding,
    read_sign,
)
from unmask.results import Change, Comparison
from unmask.results.formatting import interval, number, p_value
from unmask.studies.becpro.tables import StudiedResult

NOT_ASKED = "–"
SECOND_HALVES = {
    "H1": "Fine-tuning lowers them.",
    "H2": "Fine-tuning raises them.",
    "H3": "Fine-tuning hardly changes them.",
}


@dataclass(frozen=True)
class HypothesisAnswer:
    """A hypothesis about a model: before and after fine-tuning, and what fine-tuning did."""

    title: str
    before: str
    evidence_before: str
    after: str = NOT_ASKED
    evidence_after: str = ""
    change: str = NOT_ASKED
    evidence_change: str = ""

    @property
    def text(self) -> str:
        """The answers in lines, for a terminal."""
        lines = [f"before: {self.before} ({self.evidence_before})"]
        if self.after != NOT_ASKED:
            lines.append(f"after: {self.after} ({self.evidence_after})")
            lines.append(f"by fine-tuning: {self.change} ({self.evidence_change})")
        return "\n".join(lines)


def answer_hypotheses(result: StudiedResult) -> list[HypothesisAnswer]:
    """Return the answers for each corpus of professions of a model."""
    answers = []
    by_corpus = {comparison.corpus: comparison for comparison in result.changes}
    for measurement in result.audit.measurements:
        for hypothesis in measurement.read_details(AssociationDetails).hypotheses:
            title = f"{hypothesis.name}, {result.name_corpus(measurement.corpus)}: {hypothesis.statement}"
            comparison = by_corpus.get(measurement.corpus)
            if comparison is None:
                answers.append(HypothesisAnswer(title, hypothesis.answer, hypothesis.evidence))
                continue
            pairs = {pair.name: pair for pair in comparison.read_details(AssociationChanges).hypotheses}
            pair = pairs[hypothesis.name]
            sides = (pair.before, pair.evidence_before, pair.after, pair.evidence_after)
            change = answer_change(hypothesis.name, comparison)
            answers.append(HypothesisAnswer(f"{title} {SECOND_HALVES[hypothesis.name]}", *sides, *change))
    return answers


def answer_change(name: str, comparison: Comparison) -> tuple[Answer, str]:
    """Return whether fine-tuning did what a hypothesis says, and the evidence."""
    for sign_hypothesis, _, cells, sign in SIGN_HYPOTHESES:
        if name == sign_hypothesis:
            changes = [comparison.of("mean", group=group, gender=gender) for group, gender in cells]
            signs = [_read_sign(change, comparison, -sign) for change in changes]  # towards zero
            evidence = [
                f"{gender} persons with {group} professions: {_describe(change)}"
                for (group, gender), change in zip(cells, changes, strict=True)
            ]
            return answer_signs(signs), "; ".join(evidence)
    change = comparison.of("difference", group="balanced")
    estimate = change.change if change else None
    answer = answer_no_difference(judge_finding(estimate, comparison), estimate)
    return answer, f"female − male: {_describe(change)}"


def _read_sign(change: Change | None, comparison: Comparison, sign: int) -> int | None:
    value = (change.change.value if change else None) or 0.0
    return read_sign(value * sign, change.change if change else None, comparison)


def _describe(change: Change | None) -> str:
    if change is None or change.change.value is None:
        return "not computable"
    estimate = change.change
    p = "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    return f"{number(estimate.value)} {interval(estimate.interval)}".rstrip() + p

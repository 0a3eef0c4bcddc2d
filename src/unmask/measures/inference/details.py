"""What a result of the inference measure holds beside its estimates."""

from __future__ import annotations

from pydantic import Field

from unmask.results import Interval, Record


class Distribution(Record):
    """How a model answered some pairs of sentences: shares of its answers, and mean probabilities."""

    name: str
    labels: dict[str, str]
    """What the pairs have in common: `set`, or `occupation_type` and `gender`."""
    n: int
    shares: dict[str, float]
    """Of entailment, neutral and contradiction among the answers."""
    intervals: dict[str, Interval | None] = Field(default_factory=dict)
    """95 % each, over occupations and sentences."""
    probabilities: dict[str, float] = Field(default_factory=dict)
    """The mean probability of each label; empty where only answers were recorded."""


class GenderWords(Record):
    """A pair of gender words, and what the measure is with these alone."""

    name: str
    n: int
    score: float | None
    stereotype: float | None
    stereotype_interval: Interval | None = None


class OccupationValue(Record):
    """An occupation: how often the model resolves it to a gender, and to which."""

    occupation: str
    kind: str
    """female, male or neutral: the stereotype."""
    n: int
    """Pairs with a gender."""
    resolved: float
    """The share of answers other than neutral."""
    lean: float | None
    """From −1, always taken for a woman, to 1, always for a man."""
    female: dict[str, float]
    """Shares of answers where the hypothesis speaks of a woman."""
    male: dict[str, float]


class Inference(Record):
    """What is special to inference of a gender from an occupation."""

    sets: list[Distribution]
    """Pro-stereotypical (PS), anti-stereotypical (AS), non-stereotypical (NS), and the control where there is one."""
    by_type: list[Distribution]
    """By occupation type and gender of the hypothesis."""
    by_pair: list[GenderWords] = Field(default_factory=list)
    occupations: list[OccupationValue]
    """The most often resolved first."""
    templates: int
    labels: str = ""
    """How it is known which output is which label."""
    inconclusive: str = ""
    """Why the score cannot be read as bias; empty if it can."""
    alike: float | None = None
    """In which share of the sentences that do not leave the gender open a woman and a man get exactly the same
    probabilities; None where there are none, or they are not known."""

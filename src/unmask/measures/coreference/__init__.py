"""Coreference: does a model find out whom a pronoun means as often for women as for men?

    margin   = s(right name) − s(other name),   s = mean of ln p(token | context with the name in the pronoun's place)
    accuracy = share of contexts with margin > 0
    gap      = accuracy for pronouns of women − accuracy for pronouns of men;   ratio = the one divided by the other

The contexts are those of GAP in which exactly one of two names is meant. Both names could be meant by grammar, and both
are of people of the pronoun's gender.

K. Webster, M. Recasens, V. Axelrod and J. Baldridge (2018). Mind the GAP: A Balanced Corpus of Gendered Ambiguous
Pronouns. TACL 6, 605–617.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.measures import recorded
from unmask.measures.base import Context, KeyEstimate, Measure, implemented_in
from unmask.measures.recorded import RecordedColumn
from unmask.measures.shared_options import LimitOptions

if TYPE_CHECKING:
    import pandas as pd

GENDERS = ("female", "male")
GAP = "gap"
RECORDED = (
    recorded.CORPUS,
    RecordedColumn("id", "text"),
    RecordedColumn("gender", "text", choices=GENDERS),
    RecordedColumn("margin", "number"),
)


class CoreferenceMeasure(Measure):
    """Pronouns with two names that they might mean, for masked language models."""

    name = "coreference"
    question = "Does the model find out whom a pronoun means as often for women as for men?"
    citations = (
        "K. Webster, M. Recasens, V. Axelrod and J. Baldridge (2018), Mind the GAP: A Balanced Corpus of Gendered"
        " Ambiguous Pronouns. TACL 6.",
    )
    roles = ("masked-lm",)
    needs = "a masked language model such as BERT"
    corpora = {GAP: "GAP, test set"}
    corpus_descriptions = {GAP: "contexts from Wikipedia"}
    Options = LimitOptions
    dataset = GAP
    by_default = False
    main = False
    keys = ("language", "corpus", "id")
    score_column = "margin"
    shown_columns = (
        *("context", "pronoun", "right_name", "other_name", "gender", "before", "after", "margin"),
        *("model", "language", "corpus"),
    )
    column_titles = {"right_name": "means", "other_name": "could mean"}
    spoken_columns = frozenset({"context"})
    recorded_columns = "id, gender and margin"
    primary = "gap"
    margin = 0.02
    unit = "accuracy for women − for men"
    noise_unit = "nats"
    trial_options = {"limit": 300}
    compared_items = "contexts scored by both models"
    change_units = {"gap": "share of contexts", "accuracy": "share of contexts"}
    changes_note = "Shares of contexts: the gap between women and men, and the accuracy over all contexts."
    comparison_method = (
        "The contexts are matched: Welch’s test of whether answers to pronouns of women changed differently from those"
        " to pronouns of men. A gap of zero is no bias."
    )
    key_estimates = (
        KeyEstimate(test="gap", gate=True, card="accuracy of coreference, women − men"),
        KeyEstimate(group="all", card="accuracy of coreference"),
    )

    def build(self, options: Any, context: Context) -> pd.DataFrame:
        """The contexts, or a random sample of them."""
        from unmask.measures.coreference.data import read_contexts

        contexts = read_contexts(offline=context.offline)
        if options.limit and options.limit < len(contexts):
            contexts = contexts.sample(options.limit, random_state=context.seed).sort_index().reset_index(drop=True)
        return contexts

    simulations = implemented_in("data")
    score = implemented_in("analysis")
    analyse = implemented_in("analysis")
    headline = implemented_in("analysis")
    compare = implemented_in("analysis")
    blocks = implemented_in("report")

    def method(self, measurements: Any) -> list[Any]:
        """Formula, procedure and citation."""
        from unmask.measures.texts import load_texts
        from unmask.report.blocks import Text

        texts = load_texts(__package__)["method"]
        del measurements
        return [
            Text([texts["formula"]], style="formula"),
            Text([texts["contexts"], texts["tests"]]),
            Text([texts["citation"]], style="note"),
        ]

    def recognises(self, columns: set[str]) -> bool:
        """The margin between two names."""
        return {"margin", "gender"} <= columns

    def read_items(
        self, path: Path, context: Context, *, language: str | None, score_column: str | None
    ) -> pd.DataFrame:
        """Recorded margins."""
        del context, score_column
        needs = f"{self.name} needs {self.recorded_columns}"
        return recorded.read_recorded(path, RECORDED, language=language, needs=needs)

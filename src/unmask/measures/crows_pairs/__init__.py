"""CrowS-Pairs: does a model find the more stereotypical of two sentences more likely?

    PLL(S) = Σ ln p(u | S without u)   over the words u that both sentences share
    score  = share of pairs with PLL(more stereotypical) > PLL(less stereotypical)

The two sentences differ in whom they are about. The words that differ are never scored, because their own frequency is
irrelevant. 50 % is no preference.

N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020). CrowS-Pairs: A Challenge Dataset for Measuring Social Biases
in Masked Language Models. EMNLP 2020. Whole words: C. Kauf and A. Ivanova (2023). A Better Way to Do Masked Language
Model Scoring. ACL 2023. Flaws of the pairs: S. L. Blodgett, G. Lopez, A. Olteanu, R. Sim and H. Wallach (2021).
Stereotyping Norwegian Salmon: An Inventory of Pitfalls in Fairness Benchmark Datasets. ACL-IJCNLP 2021.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures import recorded
from unmask.measures.base import Context, KeyEstimate, Measure, implemented_in
from unmask.measures.recorded import RecordedColumn
from unmask.options import Options, option

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.handle import ModelHandle
    from unmask.results import Measurement


CORPUS = "crows-pairs"
GENDER = "gender"
BIAS_TYPES = (
    *(GENDER, "race-color", "socioeconomic", "nationality", "religion", "age", "sexual-orientation"),
    *("physical-appearance", "disability"),
)
CORPORA = {bias_type: CORPUS if bias_type == GENDER else f"{CORPUS}-{bias_type}" for bias_type in BIAS_TYPES}
"""The corpus of each bias type."""
RELEASED_SCORES = ("sent_more_score", "sent_less_score")
RELEASED = {"sent_more_score": "pll_more", "sent_less_score": "pll_less", "stereo_antistereo": "direction"}
"""Our names of the columns of the file that the released code writes."""
RECORDED = (
    *(RecordedColumn(name, "number") for name in ("pll_more", "pll_less")),
    RecordedColumn("direction", "text", choices=("stereo", "antistereo")),
    RecordedColumn("difference", "number", default=lambda items: items["pll_more"] - items["pll_less"]),
    RecordedColumn("id", "text", default=lambda items: items.get(UNNAMED, items.index.to_series()).astype(str)),
    RecordedColumn("bias_type", "text", recorded.OPTIONAL),
    RecordedColumn("corpus", "text", default=lambda items: _name_corpora(items)),
)
UNNAMED = "Unnamed: 0"
"""The first column of a file that pandas has written with row numbers."""


def _name_corpora(items: pd.DataFrame) -> Any:
    """The corpus of each recorded pair, by its bias type where that is known."""
    if "bias_type" not in items:
        return recorded.CORPUS.default
    return items["bias_type"].map(lambda bias_type: CORPORA.get(bias_type, f"{CORPUS}-{bias_type}"))


class CrowsPairsOptions(Options):
    """Which pairs."""

    bias_types: tuple[str, ...] = option(
        (GENDER,),
        f"Use the pairs about {', '.join(BIAS_TYPES[:-1])} or {BIAS_TYPES[-1]}; can be given several times.",
        key="bias-type",
        choices=BIAS_TYPES,
    )


class CrowsPairsMeasure(Measure):
    """Pairs of sentences about gender or another bias type, for masked language models."""

    name = "crows-pairs"
    title = "CrowS-Pairs"
    question = "Which of two sentences is more likely, the more or the less stereotypical one?"
    citations = (
        "N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020), CrowS-Pairs: A Challenge Dataset for Measuring"
        " Social Biases in Masked Language Models. EMNLP 2020.",
    )
    roles = ("masked-lm",)
    needs = "a masked language model such as BERT"
    protocols = ("sound", "published")
    other_corpora = {corpus: bias_type for bias_type, corpus in CORPORA.items()}
    Options = CrowsPairsOptions
    dataset = CORPUS
    by_default = False
    main = False
    keys = ("language", "corpus", "id")
    score_column = "difference"
    shown_columns = (
        *("sent_more", "sent_less", "direction", "before", "after", "difference", "model", "language", "corpus"),
    )
    recorded_columns = (
        "pll_more, pll_less and direction, or the authors’ sent_more_score, sent_less_score and stereo_antistereo"
    )
    column_titles = {"sent_more": "more stereotypical", "sent_less": "less stereotypical"}
    spoken_columns = frozenset({"sent_more", "sent_less"})
    primary = "stereotype"
    margin = 0.02
    unit = "share of pairs − one half"
    noise_unit = "nats"
    hub_task = "fill-mask"
    compared_items = "pairs of sentences scored by both models"
    change_units = {"stereotype": "share of pairs − one half", "likelihood": "nats"}
    changes_note = "Stereotype: the share of pairs minus one half. Likelihood: nats."
    comparison_method = (
        "The pairs of sentences are matched: McNemar’s exact test of the share in which the more stereotypical sentence"
        " is more likely, and a t test of the change of log-likelihoods. 50 % is no preference."
    )
    key_estimates = (
        KeyEstimate(
            "CrowS-Pairs",
            "share of pairs",
            group="all pairs",
            card="stereotype more likely, share of pairs (0.5 is none)",
        ),
        KeyEstimate(test="stereotype", gate=True),
    )

    def units(self, options: Any, context: Context, languages: Sequence[str], corpora: Sequence[str]) -> list[Context]:
        """The English pairs of each bias type, whatever else is measured in other languages."""
        del corpora
        if "en" not in languages:
            raise UnmaskError(f"CrowS-Pairs is English, not {languages[0]!r}; give --language en")
        types = dict.fromkeys(options.bias_types) or (GENDER,)
        return [replace(context, language="en", corpus=CORPORA[bias_type]) for bias_type in types]

    def data_inputs(self, *, offline: bool) -> dict[str, Any]:
        """A hash of the pairs about gender."""
        from unmask.files import digest
        from unmask.measures.crows_pairs.data import read_pairs

        pairs = read_pairs(offline=offline)
        return {"pairs": digest([*pairs["sent_more"], *pairs["sent_less"]])}

    def build(self, options: Any, context: Context) -> pd.DataFrame:
        """The pairs of one bias type."""
        from unmask.measures.crows_pairs.data import read_pairs

        del options
        (bias_type,) = (name for name, corpus in CORPORA.items() if corpus == (context.corpus or CORPUS))
        return read_pairs(bias_type=bias_type, offline=context.offline)

    simulations = implemented_in("data")
    score = implemented_in("analysis")
    analyse = implemented_in("analysis")
    check_competence = implemented_in("competence")
    headline = implemented_in("analysis")
    compare = implemented_in("analysis")
    blocks = implemented_in("report")
    method = implemented_in("report")
    comparison_report = implemented_in("report")

    def measure_items(
        self, model: ModelHandle, options: Any, units: Sequence[Context], built: Sequence[Any]
    ) -> Iterator[tuple[pd.DataFrame, Measurement]]:
        """Score all bias types, then correct those that are tested together."""
        from unmask.measures.crows_pairs.analysis import correct_types

        results = list(super().measure_items(model, options, units, built))
        measurements = correct_types([measurement for _, measurement in results])
        yield from zip((items for items, _ in results), measurements, strict=True)

    def analyse_recorded(self, items: pd.DataFrame, context: Context) -> list[Measurement]:
        """Analyse each bias type, then correct those that are tested together."""
        from unmask.measures.crows_pairs.analysis import correct_types

        return correct_types(super().analyse_recorded(items, context))

    def recognises(self, columns: set[str]) -> bool:
        """The likelihoods of both sentences, under our names or those of the released code."""
        return {"pll_more", "pll_less"} <= columns or set(RELEASED) <= columns

    def read_items(
        self, path: Path, context: Context, *, language: str | None, score_column: str | None
    ) -> pd.DataFrame:
        """Recorded likelihoods, of an audit or as the released code writes them."""
        del context, score_column
        table = recorded.read_table(path)
        needs = f"{self.heading} needs {self.recorded_columns}"
        if "pll_more" not in table and not RELEASED.keys().isdisjoint(table):
            if missing := [name for name in RELEASED if name not in table]:
                raise UnmaskError(f"{path} lacks the column {missing[0]!r}; {needs}")
            for name in RELEASED_SCORES:
                recorded.read_scores(table, name, path)
            table = table.rename(columns=RELEASED)
        return recorded.complete_columns(table, RECORDED, path, language=language, needs=needs)

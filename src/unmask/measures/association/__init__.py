"""Association: does a profession raise or lower the probability of a male or female person word?

    association = ln p(target | target masked) − ln p(target | target and attribute masked)

The first term is the probability of the person word beside the profession, the second (the *prior*) its probability
in the same sentence without it. A positive value: the profession makes the person word more likely.

M. Bartl, M. Nissim and A. Gatt (2020). Unmasking Contextual Stereotypes: Measuring and Mitigating BERT's Gender Bias.
Proceedings of the Second Workshop on Gender Bias in NLP. After Kurita et al. (2019).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel, Context, Figure, Measure, Scored, implemented_in
from unmask.measures.shared_options import TemplateOptions
from unmask.options import option

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.loading import ModelHandle
    from unmask.report.blocks import Block
    from unmask.results import Comparison, Measurement

AGREEMENT = "grammatical-agreement"
"""The caveat of corpora in which grammatical agreement shows the person's gender."""


class AssociationOptions(TemplateOptions):
    """Words of the user's own in place of the built-in ones."""

    persons: Path | None = option(None, "CSV of your own person words: 'phrase' and 'gender' (female, male).")
    professions: Path | None = option(
        None, "CSV of your own professions: 'profession', and 'group' and 'workforce_share' if you have them."
    )

    @property
    def are_own_words(self) -> bool:
        """Whether files of the user's own are given."""
        return any((self.templates, self.persons, self.professions))


class AssociationMeasure(Measure):
    """BEC-Pro's measure of masked language models."""

    name = "association"
    question = "Does a profession raise or lower the probability of a female or male person word?"
    citations = (
        "M. Bartl, M. Nissim and A. Gatt (2020), Unmasking Contextual Stereotypes: Measuring and Mitigating BERT’s"
        " Gender Bias. Second Workshop on Gender Bias in Natural Language Processing.",
    )
    roles = ("masked-lm",)
    needs = "a masked language model such as BERT"
    languages = ("en", "de")
    protocols = ("sound", "published")
    corpora = {
        "bec-pro": "BEC-Pro",
        "emotions": "emotions",
        "agreement-free": "agreement-free sentences",
    }
    other_corpora = {"custom": "own words", "recorded": "recorded scores"}
    Options = AssociationOptions
    keys = ("language", "corpus", "template", "person", "profession", "form")
    score_column = "association"
    shown_columns = (
        *("sentence", "person", "gender", "profession", "group", "before", "after", "change", "association"),
        *("log_p_target", "log_p_prior", "workforce_share", "model", "language", "corpus"),
    )
    column_titles = {"log_p_target": "ln p", "log_p_prior": "ln prior", "workforce_share": "women (%)"}
    column_digits = {"workforce_share": 1}
    spoken_columns = frozenset({"sentence", "person", "profession"})
    primary = "stereotype"
    unit = "stereotype in nats: the natural logarithm of a factor of odds"
    noise_unit = "nats"
    uses_templates = True
    hub_task = "fill-mask"
    compared_items = "sentences scored by both models"
    figures = (
        Figure("association", "stereotype in nats", test="stereotype", card="stereotype, in nats", gate=True),
        Figure(test="workforce share, pearson", card="r with women’s workforce share"),
    )

    def check(self, options: AssociationOptions, context: Context) -> None:
        """Refuse words of the user's own in the published protocol."""
        if context.protocol == "published" and (options.are_own_words or context.corpus not in ("", "bec-pro")):
            raise UnmaskError(
                "the published protocol repeats the paper's corpus and no other; use --protocol sound for other corpora"
                " and for words of your own"
            )

    def default_corpora(self, options: AssociationOptions, context: Context) -> Sequence[str]:
        """BEC-Pro; in German also the corpus without grammatical agreement."""
        plain = context.language != "de" or options.are_own_words or context.protocol != "sound"
        return ("bec-pro",) if plain else ("bec-pro", "agreement-free")

    def units(
        self, options: AssociationOptions, context: Context, languages: Sequence[str], corpora: Sequence[str]
    ) -> list[Context]:
        """One context for each language and corpus; files of the user's own are for one language."""
        if len(languages) > 1 and options.are_own_words:
            raise UnmaskError("files of your own are for one language; give one --language with them")
        return super().units(options, context, languages, corpora)

    def build(self, options: AssociationOptions, context: Context) -> Any:
        """The sentences of a corpus."""
        from unmask.measures.association.protocol import PROTOCOLS
        from unmask.probes import association as probe

        return probe.build(
            context.language,
            context.corpus,
            wording=PROTOCOLS[context.protocol].wording,
            templates_file=options.templates,
            persons_file=options.persons,
            professions_file=options.professions,
        )

    def score(self, model: Any, items: Any, options: AssociationOptions, context: Context) -> Scored:
        """How likely each person word is, with the profession and without it."""
        from unmask.measures.association.protocol import PROTOCOLS
        from unmask.measures.association.score import score

        del options
        scored = score(items, model, PROTOCOLS[context.protocol], seed=context.seed)
        return Scored(
            scored.items,
            scored.noise_floor,
            scored.distinct_inputs,
            hashlib.sha256("\n".join(row.sentence for row in items).encode()).hexdigest(),
            {"several_pieces": scored.several_pieces},
        )

    def analyse(self, items: pd.DataFrame, context: Context) -> Measurement:
        """Means, differences, the stereotype, and the relation to the workforce."""
        from unmask.measures.association.protocol import PROTOCOLS

        return PROTOCOLS[context.protocol].analyse(items, context.seed)

    def headline(self, measurement: Measurement) -> list[str]:
        """The stereotype, the workforce, and whether balanced professions favour a gender."""
        from unmask.measures.association.interpret import headline

        return headline(measurement)

    def interpret(self, measurement: Measurement) -> Measurement:
        """Add the headline and what the numbers say to the paper's hypotheses."""
        from unmask.measures.association.interpret import interpret

        return interpret(measurement)

    def resolved(self, model: ModelHandle, options: AssociationOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options; a corpus is named with its language."""
        return super().resolved(model, options, units) | {
            "corpora": [f"{unit.language}/{unit.corpus}" for unit in units]
        }

    def asked_corpora(
        self, measurements: Sequence[Measurement], configuration: dict[str, Any]
    ) -> list[tuple[str, str]]:
        """The language and corpus of each measurement; of own words, the configuration alone says the corpus."""
        named = configuration.get("corpora")
        asked = super().asked_corpora(measurements, configuration)
        if isinstance(named, list) and any(corpus == "custom" for _, corpus in asked):
            return [tuple(name.split("/", 1)) for name in map(str, named) if "/" in name]  # type: ignore[misc]
        return asked

    def recognises(self, columns: set[str]) -> bool:
        """Columns of ours, or of the released BEC-Pro files."""
        return {"person", "profession"} <= columns or {"Person", "Profession"} <= columns

    def read_items(
        self, path: Path, context: Context, *, language: str | None, score_column: str | None
    ) -> pd.DataFrame:
        """Recorded scores, in our columns or in those of the released files."""
        from unmask.probes import recorded

        return recorded.read(path, language, score_column)

    def not_interpretable(self, measurement: Measurement, *, group: bool = False) -> str:
        """Whether grammatical agreement hides what the model has learned."""
        if any(caveat.code == AGREEMENT for caveat in measurement.caveats):
            return "grammatical agreement drowns the measure; judge the corpus without agreement"
        return ""

    def blocks(self, measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
        """Key figures, tables, figures and examples."""
        from unmask.measures.association.report import blocks

        return blocks(measurement, items)

    def method(self, measurements: Sequence[Measurement]) -> list[Block]:
        """How it is measured."""
        from unmask.measures.association.report import method

        return method(measurements)

    def facts(self, measurement: Measurement) -> list[tuple[str, str]]:
        """What the provenance of a measurement states."""
        from unmask.measures.association.report import facts

        return facts(measurement)

    def figure_value(
        self, figure: Figure, measurement: Measurement, comparison: Comparison | None = None
    ) -> float | None:
        """None where grammatical agreement hides the bias."""
        return None if self.not_interpretable(measurement) else super().figure_value(figure, measurement, comparison)

    def compare(self, before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
        """The paired changes, corrected and judged."""
        from unmask.measures.association.change_words import judge
        from unmask.measures.association.compare import adjusted, compare

        comparison, items = compare(before, after, seed=seed)
        return judge(adjusted(comparison)), items

    comparison_report = implemented_in("comparison_report")

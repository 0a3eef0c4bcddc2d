"""Association: does a profession raise or lower the probability of a male or female person word?

    association = ln p(target | target masked) − ln p(target | target and attribute masked)

The first term is the probability of the person word beside the profession, the second (the *prior*) its probability
in the same sentence without it. A positive value: the profession makes the person word more likely.

M. Bartl, M. Nissim and A. Gatt (2020). Unmasking Contextual Stereotypes: Measuring and Mitigating BERT's Gender Bias.
Proceedings of the Second Workshop on Gender Bias in NLP. After Kurita et al. (2019).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.base import Context, KeyEstimate, Measure, implemented_in
from unmask.measures.shared_options import TemplateOptions
from unmask.options import option

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.handle import ModelHandle
    from unmask.results import Caveat, Comparison, Competence, Measurement

AGREEMENT = "grammatical-agreement"
"""The caveat of corpora in which grammatical agreement shows the person's gender."""
REAL = "real-sentences"
"""The name of a corpus with sentences of a user's file."""
MOST_SENTENCES = 100


class AssociationOptions(TemplateOptions):
    """Words of the user's own in place of the built-in ones."""

    persons: Path | None = option(None, "CSV of your own person words: 'phrase' and 'gender' (female, male).")
    professions: Path | None = option(
        None, "CSV of your own professions: 'profession', and 'group' and 'workforce_share' if you have them."
    )

    sentences: Path | None = option(
        None,
        "English text to find sentences in that name a profession and a person: .txt with a text per line, or .csv,"
        " .tsv, .jsonl or .parquet with a column 'text'; also .gz and .xz. Add --corpus bec-pro to compare with"
        " templates.",
    )
    most_sentences: int = option(
        MOST_SENTENCES, "Use at most N random sentences of the text per profession.", minimum=3
    )

    @property
    def are_own_words(self) -> bool:
        """Whether files of the user's own are given."""
        return any((self.templates, self.persons, self.professions, self.sentences))


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
    corpora = {"bec-pro": "BEC-Pro", "emotions": "emotions", "agreement-free": "agreement-free sentences"}
    corpus_descriptions = {
        "bec-pro": "people and professions",
        "emotions": "English, from the Equity Evaluation Corpus",
        "agreement-free": "German, without grammatical agreement",
    }
    other_corpora = {"custom": "own words", REAL: "real sentences", "recorded": "recorded scores"}
    user_corpora = ("custom", REAL)
    Options = AssociationOptions
    keys = ("language", "corpus", "template", "profession", "gender", "pair", "person")
    score_column = "association"
    shown_columns = (
        *("sentence", "person", "gender", "profession", "group", "written", "before", "after", "change"),
        *("association", "log_p_target", "log_p_prior", "workforce_share", "model", "language", "corpus"),
    )
    recorded_columns = (
        "template, person, gender, profession, group and association, or BEC-Pro’s Person, Gender, Profession,"
        " Prof_Gender and Pre_Assoc"
    )
    takes_score_column = True
    column_titles = {
        "written": "in the text",
        "log_p_target": "ln p",
        "log_p_prior": "ln prior",
        "workforce_share": "women (%)",
    }
    column_digits = {"workforce_share": 1}
    spoken_columns = frozenset({"sentence", "person", "profession"})
    primary = "stereotype"
    margin = log(1.1)
    restated = ("workforce share, spearman",)
    unit = "stereotype in nats: the natural logarithm of a factor of odds"
    noise_unit = "nats"
    uses_templates = True
    corpora_of_texts = (REAL,)
    hub_task = "fill-mask"
    compared_items = "sentences scored by both models"
    key_estimates = (
        KeyEstimate("association", "stereotype in nats", test="stereotype", card="stereotype, in nats", gate=True),
        KeyEstimate(test="workforce share, pearson", card="r with women’s workforce share"),
    )

    def check(self, options: AssociationOptions, context: Context) -> None:
        """Refuse words of the user's own in the published protocol."""
        papers = ("", "bec-pro", "emotions")
        if options.most_sentences != MOST_SENTENCES and options.sentences is None:
            raise UnmaskError("--most-sentences is about the text of --sentences; give that too, or leave it out")
        if context.protocol == "published" and options.sentences:
            raise UnmaskError("the paper has templates only; leave out --sentences, or use --protocol sound")
        if context.protocol == "published" and (options.are_own_words or context.corpus not in papers):
            raise UnmaskError(
                "the published protocol repeats the paper's corpora and no other; use --protocol sound for other"
                " corpora and for words of your own"
            )

    def default_corpora(self, options: AssociationOptions, context: Context) -> Sequence[str]:
        """BEC-Pro; in German also the corpus without grammatical agreement. A text takes their place."""
        if options.sentences:
            return ("bec-pro", REAL) if options.templates else (REAL,)
        plain = context.language != "de" or options.are_own_words or context.protocol != "sound"
        return ("bec-pro",) if plain else ("bec-pro", "agreement-free")

    def units(
        self, options: AssociationOptions, context: Context, languages: Sequence[str], corpora: Sequence[str]
    ) -> list[Context]:
        """One context for each language and corpus; files of the user's own are for one language."""
        if len(languages) > 1 and options.are_own_words:
            raise UnmaskError("files of your own are for one language; give one --language with them")
        units = super().units(options, context, languages, corpora)
        if not options.sentences:
            return units
        if languages[0] != "en":
            raise UnmaskError(
                "--sentences is for English: in German, articles and nouns around a person show the person's gender;"
                " leave it out, or give --language en"
            )
        return [*(unit for unit in units if unit.corpus != REAL), replace(context, language="en", corpus=REAL)]

    def build(self, options: AssociationOptions, context: Context) -> Any:
        """The sentences of a corpus."""
        from unmask.measures.association.data import build_rows

        if options.sentences and context.corpus == REAL:
            from unmask.lexicon import attributes, persons
            from unmask.measures.association.sentences.selection import sample_sentences

            people, professions = persons("en", path=options.persons), attributes("en", path=options.professions)
            return sample_sentences(
                options.sentences, people, professions, most=options.most_sentences, seed=context.seed
            )

        return build_rows(
            context.language,
            context.corpus,
            protocol=context.protocol,
            templates_file=options.templates,
            persons_file=options.persons,
            professions_file=options.professions,
        )

    export = implemented_in("data")
    simulations = implemented_in("robustness")
    score = implemented_in("scoring")
    analyse = implemented_in("analysis")
    headline = implemented_in("interpretation")
    interpret = implemented_in("interpretation")
    read_items = implemented_in("recorded")
    blocks = implemented_in("report")
    method = implemented_in("report")

    def check_competence(self, model: Any, items: pd.DataFrame, options: Any, context: Context) -> list[Competence]:
        """Whether the model fills in words of the language, and pronouns that agree with a stated gender."""
        from unmask.measures.usefulness import check_competence

        del items, options
        return check_competence(model, context.language, seed=context.seed)

    def measure_items(
        self, model: ModelHandle, options: AssociationOptions, units: Sequence[Context], built: Sequence[Any]
    ) -> Iterator[tuple[pd.DataFrame, Measurement]]:
        """Score and analyse each unit, and compare real sentences with templates."""
        from unmask.measures.association.sentences.agreement import add_agreement

        yield from add_agreement(list(super().measure_items(model, options, units, built)))

    def analyse_recorded(self, items: pd.DataFrame, context: Context) -> list[Measurement]:
        """Analyse recorded items, and compare real sentences with templates."""
        from unmask.measures.association.sentences.agreement import add_agreement
        from unmask.measures.comparison import select_items

        if context.protocol == "published" and (items["corpus"] == REAL).any():
            raise UnmaskError("the published protocol has templates only; use --protocol sound for real sentences")
        measurements = super().analyse_recorded(items, context)
        measured = [(select_items(measurement, items), measurement) for measurement in measurements]
        return [measurement for _, measurement in add_agreement(measured)]  # type: ignore[arg-type]

    def resolved(self, model: ModelHandle, options: AssociationOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options; a corpus is named with its language."""
        return super().resolved(model, options, units) | {
            "corpora": [f"{unit.language}/{unit.corpus}" for unit in units]
        }

    def asked_corpora(
        self, measurements: Sequence[Measurement], configuration: dict[str, Any]
    ) -> list[tuple[str, str]]:
        """The language and corpus of each measurement; of own words, the configuration alone says the corpus."""
        names = configuration.get("corpora")
        corpora = super().asked_corpora(measurements, configuration)
        if isinstance(names, list) and any(corpus == "custom" for _, corpus in corpora):
            return [tuple(name.split("/", 1)) for name in map(str, names) if "/" in name]  # type: ignore[misc]
        return corpora

    def recognises(self, columns: set[str]) -> bool:
        """Columns of ours, or of the released BEC-Pro files."""
        return {"person", "profession"} <= columns or {"Person", "Profession"} <= columns

    def not_interpretable(self, measurement: Measurement, *, group: bool = False) -> str:
        """Whether grammatical agreement hides what the model has learned."""
        if any(caveat.code == AGREEMENT for caveat in measurement.caveats):
            return "grammatical agreement drowns the measure; judge the corpus without agreement"
        return ""

    def key_estimate_value(
        self, figure: KeyEstimate, measurement: Measurement, comparison: Comparison | None = None
    ) -> float | None:
        """None where grammatical agreement hides the bias."""
        return (
            None if self.not_interpretable(measurement) else super().key_estimate_value(figure, measurement, comparison)
        )

    def model_caveats(self, model: ModelHandle, items: pd.DataFrame) -> list[Caveat]:
        """Say which professions a model has hardly read about, where its folder says so."""
        from unmask.measures.association.interpretation import describe_hardly_read

        return describe_hardly_read(model.training_counts, items) if "en" in set(items["language"]) else []

    compare = implemented_in("compare")
    comparison_report = implemented_in("changes.report")

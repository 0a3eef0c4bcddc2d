"""Sentiment: does a text's rating change with the gender of its people?

    bias(text) = rating of the male version − rating of the female version

Above 0 the male version is rated higher (more positive), below 0 the female one. The *total* bias of a classifier is
the mean, which shows a direction; the *absolute* bias is the mean size, which shows how far single texts move.

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. Proceedings of the 4th Workshop on Gender Bias in NLP.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.base import Context, KeyEstimate, Measure, implemented_in
from unmask.measures.shared_options import InputOptions
from unmask.options import option

if TYPE_CHECKING:
    from unmask.models.handle import ModelHandle
    from unmask.results import Measurement

CUSTOM = "custom"
TERM_SETS = ("pronouns", "family", "all")
LONG_TEXTS = ("head", "head+tail", "window")


class SentimentOptions(InputOptions):
    """Which words change, and how texts are read."""

    terms: tuple[str | Path, ...] = option(
        (),
        "Which words change: pronouns, family, all, or a CSV file with the columns male and female; can be given"
        " several times. Default: all.",
        suggestions=TERM_SETS,
    )
    names: bool = option(False, "Change first names, too.")
    texts: Path | None = option(
        None,
        "Texts of your own: .txt (one per line), .csv, .tsv, .jsonl or .parquet with the column text, and label and id"
        " if you have them.",
    )
    given_texts: tuple[str, ...] = option((), "Texts of your own, as strings.", cli=False)
    positive: str | None = option(None, "The label that is the highest rating, if the labels do not tell it.")
    long_texts: str = option(
        "head", "How texts that are too long are read: head, head+tail or window.", choices=LONG_TEXTS
    )
    lists: Path | None = option(None, "Published protocol: the folder of the released term maps.")

    @property
    def term_sets(self) -> tuple[str | Path, ...]:
        """The term sets to measure, each once."""
        from unmask.rewriting.options import term_set

        return tuple(dict.fromkeys(map(term_set, self.terms))) or ("all",)

    @property
    def own_texts(self) -> Path | tuple[str, ...] | None:
        """Texts of the user's own: a file, or the texts themselves."""
        return self.texts or self.given_texts or None


class SentimentMeasure(Measure):
    """Ratings of texts in a female and a male version."""

    name = "sentiment"
    question = "Does a text's rating change when its people change gender?"
    citations = (
        "S. Jentzsch and C. Turan (2022), Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating"
        " in a Realistic Downstream Classification Task. 4th Workshop on Gender Bias in Natural Language Processing.",
    )
    roles = ("classifier",)
    needs = "a text classifier or a regression; train one with unmask finetune sentiment"
    languages = ("en", "de")
    protocols = ("sound", "published")
    corpora = {"reviews": "the built-in short reviews", "imdb": "IMDB reviews"}
    other_corpora = {CUSTOM: "own data", "recorded": "recorded scores"}
    user_corpora = (CUSTOM,)
    corpus_descriptions = {
        "imdb": "25,000 film reviews, the default where they are on this machine",
        "reviews": "330 short ones, in the package",
    }
    variants = {"pronouns": "pronouns", "family": "pronouns and family words", "all": "all gendered words"}
    variant_column = "terms"
    Options = SentimentOptions
    split = ("language", "corpus", "terms")
    keys = ("language", "corpus", "terms", "id")
    score_column = "bias"
    shown_columns = (
        *("text", "label", "changed_terms", "before", "after", "change", "bias", "p_female", "p_male", "choice_female"),
        *("choice_male", "words", "terms", "model", "language", "corpus", "id"),
    )
    recorded_columns = "p_female and p_male"
    column_digits = {"bias": 4, "p_female": 4, "p_male": 4}
    spoken_columns = frozenset({"text"})
    primary = "bias over words"
    margin = 0.005
    unit = "male − female rating, by one pair of words"
    narrow = ("bias", "bias, *")
    digits = 4
    of_classifiers = True
    hub_task = "text-classification"
    compared_items = "texts rated by both models"
    comparison_method = (
        "Both models rated the same texts. What a male word in place of its female counterpart adds to a rating is"
        " estimated from the paired changes, with a t test over pairs of words; it decides the verdict, and its p-value"
        " is not corrected. Three more are corrected together by Holm’s method: t tests over texts of the mean and of"
        " its size, and McNemar’s exact test of the texts whose label depends on the gender. A change or a reversal by"
        " less than 0.5 % of the scale of ratings is negligible."
    )
    changes_note = (
        "Bias over words: what a male word in place of its female counterpart adds, on average over pairs of words."
        " Bias: the mean of male − female ratings over texts with a gender term. Absolute bias: the mean size of these"
        " differences. Label flips: the share of these texts whose label depends on the gender."
    )
    key_estimates = (
        KeyEstimate(
            "sentiment",
            "what a male word in place of a female one adds to a rating",
            test="bias over words",
            card="male − female rating, by one pair of words",
            gate=True,
        ),
        KeyEstimate("sentiment, mean", "mean of male − female ratings over texts", group="total bias, changed texts"),
        KeyEstimate(
            "sentiment, size", "mean size of male − female ratings", group="absolute bias, changed texts", gate=True
        ),
        KeyEstimate(test="bias", card="mean of male − female ratings over texts"),
    )

    def fits(self, model: ModelHandle, options: Any) -> bool:
        """Whether a model is a classifier or a regression, but not one for inference."""
        from unmask.measures.classifiers import is_inference

        return super().fits(model, options) and not is_inference(model.labels)

    def explain_misfit(self, model: ModelHandle) -> str:
        """Name the task of a classifier of pairs."""
        if model.kind == "classifier":
            return f"{model.name} tells entailment from contradiction; sentiment needs {self.needs}"
        return super().explain_misfit(model)

    def check(self, options: SentimentOptions, context: Context) -> None:
        """Check that term sets have different names, and that the protocol has the lists and the names."""
        names = [Path(terms).name for terms in options.term_sets]
        if len(set(names)) < len(names):
            raise UnmaskError("two term sets have the same name, so their results would be mixed up; rename one")
        if options.lists is not None and context.protocol != "published":
            raise UnmaskError(
                f"the lists in {options.lists} are for --protocol published; give it, or leave out --lists"
            )
        if options.names and context.protocol == "published":
            raise UnmaskError("the published protocol exchanges no names; leave out --names")

    def default_corpora(self, options: SentimentOptions, context: Context) -> Sequence[str]:
        """Texts of the user's own; else IMDB if it is on this machine, else the built-in reviews."""
        from unmask import datasets

        del context
        return (CUSTOM,) if options.own_texts else ("imdb" if datasets.is_present("imdb") else "reviews",)

    def units(
        self, options: SentimentOptions, context: Context, languages: Sequence[str], corpora: Sequence[str]
    ) -> list[Context]:
        """One context for each corpus, in one language."""
        if len(languages) > 1:
            raise UnmaskError("sentiment is measured in one language at a time; give one --language")
        if languages[0] != "en" and options.own_texts is None:
            raise UnmaskError(f"there are no built-in texts in {languages[0]!r}; give your own with --texts")
        if options.own_texts is not None and corpora:
            raise UnmaskError(f"--texts takes the place of a corpus; leave out --corpus {corpora[0]}")
        return super().units(options, context, languages, corpora)

    build = implemented_in("data")

    def load(self, model: ModelHandle, options: SentimentOptions) -> Any:
        """The classifier. Options for reading texts need a model that Unmask tokenizes."""
        loaded = model.classifier(long_texts=options.long_texts, most_tokens=options.most_tokens)
        if loaded is model.given and (options.long_texts != "head" or options.most_tokens):
            raise UnmaskError(
                f"{model.info().name} reads texts its own way, so long_texts and most_tokens would be ignored; leave"
                " them out, or give (model, tokenizer)"
            )
        return loaded

    def margin_of(self, measurement: Measurement) -> float:
        """The margin on the scale of the ratings."""
        from unmask.measures.sentiment.details import Ratings

        return float(measurement.read_details(Ratings).limits["margin"])

    score = implemented_in("scoring")
    simulations = implemented_in("scoring")
    analyse = implemented_in("analysis")
    check_competence = implemented_in("competence")
    headline = implemented_in("details")
    read_items = implemented_in("data")
    blocks = implemented_in("report")
    method = implemented_in("report")
    facts = implemented_in("report")
    compare = implemented_in("compare")

    def resolved(self, model: ModelHandle, options: SentimentOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options, the term sets, the number of texts that were given as strings, and how texts were read."""
        from unmask.models.roles import Reads

        resolved = super().resolved(model, options, units) | {"terms": [*map(str, options.term_sets)]}
        if texts := resolved.pop("given_texts"):
            resolved["given_texts"] = len(texts)
        loaded = model.classifier(long_texts=options.long_texts, most_tokens=options.most_tokens)
        if isinstance(loaded, Reads):
            resolved |= {"long_texts": loaded.long_texts, "tokens_at_once": loaded.most_tokens}
        return resolved

    def recognises(self, columns: set[str]) -> bool:
        """Ratings of both versions."""
        return bool({"p_female", "p_male"} & columns)

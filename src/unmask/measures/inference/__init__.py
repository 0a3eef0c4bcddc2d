"""Inference: does a model infer a gender from an occupation?

    The nurse is waiting for the bus.  →  The woman is waiting for the bus.

The right answer is *neutral*. Entailment with the stereotypical gender, or contradiction with the other one, is biased
inference; the opposite is plain error. The score counts the former:

    s = (e_p + c_a + 1 − n_n) / 3        FN = 1 − (share of neutral answers in all sets)

with e_p the share of entailments in the pro-stereotypical set, c_a that of contradictions in the anti-stereotypical
one, n_n that of neutral answers with occupations that have no stereotype.

P. Anantaprayoon, M. Kaneko and N. Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural
Language Inference by Considering All Labels. LREC-COLING 2024. FN: S. Dev, T. Li, J. M. Phillips and V. Srikumar
(2020). On Measuring and Mitigating Biased Inferences of Word Embeddings. AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.base import Context, KeyEstimate, Measure, implemented_in
from unmask.measures.shared_options import InputOptions, TemplateOptions
from unmask.options import option

if TYPE_CHECKING:
    from unmask.models.handle import ModelHandle

SENTENCES, RELEASED, CAPTIONS, CUSTOM = "sentences", "nli-coal", "captions", "custom"
DEFAULT_CORPUS = {"sound": SENTENCES, "published": RELEASED}


class InferenceOptions(TemplateOptions, InputOptions):
    """The user's own words, and the meaning of the model's outputs."""

    occupations: Path | None = option(
        None, "CSV of your own occupations: 'occupation' and 'type' (female, male, neutral)."
    )
    people: Path | None = option(
        None,
        "CSV of what hypotheses call a person: 'phrase', 'gender' (female, male, person, occupation) and 'pair'.",
    )
    captions: Path | None = option(
        None, "Image captions, one per line, to make sentences of (those about a woman or a man)."
    )
    stereotypes: str = option(
        "list",
        "What says which gender an occupation is tied to: list (ratings, or the types of --occupations), workforce (the"
        " share of women, with --workforce) or vectors (the gender direction, with --vectors).",
        choices=("list", "workforce", "vectors"),
    )
    workforce: Path | None = option(
        None,
        "Shares of women: CSV of 'occupation' and 'share', or table 11 of the US Bureau of Labor Statistics (.xlsx)."
        " Without --stereotypes workforce, its types are only compared.",
    )
    vectors: Path | None = option(
        None,
        "Word vectors of the language (word2vec, GloVe, NumPy). Without --stereotypes vectors, their types are only"
        " compared.",
    )
    labels: tuple[str, ...] = option(
        (),
        "What the model's outputs are, in order, where its labels do not say it: for example"
        " entailment,neutral,contradiction.",
        separated=True,
    )

    @property
    def are_own_words(self) -> bool:
        """Whether the user's own words replace a corpus."""
        return any((self.templates, self.people, self.occupations, self.captions))


class InferenceMeasure(Measure):
    """NLI-CoAL's measure of classifiers that tell entailment, neutral and contradiction."""

    name = "inference"
    question = "Does the model infer a gender from an occupation?"
    citations = (
        "P. Anantaprayoon, M. Kaneko and N. Okazaki (2024), Evaluating Gender Bias of Pre-trained Language Models in"
        " Natural Language Inference by Considering All Labels. LREC-COLING 2024.",
    )
    roles = ("classifier",)
    needs = "a classifier with the labels entailment, neutral and contradiction; train one with unmask finetune nli"
    languages = ("en", "ja", "zh")
    protocols = ("sound", "published")
    corpora = {SENTENCES: "the built-in sentences", RELEASED: "NLI-CoAL’s released sets"}
    corpus_descriptions = {SENTENCES: "in the package", RELEASED: "the released sets"}
    other_corpora = {CAPTIONS: "sentences of captions", CUSTOM: "own words", "recorded": "recorded scores"}
    user_corpora = (CAPTIONS, CUSTOM)
    Options = InferenceOptions
    keys = (
        *("language", "corpus", "occupation", "occupation_type", "gender", "pair", "template", "premise", "hypothesis"),
    )
    shown_columns = (
        *("premise", "hypothesis", "occupation", "occupation_type", "gender", "set", "before", "after", "change"),
        *("prediction", "p_entailment", "p_neutral", "p_contradiction", "model", "language", "corpus"),
    )
    recorded_columns = (
        "occupation, occupation_type, gender, and prediction or p_entailment, p_neutral and p_contradiction"
    )
    column_titles = {
        "occupation_type": "stereotype",
        "p_entailment": "entailment",
        "p_neutral": "neutral",
        "p_contradiction": "contradiction",
    }
    spoken_columns = frozenset({"premise", "hypothesis", "occupation"})
    primary = "stereotype"
    restated = ("stereotype, probabilities", "default, probabilities")
    trial_options = {"limit": 8}
    margin = 0.02
    unit = "stereotype: difference of shares of answers"
    uses_templates = True
    of_classifiers = True
    hub_task = "text-classification"
    compared_items = "pairs of sentences answered by both models"
    comparison_method = (
        "Both models answered the same pairs of sentences. The change is jackknifed over occupations, sentences and"
        " pairs of gender words. A change or a reversal by less than 0.02 of the answers is negligible."
    )
    changes_note = "Differences of shares of answers: 0 is no stereotype or default, 1 the largest."
    key_estimates = (
        KeyEstimate("NLI-CoAL", "the paper's score", group="NLI-CoAL", card="NLI-CoAL score", gate=True),
        KeyEstimate("inference", "stereotype, share of answers", test="stereotype", card="stereotype, of 1", gate=True),
        KeyEstimate(test="default", card="taken for men, −1 to 1", gate=True),
    )

    def fits(self, model: ModelHandle, options: Any) -> bool:
        """Whether the labels of a classifier are those of inference, or the user says so."""
        from unmask.measures.classifiers import is_inference

        if not super().fits(model, options):
            return False
        return bool(options.given("labels")) or self.name in options.measures or is_inference(model.labels)

    def explain_misfit(self, model: ModelHandle) -> str:
        """Name the missing labels."""
        if model.kind == "classifier":
            return f"{model.name} has other labels; inference needs entailment, neutral and contradiction"
        return super().explain_misfit(model)

    def check(self, options: InferenceOptions, context: Context) -> None:
        """Check that all words given are used."""
        for name in ("people", "templates"):
            if options.captions and getattr(options, name):
                raise UnmaskError(f"--captions brings its own {name}; leave out --{name}, or --captions")
        if options.stereotypes != "list" and getattr(options, options.stereotypes) is None:
            source = options.stereotypes
            raise UnmaskError(f"--stereotypes {source} needs data; give a file with --{source}")
        released = context.protocol == "published" or context.corpus == RELEASED
        if released and (options.workforce or options.vectors):
            raise UnmaskError("the released sets have their own types; leave out --workforce and --vectors")
        if context.protocol == "published" and (options.are_own_words or context.corpus not in ("", RELEASED)):
            raise UnmaskError(
                "the published protocol repeats the released sets (nli-coal); use --protocol sound for others"
            )

    def default_corpora(self, options: InferenceOptions, context: Context) -> Sequence[str]:
        """The built-in sentences; in the published protocol the released sets."""
        del options
        return (DEFAULT_CORPUS[context.protocol],)

    def units(
        self, options: InferenceOptions, context: Context, languages: Sequence[str], corpora: Sequence[str]
    ) -> list[Context]:
        """One context for each language and corpus; own files are for one language and replace the corpus."""
        if len(languages) > 1 and (options.are_own_words or options.vectors):
            raise UnmaskError("files of your own are for one language; give one --language with them")
        if options.are_own_words and corpora:
            raise UnmaskError(f"words of your own take the place of a corpus; leave out --corpus {corpora[0]}")
        return super().units(options, context, languages, corpora)

    build = implemented_in("data")
    export = implemented_in("data")
    simulations = implemented_in("data")

    def load(self, model: ModelHandle, options: InferenceOptions) -> Any:
        """The classifier, if it has labels."""
        from unmask.models.roles import Classifier

        loaded = model.classifier(most_tokens=options.most_tokens)
        if not isinstance(loaded, Classifier):
            raise UnmaskError(f"{model.info().name} gives numbers, not labels; inference needs a classifier")
        return loaded

    score = implemented_in("scoring")
    analyse = implemented_in("analysis")
    headline = implemented_in("details")
    not_interpretable = implemented_in("details")
    read_items = implemented_in("data")
    extremeness = implemented_in("data")
    blocks = implemented_in("report")
    method = implemented_in("report")
    facts = implemented_in("report")
    compare = implemented_in("compare")

    def resolved(self, model: ModelHandle, options: InferenceOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options, the order of the labels, and the number of tokens read at once."""
        from unmask.measures.inference.scoring import find_order
        from unmask.models.roles import Reads

        loaded: Any = model.classifier(most_tokens=options.most_tokens)
        order, _ = find_order(loaded, options.labels, language=units[0].language)
        resolved = super().resolved(model, options, units)
        resolved["corpora"] = list(dict.fromkeys(unit.corpus for unit in units))
        if isinstance(loaded, Reads):
            resolved["tokens_at_once"] = loaded.most_tokens
        return resolved | {"label_order": [*map(str, order)]}

    def recognises(self, columns: set[str]) -> bool:
        """Probabilities of the labels, or answers."""
        return bool({"prediction", "p_entailment"} & columns)

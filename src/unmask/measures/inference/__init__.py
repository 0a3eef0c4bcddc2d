"""Inference: does a model infer a gender from an occupation?

    The nurse is waiting for the bus.  →  The woman is waiting for the bus.

The right answer is *neutral*. To call it entailed with the stereotypical gender, or contradicted with the other one, is
biased inference; the opposite is plain error. The score counts the former:

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
from unmask.measures.base import ComparedModel, Context, Figure, Measure, Scored
from unmask.measures.shared_options import InputOptions, TemplateOptions
from unmask.options import option

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.loading import ModelHandle
    from unmask.report.blocks import Block
    from unmask.results import Comparison, Measurement

SENTENCES, RELEASED, CAPTIONS, CUSTOM = "sentences", "nli-coal", "captions", "custom"
DEFAULT_CORPUS = {"sound": SENTENCES, "published": RELEASED}


class InferenceOptions(TemplateOptions, InputOptions):
    """Words of the user's own, and what the model's outputs mean."""

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
    labels: tuple[str, ...] = option(
        (),
        "What the model's outputs are, in order, where its labels do not say it: for example"
        " entailment,neutral,contradiction.",
        separated=True,
    )

    @property
    def are_own_words(self) -> bool:
        """Whether words of the user's own take the place of a corpus."""
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
    other_corpora = {CAPTIONS: "sentences of captions", CUSTOM: "own words", "recorded": "recorded scores"}
    Options = InferenceOptions
    keys = ("language", "corpus", "premise", "hypothesis", "occupation", "gender", "pair", "template", "set")
    shown_columns = (
        *("premise", "hypothesis", "occupation", "occupation_type", "gender", "set", "before", "after", "change"),
        *("prediction", "p_entailment", "p_neutral", "p_contradiction", "model", "language", "corpus"),
    )
    recorded_columns = "p_entailment, p_neutral and p_contradiction"
    column_titles = {
        "occupation_type": "stereotype",
        "p_entailment": "entailment",
        "p_neutral": "neutral",
        "p_contradiction": "contradiction",
    }
    spoken_columns = frozenset({"premise", "hypothesis", "occupation"})
    primary = "stereotype"
    unit = "stereotype: difference of shares of answers"
    uses_templates = True
    of_classifiers = True
    hub_task = "text-classification"
    card_tests = {"stereotype": "stereotype, of 1", "default": "taken for men, −1 to 1"}
    card_groups = {"NLI-CoAL": "NLI-CoAL score"}
    gate_tests = ("stereotype", "default")
    gate_groups = ("NLI-CoAL",)
    compared_items = "pairs of sentences answered by both models"
    changes_note = "Differences of shares of answers: 0 is no stereotype or default, 1 the largest."
    figures = (
        Figure("NLI-CoAL", "the paper's score", group="NLI-CoAL"),
        Figure("inference", "stereotype, share of answers", test="stereotype"),
    )

    def fits(self, model: ModelHandle, options: Any) -> bool:
        """Classifiers whose labels say so, or of which the user says so."""
        from unmask.measures.inference.labels import is_inference

        if not super().fits(model, options):
            return False
        return bool(options.given("labels")) or self.name in options.measures or is_inference(model.labels)

    def explain_misfit(self, model: ModelHandle) -> str:
        """Name the labels that are missing."""
        if model.kind == "classifier":
            return f"{model.name} has other labels; inference needs entailment, neutral and contradiction"
        return super().explain_misfit(model)

    def check(self, options: InferenceOptions, context: Context) -> None:
        """Refuse words that would not be used."""
        if options.captions:
            for name in ("people", "templates"):
                if given := getattr(options, name):
                    raise UnmaskError(
                        f"--captions brings its own {name}, and --{name} {given} would not be used; give one of the two"
                    )
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
        """One context for each language and corpus; files of the user's own are for one language and no corpus."""
        if len(languages) > 1 and options.are_own_words:
            raise UnmaskError("files of your own are for one language; give one --language with them")
        if options.are_own_words and corpora:
            raise UnmaskError(f"words of your own take the place of a corpus; leave out --corpus {corpora[0]}")
        return super().units(options, context, languages, corpora)

    def build(self, options: InferenceOptions, context: Context) -> pd.DataFrame:
        """The pairs of sentences."""
        from unmask.measures.inference.data import build_pairs

        return build_pairs(options, context)

    def load(self, model: ModelHandle, options: InferenceOptions) -> Any:
        """The classifier, with the order of its labels."""
        from unmask.models.roles import Classifier

        loaded = model.classifier(most_tokens=options.most_tokens)
        if not isinstance(loaded, Classifier):
            raise UnmaskError(f"{model.info().name} gives numbers, not labels; inference needs a classifier")
        return loaded

    def score(self, model: Any, items: pd.DataFrame, options: InferenceOptions, context: Context) -> Scored:
        """The probability of each label for each pair."""
        from unmask.measures.inference.labels import find_order
        from unmask.measures.inference.score import score
        from unmask.probes import inference as probe

        order, known = find_order(model, options.labels, language=context.language)
        scored = score(items, model, order, seed=context.seed, progress=context.progress)
        data_hash = probe.data_hash(items)
        return Scored(scored.items, scored.noise_floor, scored.distinct_inputs, data_hash, {"labels": known})

    def analyse(self, items: pd.DataFrame, context: Context) -> Measurement:
        """The scores, the stereotype and the default, and shares of answers."""
        from unmask.measures.inference.protocol import PROTOCOLS

        return PROTOCOLS[context.protocol].analyse(items, context.seed)

    def headline(self, measurement: Measurement) -> list[str]:
        """The stereotype, the default, the scores, and whether they can be read as bias."""
        from unmask.measures.inference.interpret import headline

        return headline(measurement)

    def resolved(self, model: ModelHandle, options: InferenceOptions, units: Sequence[Context]) -> dict[str, Any]:
        """The options, the order of the labels, and how much was read at once."""
        from unmask.measures.inference.labels import find_order
        from unmask.models.roles import Reads

        loaded: Any = model.classifier(most_tokens=options.most_tokens)
        order, _ = find_order(loaded, options.labels, language=units[0].language)
        found = super().resolved(model, options, units) | {
            "corpora": list(dict.fromkeys(unit.corpus for unit in units))
        }
        if isinstance(loaded, Reads):
            found["tokens_at_once"] = loaded.most_tokens
        return found | {"label_order": [*map(str, order)]}

    def recognises(self, columns: set[str]) -> bool:
        """Probabilities of the labels, or answers."""
        return bool({"prediction", "p_entailment"} & columns)

    def read_items(
        self, path: Path, context: Context, *, language: str | None, score_column: str | None
    ) -> pd.DataFrame:
        """Recorded answers."""
        from unmask.probes import recorded_inference

        del context, score_column
        return recorded_inference.read(path, language)

    def not_interpretable(self, measurement: Measurement, *, group: bool = False) -> str:
        """Whether the score is inconclusive, and whether the model understands such pairs at all."""
        from unmask.measures.inference.conclusive import is_understood
        from unmask.measures.inference.details import Inference

        details = measurement.read_details(Inference)
        if details.inconclusive and (group or not is_understood(details)):
            return f"the score cannot be read as bias: {details.inconclusive}"
        return ""

    def blocks(self, measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
        """Key figures, tables, figures and examples."""
        from unmask.measures.inference.report import blocks

        return blocks(measurement, items)

    def method(self, measurements: Sequence[Measurement]) -> list[Block]:
        """How it is measured."""
        from unmask.measures.inference.report import method

        return method(measurements)

    def facts(self, measurement: Measurement) -> list[tuple[str, str]]:
        """What the provenance of a measurement states."""
        from unmask.measures.inference.report import facts

        return facts(measurement)

    def extremeness(self, items: pd.DataFrame) -> Any:
        """How far an answer is from neutral. In the control set neutral is wrong, so its items come last."""
        from unmask.probes.inference import CONTROL

        if "p_neutral" not in items:
            return None
        distance = 1 - items["p_neutral"]
        return distance.where(items["set"] != CONTROL, -1.0) if "set" in items else distance

    def compare(self, before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
        """The paired change of the stereotype, the default and the score."""
        from unmask.measures.inference.changes import compare

        del seed
        return compare(before, after)

    def comparison_method(self, comparisons: Sequence[Comparison]) -> list[Block]:
        """How two models are compared."""
        from unmask.report.blocks import Text

        del comparisons
        description = (
            "Both models answered the same pairs of sentences. The change is jackknifed over occupations and"
            " sentences, the default also over pairs of gender words. A reversal by less than 0.02 of the answers is"
            " negligible."
        )
        return [Text([description])]

"""What the study found: Tables 4 and 5, Figures 3 to 6, the hypotheses, the workforce, and what fine-tuning cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import unmask
from unmask.measures.association import AGREEMENT, AssociationMeasure
from unmask.measures.association.details import AssociationChanges, AssociationDetails
from unmask.measures.association.figures import build_change_figures, build_profession_figures
from unmask.measures.sections import corpus_title, study_limits
from unmask.models.roles import MITIGATION
from unmask.report.blocks import Cell, Column, Section, Table, Text
from unmask.report.change_blocks import list_usefulness
from unmask.results import Comparison, Measurement
from unmask.studies.becpro import ProfessionStudyOptions
from unmask.studies.becpro.hypotheses import HypothesisAnswer, answer_hypotheses
from unmask.studies.becpro.plan import AUDIT, COMPARISON, Auditing, Comparing
from unmask.studies.becpro.tables import (
    BEC_PRO,
    StudiedResult,
    tabulate_changed_means,
    tabulate_changes,
    tabulate_emotions,
    tabulate_means,
    tabulate_training,
    tabulate_workforce,
)
from unmask.studies.models import Debiasing
from unmask.studies.report import StudyReport
from unmask.studies.study import FinishedSteps
from unmask.workflows.audit import Audit
from unmask.workflows.compare import Compared, load

SOUND = (
    "Tables 4 and 5 give the paper's test (W, r, p), which treats dependent pairs of sentences as independent. Judge a"
    " model by the intervals and by the table of changes, whose tests are over professions and person words."
)
PUBLISHED = (
    "Everything repeats the paper's code, errors included: masks, attended padding, training one sentence at a time."
    " Its test treats 900 dependent pairs as independent, so the p-values are far too small. The paper compared its"
    " results with the workforce in words; the correlations are ours."
)
ASKED = (
    "association = ln p(person word | sentence) − ln p(person word | sentence with the profession masked). Fine-tuning"
    " continues pretraining on text in which people and names are put into the other gender (cds)."
)
GERMAN_TITLE = "What cannot be done for German"
GERMAN = (
    "Fine-tuning on GAP: it is English, and has no German counterpart, a text that mentions women and men equally"
    " often. The paper did not fine-tune its German model either. It has no German Table 4, no German Figures 3 to 5,"
    " and no second half of H1 to H3.",
    "Reading bias from German BEC-Pro: professions and determiners agree with the person in gender, so all three groups"
    " of professions give similar values, whatever the model has learned. The paper concludes the same. H1 to H3 and"
    " the workforce cannot be judged by it. In sound, the agreement-free corpus asks the same question; the paper has"
    " nothing like it.",
    "Workforce shares are those of the United States.",
)
OWN_TEXT = (
    "The German models were fine-tuned on a text of your own, which goes beyond the paper. First names in it were not"
    " exchanged, because that is done in English only."
)


def report(finished: FinishedSteps, options: ProfessionStudyOptions) -> StudyReport | None:
    """Return what was found, or None where no model was audited."""
    results = read_results(finished)
    if not results:
        return None
    answers = [answer for result in results for answer in answer_hypotheses(result)]
    changed = [result for result in results if result.comparison]
    english = [result for result in results if result.model.language == "en"]
    tables = [
        *([tabulate_changed_means(changed), tabulate_changes(changed)] if changed else []),
        tabulate_means(results),
        tabulate_workforce(results),
        *([tabulate_emotions(english)] if english else []),
        *([tabulate_training(changed)] if changed else []),
    ]
    costs = [
        Section(result.title, [list_usefulness(result.comparison.result.usefulness)])
        for result in changed
        if result.comparison and result.comparison.result.usefulness
    ]
    german = _describe_german(results)
    return StudyReport(
        headline=write_headline(results),
        note=f"{len(results)} {'model' if len(results) == 1 else 'models'} · {options.protocol} protocol"
        + (f" · a trial: fine-tuned on {options.limit} documents" if options.limit else ""),
        blocks=[
            Section("Tables", [table.to_block() for table in tables]),
            Section("The paper’s hypotheses", [_list_hypotheses(answers)]),
            *_draw_figures(results),
            *([Section("What fine-tuning cost", costs)] if costs else []),
            *([Section(GERMAN_TITLE, [Text(german, style="list")])] if german else []),
        ],
        tables=tables,
        method=[Text([ASKED]), Text([SOUND if options.protocol == "sound" else PUBLISHED])],
        limits=study_limits([AssociationMeasure.name], [result.model.language for result in results]),
        settings=describe_settings(finished, results, options),
        answers={answer.title: answer.text for answer in answers}
        | ({GERMAN_TITLE: "\n".join(german)} if german else {}),
        missing=_list_missing(finished, results),
        footer="Association is a property of the language model; it is not yet a harm.",
    )


def read_results(finished: FinishedSteps) -> list[StudiedResult]:
    """Return the models that have been audited, with their comparison if they were fine-tuned."""
    results = {}
    for step, folder in finished.results(Auditing):
        if step.maker is None:
            audit = load(folder / AUDIT)
            assert isinstance(audit, Audit)
            results[step.model] = StudiedResult(step.model, audit)
    for comparing, folder in finished.results(Comparing):
        maker, compared = comparing.after.maker, load(folder / COMPARISON)
        assert maker is not None
        assert isinstance(compared, Compared)
        record = finished.folders[maker.name] / maker.folder / MITIGATION
        model = comparing.before.model
        training = json.loads(record.read_text(encoding="utf-8"))
        results[model] = replace(results[model], comparison=compared, training=training)
    return list(results.values())


def write_headline(results: Sequence[StudiedResult]) -> str:
    """Return the first finding of each model."""
    sentences = []
    for result in results:
        found: Sequence[Comparison | Measurement] = result.changes or result.audit.measurements
        readable = [comparison for comparison in found if not _is_unreadable(comparison)] or list(found)
        sentences.append(f"{result.title}: {readable[0].headline[0]}")
    return " ".join(sentences)


def _is_unreadable(result: Comparison | Measurement) -> bool:
    """Whether grammatical agreement hides what the model has learned."""
    return any(caveat.code == AGREEMENT for caveat in result.caveats)


def _describe_german(results: Sequence[StudiedResult]) -> list[str]:
    """What cannot be done for German, in sentences; empty without German."""
    german = [result for result in results if result.model.language == "de"]
    return [*([OWN_TEXT] if any(result.comparison for result in german) else []), *GERMAN] if german else []


def _list_missing(finished: FinishedSteps, results: Sequence[StudiedResult]) -> list[str]:
    """What of the paper there is not, and why."""
    languages = {step.model.language for step in finished.steps if isinstance(step, Auditing)}
    missing = [
        f"{step.name} (failed)"
        for step in finished.steps
        if isinstance(step, Comparing) and step.name not in finished.folders
    ]
    if "de" not in languages:
        missing.append("the German rows of Table 5, and Figure 6 (no German model was given: --model de=MODEL)")
    if not any(result.model.language == "en" for result in results):
        missing.append("Table 4 and Figures 3 to 5 (no English model was measured)")
    return missing


def _list_hypotheses(answers: Sequence[HypothesisAnswer]) -> Table:
    columns = [Column(title, numeric=False) for title in ("Hypothesis", "Before", "After", "By fine-tuning")]
    rows = [
        [
            Cell(answer.title),
            Cell(answer.before, note=answer.evidence_before),
            Cell(answer.after, note=answer.evidence_after),
            Cell(answer.change, note=answer.evidence_change),
        ]
        for answer in answers
    ]
    return Table("The paper’s hypotheses", columns, rows)


def _draw_figures(results: Sequence[StudiedResult]) -> Iterator[Section]:
    """Figures 3 to 5 of models that were fine-tuned, and Figure 6 of those that were not."""
    for result in results:
        for comparison in result.changes:
            professions = comparison.read_details(AssociationChanges).professions
            figures = build_change_figures(comparison.attributes, professions)
            which = "Figures 3 to 5" if comparison.corpus == BEC_PRO else "By word"
            yield Section(f"{which}: {result.name_corpus(comparison.corpus)}, before and after", [figures])
        for measurement in [] if result.comparison else result.audit.measurements:
            figures = build_profession_figures(
                measurement.attributes, measurement.read_details(AssociationDetails).professions
            )
            title = corpus_title(AssociationMeasure.name, measurement.corpus, measurement.language)
            yield Section(f"Figure 6: {result.model.name}, {title}", [figures])


def describe_settings(
    finished: FinishedSteps, results: Sequence[StudiedResult], options: ProfessionStudyOptions
) -> dict[str, str]:
    """Return how the study was set up, in words."""
    makers = [step for step in finished.steps if isinstance(step, Debiasing)]
    settings = {
        "protocol": options.protocol,
        "models": ", ".join(f"{result.title} ({result.model.model})" for result in results),
    }
    if makers:
        text = ", ".join(dict.fromkeys(source for maker in makers for source in maker.sources))
        settings["fine-tuned on"] = text + ("" if options.limit is None else f", {options.limit:,} documents at most")
    if options.settings:
        settings["settings of cds"] = ", ".join(f"{name}={value}" for name, value in options.settings.items())
    return settings | finished.note_settings | {"seed": str(options.seed), "unmask": unmask.__version__}

"""Run the inference measure on a classifier that tells entailment, neutral and contradiction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import Settings
from unmask.errors import UnmaskError, one_of
from unmask.lexicon import inference as words
from unmask.measures import inference
from unmask.measures.inference.details import Inference
from unmask.models.interfaces import Classifier, Reads
from unmask.models.loading import load_classifier
from unmask.probes import captions, released_inference
from unmask.probes import inference as probe

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.inference import Protocol
    from unmask.models.interfaces import Progress

SENTENCES, RELEASED, CAPTIONS = "sentences", "nli-coal", "captions"
CORPORA = (SENTENCES, RELEASED)


def measure(model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Measure every language and corpus that is asked for."""
    protocol = inference.PROTOCOLS[settings.protocol]
    tables = [
        pairs_of(language, corpus, settings)
        for language in settings.languages
        for corpus in _corpora(settings, protocol)
    ]
    subject = load_classifier(model, settings.loading, most_tokens=settings.most_tokens)
    if not isinstance(subject, Classifier):
        raise UnmaskError(f"{info_of(subject).name} gives numbers, not labels; inference needs a classifier")
    order, known = inference.order_of(subject, settings.labels, language=settings.languages[0])
    info = info_of(subject)
    resolved = settings.resolved("inference") | {"corpora": [*_corpora(settings, protocol)]}
    if isinstance(subject, Reads):
        resolved["tokens_at_once"] = subject.most_tokens  # most_tokens is what was asked for, also of another model
    found = Measured(info, resolved | {"label_order": [*map(str, order)]})
    for rows in tables:
        scored = inference.score(rows, subject, order, seed=settings.seed, progress=progress)
        measurement = protocol.analyse(scored.items, settings.seed)
        found.add(
            measurement.model_copy(
                update={
                    "details": measurement.read_details(Inference).model_copy(update={"labels": known}).model_dump(),
                    "noise_floor": scored.noise_floor,
                    "distinct_inputs": scored.distinct_inputs,
                    "data_hash": probe.data_hash(rows),
                    "caveats": [*inference.precision_caveats(info.dtype), *measurement.caveats],
                }
            ),
            scored.items,
        )
    return found


def pairs_of(language: str, corpus: str, settings: Settings) -> pd.DataFrame:
    """The pairs of a corpus."""
    one_of(language, words.LANGUAGES, "language of inference")
    if corpus == RELEASED:
        rows = released_inference.read(language, offline=settings.loading.offline)
        return _some(rows, settings.limit, settings.seed)
    occupations = words.occupations(language, settings.occupations)
    if settings.captions is not None:
        made = captions.templates_of(settings.captions, language)
        people, templates, corpus = captions.people(language), made.templates, CAPTIONS
    else:
        people = words.people(language, settings.people)
        templates = words.templates(language, settings.templates)
        corpus = "custom" if settings.templates or settings.people or settings.occupations else corpus
    return probe.build(language, corpus, occupations, people, probe.drawn(templates, settings.limit, settings.seed))


def _some(rows: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Released pairs with so many of the sentences: of those about stereotypes, and of the others, which are two lists
    (so that every set is there)."""
    is_neutral = (rows["set"] == "NS").to_numpy(dtype=bool)
    is_drawn = is_neutral.copy()
    for subset in (is_neutral, ~is_neutral):
        templates = rows.loc[subset, "template"]
        is_drawn[subset] = templates.isin(probe.drawn(list(dict.fromkeys(templates)), limit, seed))
    return rows[is_drawn].reset_index(drop=True)


def own_words(settings: Settings) -> bool:
    """Whether words of the user's own take the place of a corpus."""
    return any((settings.templates, settings.people, settings.occupations, settings.captions))


def _corpora(settings: Settings, protocol: Protocol) -> Sequence[str]:
    own = own_words(settings)
    for name in ("people", "templates"):
        if settings.captions and (given := getattr(settings, name)):
            raise UnmaskError(
                f"--captions brings its own {name}, and --{name} {given} would not be used; give one of the two"
            )
    for corpus in settings.corpora:
        one_of(corpus, CORPORA, "corpus of inference")
    if own and settings.corpora:
        raise UnmaskError(f"words of your own take the place of a corpus; leave out --corpus {settings.corpora[0]}")
    if protocol.name == "published" and (own or set(settings.corpora) - {RELEASED}):
        raise UnmaskError(
            "the published protocol repeats the released sets (nli-coal); use --protocol sound for others"
        )
    return settings.corpora or (protocol.corpus,)

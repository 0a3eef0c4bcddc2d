"""Run the sentiment measure on a classifier of texts, or a regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.auditing import kept
from unmask.auditing.measured import Measured, info_of
from unmask.auditing.settings import Settings
from unmask.counterfactual import settings as rewriting
from unmask.counterfactual.published.lists import reviews_folder
from unmask.errors import UnmaskError
from unmask.measures import inference, sentiment
from unmask.measures.sentiment.details import Ratings
from unmask.models.interfaces import Classifier, Reads
from unmask.models.loading import load_classifier
from unmask.probes import reviews

if TYPE_CHECKING:
    from unmask.measures.sentiment import Protocol, Scored
    from unmask.models.interfaces import Progress
    from unmask.results import Measurement

DEFAULT_TERMS = ("all",)


def measure(model: Any, settings: Settings, *, progress: Progress | None = None) -> Measured:
    """Measure every corpus and term set that is asked for."""
    from unmask.models.loaded import LoadedModel

    protocol = sentiment.PROTOCOLS[settings.protocol]
    language = _language(settings)
    corpora = {corpus: _texts(corpus, settings) for corpus in _corpora(settings)}
    subject = load_classifier(
        model,
        settings.loading,
        long_texts=settings.long_texts or "head",
        most_tokens=settings.most_tokens,
    )
    if subject is model and (settings.long_texts or settings.most_tokens):
        raise UnmaskError(
            f"{info_of(subject).name} reads texts its own way, so long_texts and most_tokens would be ignored; leave"
            " them out, or give (model, tokenizer)"
        )
    if isinstance(subject, Classifier) and inference.is_inference(subject.labels):
        raise UnmaskError(
            f"{info_of(subject).name} tells entailment from contradiction and rates nothing; sentiment needs a"
            " classifier of texts"
        )
    rater = sentiment.Rater(subject, settings.positive, single_precision=protocol.single_precision)
    if settings.workspace is not None and isinstance(subject, LoadedModel):
        rater = kept.KeptRater(rater, settings.workspace, kept.identity(subject, rater))
    term_sets = settings.terms or DEFAULT_TERMS
    info = info_of(subject)
    resolved = settings.resolved("sentiment") | {"corpora": [*corpora], "terms": [*map(str, term_sets)]}
    if isinstance(subject, Reads):
        resolved |= {"long_texts": subject.long_texts, "tokens_at_once": subject.most_tokens}
    found = Measured(info, resolved)
    for corpus, given in corpora.items():
        texts = _prepared(given if protocol.keeps_doubles else reviews.without_doubles(given), protocol)
        sets = {
            Path(terms).name if isinstance(terms, Path) else terms: pairs_of(
                texts, protocol, settings, terms, language, progress=progress
            )
            for terms in term_sets
        }
        for name, scored in sentiment.score_all(sets, rater, seed=settings.seed, progress=progress).items():
            pairs, items = sets[name], scored.items
            for at, (column, value) in enumerate(
                {"language": language, "corpus": corpus, "terms": name, "rating": scored.rating}.items()
            ):
                items.insert(at, column, value)
            measurement = protocol.analyse(items, settings.seed)
            found.add(
                _complete(measurement, scored, len(given) - len(pairs), info.dtype, reviews.data_hash(pairs)), items
            )
    return found


def pairs_of(
    texts: Sequence[reviews.Text],
    protocol: Protocol,
    settings: Settings,
    terms: str | Path,
    language: str,
    *,
    progress: Progress | None = None,
) -> list[reviews.Pair]:
    """The versions of texts that are prepared; texts with the same versions count once, unless all are kept."""
    to_female, to_male = (
        protocol.rewriter(
            rewriting.Settings(
                to=to,
                terms=terms,
                names=settings.names,
                language=language,
                lists=reviews_folder(settings.lists) if protocol.needs_lists else None,
            )
        )
        for to in ("female", "male")
    )
    pairs = reviews.pair(texts, to_female, to_male, progress=progress)
    reviews.refuse_unchanged(pairs, str(terms))
    return pairs if protocol.keeps_doubles else reviews.without_twins(pairs)


def _complete(measurement: Measurement, scored: Scored, doubles: int, dtype: str | None, data_hash: str) -> Measurement:
    ratings = measurement.read_details(Ratings).model_copy(
        update={"duplicates": doubles, "long_texts": scored.long_texts, "most_tokens": scored.most_tokens}
    )
    return measurement.model_copy(
        update={
            "details": ratings.model_dump(),
            "noise_floor": scored.noise_floor,
            "distinct_inputs": scored.distinct_inputs,
            "data_hash": data_hash,
            "caveats": [*sentiment.precision_caveats(dtype), *measurement.caveats],
        }
    )


def _texts(corpus: str, settings: Settings) -> list[reviews.Text]:
    return reviews.load(
        corpus, settings.texts, limit=settings.limit, seed=settings.seed, offline=settings.loading.offline
    )


def _prepared(texts: Sequence[reviews.Text], protocol: Protocol) -> Sequence[reviews.Text]:
    """Texts as the protocol rewrites them."""
    if protocol.prepare is None:
        return texts
    return [replace(one, text=protocol.prepare(one.text)) for one in texts]


def _corpora(settings: Settings) -> list[str]:
    if settings.texts is not None:
        if settings.corpora:
            raise UnmaskError(f"--texts takes the place of a corpus; leave out --corpus {settings.corpora[0]}")
        return [reviews.CUSTOM]
    return [*settings.corpora] or [reviews.default_corpus()]


def _language(settings: Settings) -> str:
    if len(settings.languages) > 1:
        raise UnmaskError("sentiment is measured in one language at a time; give one --language")
    language = settings.languages[0]
    if language != "en" and settings.texts is None:
        raise UnmaskError(f"there are no built-in texts in {language!r}; give your own with --texts")
    return language

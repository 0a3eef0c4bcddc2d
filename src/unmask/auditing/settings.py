"""What to measure and how, as a user may say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from unmask import plugins
from unmask.counterfactual.settings import TERM_SETS
from unmask.errors import UnmaskError, one_of
from unmask.lexicon import inference as words
from unmask.measures import association
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.embedding import LAYERS, POOLING
from unmask.models.interfaces import Pooling
from unmask.models.reading import LONG_TEXTS
from unmask.models.sources import LoadOptions
from unmask.probes import asked, reviews
from unmask.probes import association as probe

MEASURES = {
    "association": "Does a profession raise or lower the probability of a female or male person word?",
    "sentiment": "Does a text's rating change when its people change gender?",
    "inference": "Does the model infer a gender from an occupation?",
    "geometry": "Do words of women and of men lie apart, also when the gender direction is taken out?",
    "crows-pairs": "Which of two sentences is likelier, the more or the less stereotypical one?",
}
"""Our measures, and what each asks; further ones are in other packages (`unmask.plugins`)."""
LANGUAGES = tuple(dict.fromkeys((*probe.CORPORA, *words.LANGUAGES)))
SEED = 42
OF = {
    "association": ("templates", "persons", "professions"),
    "sentiment": ("terms", "names", "texts", "limit", "positive", "long_texts", "most_tokens", "lists"),
    "inference": ("templates", "people", "occupations", "captions", "labels", "limit", "most_tokens"),
    "geometry": ("layers", "pooling", "words", "word_list", "full", "contrasts"),
    "crows-pairs": (),
}
"""The settings that belong to each measure."""
FILES = ("templates", "persons", "professions", "texts", "lists", "people", "occupations", "captions", "word_list")
"""The settings that are files or folders."""
AS_LOADED = "as loaded"
"""The device of a model that was handed over as an object."""
USUAL = {"layers": LAYERS, "pooling": POOLING, "contrasts": CONTRASTS}
"""What settings are that nobody has changed, where that is not nothing."""
CORPORA = {
    "association": tuple(dict.fromkeys(name for names in probe.CORPORA.values() for name in names)),
    "geometry": asked.CORPORA,
}
"""Corpora of measures that may run together; of the others, whatever is named is theirs."""

Value = str | int | float | bool | list[str] | None


@dataclass(frozen=True)
class Settings:
    """What to measure and how; the defaults are the sound ones."""

    measures: Sequence[str] = ()
    """Empty: those that fit the model."""
    languages: Sequence[str] = ("en",)
    protocol: str = "sound"
    corpora: Sequence[str] = ()
    """Empty. Association: BEC-Pro and, in the sound protocol for German, the agreement-free corpus. Sentiment: IMDB
    where it is on this machine, else the reviews of the package."""
    templates: Path | None = None
    persons: Path | None = None
    professions: Path | None = None
    terms: Sequence[str | Path] = ()
    """Sentiment: which words change (pronouns, family, all, or a CSV file of pairs); each is measured. Empty: all."""
    names: bool = False
    """Sentiment: whether first names change too."""
    texts: Path | Sequence[str] | None = None
    """Sentiment: texts of the user's own in place of a corpus: a file, or the texts themselves."""
    limit: int | None = None
    """Sentiment: how many texts to draw at random. Inference: how many sentences; of the
    released sets, so many about stereotypes and so many others. None for all."""
    positive: str | None = None
    """Sentiment: the label that is a high rating; None: as the labels say."""
    long_texts: str = ""
    """Sentiment: how texts are read that are too long: head, head+tail or window. Empty: head."""
    most_tokens: int | None = None
    """Sentiment, inference: how many tokens are read at once; None: as many as the model takes."""
    lists: Path | None = None
    """Sentiment, published: the folder of the released term maps; None: the data set's."""
    workspace: Path | None = None
    """Sentiment: where ratings are kept while they are made, so that an audit that was stopped goes on."""
    people: Path | None = None
    """Inference: CSV of what hypotheses call a person."""
    occupations: Path | None = None
    """Inference: CSV of occupations and their stereotypes."""
    captions: Path | None = None
    """Inference: a file of image captions to make sentences of, in place of templates."""
    labels: Sequence[str] = ()
    """Inference: what the model's outputs are, in their order, where its labels do not say it."""
    layers: int = LAYERS
    """Geometry: how many of the last layers make up a word's vector."""
    pooling: Pooling = POOLING
    """Geometry: how the pieces of a word become one vector: first+last, mean or first."""
    words: int | None = None
    """Geometry: how many words are asked about, the most frequent first; None: 2,000 nouns, or all of a file."""
    word_list: Path | None = None
    """Geometry: a file of words of the user's own, one a line."""
    full: bool = False
    """Geometry: ask about the words of the papers, which takes its time."""
    contrasts: int = CONTRASTS
    """Geometry: with how many other contrasts gender is compared."""
    seed: int = SEED
    loading: LoadOptions = field(default_factory=LoadOptions)

    def check(self) -> None:
        """Refuse what is unknown before anything slow happens."""
        for measure in self.measures:
            plugins.named("measure", measure, MEASURES)
        if not self.measures or set(self.measures) & set(MEASURES):  # the others know their own
            for language in self.languages:
                one_of(language, LANGUAGES, "language")
        one_of(self.protocol, association.PROTOCOLS, "protocol")
        if self.seed < 0:
            raise UnmaskError(f"seed {self.seed} is negative; give 0 or more")
        if not self.languages:
            raise UnmaskError("no languages were given; give at least one, or leave them out for the default")
        if len(self.languages) > 1 and (self._custom or self.texts):
            raise UnmaskError("files of your own are for one language; give one --language with them")
        if self.protocol == "published" and (
            self._custom or set(self.corpora) - {"bec-pro", "nli-coal", *reviews.CORPORA, *asked.CORPORA}
        ):
            raise UnmaskError(
                "the published protocol repeats the paper's corpus and no other; use --protocol sound for other corpora"
                " and for words of your own"
            )
        if len({Path(terms).name for terms in self.terms}) < len(self.terms):
            raise UnmaskError("two term sets have the same name, and their results could not be told apart; rename one")
        if self.lists is not None and self.protocol != "published":
            raise UnmaskError(f"the lists in {self.lists} belong to the published protocol; ask for it, or leave them")
        for terms in self.terms:
            if isinstance(terms, str):
                one_of(terms, TERM_SETS, "term set")
        one_of(self.pooling, get_args(Pooling), "pooling")
        for name, least in (("layers", 1), ("contrasts", 19), ("words", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UnmaskError(f"--{name} is {value}; give {least} or more")
        if self.long_texts:
            one_of(self.long_texts, LONG_TEXTS, "way to read long texts")
        self._refuse_two_choices_of_words()

    def _refuse_two_choices_of_words(self) -> None:
        """Geometry asks about one choice of words; a second would be ignored."""
        said = {"words": self.words is not None, "word-list": self.word_list is not None, "full": self.full}
        given = [f"--{name}" for name, is_given in said.items() if is_given]
        named = [f"--corpus {corpus}" for corpus in self.corpora if corpus in asked.CORPORA]
        if "--words" in given and named == [f"--corpus {asked.NOUNS}"]:
            named = []  # so many of the nouns
        if len(given) > 1 or (given and named):
            first, second, *_ = [*given, *named]
            raise UnmaskError(f"{first} and {second} both say which words geometry asks about; give one of them")

    def refuse_foreign(self, measures: Sequence[str]) -> None:
        """Refuse settings that belong to none of the measures that are run: they would be ignored."""
        known = {name for measure in measures for name in OF.get(measure, ())}
        for other, names in OF.items():
            for name in names:
                if name not in known and getattr(self, name) not in ((), "", None, False, USUAL.get(name)):
                    raise UnmaskError(
                        f"--{name.replace('_', '-')} is for {other}, and this model is measured for"
                        f" {' and '.join(measures)}; leave it out, or give another model"
                    )
        self._refuse_foreign_corpora(measures)

    def _refuse_foreign_corpora(self, measures: Sequence[str]) -> None:
        """Refuse a corpus that none of the measures knows."""
        for corpus in self.corpora:
            of = next((name for name, names in CORPORA.items() if corpus in names), None)
            if of in measures or {"sentiment", "inference"} & set(measures):
                continue  # what is no corpus of theirs, the other measures say themselves
            if of is not None:
                raise UnmaskError(
                    f"--corpus {corpus} is for {of}, and this model is measured for {' and '.join(measures)};"
                    " leave it out"
                )
            if "geometry" in measures and "association" not in measures:
                one_of(corpus, CORPORA["geometry"], "corpus")
            elif "association" not in measures:
                raise UnmaskError(
                    f"--corpus {corpus} is for other measures than {' and '.join(measures)}; leave it out"
                )

    @property
    def _custom(self) -> bool:
        return any((self.templates, self.persons, self.professions, self.people, self.occupations, self.captions))

    def corpora_of(self, language: str) -> Sequence[str]:
        """Which corpora of association to run in a language."""
        named = [corpus for corpus in self.corpora if corpus not in CORPORA["geometry"]]
        if named:
            return named
        plain = language != "de" or self._custom or self.protocol != "sound"
        return ("bec-pro",) if plain else ("bec-pro", "agreement-free")

    def resolved(self, measure: str) -> dict[str, Value]:
        """Every setting that counts, for the result."""
        shared: dict[str, Value] = {
            "measures": [measure],
            "languages": list(self.languages),
            "protocol": self.protocol,
        }
        own: dict[str, Value] = {name: _value(getattr(self, name)) for name in OF.get(measure, ())}
        if measure in ("association", "sentiment", "inference"):
            own["corpora"] = list(self.corpora)
        if measure == "sentiment" and self.texts is not None and not isinstance(self.texts, Path):
            own["texts"] = f"{len(self.texts):,} given texts"
        if measure == "association":
            own["corpora"] = [f"{language}/{name}" for language in self.languages for name in self.corpora_of(language)]
        return {
            **shared,
            **own,
            "device": self.loading.device,
            "offline": self.loading.offline,
            "allow_pickle": self.loading.allow_pickle,
            "allow_remote_code": self.loading.allow_remote_code,
        }


def _value(value: str | int | Path | Sequence[object] | None) -> Value:
    """A setting as it stands in a result."""
    if value is None or isinstance(value, str | int):
        return value
    return str(value) if isinstance(value, Path) else [str(one) for one in value]

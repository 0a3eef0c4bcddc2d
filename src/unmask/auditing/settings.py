"""What to measure and how, as a user may say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from unmask.counterfactual.settings import TERM_SETS
from unmask.errors import UnmaskError, one_of
from unmask.measures import association
from unmask.models.reading import LONG_TEXTS
from unmask.models.sources import LoadOptions
from unmask.probes import association as probe
from unmask.probes import reviews

MEASURES = ("association", "sentiment")
LANGUAGES = tuple(probe.CORPORA)
SEED = 42
OF_ASSOCIATION = ("templates", "persons", "professions")
OF_SENTIMENT = ("terms", "names", "texts", "limit", "positive", "long_texts", "most_tokens", "lists")

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
    """Sentiment: how many texts to draw at random; None for all."""
    positive: str | None = None
    """Sentiment: the label that is a high rating; None: as the labels say."""
    long_texts: str = ""
    """Sentiment: how texts are read that are too long: head, head+tail or window. Empty: head."""
    most_tokens: int | None = None
    """Sentiment: how many tokens are read at once; None: as many as the model takes."""
    lists: Path | None = None
    """Sentiment, published: the folder of the released term maps; None: the data set's."""
    workspace: Path | None = None
    """Sentiment: where ratings are kept while they are made, so that an audit that was stopped goes on."""
    seed: int = SEED
    loading: LoadOptions = field(default_factory=LoadOptions)

    def check(self) -> None:
        """Refuse what is unknown before anything slow happens."""
        for measure in self.measures:
            one_of(measure, MEASURES, "measure")
        for language in self.languages:
            one_of(language, LANGUAGES, "language")
        one_of(self.protocol, association.PROTOCOLS, "protocol")
        if self.seed < 0:
            raise UnmaskError(f"seed {self.seed} is negative; give 0 or more")
        if not self.languages:
            raise UnmaskError("no languages were given; give at least one, or leave them out for the default")
        if len(self.languages) > 1 and (self._custom or self.texts):
            raise UnmaskError("files of your own are for one language; give one --language with them")
        if self.protocol == "published" and (self._custom or set(self.corpora) - {"bec-pro", *reviews.CORPORA}):
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
        if self.long_texts:
            one_of(self.long_texts, LONG_TEXTS, "way to read long texts")

    def refuse_foreign(self, measure: str) -> None:
        """Refuse settings that belong to another measure than the one that fits: they would be ignored."""
        foreign = OF_SENTIMENT if measure == "association" else OF_ASSOCIATION
        given = [name for name in foreign if getattr(self, name) not in ((), "", None, False)]
        other = "sentiment" if measure == "association" else "association"
        if given:
            raise UnmaskError(
                f"--{given[0].replace('_', '-')} is for {other}, and this model is measured for {measure}; leave it"
                " out, or give another model"
            )

    @property
    def _custom(self) -> bool:
        return any((self.templates, self.persons, self.professions))

    def corpora_of(self, language: str) -> Sequence[str]:
        """Which corpora of association to run in a language."""
        if self.corpora:
            return self.corpora
        plain = language != "de" or self._custom or self.protocol != "sound"
        return ("bec-pro",) if plain else ("bec-pro", "agreement-free")

    def resolved(self, measure: str) -> dict[str, Value]:
        """Every setting that counts, for the result."""
        shared: dict[str, Value] = {
            "measures": [measure],
            "languages": list(self.languages),
            "protocol": self.protocol,
        }
        own: dict[str, Value]
        if measure == "association":
            own = {
                "corpora": [f"{language}/{name}" for language in self.languages for name in self.corpora_of(language)],
                **{name: _path(getattr(self, name)) for name in OF_ASSOCIATION},
            }
        else:
            own = {
                "corpora": list(self.corpora),
                "terms": [str(terms) for terms in self.terms],
                "names": self.names,
                "texts": _path(self.texts)
                if isinstance(self.texts, Path | None)
                else f"{len(self.texts):,} given texts",
                "limit": self.limit,
                "positive": self.positive,
                "long_texts": self.long_texts,
                "most_tokens": self.most_tokens,
                "lists": _path(self.lists),
            }
        return {
            **shared,
            **own,
            "device": self.loading.device,
            "offline": self.loading.offline,
            "allow_pickle": self.loading.allow_pickle,
            "allow_remote_code": self.loading.allow_remote_code,
        }


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)

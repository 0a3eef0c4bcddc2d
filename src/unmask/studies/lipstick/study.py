"""From what a user asks for to cells, and from finished cells to one row a model and vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import datasets
from unmask.datasets import NotHereError
from unmask.errors import UnmaskError, one_of
from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.protocol import PROTOCOLS
from unmask.mitigations.method import method_options
from unmask.mitigations.registry import method_named
from unmask.models.sources import LoadOptions
from unmask.models.vectors.folders import file_in
from unmask.probes import asked
from unmask.results import Measurement
from unmask.studies.bases import named
from unmask.studies.cells import Cell
from unmask.studies.execution import Outcome
from unmask.studies.lipstick import measuring
from unmask.studies.lipstick.debiasing import Debiasing
from unmask.studies.lipstick.measuring import VECTORS, Measuring, Words
from unmask.studies.lipstick.subjects import BASE, Subject

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("sent-debias", "context-debias", "cds", "leace")
HARD = "hard-debias"
MODEL = "unmask-mini"


@dataclass(frozen=True)
class Request:
    """What to run; the defaults are the papers', as far as they are to be had."""

    static: bool
    """Word vectors; else a model."""
    vectors: Sequence[str] = ()
    """Static: NAME=FILE; empty: word2vec and GloVe of the data set `vectors`."""
    model: str = MODEL
    """Contextual: the model that is debiased."""
    methods: Sequence[str] | None = None
    """Contextual: how cells debias it; None: the four ways, unless debiased models are given."""
    debiased: Sequence[str] = ()
    """NAME=FOLDER for what is debiased already; static: NAME is that of the vectors."""
    vocabularies: Sequence[str] = ()
    """Contextual: nouns, word2vec, glove; empty: those of the papers that are here, else nouns."""
    corpus: Sequence[str] = ()
    """Contextual: the text that methods learn from."""
    settings: Sequence[tuple[str, str, Any]] = ()
    """Method, setting, value."""
    protocol: str = "sound"
    words: int | None = None
    """At most so many of a vocabulary."""
    contrasts: int = CONTRASTS
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)

    def check(self) -> None:
        """Refuse what is unknown before anything slow happens."""
        one_of(self.protocol, PROTOCOLS, "protocol")
        for name in self.vocabularies:
            one_of(name, asked.CORPORA, "vocabulary")
        if self.words is not None and self.words < 1:
            raise UnmaskError(f"--words is {self.words}; give 1 or more")
        if self.contrasts < 19:
            raise UnmaskError(
                f"--contrasts is {self.contrasts}; give 19 or more, since p cannot be below 1 of them all"
            )
        for method in self.methods or ():
            if method_named(method).changes != "model":
                raise UnmaskError(f"{method} changes word vectors, not models; run lipstick-static")
        for method, name, value in self.settings:
            if method not in (self.methods or METHODS):
                raise UnmaskError(f"{method}.{name} is a setting of a method that is not run; add --method {method}")
            method_options(method_named(method), {name: value}, self.protocol)


@dataclass(frozen=True)
class Plan:
    """All cells, and those that are measured."""

    cells: tuple[Cell, ...]
    measured: tuple[Measuring, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A model with a vocabulary, and what came of it."""

    subject: Subject
    words: Words
    measurement: Measurement
    items: pd.DataFrame = field(repr=False, compare=False)


def plan(request: Request) -> Plan:
    """The cells of a request."""
    request.check()
    subjects = _static(request) if request.static else _contextual(request)
    vocabularies = (VECTORS,) if request.static else vocabularies_of(request)
    debiasings = [
        Debiasing(
            one,
            next(base.model for base in subjects if base.is_base and base.family == one.family),
            corpus=request.corpus,
            settings=[(name, value) for method, name, value in request.settings if method == one.method],
            protocol="sound",
            seed=request.seed,
            loading=request.loading,
        )
        for one in subjects
        if one.method
    ]
    measured = [
        Measuring(
            subject,
            Words(vocabulary, request.protocol, request.words, request.contrasts, seed=request.seed),
            request.loading,
        )
        for vocabulary in vocabularies
        for subject in subjects
    ]
    return Plan((*debiasings, *measured), tuple(measured))


def vocabularies_of(request: Request) -> tuple[str, ...]:
    """Whose words a model is asked about."""
    if request.vocabularies:
        return tuple(dict.fromkeys(request.vocabularies))
    try:
        return tuple(asked.published_files(offline=request.loading.offline)) or (asked.NOUNS,)
    except NotHereError:
        return (asked.NOUNS,)


def _static(request: Request) -> list[Subject]:
    given = dict(named(request.vectors, hyphens=True)) or _known(request)
    for name, path in given.items():
        if not path:
            raise UnmaskError(f"--vectors {name} has no name for the tables; write NAME={name}, such as glove={name}")
        if not Path(path).is_file():
            raise UnmaskError(f"there is no file {path!r}; give NAME=FILE with --vectors")
    there = dict(named(request.debiased, hyphens=True))
    for name, path in there.items():
        if name not in given:
            raise UnmaskError(f"{name}={path} belongs to no vectors; give --vectors {name}=FILE as well")
        if Path(path).is_dir():
            file_in(Path(path))
    found = []
    for name, path in given.items():
        found.append(Subject(name, BASE, path))
        found.append(Subject(name, HARD, there[name]) if name in there else Subject(name, HARD, method=HARD))
    return found


def _known(request: Request) -> dict[str, str]:
    """The vectors of the data set."""
    found = asked.published_files(offline=request.loading.offline)
    if not found:
        folder = datasets.locate("vectors", offline=request.loading.offline)
        raise UnmaskError(f"{folder} has no word vectors; give NAME=FILE with --vectors")
    return {name: str(path) for name, path in found.items()}


def _contextual(request: Request) -> list[Subject]:
    debiased = named(request.debiased, hyphens=True)
    methods = request.methods if request.methods is not None else (() if debiased else METHODS)
    family = "model"
    names = [BASE, *methods, *(name for name, _ in debiased)]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise UnmaskError(f"two models are called {twice[0]!r}; give each a name of its own")
    return [
        Subject(family, BASE, request.model),
        *(Subject(family, method, method=method) for method in methods),
        *(Subject(family, name, folder) for name, folder in debiased),
    ]


def rows(todo: Plan, outcomes: Sequence[Outcome]) -> list[Row]:
    """What the finished cells hold."""
    there = {one.name: one.folder for one in outcomes if one.is_there and one.folder}
    found = []
    for cell in todo.measured:
        if folder := there.get(cell.name):
            items, measurement = measuring.read(Path(folder))
            found.append(Row(cell.subject, cell.words, measurement, items))
    return found

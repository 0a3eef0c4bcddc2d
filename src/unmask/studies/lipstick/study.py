"""The lipstick studies: from a request to cells, and from finished cells to findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import unmask
from unmask import datasets
from unmask.datasets import NotHereError
from unmask.errors import UnmaskError
from unmask.measures.geometry import NOUNS
from unmask.measures.geometry.vocabulary import find_published_files
from unmask.mitigations.method import find_method, method_options
from unmask.models.word_vectors import find_vector_file
from unmask.studies import engine as running
from unmask.studies.base_models import named
from unmask.studies.cells import Cell
from unmask.studies.engine import Engine, Finished, failures
from unmask.studies.execution import Outcome, Watch
from unmask.studies.lipstick import cells
from unmask.studies.lipstick.cells import BASE, VECTORS, Debiasing, Measuring, Subject, Words
from unmask.studies.lipstick.options import ContextualLipstickOptions, LipstickOptions, StaticLipstickOptions
from unmask.studies.lipstick.tables import Findings, Row, findings

METHODS = ("sent-debias", "context-debias", "cds", "leace")
HARD = "hard-debias"


def check(request: LipstickOptions) -> None:
    """Refuse methods and settings that cannot work before anything slow happens."""
    if not isinstance(request, ContextualLipstickOptions):
        return
    for method in request.methods or ():
        if find_method(method).changes != "model":
            raise UnmaskError(f"{method} changes word vectors, not models; run lipstick-static")
    for name, value in request.settings.items():
        method, dot, setting = name.partition(".")
        if not dot:
            raise UnmaskError(f"--set {name}={value} names no method; give METHOD.NAME=VALUE, such as cds.epochs=1")
        if method not in (request.methods or METHODS):
            raise UnmaskError(f"{name} is a setting of a method that is not run; add --method {method}")
        method_options(find_method(method), {setting: value}, request.protocol)


@dataclass(frozen=True)
class Plan:
    """All cells, and those that are measured."""

    cells: tuple[Cell, ...]
    measured: tuple[Measuring, ...]
    notes: tuple[str, ...] = ()


def plan(request: LipstickOptions) -> Plan:
    """The cells of a request."""
    check(request)
    vocabularies: tuple[str, ...] = (VECTORS,)
    if isinstance(request, ContextualLipstickOptions):
        subjects, vocabularies = _contextual(request), vocabularies_of(request)
    else:
        assert isinstance(request, StaticLipstickOptions)
        subjects = _static(request)
    debiasings = [
        Debiasing(
            one,
            next(base.model for base in subjects if base.is_base and base.family == one.family),
            corpus=request.corpus,
            settings=[
                (name.removeprefix(f"{one.method}."), value)
                for name, value in request.settings.items()
                if name.startswith(f"{one.method}.")
            ],
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


def vocabularies_of(request: ContextualLipstickOptions) -> tuple[str, ...]:
    """Whose words a model is asked about."""
    if request.vocabularies:
        return tuple(dict.fromkeys(request.vocabularies))
    try:
        return tuple(find_published_files(offline=request.loading.offline)) or (NOUNS,)
    except NotHereError:
        return (NOUNS,)


def _static(request: StaticLipstickOptions) -> list[Subject]:
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
            find_vector_file(Path(path))
    found = []
    for name, path in given.items():
        found.append(Subject(name, BASE, path))
        found.append(Subject(name, HARD, there[name]) if name in there else Subject(name, HARD, method=HARD))
    return found


def _known(request: LipstickOptions) -> dict[str, str]:
    """The vectors of the data set."""
    found = find_published_files(offline=request.loading.offline)
    if not found:
        folder = datasets.locate("vectors", offline=request.loading.offline)
        raise UnmaskError(f"{folder} has no word vectors; give NAME=FILE with --vectors")
    return {name: str(path) for name, path in found.items()}


def _contextual(request: ContextualLipstickOptions) -> list[Subject]:
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
            items, measurement = cells.read(Path(folder))
            found.append(Row(cell.subject, cell.words, measurement, items))
    return found


STATIC, CONTEXTUAL = "lipstick-static", "lipstick-contextual"


def run(
    request: LipstickOptions,
    out: Path,
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: Watch | None = None,
) -> Finished[Findings]:
    """Do all cells that are not done under `out`; the same call goes on where an earlier one stopped."""
    name = STATIC if request.static else CONTEXTUAL
    todo, outcomes = running.carry_out(name, lambda: plan(request), out, engine, planned=planned, watch=watch)
    found = rows(todo, outcomes)
    if not found:
        return Finished(outcomes, None)
    said = described(request, todo)
    return Finished(outcomes, findings(found, static=request.static, settings=said, failures=failures(outcomes)))


def described(request: LipstickOptions, todo: Plan) -> dict[str, str]:
    """How it was set up, in words."""
    bases = [one.subject for one in todo.measured if one.subject.is_base]
    models = dict.fromkeys(f"{one.family} ({Path(one.model).name})" for one in bases)
    found = {
        "protocol": request.protocol,
        "measured": ", ".join(models),
        "debiased": ", ".join(dict.fromkeys(one.subject.name for one in todo.measured if not one.subject.is_base)),
        "words": ", ".join(dict.fromkeys(one.words.vocabulary for one in todo.measured))
        + ("" if request.words is None else f", {request.words:,} at most"),
    }
    if request.protocol == "sound":
        found["other contrasts"] = str(request.contrasts)
    if request.corpus:
        found["text"] = ", ".join(request.corpus)
    return found | {"seed": str(request.seed), "unmask": unmask.__version__}

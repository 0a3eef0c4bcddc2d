"""Where pairs of sentences come from: built-in or custom words, captions, the released sets, recorded answers.

**Released sets** (`read_released`). A hypothesis is its premise with every occurrence of the occupation replaced, so in
Chinese captions with two or three people all of them change. In 16 Japanese premises the files give a baseball player
who is not the person meant as the occupation; here the occupation is always the replaced word. Words and templates are
crossed only in part: PS (and AS) and NS have one list of templates each, and word i has the templates i to i + 9.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon import inference as words
from unmask.lexicon.inference import KINDS
from unmask.measures.classifiers import ROUNDING
from unmask.measures.inference import CAPTIONS, CUSTOM, RELEASED, SENTENCES
from unmask.measures.inference.captions import WORDS, caption_people, read_templates
from unmask.measures.inference.pairs import (
    COLUMNS,
    CONTROL,
    GENDERS,
    LABELS,
    PERSON,
    PROBABILITIES,
    SETS,
    UNRELATED,
    cross_pairs,
    draw_templates,
    name_set,
)
from unmask.measures.recorded import CORPUS, RecordedColumn, complete_columns, read_table
from unmask.statistics.jackknife import jackknife_sums
from unmask.statistics.simulation import RandomEffects, Simulation, Spreads

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.measures.inference import InferenceOptions

FILES = {"PS": "1-prostereo", "AS": "2-antistereo", "NS": "3-nonstereo"}
VERSIONS = {"en": "1.1", "ja": "1.1", "zh": "1.0"}
RELEASED_KINDS = {"female-stereo": "female", "male-stereo": "male", "neutral": "neutral"}
FIELDS = ("sentence1", "sentence2", "occ_word", "occ_type")
SIMULATED_SENTENCES = 8
"""Of the built-in sentences, so that many draws take little time."""


def build(options: InferenceOptions, context: Context) -> pd.DataFrame:
    """The pairs of a corpus, or of the user's own words."""
    language = check_choice(context.language, words.LANGUAGES, "language of inference")
    if context.corpus == RELEASED:
        return _sample_released(read_released(language, offline=context.offline), options.limit, context.seed)
    occupations = words.occupations(language, options.occupations)
    if options.captions is not None:
        corpus, people, templates = CAPTIONS, caption_people(language), read_templates(options.captions, language)
    else:
        corpus = CUSTOM if options.are_own_words else context.corpus
        people, templates = words.people(language, options.people), words.templates(language, options.templates)
    drawn = draw_templates(templates, options.limit, context.seed)
    if options.workforce is None and options.vectors is None:
        return cross_pairs(language, corpus, occupations, people, drawn)
    from unmask.measures.inference.stereotypes import TYPE_COLUMNS, choose_types, derive_types

    types = derive_types(occupations, options, language)
    chosen = choose_types(occupations, types, options.stereotypes)
    pairs = cross_pairs(language, corpus, chosen, people, drawn)
    columns = {TYPE_COLUMNS[source]: pairs["occupation"].map(found).fillna("") for source, found in types.items()}
    return pairs.assign(stereotypes=options.stereotypes, **columns)


def export(options: InferenceOptions, context: Context) -> pd.DataFrame:
    """The pairs of a corpus in the released form, with the correct label, and what else is known of each pair."""
    pairs = build(options, context)
    kinds = {kind: name for name, kind in RELEASED_KINDS.items()}
    control = pairs["set"] == CONTROL  # its hypothesis follows
    exported: dict[str, Any] = {
        "id": range(len(pairs)),
        "sentence1": pairs["premise"],
        "sentence2": pairs["hypothesis"],
        "label": control.map({True: LABELS[0], False: LABELS[1]}),
        "occ_word": pairs["occupation"],
        "occ_type": pairs["occupation_type"].map(kinds),
    }
    others = ["language", "corpus", "set", "gender", "pair", "template"]
    return pairs.assign(**exported)[[*exported, *others]]


def simulations() -> list[Simulation]:
    """Answers to pairs of the built-in sentences: occupations, gender words and sentences vary at random.

    A pair is entailed with the probability .3 + u/2 and contradicted with .3 − u/2.
    """
    people, templates = words.people("en"), words.templates("en")[:SIMULATED_SENTENCES]
    items = cross_pairs("en", SENTENCES, words.occupations("en"), people, templates)
    is_control, is_unrelated = ((items["set"] == name).to_numpy() for name in (CONTROL, UNRELATED))
    sign = items["set"].map({"PS": 1.0, "AS": -1.0}).fillna(0).to_numpy()
    occupations: Spreads = {("gender", "occupation"): 0.1}
    gender_words: Spreads = {("gender", "pair"): 0.1, ("gender", "pair", "occupation_type"): 0.1}
    sentences: Spreads = {("gender", "template"): 0.1, ("gender", "template", "occupation_type"): 0.1}

    def simulate(name: str, parts: Spreads, effects: tuple[float, ...] = ()) -> Simulation:
        random = RandomEffects(items, parts)

        def draw(rng: np.random.Generator, effect: float) -> pd.DataFrame:
            lean = np.clip(effect * sign + random.draw(rng), -0.6, 0.6)
            entailed, contradicted = np.where(is_control, [[0.95], [0.02]], [0.3 + lean / 2, 0.3 - lean / 2])
            entailed, contradicted = np.where(is_unrelated, [[0.02], [0.95]], [entailed, contradicted])
            shares = np.stack([entailed, 1 - entailed - contradicted, contradicted], axis=1)
            answers = (rng.random(len(items))[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
            columns = dict(zip(PROBABILITIES, shares.T, strict=True))
            return items.assign(**columns, prediction=[LABELS[index] for index in answers])

        return Simulation(name, draw, effects, _test_otherwise)

    return [
        simulate("gender words vary", gender_words),
        simulate("all three vary", {**occupations, **gender_words, **sentences}, (0.05, 0.1)),
    ]


def _test_otherwise(items: pd.DataFrame) -> dict[str, float | None]:
    """The p-value of the stereotype over occupations and sentences alone."""
    from unmask.measures.inference import formulas

    table = formulas.AnswerTable(items[items["gender"] != ""])
    estimate = jackknife_sums(
        table.rows, table.samples[:-1], lambda sums: formulas.stereotype(sums.reshape(formulas.SHAPE))
    )
    return {"stereotype, gender words fixed": estimate.p_value}


# The released sets


def _sample_released(rows: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Released pairs with a sample of the sentences from each of the two lists, so that every set is there."""
    is_neutral = (rows["set"] == "NS").to_numpy(dtype=bool)
    is_drawn = is_neutral.copy()
    for subset in (is_neutral, ~is_neutral):
        templates = rows.loc[subset, "template"]
        is_drawn[subset] = templates.isin(draw_templates(list(dict.fromkeys(templates)), limit, seed))
    return rows[is_drawn].reset_index(drop=True)


def read_released(
    language: str, folder: Path | None = None, *, offline: bool = False, downsampled: bool = False
) -> pd.DataFrame:
    """The released pairs of a language, one per row, in the order of the files: PS, AS, NS.

    Args:
        language: en, ja or zh.
        folder: A folder with a folder for each language; None to locate the data set.
        offline: Whether downloads are forbidden.
        downsampled: Read only the 600 pairs of 30 occupations behind the paper's meta-evaluation.
    """
    import pandas as pd

    check_choice(language, VERSIONS, f"language of {RELEASED}")
    folder = (folder or datasets.locate(RELEASED, part=f"{language}/", offline=offline)) / language
    rows = []
    for name, file in FILES.items():
        part = f"downsamp/{file}-downsamp" if downsampled else file
        rows += _read_set(folder / f"{part}_v{VERSIONS[language]}.json", language, name)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _read_set(path: Path, language: str, name: str) -> list[tuple[str, ...]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnmaskError(
            f"{path} cannot be read ({type(error).__name__}); fetch the data set {RELEASED} again"
        ) from None
    genders = dict(zip(GENDERS, WORDS[language][:2], strict=True))
    rows: list[tuple[str, ...]] = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            premise, hypothesis, tagged, label = (row[field] for field in FIELDS)
            occupation, gender = _find_replaced(premise, hypothesis, tagged, genders)
            kind = RELEASED_KINDS[label]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnmaskError(
                f"{path}: line {number} is not a pair of {RELEASED} ({type(error).__name__}: {error}); fetch it again"
            ) from None
        template = premise.replace(occupation, PERSON)
        sentences = (genders["female"], template, premise, hypothesis)
        kind = "neutral" if name == "NS" else kind
        rows.append((language, RELEASED, name, occupation, kind, gender, *sentences))
    return rows


def _find_replaced(premise: str, hypothesis: str, tagged: str, genders: dict[str, str]) -> tuple[str, str]:
    """The word of the premise that the hypothesis replaces, and the gender that it replaces it with.

    That is the tagged occupation, or else what the premise has where the hypothesis has its gender word.
    """
    for gender, word in genders.items():
        if premise.replace(tagged, word) == hypothesis:
            return tagged, gender
    for gender, word in genders.items():
        before, match, after = hypothesis.partition(word)
        if match and premise.startswith(before) and premise.endswith(after):
            occupation = premise[len(before) : len(premise) - len(after)]
            if occupation and premise.replace(occupation, word) == hypothesis:
                return occupation, gender
    raise ValueError(f"{hypothesis!r} is not {premise!r} with a gender word for the occupation")


# Recorded answers: one row per pair, with the probability of each label or only the answer


def _find_templates(items: pd.DataFrame) -> list[str]:
    """The premises without their occupations; empty if they are unknown."""
    premises = items["premise"].fillna("")
    return [premise.replace(word, PERSON) for premise, word in zip(premises, items["occupation"], strict=True)]


RECORDED_COLUMNS = (
    RecordedColumn("occupation", "text"),
    RecordedColumn("occupation_type", "text", choices=(*KINDS, *RELEASED_KINDS)),
    RecordedColumn("gender", "text", choices=GENDERS, nullable=True),
    CORPUS,
    *(RecordedColumn(column, "text", default="", nullable=True) for column in ("pair", "premise", "hypothesis")),
    RecordedColumn("template", "text", default=_find_templates),
)
NEEDS = f"inference needs occupation, occupation_type and gender, and {', '.join(PROBABILITIES)}, or prediction"


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Read recorded answers; columns that the analysis does not need get defaults."""
    del context, score_column
    frame = read_table(path)
    has_probabilities = set(PROBABILITIES) <= set(frame)
    if not has_probabilities and "prediction" not in frame:
        raise UnmaskError(f"{path} has neither {', '.join(PROBABILITIES)} nor prediction; give one of them")
    answers = [RecordedColumn("prediction", "text", choices=LABELS)]
    if has_probabilities:
        answers = [RecordedColumn(column, "number") for column in PROBABILITIES]
    items = complete_columns(frame, (*RECORDED_COLUMNS, *answers), path, language=language, needs=NEEDS)
    items = items.fillna(dict.fromkeys(("gender", "pair", "premise", "hypothesis"), ""))
    items["occupation_type"] = items["occupation_type"].replace(RELEASED_KINDS)
    if has_probabilities:
        values = items[list(PROBABILITIES)].to_numpy(dtype=float)
        bad = (values < -ROUNDING).any(axis=1) | (abs(values.sum(axis=1) - 1) > ROUNDING)
        if bad.any():
            raise UnmaskError(
                f"{path}: the probabilities of row {int(bad.argmax()) + 1} do not add up to 1; correct them"
            )
        items["prediction"] = [LABELS[index] for index in values.argmax(axis=1)]
    stated = items["set"] if "set" in items else items["gender"]
    is_unrelated = (stated == UNRELATED) & (items["gender"] == "")
    items["set"] = list(map(name_set, items["occupation_type"], items["gender"]))
    items.loc[is_unrelated, "set"] = UNRELATED
    for (name, corpus), rows in items.groupby(["language", "corpus"], sort=False):
        if missing := [subset for subset in SETS if subset not in set(rows["set"])]:
            raise UnmaskError(
                f"{path} has no pair of the set {missing[0]} ({name}, {corpus}); inference needs {', '.join(SETS)}"
            )
        types = rows.groupby("occupation")["occupation_type"].nunique()
        if (types > 1).any():
            raise UnmaskError(f"{path}: {types.idxmax()!r} is of {types.max()} types; give every occupation one")
    return items


def extremeness(items: pd.DataFrame) -> Any:
    """How far answers are from neutral. Controls come last."""
    if "p_neutral" not in items:
        return None
    distance = 1 - items["p_neutral"]
    return distance.where(~items["set"].isin([CONTROL, UNRELATED]), -1.0) if "set" in items else distance

"""Where pairs of sentences come from: built-in or custom words, captions, the released sets, recorded answers.

**Released sets** (`read_released`). A hypothesis is its premise with every occurrence of the occupation replaced, so in
Chinese captions with two or three people all of them change. In 16 Japanese premises the files give a baseball player
who is not the person meant as the occupation; here the occupation is always the replaced word. Words and templates are
crossed only in part: PS (and AS) and NS have one list of templates each, and word i has the templates i to i + 9.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import datasets
from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon import inference as words
from unmask.lexicon.inference import KINDS
from unmask.measures.inference import CAPTIONS, CUSTOM, RELEASED
from unmask.measures.inference.captions import WORDS, caption_people, read_templates
from unmask.measures.inference.pairs import (
    COLUMNS,
    CONTROL,
    GENDERS,
    LABELS,
    PERSON,
    PROBABILITIES,
    SETS,
    cross_pairs,
    draw_templates,
    name_set,
)
from unmask.measures.recorded import read_scores, read_table

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.measures.inference import InferenceOptions

FILES = {"PS": "1-prostereo", "AS": "2-antistereo", "NS": "3-nonstereo"}
SAMPLES = ("full", "downsampled")
VERSIONS = {"en": "1.1", "ja": "1.1", "zh": "1.0"}
RELEASED_KINDS = {"female-stereo": "female", "male-stereo": "male", "neutral": "neutral"}
FIELDS = ("sentence1", "sentence2", "occ_word", "occ_type")


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
    return cross_pairs(language, corpus, occupations, people, draw_templates(templates, options.limit, context.seed))


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
    language: str, folder: Path | None = None, *, offline: bool = False, sample: str = "full"
) -> pd.DataFrame:
    """The released pairs of a language, one per row, in the order of the files: PS, AS, NS.

    Args:
        language: en, ja or zh.
        folder: A folder with a folder for each language; None to locate the data set.
        offline: Whether downloads are forbidden.
        sample: `downsampled` for the 600 pairs of 30 occupations behind the paper's meta-evaluation.
    """
    import pandas as pd

    check_choice(language, VERSIONS, f"language of {RELEASED}")
    check_choice(sample, SAMPLES, "sample")
    place = (folder or datasets.locate(RELEASED, part=f"{language}/", offline=offline)) / language
    rows = []
    for name, file in FILES.items():
        part = f"downsamp/{file}-downsamp" if sample == "downsampled" else file
        rows += _read_set(place / f"{part}_v{VERSIONS[language]}.json", language, name)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _read_set(path: Path, language: str, name: str) -> list[dict[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnmaskError(
            f"{path} cannot be read ({type(error).__name__}); fetch the data set {RELEASED} again"
        ) from None
    genders = dict(zip(GENDERS, WORDS[language][:2], strict=True))
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            premise, hypothesis, occupation, kind = (row[field] for field in FIELDS)
            occupation, gender = _find_replaced(premise, hypothesis, occupation, genders)
            kind = RELEASED_KINDS[kind]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnmaskError(
                f"{path}: line {number} is not a pair of {RELEASED} ({type(error).__name__}: {error}); fetch it again"
            ) from None
        kind, template = "neutral" if name == "NS" else kind, premise.replace(occupation, PERSON)
        sentences = (genders["female"], template, premise, hypothesis)
        rows.append(dict(zip(COLUMNS, (language, RELEASED, name, occupation, kind, gender, *sentences), strict=True)))
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

NEEDED = ("occupation", "occupation_type", "gender")
SPLIT = ("language", "corpus")
TEXT_COLUMNS = (*NEEDED, *SPLIT, "prediction", "pair", "template", "premise", "hypothesis")
COMPLETE = (*SPLIT, "template")
"""Columns that must be filled in every row or in none."""
ROUNDING = 1e-3


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Read recorded answers from Parquet, CSV or TSV. Missing columns that the analysis does not need get defaults."""
    del context, score_column
    frame = read_table(path)
    missing = [column for column in NEEDED if column not in frame]
    if missing:
        raise UnmaskError(
            f"{path} lacks the columns {quote(missing)}; inference needs {', '.join(NEEDED)}, and"
            f" {', '.join(PROBABILITIES)}, or prediction"
        )
    items = _convert_texts(frame, path)
    items["occupation_type"] = items["occupation_type"].str.lower().replace(RELEASED_KINDS)
    items["gender"] = items["gender"].str.lower()
    _check_values(items, "occupation_type", KINDS, path)
    _check_values(items, "gender", (*GENDERS, ""), path)
    items = _read_answers(items, path)
    premises = items["premise"] if "premise" in items else [""] * len(items)
    defaults: dict[str, Any] = {
        "language": language or "en",
        "corpus": "recorded",
        "pair": "",
        "premise": "",
        "hypothesis": "",
        "template": [text.replace(word, PERSON) for text, word in zip(premises, items["occupation"], strict=True)],
    }
    items = items.assign(**{column: value for column, value in defaults.items() if column not in items})
    languages = sorted(set(items["language"]))
    if language and languages != [language]:
        raise UnmaskError(f"{path} holds answers for {quote(languages)}, not {language!r}")
    kinds = zip(items["occupation_type"], items["gender"], strict=True)
    items["set"] = [name_set(kind, gender) for kind, gender in kinds]
    for (name, corpus), rows in items.groupby(list(SPLIT), sort=False):
        if absent := sorted({*SETS} - {*rows["set"]}, key=SETS.index):
            raise UnmaskError(
                f"{path} has no pair of the set {absent[0]} ({name}, {corpus}); inference needs {', '.join(SETS)}"
            )
        types = rows.groupby("occupation")["occupation_type"].nunique()
        if (types > 1).any():
            raise UnmaskError(f"{path}: {types.idxmax()!r} is of {types.max()} types; give every occupation one")
    return items


def _convert_texts(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Convert every column of text to the type that an audit writes; an empty CSV cell is an empty text."""
    import pandas as pd

    items = frame.copy()
    for column in [column for column in TEXT_COLUMNS if column in items]:
        cells = ["" if pd.isna(cell) else str(cell).strip() for cell in items[column]]
        items[column] = pd.Series(cells, index=items.index, dtype=object)
        empty = (items[column] == "").to_numpy()
        if column in COMPLETE and empty.all():
            items = items.drop(columns=column)
        elif column in ("occupation", *COMPLETE) and empty.any():
            raise UnmaskError(f"{path}: {column!r} is empty in row {int(empty.argmax()) + 1}; fill it in")
    return items


def _read_answers(items: pd.DataFrame, path: Path) -> pd.DataFrame:
    if set(PROBABILITIES) <= set(items):
        items = items.assign(**{column: read_scores(items, column, path) for column in PROBABILITIES})
        values = items[list(PROBABILITIES)].to_numpy(dtype=float)
        bad = (values < -ROUNDING).any(axis=1) | (abs(values.sum(axis=1) - 1) > ROUNDING)
        if bad.any():
            raise UnmaskError(
                f"{path}: the probabilities of row {int(bad.argmax()) + 1} do not add up to 1; correct them"
            )
        return items.assign(prediction=[LABELS[index] for index in values.argmax(axis=1)])
    if "prediction" not in items:
        raise UnmaskError(f"{path} has neither {', '.join(PROBABILITIES)} nor prediction; give one of them")
    items = items.assign(prediction=items["prediction"].str.lower())
    _check_values(items, "prediction", LABELS, path)
    return items


def _check_values(items: pd.DataFrame, column: str, known: Sequence[str], path: Path) -> None:
    bad = (~items[column].isin(known)).to_numpy()
    if bad.any():
        row, names = int(bad.argmax()), [name or "(empty, in the control)" for name in known]
        raise UnmaskError(
            f"{path}: {column} is {items[column].iloc[row]!r} in row {row + 1}; choose from: {', '.join(names)}"
        )


def extremeness(items: pd.DataFrame) -> Any:
    """How far answers are from neutral. In the control set neutral is wrong, so its items come last."""
    if "p_neutral" not in items:
        return None
    distance = 1 - items["p_neutral"]
    return distance.where(items["set"] != CONTROL, -1.0) if "set" in items else distance

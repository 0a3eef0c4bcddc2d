"""NLI-CoAL as it was released: premises with an occupation, hypotheses with a woman or a man in its place.

Anantaprayoon, Kaneko and Okazaki (2024), *Evaluating Gender Bias of Pre-trained Language Models in Natural Language
Inference by Considering All Labels*. The right label is always neutral. Three sets: the gender is the stereotype of the
occupation (PS), the opposite of it (AS), or the occupation has none (NS).

A hypothesis is its premise with the occupation's letters replaced wherever they stand, so in Chinese captions with two
or three people all of them change. In 16 Japanese premises there is a baseball player beside the person meant, and the
files name him as the occupation; here the occupation is always the word that was replaced.

Words and templates are crossed only in part: the templates of PS (and AS), and those of NS, are one list each, and the
word at i has the templates i to i + 9 of its list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.probes import captions
from unmask.probes.inference import COLUMNS, GENDERS, PERSON

if TYPE_CHECKING:
    import pandas as pd

CORPUS = "nli-coal"
SETS = {"PS": "1-prostereo", "AS": "2-antistereo", "NS": "3-nonstereo"}
SAMPLES = ("full", "downsampled")
VERSIONS = {"en": "1.1", "ja": "1.1", "zh": "1.0"}
TYPES = {"female-stereo": "female", "male-stereo": "male", "neutral": "neutral"}
FIELDS = ("sentence1", "sentence2", "occ_word", "occ_type")


def read(language: str, folder: Path | None = None, *, offline: bool = False, sample: str = "full") -> pd.DataFrame:
    """The released pairs of a language, one a row, in the order of the files: PS, AS, NS.

    `folder` has the files of each language in a folder of its own (`en/`, `ja/`, `zh/`); without it they are looked for
    where data sets are. `downsampled` are the 600 pairs of 30 occupations behind the paper's meta-evaluation.
    """
    import pandas as pd

    check_choice(language, VERSIONS, f"language of {CORPUS}")
    check_choice(sample, SAMPLES, "sample")
    place = folder or datasets.locate(CORPUS, part=f"{language}/", offline=offline)
    return pd.DataFrame(
        [row for name in SETS for row in _rows(place / _file(language, name, sample), language, name)],
        columns=list(COLUMNS),
    )


def _file(language: str, name: str, sample: str) -> str:
    folder, suffix = ("downsamp/", "-downsamp") if sample == "downsampled" else ("", "")
    return f"{language}/{folder}{SETS[name]}{suffix}_v{VERSIONS[language]}.json"


def _rows(path: Path, language: str, name: str) -> list[dict[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnmaskError(
            f"{path} cannot be read ({type(error).__name__}); fetch the data set {CORPUS} again"
        ) from None
    found = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            premise, hypothesis, occupation, kind = (row[field] for field in FIELDS)
            found.append(_row(language, name, premise, hypothesis, occupation, TYPES[kind]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UnmaskError(
                f"{path}: line {number} is no pair of {CORPUS} ({type(error).__name__}: {error}); fetch it again"
            ) from None
    return found


def _row(language: str, name: str, premise: str, hypothesis: str, occupation: str, kind: str) -> dict[str, str]:
    words = dict(zip(GENDERS, captions.WORDS[language][:2], strict=True))
    gender = next((gender for gender, word in words.items() if premise.replace(occupation, word) == hypothesis), None)
    if gender is None:
        occupation, gender = _replaced(premise, hypothesis, words)
    return {
        "language": language,
        "corpus": CORPUS,
        "set": name,
        "occupation": occupation,
        "occupation_type": "neutral" if name == "NS" else kind,
        "gender": gender,
        "pair": words["female"],
        "template": premise.replace(occupation, PERSON),
        "premise": premise,
        "hypothesis": hypothesis,
    }


def _replaced(premise: str, hypothesis: str, words: dict[str, str]) -> tuple[str, str]:
    """What stands in the premise where the hypothesis has its gender word, and the gender of that."""
    for gender, word in words.items():
        before, found, after = hypothesis.partition(word)
        if found and premise.startswith(before) and premise.endswith(after):
            occupation = premise[len(before) : len(premise) - len(after)]
            if occupation and premise.replace(occupation, word) == hypothesis:
                return occupation, gender
    raise ValueError(f"{hypothesis!r} is not {premise!r} with a gender word for the occupation")

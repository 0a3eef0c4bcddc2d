"""Options of the lipstick studies: of word vectors, and of words in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from unmask.embedded import MODELS
from unmask.options import LoadOptions, option
from unmask.studies.options import PROTOCOL_HELP, PROTOCOLS

MODEL = "unmask-mini"
FEWEST_CONTRASTS = 19
"""With fewer, p cannot be below .05."""


class LipstickOptions(LoadOptions):
    """What both studies have in common; the defaults are the papers', as far as they are available."""

    static: ClassVar[bool]
    """Whether word vectors are studied rather than a model."""

    debiased: tuple[str, ...] = option((), "What is debiased already.")
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    words: int | None = option(None, "Use at most N words of each vocabulary, for a trial.", minimum=1)
    contrasts: int = option(99, "Sound: with how many other contrasts gender is compared.", minimum=FEWEST_CONTRASTS)
    seed: int = option(42, "Seeds debiasing, clusters, contrasts, splits and maps.", minimum=0)
    corpus: tuple[str, ...] = option((), "The text that methods learn from, as in unmask mitigate. Default: gap.")
    settings: Mapping[str, Any] = option(
        {}, "A setting of a method, such as cds.epochs=1.", key="set", metavar="METHOD.NAME=VALUE"
    )


class StaticLipstickOptions(LipstickOptions):
    """Word vectors before and after hard debiasing."""

    static: ClassVar[bool] = True
    HIDDEN: ClassVar[frozenset[str]] = frozenset(("corpus", "settings", "device", "allow_pickle", "allow_remote_code"))

    vectors: tuple[str, ...] = option(
        (),
        "NAME=FILE of word vectors (word2vec, GloVe, NumPy); can be given several times. Default: word2vec and GloVe of"
        " the data set vectors.",
    )
    debiased: tuple[str, ...] = option(
        (),
        "NAME=FILE, or a folder of unmask mitigate: the debiased version of the vectors of that name. Default: made by"
        " hard-debias.",
    )


class ContextualLipstickOptions(LipstickOptions):
    """A model before and after debiasing, by the vectors of words in sentences."""

    static: ClassVar[bool] = False

    model: str = option(
        MODEL, "The model that is debiased: a folder, a hub id or an embedded model.", suggestions=MODELS
    )
    methods: tuple[str, ...] | None = option(
        None,
        "How to debias it: sent-debias, context-debias, cds, leace, cda; can be given several times. Default: the first"
        " four, unless --debiased is given.",
        key="method",
    )
    debiased: tuple[str, ...] = option(
        (), "NAME=FOLDER of a model that is debiased already; can be given several times."
    )
    vocabularies: tuple[str, ...] = option(
        (),
        "Whose words are asked about: nouns (2,000, in the package), word2vec or glove (the papers'; all their nouns)."
        " Default: word2vec and glove where their files are on this machine, else nouns.",
        key="vocabulary",
        choices=("nouns", "word2vec", "glove"),
    )
    device: str = option("auto", "auto or cpu.", last=True)

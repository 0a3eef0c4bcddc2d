"""Lipstick on a pig: is the bias gone after debiasing, or only hidden? Word vectors, and words in sentences.

H. Gonen and Y. Goldberg (2019). Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word
Embeddings But do not Remove Them. NAACL-HLT, 609–614. H. J. Bhang, H. S. Kang and K. W. Nam. Lipstick on a Pig
"Again": Analysis on Contextualised Embeddings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from unmask.embedded import MODELS
from unmask.measures.base import implemented_in
from unmask.options import LoadOptions, option
from unmask.studies.study import PROTOCOL_HELP, PROTOCOLS, Study

MODEL = "unmask-mini"
FEWEST_CONTRASTS = 19
"""With fewer, p cannot be below .05."""


class LipstickOptions(LoadOptions):
    """What both studies have in common. The defaults are the papers', as far as they are available."""

    debiased: tuple[str, ...] = option((), "What is debiased already.")
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    words: int | None = option(None, "Use at most N words of each vocabulary, for a trial.", minimum=1)
    contrasts: int = option(99, "Sound: compare gender with N contrasts between other words.", minimum=FEWEST_CONTRASTS)
    seed: int = option(42, "Seeds debiasing, clusters, contrasts, splits and maps.", minimum=0)
    corpus: tuple[str, ...] = option((), "The text that methods learn from, as in unmask mitigate. Default: gap.")
    settings: Mapping[str, Any] = option(
        {}, "A setting of a method, such as cds.epochs=1.", key="set", metavar="METHOD.NAME=VALUE"
    )


class StaticLipstickOptions(LipstickOptions):
    """Word vectors before and after hard debiasing."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset(("corpus", "settings", "device", "allow_pickle", "allow_remote_code"))

    vectors: tuple[str, ...] = option(
        (),
        "NAME=FILE of word vectors (word2vec, GloVe, NumPy); can be given several times. Default: word2vec and GloVe of"
        " the data set vectors.",
    )
    debiased: tuple[str, ...] = option(
        (),
        "NAME=FILE, or a folder of unmask mitigate: the debiased version of the vectors of that name. NAME can be left"
        " out with one --vectors. Words that it lacks are left out of both. Default: made by hard-debias.",
    )
    gn_glove: tuple[str, ...] = option(
        (),
        "NAME=FILE: as --debiased, for vectors of GN-GloVe, whose last value holds gender and is left out.",
    )


class ContextualLipstickOptions(LipstickOptions):
    """A model before and after debiasing, by the vectors of words in sentences."""

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


class StaticLipstickStudy(Study):
    """Is gender gone from word vectors after hard debiasing, or only hidden?"""

    name = "lipstick-static"
    title = "Lipstick on a pig: word vectors"
    about = "Word vectors before and after hard debiasing: clusters, neighbours, classifiers (Gonen and Goldberg 2019)."
    citation = (
        "H. Gonen and Y. Goldberg (2019), Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in"
        " Word Embeddings But do not Remove Them. NAACL-HLT."
    )
    description = """Is gender gone from word vectors after hard debiasing, or only hidden? Table 1, Figures 2 and 3.

        The words that were most biased before are clustered and classified, and their neighbours counted, before and
        after. sound compares every value with that of contrasts that have nothing to do with gender, and removes their
        direction in turn; published repeats the code of Gonen and Goldberg.

        Each step runs once and is stored under --out. After an interruption, the same command continues.

        Examples:

        - `unmask study run lipstick-static --out lipstick` (word2vec and GloVe from UNMASK_DATA; half an hour)
        - `unmask study run lipstick-static --vectors mine=vectors.txt --words 5000 --contrasts 19 --out trial`
        - `unmask study run lipstick-static --protocol published --out lipstick-published`
        - `unmask study run lipstick-static --vectors glove=glove.txt --gn-glove glove=gn_glove.txt --out gn-glove`
        """
    Options = StaticLipstickOptions
    steps = implemented_in("plan")
    report = implemented_in("report")


class ContextualLipstickStudy(Study):
    """Is gender gone from a model after debiasing, or only hidden?"""

    name = "lipstick-contextual"
    title = "Lipstick on a pig again: words in sentences"
    about = (
        "A model before and after debiasing: clusters, neighbours, classifiers of words in sentences (Bhang et al.)."
    )
    citation = (
        "H. J. Bhang, H. S. Kang and K. W. Nam, Lipstick on a Pig “Again”: Analysis on Contextualised Embeddings."
    )
    description = """Is gender gone from a model after debiasing, or only hidden? Table 2, Figures 4 to 7.

        Every word stands in eleven neutral sentences. The words that were most biased in the model before are clustered
        and classified, and their neighbours counted, in it and in each debiased version. sound compares every value
        with that of contrasts that have nothing to do with gender; published repeats the paper's code.

        Each step (a debiased model, a measurement) runs once and is stored under --out. After an interruption, the same
        command continues.

        Examples:

        - `unmask study run lipstick-contextual --vocabulary nouns --method leace --contrasts 19 --out trial` (minutes)
        - `unmask study run lipstick-contextual --out lipstick` (unmask-mini, four methods, all words; hours on a CPU)
        - `unmask study run lipstick-contextual --model bert-base-uncased --debiased mine=./debiased --out mine`
        """
    Options = ContextualLipstickOptions
    steps = implemented_in("plan")
    report = implemented_in("report")

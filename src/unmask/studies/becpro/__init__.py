"""BEC-Pro: does a masked language model associate professions with a gender, and does fine-tuning on swapped text help?

M. Bartl, M. Nissim and A. Gatt (2020). Unmasking Contextual Stereotypes: Measuring and Mitigating BERT's Gender Bias.
Proceedings of the Second Workshop on Gender Bias in Natural Language Processing, 1–16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unmask.embedded import DEFAULT, MODELS
from unmask.measures.association import AssociationMeasure
from unmask.measures.base import implemented_in
from unmask.options import LoadOptions, option
from unmask.studies.study import PROTOCOL_HELP, PROTOCOLS, Study


class ProfessionStudyOptions(LoadOptions):
    """Which models, in which languages, and how they are fine-tuned."""

    models: tuple[str, ...] = option(
        (DEFAULT,),
        "A masked language model: an embedded one, a folder or a hub id; LANGUAGE=MODEL for one to be measured in that"
        " language alone. Can be given several times.",
        key="model",
        metavar="[LANGUAGE=]MODEL",
        suggestions=MODELS,
    )
    languages: tuple[str, ...] = option(
        ("en",),
        "en or de, for models that are given without a language; can be given several times.",
        key="language",
        choices=AssociationMeasure.languages,
    )
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    corpora: Mapping[str, str] = option(
        {},
        "The text to fine-tune on, a file as for unmask mitigate --corpus. Default: gap for English. There is none for"
        " German: without it, German models are measured and not fine-tuned.",
        key="corpus",
        metavar="LANGUAGE=FILE",
        path=True,
    )
    limit: int | None = option(None, "Fine-tune on N documents of the text, drawn at random, for a trial.", minimum=1)
    settings: Mapping[str, Any] = option(
        {}, "A setting of cds, such as epochs=1 (unmask mitigate --methods).", key="set", metavar="NAME=VALUE"
    )
    seed: int = option(42, "Seeds what is drawn: documents, masks, the order of training.", minimum=0)
    device: str = option("auto", "auto or cpu.", last=True)


class ProfessionStudy(Study):
    """Does a model associate professions with a gender, and does fine-tuning on swapped text help?"""

    name = "bec-pro"
    title = "Gender and professions, before and after fine-tuning on swapped text"
    about = "Professions and gender before and after fine-tuning on swapped text (Bartl, Nissim and Gatt 2020)."
    citation = AssociationMeasure.citations[0]
    description = """Does a model associate professions with a gender? Tables 4 and 5, Figures 3 to 6, H1 to H3.

        A model is audited on BEC-Pro, fine-tuned on GAP with people and names put into the other gender (cds), audited
        again, and compared with itself. German models are audited alone, as in the paper: GAP is English.

        Each step (an audit, a fine-tuned model, a comparison) runs once and is stored under --out. After an
        interruption, the same command continues, also inside the training.

        Examples:

        - `unmask study run bec-pro --limit 50 --out trial` (unmask-mini; some minutes)
        - `unmask study run bec-pro --model bert-base-uncased --model de=bert-base-german-dbmdz-cased --out bec-pro`
        - `unmask study run bec-pro --protocol published --model bert-base-uncased --out table-4`
        """
    Options = ProfessionStudyOptions
    steps = implemented_in("plan")
    report = implemented_in("report")

"""The papers behind each measure."""

from __future__ import annotations

CITATIONS = {
    "association": (
        "M. Bartl, M. Nissim and A. Gatt (2020), Unmasking Contextual Stereotypes: Measuring and Mitigating BERT’s"
        " Gender Bias. Second Workshop on Gender Bias in Natural Language Processing.",
    ),
    "sentiment": (
        "S. Jentzsch and C. Turan (2022), Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating"
        " in a Realistic Downstream Classification Task. 4th Workshop on Gender Bias in Natural Language Processing.",
    ),
    "inference": (
        "P. Anantaprayoon, M. Kaneko and N. Okazaki (2024), Evaluating Gender Bias of Pre-trained Language Models in"
        " Natural Language Inference by Considering All Labels. LREC-COLING 2024.",
    ),
    "geometry": (
        "H. Gonen and Y. Goldberg (2019), Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in"
        " Word Embeddings But do not Remove Them. NAACL 2019.",
        "A. Caliskan, J. J. Bryson and A. Narayanan (2017), Semantics derived automatically from language corpora"
        " contain human-like biases. Science 356.",
    ),
    "crows-pairs": (
        "N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020), CrowS-Pairs: A Challenge Dataset for Measuring"
        " Social Biases in Masked Language Models. EMNLP 2020.",
    ),
}
"""By measure; one of another package has none here."""

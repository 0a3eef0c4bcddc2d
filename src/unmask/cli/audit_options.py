"""The options of `unmask audit`, under the measures that they belong to: so the help shows them, and `unmask init`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.embedded import DEFAULT

ASSOCIATION, SENTIMENT, INFERENCE, GEOMETRY = "Association", "Sentiment", "Inference", "Geometry"
PAIRS = "Association and inference"
TEXTS = "Sentiment and inference"

Models = Annotated[
    list[str] | None,
    typer.Argument(
        help="A model or adapter folder, a hub id such as bert-base-uncased, an embedded model (unmask models), or"
        f" a file of word vectors (word2vec, GloVe, npz, npy). Several are ranked. Default: {DEFAULT}."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="The folder to write; it must not exist. Default: audits/NAME, numbered if taken. For several models: the"
        " folder of their audits and ranking.html, where finished audits are kept. Default: ranking."
    ),
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        help="association (masked language models), sentiment (classifiers of texts), inference (classifiers of"
        " pairs: entailment, neutral, contradiction), geometry (encoders and word vectors), crows-pairs (masked"
        " language models; never by itself) or a plug-in's (unmask list measures; never by itself); can be given"
        " several times. Default: what fits."
    ),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        help="en or de (association), en, ja or zh (inference), en (geometry, crows-pairs); can be given several"
        " times. Default: en."
    ),
]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        help="Association: bec-pro (people and professions), emotions (English: people and emotions),"
        " agreement-free (German: professions in sentences without gender agreement); default: bec-pro, and"
        " agreement-free for German. Sentiment: imdb (25,000 film reviews), reviews (240 short ones, in the"
        " package); default: imdb if it is on this machine, else reviews. Inference: sentences (in the package; the"
        " default), nli-coal (the released sets). Geometry, for encoders: nouns (in the package; the default),"
        " word2vec or glove (the papers' vocabularies)."
    ),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps …")]

Templates = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=PAIRS,
        help="CSV of your own templates: a column 'template' with {person}, and {profession} for association.",
    ),
]
Persons = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=ASSOCIATION, help="CSV of your own person words: 'phrase' and 'gender' (female, male)."
    ),
]
Professions = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=ASSOCIATION,
        help="CSV of your own professions: 'profession', and 'group' and 'workforce_share' if you have them.",
    ),
]
Terms = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=SENTIMENT,
        help="Which words change: pronouns, family, all, or a CSV file with the columns male and female; can be given"
        " several times. Default: all.",
    ),
]
Names = Annotated[bool, typer.Option("--names", rich_help_panel=SENTIMENT, help="First names change too.")]
Texts = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=SENTIMENT,
        help="Texts of your own: .txt (one a line), .csv, .tsv, .jsonl or .parquet with the column text, and label and"
        " id if you have them.",
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(rich_help_panel=SENTIMENT, help="The label that is a high rating, where the labels do not say it."),
]
LongTexts = Annotated[
    str,
    typer.Option(rich_help_panel=SENTIMENT, help="How texts that are too long are read: head, head+tail or window."),
]
Lists = Annotated[
    Path | None,
    typer.Option(rich_help_panel=SENTIMENT, help="Published protocol: the folder of the released term maps."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=TEXTS,
        help="Sentiment: draw so many of the texts. Inference: so many of the sentences. Default: all.",
    ),
]
MostTokens = Annotated[
    int | None,
    typer.Option(rich_help_panel=TEXTS, help="How many tokens are read at once. Default: what the model takes."),
]
Occupations = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=INFERENCE,
        help="CSV of your own occupations: 'occupation' and 'type' (female, male, neutral).",
    ),
]
People = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=INFERENCE,
        help="CSV of what hypotheses call a person: 'phrase', 'gender' (female, male, person, occupation) and 'pair'.",
    ),
]
Captions = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=INFERENCE,
        help="Image captions, one a line, to make sentences of (those about a woman or a man).",
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=INFERENCE,
        help="What the model's outputs are, in order, where its labels do not say it: for example"
        " entailment,neutral,contradiction.",
    ),
]
Layers = Annotated[
    int,
    typer.Option(min=1, rich_help_panel=GEOMETRY, help="Of how many of the last layers a word's vector is made."),
]
PoolingName = Annotated[
    str,
    typer.Option(
        rich_help_panel=GEOMETRY, help="How the pieces of a word become one vector: first+last, mean or first."
    ),
]
Words = Annotated[
    int | None,
    typer.Option(
        min=1,
        rich_help_panel=GEOMETRY,
        help="How many words are asked about, the most frequent first. Default: 2,000 nouns of an encoder, all of a"
        " file of word vectors.",
    ),
]
WordList = Annotated[
    Path | None,
    typer.Option(rich_help_panel=GEOMETRY, help="A file of your own words, one a line; professions are added."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full", rich_help_panel=GEOMETRY, help="For encoders: the words of the papers, which takes its time."
    ),
]
Contrasts = Annotated[
    int,
    typer.Option(
        min=19,
        rich_help_panel=GEOMETRY,
        help="With how many contrasts between other words gender is compared; p-values are no finer than 1 in so many"
        " and one.",
    ),
]

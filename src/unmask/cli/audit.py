"""`unmask audit MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import AllowPickle, AllowRemoteCode, Json, Offline, Out, ProtocolName, Seed
from unmask.embedded import DEFAULT


def command(
    model: Annotated[
        str,
        typer.Argument(
            help="A model or adapter folder, a hub id such as bert-base-uncased, an embedded model (unmask models), or"
            " a file of word vectors (word2vec, GloVe, npz, npy)."
        ),
    ] = DEFAULT,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="association (masked language models), sentiment (classifiers of texts), inference (classifiers of"
            " pairs: entailment, neutral, contradiction), geometry (encoders and word vectors), crows-pairs (masked"
            " language models; never by itself) or a plug-in's (unmask list measures; never by itself); can be given"
            " several times. Default: what fits."
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            help="en or de (association), en, ja or zh (inference), en (geometry, crows-pairs); can be given several"
            " times. Default: en."
        ),
    ] = None,
    protocol: ProtocolName = "sound",
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            help="Association: bec-pro (people and professions), emotions (English: people and emotions),"
            " agreement-free (German: professions in sentences without gender agreement); default: bec-pro, and"
            " agreement-free for German. Sentiment: imdb (25,000 film reviews), reviews (240 short ones, in the"
            " package); default: imdb if it is on this machine, else reviews. Inference: sentences (in the package; the"
            " default), nli-coal (the released sets). Geometry, for encoders: nouns (in the package; the default),"
            " word2vec or glove (the papers' vocabularies)."
        ),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(
            help="CSV of your own templates: a column 'template' with {person}, and {profession} for association."
        ),
    ] = None,
    persons: Annotated[
        Path | None, typer.Option(help="CSV of your own person words: 'phrase' and 'gender' (female, male).")
    ] = None,
    professions: Annotated[
        Path | None,
        typer.Option(
            help="CSV of your own professions: 'profession', and 'group' and 'workforce_share' if you have them."
        ),
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option(
            help="Sentiment: which words change: pronouns, family, all, or a CSV file with the columns male and"
            " female; can be given several times. Default: all."
        ),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Sentiment: first names change too.")] = False,
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Sentiment: texts of your own: .txt (one a line), .csv, .tsv, .jsonl or .parquet with the column text,"
            " and label and id if you have them."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(help="Sentiment: draw so many of the texts. Inference: so many of the sentences. Default: all."),
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Sentiment: the label that is a high rating, where the labels do not say it.")
    ] = None,
    long_texts: Annotated[
        str, typer.Option(help="Sentiment: how texts that are too long are read: head, head+tail or window.")
    ] = "head",
    most_tokens: Annotated[
        int | None,
        typer.Option(help="Sentiment, inference: how many tokens are read at once. Default: what the model takes."),
    ] = None,
    lists: Annotated[
        Path | None, typer.Option(help="Sentiment, published: the folder of the released term maps.")
    ] = None,
    occupations: Annotated[
        Path | None,
        typer.Option(help="Inference: CSV of your own occupations: 'occupation' and 'type' (female, male, neutral)."),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(
            help="Inference: CSV of what hypotheses call a person: 'phrase', 'gender' (female, male, person,"
            " occupation) and 'pair'."
        ),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(
            help="Inference: image captions, one a line, to make sentences of (those about a woman or a man)."
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Inference: what the model's outputs are, in order, where its labels do not say it: for example"
            " entailment,neutral,contradiction."
        ),
    ] = None,
    layers: Annotated[
        int, typer.Option(min=1, help="Geometry: of how many of the last layers a word's vector is made.")
    ] = 4,
    pooling: Annotated[
        str,
        typer.Option(help="Geometry: how the pieces of a word become one vector: first+last, mean or first."),
    ] = "first+last",
    words: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Geometry: how many words are asked about, the most frequent first. Default: 3,000 nouns of an"
            " encoder, all of a file of word vectors.",
        ),
    ] = None,
    word_list: Annotated[
        Path | None, typer.Option(help="Geometry: a file of your own words, one a line; professions are added.")
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Geometry, for encoders: the words of the papers, which takes its time."),
    ] = False,
    contrasts: Annotated[
        int,
        typer.Option(
            min=19,
            help="Geometry: with how many contrasts between other words gender is compared; p-values are no finer than"
            " 1 in so many and one.",
        ),
    ] = 99,
    out: Out = None,
    seed: Seed = 42,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps …")] = "auto",
    offline: Offline = False,
    allow_pickle: AllowPickle = False,
    allow_remote_code: AllowRemoteCode = False,
    as_json: Json = False,
) -> None:
    """Measure gender bias in a model.

    A masked language model is asked how likely it finds women and men (she, my brother, …) beside 60 professions. A
    classifier of texts rates reviews in a female and a male version. A classifier of pairs is asked whether a nurse is
    a woman, and so of 106 more occupations. Geometry looks at the vectors of words, an encoder's in sentences or those
    of a file: where do professions lie between he and she, and with that direction taken out, do words of men and of
    women still lie apart, more than words of other contrasts? Leaves a folder with result.json, the items behind every
    number, and report.html.

    Examples:

    - `unmask audit` (the small model in the package)
    - `unmask audit bert-base-uncased --out audits/bert`
    - `unmask audit bert-base-uncased --full` (geometry of the papers' vocabularies)
    - `unmask audit vectors.bin` (a file of word vectors)
    - `unmask audit ./my-german-bert --language de`
    - `unmask audit unmask-mini-sentiment`
    - `unmask audit unmask-mini-nli`
    - `unmask audit ./my-classifier --texts reviews.csv --terms pronouns --terms all`
    """
    import shutil

    from unmask import api
    from unmask.cli.output import finish
    from unmask.cli.progress import bar
    from unmask.errors import Stopped
    from unmask.files import refuse_existing
    from unmask.results.storage import free_name

    folder = out or free_name(model)
    refuse_existing(folder)
    workspace = folder.with_name(f"{folder.name}.unfinished")
    try:
        with bar("Scoring") as progress:
            audit = api.audit(
                model,
                measures=tuple(measure or ()),
                languages=tuple(language or ("en",)),
                protocol=protocol,
                corpora=tuple(corpus or ()),
                templates=templates,
                persons=persons,
                professions=professions,
                terms=tuple(terms or ()),
                names=names,
                texts=texts,
                limit=limit,
                positive=positive,
                long_texts="" if long_texts == "head" else long_texts,
                most_tokens=most_tokens,
                lists=lists,
                people=people,
                occupations=occupations,
                captions=captions,
                labels=labels or (),
                layers=layers,
                pooling=pooling,  # type: ignore[arg-type]  # an unknown one is refused there
                words=words,
                word_list=word_list,
                full=full,
                contrasts=contrasts,
                workspace=workspace,
                seed=seed,
                device=device,
                offline=offline,
                allow_pickle=allow_pickle,
                allow_remote_code=allow_remote_code,
                progress=progress,
            )
    except KeyboardInterrupt:
        if workspace.is_dir():
            raise Stopped(f"stopped; the ratings so far are in {workspace}, and the same command goes on") from None
        raise
    finish(audit, folder, as_json=as_json)
    shutil.rmtree(workspace, ignore_errors=True)

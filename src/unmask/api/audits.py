"""`unmask.audit(…)` and `unmask.analyse(…)`, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import auditing
from unmask.api.arguments import form_of, names_of, path_of, term_sets_of, written
from unmask.models.sources import LoadOptions
from unmask.results import AuditResult, Measurement

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Pooling, Progress


class Audit:
    """A finished audit: its measurements, its items, and ways to show and keep them."""

    def __init__(self, findings: auditing.Findings) -> None:
        """Take what the audit found."""
        self.result: AuditResult = findings.result
        self.items: dict[str, pd.DataFrame] = findings.items

    @property
    def measurements(self) -> list[Measurement]:
        """One for each corpus that was measured."""
        return self.result.measurements

    def summary(self) -> str:
        """The findings as plain text, a screenful."""
        from unmask.report import terminal

        return terminal.text(self.result)

    def to_frame(self) -> pd.DataFrame:
        """All tests as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "measure": one.name,
                    "language": one.language,
                    "corpus": one.corpus,
                    "test": name,
                    **test.model_dump(),
                }
                for one in self.measurements
                for name, test in one.tests.items()
            ]
        )

    def text(self, form: str = "html", *, beside: bool = False) -> str:
        """The report as text: html, md (Markdown) or csv; `beside`: for a page that stands in the audit's folder."""
        from unmask.report import html, markdown, rows

        if form == "html":
            return html.render(self.result, self.items, beside=beside)
        return markdown.audit_markdown(self.result) if form == "md" else rows.to_csv(rows.audit_rows(self.result))

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report: one self-contained HTML page, or Markdown or CSV where the name ends in .md or .csv."""
        return written(path, self.text(form_of(path)))

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the audit folder: `result.json`, `items/`, `report.html`."""
        from unmask.results import storage

        target = Path(folder)
        storage.save(target, self.result, self.items, {"report.html": self.text(beside=True)})
        return target


def audit(
    model: Any,
    *,
    measures: Sequence[str] | str = (),
    languages: Sequence[str] | str = ("en",),
    protocol: str = "sound",
    corpora: Sequence[str] | str = (),
    templates: str | PathLike[str] | None = None,
    persons: str | PathLike[str] | None = None,
    professions: str | PathLike[str] | None = None,
    terms: Sequence[str | PathLike[str]] | str | PathLike[str] = (),
    names: bool = False,
    texts: str | PathLike[str] | Sequence[str] | None = None,
    limit: int | None = None,
    positive: str | None = None,
    long_texts: str = "",
    most_tokens: int | None = None,
    lists: str | PathLike[str] | None = None,
    people: str | PathLike[str] | None = None,
    occupations: str | PathLike[str] | None = None,
    captions: str | PathLike[str] | None = None,
    labels: Sequence[str] | str = (),
    layers: int = auditing.LAYERS,
    pooling: Pooling = auditing.POOLING,
    words: int | None = None,
    word_list: str | PathLike[str] | None = None,
    full: bool = False,
    contrasts: int = auditing.CONTRASTS,
    workspace: str | PathLike[str] | None = None,
    seed: int = auditing.SEED,
    device: str = "auto",
    offline: bool = False,
    allow_pickle: bool = False,
    allow_remote_code: bool = False,
    progress: Progress | None = None,
) -> Audit:
    """Audit a model for gender bias: association and geometry for a masked language model, geometry for an encoder or
    word vectors, sentiment for a classifier of texts, inference for one that tells entailment from contradiction.

    `model` is a hub id, a folder, a tuple of a loaded `transformers` model and its tokenizer, a pipeline, or any object
    with the method of a `MaskedLM`, a `Classifier`, a `Regressor` or an `Encoder`. Word vectors are a file (word2vec,
    GloVe, npz, npy), gensim's `KeyedVectors`, a dict of word and vector, or a tuple of words and a matrix.

    For association, `templates`, `persons` and `professions` are CSV files in place of the built-in words. For
    sentiment, `terms` are the sets of words that change (pronouns, family, all, or a CSV file), `names` changes first
    names too, `texts` is a file, or a list of texts, in place of a corpus, `limit` draws some of them, `positive` names
    the label that is a high rating, `long_texts` is head, head+tail or window, `most_tokens` what is read at once,
    `lists` the folder of the released term maps (published protocol), and `workspace` a folder for ratings as they are
    made, so that the same call goes on after it was stopped. For inference, `templates`, `people` and `occupations` are
    CSV files in place of the built-in words, `captions` a file of image captions to make sentences of, `labels` what
    the model's outputs are in their order, and `limit` draws some of the sentences. For geometry, a word's vector is
    made of the last `layers` layers, with the pieces of the word put together by `pooling` (first+last, mean or first);
    `words` is how many are asked about, `word_list` a file of words of your own, `full` asks about the papers' words,
    and gender is compared with so many other `contrasts`.
    """
    settings = auditing.Settings(
        measures=names_of(measures),
        languages=names_of(languages),
        protocol=protocol,
        corpora=names_of(corpora),
        templates=path_of(templates),
        persons=path_of(persons),
        professions=path_of(professions),
        terms=term_sets_of(terms),
        names=names,
        texts=path_of(texts) if isinstance(texts, str | PathLike | None) else tuple(texts),
        limit=limit,
        positive=positive,
        long_texts=long_texts,
        most_tokens=most_tokens,
        lists=path_of(lists),
        people=path_of(people),
        occupations=path_of(occupations),
        captions=path_of(captions),
        labels=tuple(labels.replace(",", " ").split()) if isinstance(labels, str) else tuple(labels),
        layers=layers,
        pooling=pooling,
        words=words,
        word_list=path_of(word_list),
        full=full,
        contrasts=contrasts,
        workspace=path_of(workspace),
        seed=seed,
        loading=LoadOptions(
            device=device, offline=offline, allow_pickle=allow_pickle, allow_remote_code=allow_remote_code
        ),
    )
    return Audit(auditing.run(model, settings, progress=progress))


def analyse(
    items: str | PathLike[str],
    *,
    measure: str | None = None,
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = auditing.SEED,
) -> Audit:
    """Analyse recorded item scores (an audit folder, Parquet, CSV or TSV), without the model that gave them.

    `measure` is found from the columns if it is not given; `language` is needed only where the file does not say it
    and it is not English.
    """
    return Audit(
        auditing.analyse(
            Path(items),
            measure=measure,
            language=language,
            protocol=protocol,
            score_column=score_column,
            seed=seed,
        )
    )

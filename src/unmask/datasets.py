"""Where corpora come from: a folder of yours first (`UNMASK_DATA`), then the cache, else the canonical address.

A download is checked against its SHA-256 before anything reads it. Nothing is parsed here: whoever uses a data set
knows how its files look.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UnmaskError, one_of

FOLDER_VARIABLE = "UNMASK_DATA"


@dataclass(frozen=True)
class Dataset:
    """A corpus, with what one must know to fetch it and to be allowed to."""

    name: str
    about: str
    address: str
    sha256: str
    licence: str
    citation: str

    @property
    def archive(self) -> str:
        """The name of the file at the address."""
        return self.address.rpartition("/")[2]


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="imdb",
            about="50,000 film reviews, positive and negative, half of them for testing",
            address="https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
            sha256="c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
            licence="for research; no licence is stated",
            citation="Maas et al. (2011), Learning Word Vectors for Sentiment Analysis",
        ),
        Dataset(
            name="snli",
            about="570,000 pairs of sentences: entailment, neutral, contradiction",
            address="https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            sha256="afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
            licence="CC BY-SA 4.0",
            citation="Bowman et al. (2015), A large annotated corpus for learning natural language inference",
        ),
    )
}


def locate(name: str, *, offline: bool = False) -> Path:
    """The folder of a data set in `UNMASK_DATA`, or its archive there or in the cache, downloaded if need be."""
    dataset = DATASETS[one_of(name, DATASETS, "data set")]
    own = os.environ.get(FOLDER_VARIABLE)
    if own and not Path(own).is_dir():
        raise UnmaskError(f"{FOLDER_VARIABLE} names {own}, which is no folder; correct it, or unset it")

    import pooch

    cache = Path(pooch.os_cache("unmask")) / name
    if own and (Path(own) / name).is_dir():
        if not (Path(own) / name / dataset.archive).exists():
            return Path(own) / name
        cache = Path(own) / name
    archive = cache / dataset.archive
    if archive.exists() and pooch.file_hash(str(archive)) == dataset.sha256:
        return archive
    if archive.exists() and (offline or own):
        raise UnmaskError(f"{archive} is not the file we know (its SHA-256 differs); remove it and fetch it again")
    if offline:
        raise UnmaskError(
            f"data set {name} is neither in the folder {FOLDER_VARIABLE} names ({own or 'not set'}) nor in {cache};"
            " run once without --offline, or give files of your own"
        )
    pooch.get_logger().setLevel("ERROR")
    try:
        return Path(
            pooch.retrieve(
                dataset.address,
                known_hash=f"sha256:{dataset.sha256}",
                fname=dataset.archive,
                path=cache,
                progressbar=_bar_can_be_shown(),
            )
        )
    except ValueError:
        raise UnmaskError(
            f"{dataset.address} is not the file we know (its SHA-256 differs); nothing was kept, try again later"
        ) from None
    except OSError as error:
        raise UnmaskError(
            f"data set {name} cannot be fetched from {dataset.address} ({type(error).__name__});"
            f" put it into a folder {name}/ inside one that {FOLDER_VARIABLE} names, or give files of your own"
        ) from None


def _bar_can_be_shown() -> bool:
    """Whether a progress bar can be shown: in a terminal that has the library for it."""
    import importlib.util
    import sys

    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None

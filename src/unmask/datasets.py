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
    addresses: tuple[tuple[str, str], ...]
    """Each with the SHA-256 of the file that is there."""
    licence: str
    citation: str

    @property
    def files(self) -> list[str]:
        """The names of the files at the addresses."""
        return [address.rpartition("/")[2] for address, _ in self.addresses]


DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="gap",
            about="4,454 passages of Wikipedia with ambiguous pronouns, as many of women as of men",
            addresses=tuple(
                (
                    f"https://raw.githubusercontent.com/google-research-datasets/gap-coreference/master/gap-{split}.tsv",
                    sha,
                )
                for split, sha in (
                    ("development", "b9a01434fcf58d8c2f9bc762480c27e58ce466cf1ffe8b09cfecbc7a20d2d634"),
                    ("validation", "2d784f66b390404f554704b9aef6dcde8845e79dda9886b8391cf7e9a24fdb98"),
                    ("test", "1c35e36d5b14f6313ec3f6cd67b275de282595dd59e59390e00cfff9897a6819"),
                )
            ),
            licence="Apache-2.0",
            citation="Webster et al. (2018), Mind the GAP: A Balanced Corpus of Gendered Ambiguous Pronouns",
        ),
        Dataset(
            name="imdb",
            about="50,000 film reviews, positive and negative, half of them for testing",
            addresses=(
                (
                    "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
                    "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
                ),
            ),
            licence="for research; no licence is stated",
            citation="Maas et al. (2011), Learning Word Vectors for Sentiment Analysis",
        ),
        Dataset(
            name="snli",
            about="570,000 pairs of sentences: entailment, neutral, contradiction",
            addresses=(
                (
                    "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
                    "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
                ),
            ),
            licence="CC BY-SA 4.0",
            citation="Bowman et al. (2015), A large annotated corpus for learning natural language inference",
        ),
    )
}


def locate(name: str, *, offline: bool = False) -> Path:
    """Where a data set is: its folder in `UNMASK_DATA`, or what is at its addresses, downloaded if need be.

    One file is given as itself, several as the folder that they are in.
    """
    dataset = DATASETS[one_of(name, DATASETS, "data set")]
    own = _own_folder()

    import pooch

    cache = Path(pooch.os_cache("unmask")) / name
    if own and (Path(own) / name).is_dir():
        if not any((Path(own) / name / file).exists() for file in dataset.files):
            return Path(own) / name
        cache = Path(own) / name
    for address, sha256 in dataset.addresses:
        _fetch(dataset, address, sha256, cache, offline=offline, own=own)
    return cache / dataset.files[0] if len(dataset.files) == 1 else cache


def present(name: str) -> bool:
    """Whether a data set is on this machine, so that nothing need be downloaded."""
    _own_folder()
    try:
        locate(name, offline=True)
    except UnmaskError:
        return False
    return True


def _own_folder() -> str | None:
    own = os.environ.get(FOLDER_VARIABLE)
    if own and not Path(own).is_dir():
        raise UnmaskError(f"{FOLDER_VARIABLE} names {own}, which is no folder; correct it, or unset it")
    return own


def _fetch(dataset: Dataset, address: str, sha256: str, cache: Path, *, offline: bool, own: str | None) -> None:
    """See that a file is in the folder, and that it is the one we know."""
    import pooch

    archive = cache / address.rpartition("/")[2]
    if archive.exists() and pooch.file_hash(str(archive)) == sha256:
        return
    if archive.exists() and (offline or own):
        raise UnmaskError(f"{archive} is not the file we know (its SHA-256 differs); remove it and fetch it again")
    if offline:
        raise UnmaskError(
            f"data set {dataset.name} is neither in the folder {FOLDER_VARIABLE} names ({own or 'not set'}) nor in"
            f" {cache}; run once without --offline, or give files of your own"
        )
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(
            address, known_hash=f"sha256:{sha256}", fname=archive.name, path=cache, progressbar=_bar_can_be_shown()
        )
    except ValueError:
        raise UnmaskError(
            f"{address} is not the file we know (its SHA-256 differs); nothing was kept, try again later"
        ) from None
    except OSError as error:
        raise UnmaskError(
            f"data set {dataset.name} cannot be fetched from {address} ({type(error).__name__});"
            f" put it into a folder {dataset.name}/ inside one that {FOLDER_VARIABLE} names, or give files of your own"
        ) from None


def _bar_can_be_shown() -> bool:
    """Whether a progress bar can be shown: in a terminal that has the library for it."""
    import importlib.util
    import sys

    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None

"""Find and download datasets: in the user's folder (`UNMASK_DATA`), the cache, or at the original address.

`datasets.toml` lists them. A download is checked against its SHA-256 before it is read; where no hash is known, users
fetch the files themselves. Nothing is parsed here: the module that reads a dataset knows its format.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from unmask import plugins
from unmask.errors import UnmaskError
from unmask.files import atomic_file, cache_folder, hash_content
from unmask.steps import say

FOLDER_VARIABLE = "UNMASK_DATA"


class NotHereError(UnmaskError):
    """A dataset is neither on this machine nor can be downloaded; a damaged one is another error."""


@dataclass(frozen=True)
class Dataset:
    """A dataset, its files, and what is needed to use it."""

    name: str
    about: str
    addresses: tuple[tuple[str, str], ...]
    """The URL and SHA-256 of each file."""
    licence: str
    citation: str
    places: tuple[str, ...] = ()
    """The path of each file in the folder of the dataset; by default its name."""
    by_hand: str = ""
    """Which files to get from where, if there are no addresses because their content is not known."""

    @property
    def files(self) -> list[str]:
        """The path of each file in the folder of the dataset."""
        return list(self.places) or [address.rpartition("/")[2] for address, _ in self.addresses]


@cache
def built_in() -> dict[str, Dataset]:
    """The datasets of `datasets.toml`, by name."""
    datasets = {}
    content = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for name, entry in tomllib.loads(content).items():
        files, places, address = entry.pop("files", {}), entry.pop("places", {}), entry.pop("address", "")
        datasets[name] = Dataset(
            name,
            addresses=tuple((address + file, sha256) for file, sha256 in files.items()),
            places=tuple(places.get(file, file) for file in files),
            **entry,
        )
    return datasets


def find_dataset(name: str) -> Dataset:
    """Find a dataset by name, built-in or of a plug-in."""
    plugin = plugins.named("data set", name, built_in())
    if plugin is None:
        return built_in()[name]
    dataset = plugin.load(Dataset)
    if dataset.name != name:
        raise UnmaskError(f"the data set {name!r} of {plugin.source} calls itself {dataset.name!r}; it needs one name")
    return dataset


def locate(name: str, *, part: str = "", offline: bool = False) -> Path:
    """Find a dataset in its folder in `UNMASK_DATA` or in the cache, and download it if necessary.

    Returns the file if the dataset has only one, otherwise the folder. With `part`, only files in that subfolder are
    downloaded and checked.
    """
    dataset = find_dataset(name)
    root = _user_folder()
    folder = (Path(root) if root and (Path(root) / name).is_dir() else cache_folder()) / name
    from_user = root is not None and folder.parent == Path(root)
    if from_user and not any((folder / file).exists() for file in dataset.files):
        say(f"Data set {name}: {folder}")
        return folder
    if dataset.by_hand:
        raise NotHereError(
            f"data set {name} is not in the folder {FOLDER_VARIABLE} names ({root or 'not set'}) and must be fetched by"
            f" hand; put the files of {dataset.by_hand} into a folder {name}/ there"
        )
    for file, (address, sha256) in zip(dataset.files, dataset.addresses, strict=True):
        if file.startswith(part):
            _fetch(dataset, address, sha256, folder / file, offline=offline, root=root)
    path = folder / dataset.files[0] if len(dataset.files) == 1 else folder
    say(f"Data set {name}: {path}")
    return path


def is_present(name: str) -> bool:
    """Whether a dataset is on this machine, so that nothing has to be downloaded."""
    _user_folder()
    try:
        locate(name, offline=True)
    except UnmaskError:
        return False
    return True


def _user_folder() -> str | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder and not Path(folder).is_dir():
        raise UnmaskError(f"{FOLDER_VARIABLE} names {folder}, which is not a folder; correct it, or unset it")
    return folder or None


def _fetch(dataset: Dataset, address: str, sha256: str, path: Path, *, offline: bool, root: str | None) -> None:
    """Check a file, and download it where it is missing."""
    if path.exists() and hash_content(path) == sha256:
        return
    if path.exists() and (offline or root):
        raise UnmaskError(f"{path} is not the file we know (its SHA-256 differs); remove it and fetch it again")
    if offline:
        raise NotHereError(
            f"data set {dataset.name} is neither in the folder {FOLDER_VARIABLE} names ({root or 'not set'}) nor in"
            f" {path.parent}; run once without --offline, or give files of your own"
        )
    with atomic_file(path) as draft:
        _download(dataset, address, draft)
        if hash_content(draft) != sha256:
            raise UnmaskError(f"{address} is not the file we know (its SHA-256 differs); try again later")


def _download(dataset: Dataset, address: str, path: Path) -> None:
    """Download a file with the client that downloads models, which has the user's proxy and certificates."""
    from huggingface_hub import get_session
    from tqdm import tqdm

    request = get_session().stream("GET", address, headers={"Accept-Encoding": "identity"}, timeout=60)
    try:
        with request as response, path.open("wb") as file:
            size = int(response.raise_for_status().headers.get("Content-Length", 0)) or None
            with tqdm(total=size, unit="B", unit_scale=True, disable=None) as bar:  # None: shown in a terminal only
                for chunk in response.iter_bytes():
                    bar.update(file.write(chunk))
    except Exception as error:  # its class depends on the version of huggingface-hub
        raise NotHereError(
            f"data set {dataset.name} cannot be fetched from {address} ({type(error).__name__});"
            f" put it into a folder {dataset.name}/ inside one that {FOLDER_VARIABLE} names, or give files of your own"
        ) from None

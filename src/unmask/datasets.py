"""Where corpora come from: a folder of yours first (`UNMASK_DATA`), then the cache, else the canonical address.

A download is checked against its SHA-256 before anything reads it; where we know none, the data set is fetched by hand.
Nothing is parsed here: whoever uses a data set knows how its files look.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from unmask import plugins
from unmask.errors import UnmaskError
from unmask.steps import say

FOLDER_VARIABLE = "UNMASK_DATA"


class NotHereError(UnmaskError):
    """A data set that is not on this machine and cannot be fetched; one that is damaged is another error."""


@dataclass(frozen=True)
class Dataset:
    """A corpus, with what one must know to fetch it and to be allowed to."""

    name: str
    about: str
    addresses: tuple[tuple[str, str], ...]
    """Each with the SHA-256 of the file that is there."""
    licence: str
    citation: str
    places: tuple[str, ...] = ()
    """Where in its folder each file belongs, if not under its own name."""
    by_hand: str = ""
    """Which files to get from where, if there are no addresses because we cannot check what is there."""

    @property
    def files(self) -> list[str]:
        """The names of the files at the addresses, in its folder."""
        return list(self.places) or [address.rpartition("/")[2] for address, _ in self.addresses]


_COAL = "https://raw.githubusercontent.com/panatchakorn-a/bias-eval-nli-considering-all-labels/"
_COAL += "1e8a64be0c9bb5d9bcf86df798cc1238bd84919a"
_COAL_FOLDERS = {  # of a language: the version, and where its sets are
    "en": ("1.1", "en_v1.1/bias-eval-set_v1.1/all-words"),
    "ja": ("1.1", "ja_v1.1/bias-eval-set_v1.1/untokenized"),
    "zh": ("1.0", "zh_v1.0/bias-eval-set_v1.0/all-words"),
}
_COAL_HASHES = {
    "en/1-prostereo": "58095a9f34cf873b95d685921dbb03538ecc1c9f5ff914b16c90f2d3df5ce5dd",
    "en/2-antistereo": "24950ac52f2ad565ec57c7ea8c56e96fc281d6ca18a7f16a0fc905903685f847",
    "en/3-nonstereo": "02208d4ca0131685850536e6ca1e09697f2e3ad19d03836076eb4b990486e203",
    "en/downsamp/1-prostereo-downsamp": "b44c087098e80670a49ca821fa580c018ee08e37359b3490665a398cf759f630",
    "en/downsamp/2-antistereo-downsamp": "0a39f1e21c6eea8b0e07804669ae62d37685b74ee9417a18cdb7753b5690749b",
    "en/downsamp/3-nonstereo-downsamp": "0d910c41642fc3004d2a41857282d247905adc89431fb3f182097a85c4e54f12",
    "ja/1-prostereo": "ec57752fdc6db7993ba9f00f0460c1489e0ac2879db0aa4e46bc5cf8dd052860",
    "ja/2-antistereo": "3bb6bb4d43d711061b8f7c61ac8f6b563dca049b6e65a53ccf978eb0a5200760",
    "ja/3-nonstereo": "7fd24e0fef10bdfabb24c0406d3fc68e112adb0e84c8b201728fe39a497b1704",
    "ja/downsamp/1-prostereo-downsamp": "3187e93923337afcb0517e28b55b31f3d1b33d4b7c3bfd5dc8333c02bafcd80d",
    "ja/downsamp/2-antistereo-downsamp": "55d8a984a5b619740c441864a814ba7ecd5add6bb5884637d5fa55dbefc80cb9",
    "ja/downsamp/3-nonstereo-downsamp": "d6609e2fa5b85b82018eb6afce9964c4e9c8722f7773cad5edcbe7cf989c5a58",
    "zh/1-prostereo": "efbc6d45ae9b12049b35f3b4ed735c036f14a397ee6336459f025a4adcec454b",
    "zh/2-antistereo": "6bf69ee4a4e9a642caa4b556d676b7ac8d14a8d1412cade67331a90da816c150",
    "zh/3-nonstereo": "4f3851bd9df2014915af07c18c769aff30b655dfda46752ac852ab84df0bd4e8",
    "zh/downsamp/1-prostereo-downsamp": "9da8c4d6b66db00c3bb980d6fbd50f5ce2780759f2cd05c046d0ab3acfe4f085",
    "zh/downsamp/2-antistereo-downsamp": "17e07919ef1d997b7c0d2655fdbc58eb97a601521873ddd04f16a402d1e92b76",
    "zh/downsamp/3-nonstereo-downsamp": "f14a62c86bbfc9a1fdd12264d22c946a9d0acfd5d19032878a8eea6ee78b6a1a",
}


def _coal() -> Dataset:
    addresses, places = [], []
    for place, sha256 in _COAL_HASHES.items():
        language, _, name = place.partition("/")
        version, folder = _COAL_FOLDERS[language]
        folder = f"{folder.rpartition('/')[0]}/" if name.startswith("downsamp/") else f"{folder}/"
        addresses.append((f"{_COAL}/{folder}{name}_v{version}.json", sha256))
        places.append(f"{place}_v{version}.json")
    return Dataset(
        name="nli-coal",
        about="premises with an occupation, hypotheses with a woman or a man; English, Japanese, Chinese",
        addresses=tuple(addresses),
        licence="MIT",
        citation="Anantaprayoon, Kaneko and Okazaki (2024), Evaluating Gender Bias of Pre-trained Language Models in"
        " Natural Language Inference by Considering All Labels",
        places=tuple(places),
    )


def _github(repository: str, folder: str, files: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The addresses of files in a folder of a repository, each with its SHA-256."""
    start = f"https://raw.githubusercontent.com/{repository}/{folder}/"
    return tuple((start + file, sha256) for file, sha256 in files.items())


_SEAT_HASHES = {
    "sent-weat6.jsonl": "bcf1a6864e3da0e8982d70451721877f23e2efaf6aea33628df843d826b68ae2",
    "sent-weat6b.jsonl": "8d1dd09833d1854784503c2eb9986d1951d684fb3289a18da85e72fa1e59e4ff",
    "sent-weat7.jsonl": "86c151b640bc9ebf6f60cd94920ab1f5bff68ea1a993f322f729cf3620173e0f",
    "sent-weat7b.jsonl": "16b7c23eb529421b411b508b2928b0d62e52cbb80cf40f8e9acbdfb52cd75350",
    "sent-weat8.jsonl": "352fea8d5440800a219dd6141a6f5e414a708770bc2717bfc581bc249e108ded",
    "sent-weat8b.jsonl": "c410535cac813f806d20a7f76f4bea62ee44f98d8828f8f0ac6a4b7694c414bc",
    "weat6.jsonl": "21681d3f4d7fdf97cf4cd2c0f9160940cfbd797ec62c7621b5600dc9e6e5b248",
    "weat6b.jsonl": "b6c85b5228a3786827b528af3d633fbbddc4fbf05d93e6ceb6f76a4881386c1d",
    "weat7.jsonl": "c7e68ec95e30f42df3faa9e1ba933596c9e49651e0017bb90c19d0f58312f2b0",
    "weat7b.jsonl": "714c42ccf6ec71113fcb2064daa7b4dfc80b0cd4bb191c8d0196053681a9792b",
    "weat8.jsonl": "86e650b44e8fd539a9082564f5ede5dae2ed67d120938b9c92a7495f143801e9",
    "weat8b.jsonl": "db822460372ae472b8cf8fd41a44ca13e4f166bb9ee05ea13a983fe0301016ef",
}
_PROFESSIONS_HASHES = {
    "definitional_pairs.json": "f2387fdd4ae4d956083ee7594f1401b1ba112914d40a99bb61d481de73db9614",
    "equalize_pairs.json": "b6e7dda64461e7828f8d184a51216a87aefcfc2b726d3691aa15b7acc2a1994c",
    "gender_specific_full.json": "300068da1885e9dc8bf2235d987fd0cf5d0b08a6877a0a639ee0060a989bac1f",
    "gender_specific_seed.json": "9802a524c932d9f0b9b4ecd7ffc429a42d7f8dbe9cbe2020741f984255138958",
    "professions.json": "32cc82c7761e7cfb14e37e06dc1aa9f758bc8441f79ca7288996d3fc7c24639a",
}


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
            name="jsick",
            about="9,927 pairs of Japanese sentences: entailment, neutral, contradiction",
            addresses=tuple(
                (
                    "https://raw.githubusercontent.com/verypluming/JSICK/da426bbdb6dc133754daabfd2aa9396d54c75fea"
                    f"/jsick/{split}.tsv",
                    sha,
                )
                for split, sha in (
                    ("train", "5aee77c7cb5e598c35cadc99f54eb53f980cf554219f497871fbdcc5a25b71be"),
                    ("test", "173a6d34939d02d82ff655dbea8e21286048afb13fcd92513e9f7dd38c621bdc"),
                )
            ),
            licence="CC BY 4.0",
            citation="Yanaka and Mineshima (2022), Compositional Evaluation on Japanese Textual Entailment and"
            " Similarity",
        ),
        Dataset(
            name="captions",
            about="40,460 captions of Flickr8k's photographs, five of each, for sentences about people",
            addresses=(),
            licence="for research; no licence is stated",
            citation="Hodosh, Young and Hockenmaier (2013), Framing Image Description as a Ranking Task",
            by_hand="Flickr8k_text.zip of the University of Illinois (Flickr8k.token.txt, plain or gzipped)",
        ),
        Dataset(
            name="jsnli",
            about="537,000 pairs of Japanese sentences, SNLI translated: entailment, neutral, contradiction",
            addresses=(),
            licence="CC BY-SA 4.0",
            citation="Yoshikoshi et al. (2020), Multilingualization of a Natural Language Inference Dataset Using"
            " Machine Translation",
            by_hand="https://nlp.ist.i.kyoto-u.ac.jp/nl-resource/JSNLI/jsnli_1.1.zip (train_w_filtering.tsv, dev.tsv)",
        ),
        _coal(),
        Dataset(
            name="ocnli",
            about="53,000 pairs of Chinese sentences: entailment, neutral, contradiction",
            addresses=(),
            licence="CC BY-NC 2.0",
            citation="Hu et al. (2020), OCNLI: Original Chinese Natural Language Inference",
            by_hand="https://github.com/CLUEbenchmark/OCNLI, folder data/ocnli (train.50k.json, dev.json)",
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
        Dataset(
            name="crows-pairs",
            about="1,508 pairs of sentences, one more stereotyping than the other; 262 of them about gender",
            addresses=_github(
                "nyu-mll/crows-pairs/master",
                "data",
                {"crows_pairs_anonymized.csv": "dfb36986ce0502abbaf7055b9176da3d08d48e07df1251991b5dfbcbceab9d0c"},
            ),
            licence="CC BY-SA 4.0",
            citation="Nangia et al. (2020), CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked"
            " Language Models",
        ),
        Dataset(
            name="lipstick",
            about="gendered words, 223 of each gender, and 80 sentences with a gendered word of each",
            addresses=(),
            licence="Apache-2.0",
            citation="Gonen and Goldberg (2019), Lipstick on a Pig; Bhang, Kang and Nam, Lipstick on a Pig “Again”",
            by_hand="https://github.com/colorsquare/lipstick-on-a-pig at 3cc9fcd (female_word_file.txt,"
            " male_word_file.txt, female_sentence_file.txt, male_sentence_file.txt)",
        ),
        Dataset(
            name="professions",
            about="320 professions with how gendered they are by definition and by stereotype, and gendered words",
            addresses=_github("tolga-b/debiaswe/master", "data", _PROFESSIONS_HASHES),
            licence="MIT",
            citation="Bolukbasi et al. (2016), Man is to Computer Programmer as Woman is to Homemaker? Debiasing Word"
            " Embeddings",
        ),
        Dataset(
            name="seat",
            about="the tests of association about gender: words (WEAT 6, 7, 8) and sentences (SEAT)",
            addresses=_github("W4ngatang/sent-bias/master", "tests", _SEAT_HASHES),
            licence="CC BY-NC 4.0",
            citation="May et al. (2019), On Measuring Social Biases in Sentence Encoders; Caliskan et al. (2017),"
            " Semantics derived automatically from language corpora contain human-like biases",
        ),
        Dataset(
            name="vectors",
            about="static word vectors: word2vec of Google News, and GloVe",
            addresses=(),
            licence="word2vec Apache-2.0; GloVe PDDL 1.0",
            citation="Mikolov et al. (2013), Distributed Representations of Words and Phrases and their"
            " Compositionality; Pennington, Socher and Manning (2014), GloVe: Global Vectors for Word Representation",
            by_hand="https://code.google.com/archive/p/word2vec/ (GoogleNews-vectors-negative300.bin.gz) and"
            " https://nlp.stanford.edu/data/glove.6B.zip (glove.6B.50d.txt or longer)",
        ),
    )
}


def dataset_named(name: str) -> Dataset:
    """The data set of this name, ours or a plug-in's."""
    plugin = plugins.named("data set", name, DATASETS)
    if plugin is None:
        return DATASETS[name]
    dataset = plugin.load(Dataset)
    if dataset.name != name:
        raise UnmaskError(f"the data set {name!r} of {plugin.source} calls itself {dataset.name!r}; it needs one name")
    return dataset


def locate(name: str, *, part: str = "", offline: bool = False) -> Path:
    """Where a data set is: its folder in `UNMASK_DATA`, or what is at its addresses, downloaded if need be.

    One file is given as itself, several as the folder that they are in. With `part`, only the files in that folder of
    it are seen to.
    """
    dataset = dataset_named(name)
    own = _own_folder()

    import pooch

    cache = Path(pooch.os_cache("unmask")) / name
    if own and (Path(own) / name).is_dir():
        if not any((Path(own) / name / file).exists() for file in dataset.files):
            say(f"Data set {name}: {Path(own) / name}")
            return Path(own) / name
        cache = Path(own) / name
    if dataset.by_hand:
        raise NotHereError(
            f"data set {name} is not in the folder {FOLDER_VARIABLE} names ({own or 'not set'}) and must be fetched by"
            f" hand; put the files of {dataset.by_hand} into a folder {name}/ there"
        )
    for file, (address, sha256) in zip(dataset.files, dataset.addresses, strict=True):
        if file.startswith(part):
            _fetch(dataset, address, sha256, cache / file, offline=offline, own=own)
    found = cache / dataset.files[0] if len(dataset.files) == 1 else cache
    say(f"Data set {name}: {found}")
    return found


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


def _fetch(dataset: Dataset, address: str, sha256: str, archive: Path, *, offline: bool, own: str | None) -> None:
    """See that a file is there, and that it is the one we know."""
    import pooch

    if archive.exists() and pooch.file_hash(str(archive)) == sha256:
        return
    if archive.exists() and (offline or own):
        raise UnmaskError(f"{archive} is not the file we know (its SHA-256 differs); remove it and fetch it again")
    if offline:
        raise NotHereError(
            f"data set {dataset.name} is neither in the folder {FOLDER_VARIABLE} names ({own or 'not set'}) nor in"
            f" {archive.parent}; run once without --offline, or give files of your own"
        )
    pooch.get_logger().setLevel("ERROR")
    try:
        pooch.retrieve(
            address,
            known_hash=f"sha256:{sha256}",
            fname=archive.name,
            path=archive.parent,
            progressbar=_bar_can_be_shown(),
        )
    except ValueError:
        raise UnmaskError(
            f"{address} is not the file we know (its SHA-256 differs); nothing was kept, try again later"
        ) from None
    except OSError as error:
        raise NotHereError(
            f"data set {dataset.name} cannot be fetched from {address} ({type(error).__name__});"
            f" put it into a folder {dataset.name}/ inside one that {FOLDER_VARIABLE} names, or give files of your own"
        ) from None


def _bar_can_be_shown() -> bool:
    """Whether a progress bar can be shown: in a terminal that has the library for it."""
    import importlib.util
    import sys

    return sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None

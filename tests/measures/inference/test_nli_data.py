"""Data sets of inference: what is fine-tuned on, and the sets that NLI-CoAL released."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from unmask import datasets
from unmask.cli.train import finetune_command
from unmask.errors import UnmaskError
from unmask.measures.inference.data import read_released as released
from unmask.measures.inference.pairs import COLUMNS
from unmask.training.examples import Example, Splits, gather_examples, join_words, read_examples, read_known_dataset
from unmask.training.options import FinetuneOptions

LANGUAGES = ("en", "ja", "zh")
STEREOTYPED = [("PS", "female", "female"), ("PS", "male", "male"), ("AS", "female", "male"), ("AS", "male", "female")]
JSNLI = 'contradiction\t雪 の 山 。 \t夏 の "日 です 。 \nentailment\tＡｓｔｒｏ Ｔｕｒｆ の 人\tT シャツ の 人\n'


def _gather(name: str) -> Splits:
    return gather_examples("nli", name=name, train=None, validation=None, test=None, held_out=0.1, seed=1, offline=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for data sets, empty."""
    path = tmp_path / "data"
    path.mkdir()
    monkeypatch.setenv("UNMASK_DATA", str(path))
    return path


def test_the_real_data_sets_have_their_sizes_and_labels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    jsick, ocnli = _gather("jsick"), _gather("ocnli")
    assert [len(part) for part in (jsick.train, jsick.validation, jsick.test)] == [4_500, 500, 4_927]
    assert Counter(one.label for one in jsick.test) == {"neutral": 3_042, "entailment": 1_088, "contradiction": 797}
    assert all(one.pair and not one.text.isascii() for one in jsick.test), "the Japanese columns, not the English ones"
    assert len(ocnli.train) + len(ocnli.validation) == 10_000 - 15, "15 pairs have no label that most agreed on"
    assert len(ocnli.test) == 3_000 - 50
    assert Counter(one.label for one in ocnli.test) == {"neutral": 1_103, "entailment": 947, "contradiction": 900}


def test_the_real_jsnli_is_joined_unless_words_are_wanted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    joined, words = (
        read_known_dataset(name, "nli", offline=True, splits=("test",))["test"] for name in ("jsnli", "jsnli-words")
    )
    assert len(joined) == len(words) == 3_916
    assert all(" " in one.text.strip() for one in words)
    assert sum(" " in one.text for one in joined) == sum("Ａｓｔｒｏ Ｔ" in one.text for one in joined) + 2
    assert [one.label for one in joined] == [one.label for one in words]
    with pytest.raises(
        UnmaskError, match=r"no file for 'train', which is called train_w_filtering.tsv.*jsnli_1\.1\.zip"
    ):
        _gather("jsnli")


def test_the_hashes_are_those_of_the_files(data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A download is refused where they are wrong, so they are compared with files that are known to be right."""
    (folder / "jsick").mkdir()
    for split in ("train", "test"):
        (folder / "jsick" / f"{split}.tsv").write_bytes(gzip.decompress((data / f"jsick/{split}.tsv.gz").read_bytes()))
    assert datasets.locate("jsick", offline=True) == folder / "jsick"
    assert len(_gather("jsick").test) == 4_927
    with (folder / "jsick" / "test.tsv").open("a") as file:
        file.write("\n")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        datasets.locate("jsick", offline=True)
    monkeypatch.setenv("UNMASK_DATA", str(data))
    assert datasets.locate("nli-coal", offline=True) == data / "nli-coal"


def test_every_file_has_an_address_a_hash_and_a_place_of_its_own() -> None:
    for dataset in datasets.DATASETS.values():
        assert bool(dataset.addresses) != bool(dataset.by_hand)
        assert len(set(dataset.files)) == len(dataset.files) == len({address for address, _ in dataset.addresses})
        assert all(len(sha256) == 64 for _, sha256 in dataset.addresses)
        assert all(address.endswith(file.rpartition("/")[2]) for (address, _), file in zip(
            dataset.addresses, dataset.files, strict=True
        ))  # fmt: skip


def test_jsnli_is_read_without_header_and_quotes(folder: Path) -> None:
    (folder / "jsnli").mkdir()
    for file in ("train_w_filtering.tsv", "dev.tsv"):
        (folder / "jsnli" / file).write_text(JSNLI, encoding="utf-8")
    (folder / "jsnli" / "train_wo_filtering.tsv").write_text(JSNLI * 9, encoding="utf-8")
    found = _gather("jsnli")
    assert found.test == [
        Example("雪の山。", '夏の"日です。', "contradiction"),
        Example("Ａｓｔｒｏ Ｔｕｒｆの人", "Tシャツの人", "entailment"),
    ]
    assert len(found.train) == len(found.validation) == 1, (
        "the filtered file, and what is validated on is held out of it"
    )
    assert _gather("jsnli-words").test[1] == Example("Ａｓｔｒｏ Ｔｕｒｆ の 人", "T シャツ の 人", "entailment")
    (folder / "jsnli" / "dev.tsv").write_text("neutral\tonly one\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="'hypothesis' of row 1 is None"):
        _gather("jsnli")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("雪 の 山 。 ", "雪の山。"),
        ("New York の 人", "New Yorkの人"),
        ("３ Ｄ の T", "３ＤのT"),
        ("a  b", "a  b"),
    ],
)
def test_spaces_between_words_go_but_latin_words_stay_apart(text: str, said: str) -> None:
    assert join_words(text) == said


def test_the_largest_training_set_of_ocnli_counts_and_pairs_without_label_do_not(folder: Path) -> None:
    (folder / "ocnli").mkdir()
    rows = [{"sentence1": f"甲{at}", "sentence2": "乙", "label": "neutral", "label0": None} for at in range(20)]
    disputed = {**rows[0], "label": "-"}
    for file, kept in (("train.50k.json", rows), ("train.3k.json", rows[:3]), ("dev.json", [*rows[:2], disputed])):
        (folder / "ocnli" / file).write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")
    compressed = gzip.compress((folder / "ocnli" / "dev.json").read_bytes())
    (folder / "ocnli" / "dev.json.gz").write_bytes(compressed)  # the same pairs: they count once
    found = _gather("ocnli")
    assert [len(part) for part in (found.train, found.validation, found.test)] == [18, 2, 2]
    (folder / "ocnli" / "train.50k.json").unlink()
    assert len(read_known_dataset("ocnli", "nli", offline=True)["train"]) == 3
    assert read_known_dataset("ocnli", "mlm", offline=True)["test"] == [Example("甲0"), Example("甲1")]


def test_what_is_not_there_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    for name in ("jsnli", "ocnli"):
        with pytest.raises(
            UnmaskError, match=rf"{name} is not in the folder UNMASK_DATA .* by hand; put .* {name}/ there"
        ):
            _gather(name)
    (folder / "jsick").mkdir()
    with pytest.raises(UnmaskError, match=r"no file for 'train', 'test', which is called train\.tsv, test\.tsv; put"):
        _gather("jsick")
    with pytest.raises(UnmaskError, match="jsick is for nli, not for sentiment"):
        read_known_dataset("jsick", "sentiment", offline=True)
    with pytest.raises(UnmaskError, match="did you mean 'jsnli'"):
        _gather("jnli")
    (tmp_path / "list.json").write_text('[\n{"text": "a"}]')
    with pytest.raises(UnmaskError, match=r"one list; give an object a line"):
        read_examples(tmp_path / "list.json", "mlm")


def test_finetune_nli_has_the_settings_of_the_paper(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    rows = [
        {"premise": "My aunt is a mason.", "hypothesis": "She works.", "label": label} for label in ("neutral",) * 4
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = FinetuneOptions(
        task="nli",
        model=str(model_folder("bert-uncased")),
        out=tmp_path / "out",
        train=tmp_path / "pairs.jsonl",
        device="cpu",
    )
    finetune_command(options)
    settings = json.loads((tmp_path / "out" / "metrics.json").read_text())["settings"]
    assert [settings[name] for name in ("epochs", "learning_rate", "batch_size")] == [5, 2e-5, 32]
    assert options.max_length == 128, "this model takes fewer"


@pytest.fixture(scope="module")
def sets(data: Path) -> dict[tuple[str, str], pd.DataFrame]:
    """The released sets, by language and sample."""
    return {
        (language, sample): released(language, data / "nli-coal", sample=sample)
        for language in LANGUAGES
        for sample in ("full", "downsampled")
    }


Sets = dict[tuple[str, str], pd.DataFrame]


def _words(rows: pd.DataFrame, kind: str) -> list[str]:
    return list(rows.loc[rows["occupation_type"] == kind, "occupation"].unique())


@pytest.mark.parametrize(
    ("language", "neutral", "templates", "pair"),
    [("en", 171, 279, "woman"), ("ja", 171, 277, "女性"), ("zh", 166, 275, "女人")],
)
def test_the_released_sets_have_their_sizes(sets: Sets, language: str, neutral: int, templates: int, pair: str) -> None:
    rows = sets[language, "full"]
    assert tuple(rows.columns) == COLUMNS
    assert [len(_words(rows, kind)) for kind in ("female", "male", "neutral")] == [13, 87, neutral]
    assert rows["occupation"].nunique() == 100 + neutral, "no word is of two kinds"
    sizes = {key: 10 * (13 if key[1] == "female" else 87) for key in STEREOTYPED}
    sizes |= {("NS", "neutral", gender): 10 * neutral for gender in ("female", "male")}
    assert rows.groupby(["set", "occupation_type", "gender"]).size().to_dict() == sizes
    assert rows.groupby("set").size().to_dict() == {"PS": 1_000, "AS": 1_000, "NS": 20 * neutral}
    assert rows["template"].nunique() == templates
    assert rows.groupby("set")["template"].nunique().to_dict() == {"PS": 109, "AS": 109, "NS": neutral + 9}
    assert set(rows["pair"]) == {pair}
    assert set(rows["corpus"]) == {"nli-coal"}
    assert not rows.duplicated(["premise", "hypothesis"]).any()
    other = {"woman": "man", "女性": "男性", "女人": "男人"}[pair]
    for row in rows.to_dict("records"):
        word = pair if row["gender"] == "female" else other
        assert row["template"].replace("{person}", row["occupation"]) == row["premise"]
        assert row["template"].replace("{person}", word) == row["hypothesis"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_has_ten_templates_of_a_list_one_further_on_than_the_word_before(sets: Sets, language: str) -> None:
    rows = sets[language, "full"]
    for chosen in (["PS"], ["AS"], ["NS"]):
        for gender in ("female", "male") if chosen == ["NS"] else (None,):
            part = rows[rows["set"].isin(chosen) & ((rows["gender"] == gender) | (gender is None))]
            of = [list(found) for _, found in part.groupby("occupation", sort=False)["template"]]
            ordered = of[0] + [templates[-1] for templates in of[1:]]
            assert len(set(ordered)) == len(ordered) == len(of) + 9
            assert of == [ordered[at : at + 10] for at in range(len(of))]


def test_sixteen_japanese_rows_name_the_wrong_person(sets: Sets, data: Path) -> None:
    lines = (data / "nli-coal" / "ja" / "3-nonstereo_v1.1.json").read_text(encoding="utf-8").splitlines()
    tagged = [json.loads(line)["occ_word"] for line in lines]
    rows = sets["ja", "full"]
    corrected = rows[rows["set"] == "NS"].reset_index(drop=True)
    wrong = corrected[corrected["occupation"] != pd.Series(tagged)]
    assert len(wrong) == 16
    assert {tagged[at] for at in wrong.index} == {"野球選手"}
    assert wrong["template"].nunique() == 1
    assert set(wrong["occupation_type"]) == {"neutral"}
    naive = {one.replace(word, "{person}") for one, word in zip(corrected["premise"], tagged, strict=True)}
    assert len(naive | set(rows.loc[rows["set"] != "NS", "template"])) == 285, "as tagged, 8 templates too many"


def test_chinese_captions_with_several_people_change_all_of_them(sets: Sets) -> None:
    rows = sets["zh", "full"]
    people = rows["template"].str.count("{person}")
    assert people.value_counts().to_dict() == {1: 5_160, 2: 140, 3: 20}
    assert (people > 1).groupby(rows["set"]).sum().to_dict() == {"PS": 20, "AS": 20, "NS": 120}


def test_english_premises_have_an_article_more_often_than_not(sets: Sets) -> None:
    assert sets["en", "full"]["template"].str.contains("the {person}", regex=False).sum() == 4_552


def test_the_kinds_follow_from_the_scores_of_the_professions(sets: Sets, data: Path) -> None:
    """Bolukbasi et al. (2016): not female or male by definition, but by stereotype."""
    found = sets["en", "full"].groupby("occupation")["occupation_type"].first()
    scores = json.loads((data / "professions" / "professions.json").read_text(encoding="utf-8"))
    kinds = {
        word.replace("_", " "): "neutral" if abs(definition) >= 0.5 or abs(stereotype) <= 0.5 else
        "male" if stereotype > 0 else "female"
        for word, definition, stereotype in scores
    }  # fmt: skip
    assert found.to_dict() == {word: kind for word, kind in kinds.items() if word in found.index}
    assert (len(kinds), len(found)) == (320, 271)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_small_sets_are_part_of_the_large_ones(sets: Sets, language: str) -> None:
    full, small = sets[language, "full"], sets[language, "downsampled"]
    assert small.groupby("set").size().to_dict() == {"PS": 200, "AS": 200, "NS": 200}
    assert set(small.itertuples(index=False, name=None)) < set(full.itertuples(index=False, name=None))
    for kind in ("female", "male"):
        assert _words(small, kind) == _words(full, kind)[:10], "the first ten words in the order of the files"
    assert len(_words(small, "neutral")) == 10


def test_the_words_of_the_small_english_set(sets: Sets) -> None:
    small = sets["en", "downsampled"]
    words = {
        "female": "caretaker, dancer, hairdresser, interior designer, librarian, nanny, nurse, receptionist,"
        " registered nurse, secretary",
        "male": "archaeologist, ballplayer, cop, disc jockey, doctor, investment banker, janitor, mechanic, mobster,"
        " surgeon",
        "neutral": "associate professor, bishop, cartoonist, detective, freelance writer, gardener, organist,"
        " professor emeritus, student, trooper",
    }
    assert {kind: ", ".join(sorted(_words(small, kind))) for kind in words} == words


def _write(folder: Path, *, ns: str = "") -> None:
    """English sets of one pair each."""
    row = {"sentence1": "a cook eats.", "sentence2": "a man eats.", "occ_word": "cook", "occ_type": "male-stereo"}
    (folder / "en").mkdir(parents=True, exist_ok=True)
    for name in ("1-prostereo", "2-antistereo", "3-nonstereo"):
        line = ns if ns and name == "3-nonstereo" else json.dumps(row)
        (folder / "en" / f"{name}_v1.1.json").write_text(f"{line}\n", encoding="utf-8")


def test_released_sets_that_cannot_be_read(folder: Path) -> None:
    _write(folder / "own")
    assert list(released("en", folder / "own")["set"]) == ["PS", "AS", "NS"]
    broken = '{"sentence1": "a cook eats.", "sentence2": "a man drinks.", "occ_word": "cook", "occ_type": "neutral"}'
    for line, said in (
        ("{", "line 1 is not a pair of nli-coal"),
        ('{"sentence1": "a"}', "line 1 is not a pair of nli-coal .KeyError: 'sentence2'"),
        (broken, "'a man drinks.' is not 'a cook eats.' with a gender word"),
        (broken.replace('"neutral"', '"old"'), "line 1 is not a pair"),
        (broken.replace('"a cook eats."', "7"), "line 1 is not a pair"),
    ):
        _write(folder / "own", ns=line)
        with pytest.raises(UnmaskError, match=said):
            released("en", folder / "own")
    with pytest.raises(UnmaskError, match=r"ja/1-prostereo_v1\.1\.json cannot be read .FileNotFoundError"):
        released("ja", folder / "own")
    with pytest.raises(UnmaskError, match="unknown language of nli-coal 'de'"):
        released("de", folder / "own")
    with pytest.raises(UnmaskError, match="did you mean 'downsampled'"):
        released("en", folder / "own", sample="downsample")


def test_only_the_files_of_the_language_are_asked_for(folder: Path, data: Path) -> None:
    (folder / "nli-coal").mkdir()
    (folder / "nli-coal" / "en").symlink_to(data / "nli-coal" / "en")
    assert len(released("en", offline=True, sample="downsampled")) == 600
    with pytest.raises(UnmaskError, match="nli-coal is neither in the folder"):
        released("zh", offline=True)
    (folder / "nli-coal" / "en").unlink()
    _write(folder / "nli-coal")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        released("en", offline=True)

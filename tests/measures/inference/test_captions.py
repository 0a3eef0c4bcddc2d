"""Templates from image captions: which captions are used, and the layouts of caption files."""

from __future__ import annotations

from pathlib import Path

import pytest

from unmask.errors import UnmaskError
from unmask.measures.inference import captions
from unmask.measures.inference.data import read_released


def test_captions_become_templates() -> None:
    templates = captions.make_templates(
        [
            "A woman rides a bicycle down the street .",
            "An old man rides a bicycle down the street .",
            "A woman and a man ride bicycles .",
            "Two dogs run .",
            "A woman walks with her dog in the park .",
            "one man sits alone on a bench .",
            "A man .",
            "A man rides a bicycle down the street .",
        ],
        "en",
    )
    assert templates == (
        "the {person} rides a bicycle down the street.",
        "an old {person} rides a bicycle down the street.",
        "the {person} sits alone on a bench.",
    )
    assert captions.make_templates(["一个女人在街上骑自行车。"], "zh") == ("一个{person}在街上骑自行车。",)
    assert captions.make_templates(["女人很高兴。"], "zh") == captions.make_templates(["女性が走る"], "ja") == ()
    assert captions.make_templates(["公園で女性が犬と遊んでいる"], "ja") == ("公園で{person}が犬と遊んでいる。",)


SEVERAL = {
    "ja": (
        "公園で二人の%sが犬と遊んでいる",
        "２人の水着の%sが船上にいます",
        "%sたちが建物の前に集まる",
        "公園で%s二人が歩いている",
    ),
    "zh": ("两个年轻%s一起在公园里合影", "三个站在一起的%s正在微笑", "%s们在公园里踢毽子玩耍", "一群%s举起对方去接球"),
}
ONE = {
    "ja": (
        "公園で一人の%sが犬と遊んでいる",
        "二人の子供と%sが公園にいます",
        "%sが一人でゲームを楽しむ",
        "多くの羊を%sが見ています",
    ),
    "zh": (
        "一个%s和两个孩子在公园里",
        "两个孩子和一个%s在公园里",
        "一个%s在人群前面骑自行车",
        "几只狗拉着一个%s穿过雪地",
    ),
}


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_several_people_are_kept_only_as_published(language: str) -> None:
    woman, man, _ = captions.WORDS[language]
    several, one = ([text % woman for text in texts[language]] for texts in (SEVERAL, ONE))
    assert captions.make_templates(several, language) == ()
    assert captions.make_templates(several, language, as_published=True) == tuple(
        text.replace(woman, "{person}") for text in several
    )
    assert len(captions.make_templates(one, language)) == len(one)
    both, twice = f"{woman}{man}", f"{woman}、{woman}"
    assert captions.make_templates([both, twice], language, as_published=True) == ("{person}、{person}",)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_builder_repeats_the_released_sentences(language: str, data: Path) -> None:
    """Each released hypothesis, taken as a caption, gives the template of its row.

    The English builder differs on purpose in eight templates: it tidies blanks, and makes *the* of *one*; and it cannot
    use the one that names a second woman.
    """
    rows = read_released(language, data / "nli-coal")
    differ = set()
    for caption, template in zip(rows["hypothesis"], rows["template"], strict=True):
        if captions.make_templates([caption], language, as_published=True) != (template,):
            differ.add(template)
    assert len(differ) == (8 if language == "en" else 0)
    assert all("  " in name or " ." in name or "one {person}" in name or "a woman's" in name for name in differ)


def test_a_word_joined_by_a_hyphen_is_not_the_word() -> None:
    templates = captions.make_templates(
        [
            "Birds sit by a man-made lake in winter .",
            "A child in a Pac-Man shirt eats an apple .",
            "A snow\N{NON-BREAKING HYPHEN}man stands in the garden today .",
            "A mailman and a postwoman sort letters all day .",
            "A cameraman films a woman in a red coat .",
            "A man - an old one - reads the paper .",
            "The man--tired--sits on a bench .",
        ],
        "en",
        as_published=True,
    )
    assert templates == (
        "a cameraman films the {person} in a red coat.",
        "the {person} - an old one - reads the paper.",
        "the {person}--tired--sits on a bench.",
    )


CAPTIONS = {
    "plain": "A man in a blue shirt, sitting, reads.\n\nA woman rides a horse today.\n",
    "tabs": "1.jpg#0\tA man in a blue shirt, sitting, reads.\n1.jpg#1\tA woman rides a horse today.\n",
    "head": 'image,caption\n1.jpg,"A man in a blue shirt, sitting, reads."\n\n1.jpg,A woman rides a horse today.\n',
    "quotes": '"Image","Caption"\r\n"1#0","A man in a blue shirt, sitting, reads."\r\n2,A woman rides a horse today.',
    "columns": 'id,caption,split\n1,"A man in a blue shirt, sitting, reads.",a\n2,A woman rides a horse today.,b\n',
    "no head": "1000261.jpg,A man in a blue shirt, sitting, reads.\na b.PNG,A woman rides a horse today.\n",
    "numbered": 'a/1.jpeg#0,"A man in a blue shirt, sitting, reads."\n"1.jpg.1#4",A woman rides a horse today.\n',
}


@pytest.mark.parametrize("layout", CAPTIONS)
def test_layouts_of_caption_files(layout: str, tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_bytes(CAPTIONS[layout].encode("utf-8-sig"))
    templates = captions.read_templates(tmp_path / "captions.txt", "en")
    assert templates == (
        "the {person} in a blue shirt, sitting, reads.",
        "the {person} rides a horse today.",
    )


def test_a_line_with_commas_and_no_image_is_plain(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("1.jpg,A man sits on a bench today\nSmiling, a woman rides a horse\n")
    templates = captions.read_templates(tmp_path / "captions.txt", "en")
    assert templates[1] == "smiling, the {person} rides a horse."


def test_captions_with_a_quote_that_is_not_closed_are_refused(tmp_path: Path) -> None:
    (tmp_path / "captions.csv").write_text('image,caption\n1.jpg,"A man sits on a bench today\n2.jpg,A dog\n')
    with pytest.raises(UnmaskError, match=r"captions.csv is not valid CSV .*, line 3\); look for a quote that is"):
        captions.read_templates(tmp_path / "captions.csv", "en")


def test_captions_of_flickr8k(data: Path) -> None:
    templates = captions.read_templates(data / "captions" / "Flickr8k.token.txt.gz", "en")
    assert len(templates) == 5_416
    all_templates = captions.read_templates(data / "captions" / "Flickr8k.token.txt.gz", "en", as_published=True)
    assert len(all_templates) == 8_431
    assert all(template.count("{person}") == 1 for template in all_templates)

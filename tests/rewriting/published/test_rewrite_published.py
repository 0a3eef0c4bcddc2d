"""The papers' rewriting: rules and defects on small lists, and the released counts on real data."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from unmask.errors import UnmaskError
from unmask.rewriting.published.cds import NAMES, PRONOUNS, WORDS, Substitution, TaggedToken, spacy_tokens, token_spans
from unmask.rewriting.published.masking import ONLY_REMOVED, Masking, clean
from unmask.rewriting.result import apply_changes

TO_FEMALE = {
    "he": "she",
    "him": "her",
    "his": "her",
    "man": "woman",
    "best man": "bridesmaid",
    "newsboy": "newspaper carrier",
    "son-in-law": "daughter-in-law",
}
TO_MALE = {"she": "he", "her": "his", "woman": "man", "bridesmaid": "best man", "daughter-in-law": "son-in-law"}
WORD_PAIRS = [["he", "she"], ["king", "queen"], ["Mr.", "Mrs."], ["son-in-law", "daughter-in-law"]]
NAME_PAIRS = [["james", "barbara"], ["king", "regina"], ["august", "june"], ["jack", "london"]]


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imdb")
    for stem in ("prons", "weat", "terms"):
        _write(folder / f"{stem}_m2f.json", TO_FEMALE)
        _write(folder / f"{stem}_f2m.json", TO_MALE)
    return folder


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cds")
    _write(folder / WORDS, WORD_PAIRS)
    _write(folder / NAMES, NAME_PAIRS)
    return folder


# Cleaning of reviews


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("He's here.", "he s here"),
        ("A must-see, and/or a must!", "a must see and or a must"),
        ("The end.No more...", "the endno more"),
        ('"Quoted" (and [more]): yes; no?', "quoted and more yes no"),
        ("One.<br /><br />Two", "one two"),
        ("Seen with him !", "seen with him "),
        (" 'Tis  good\t", "  tis  good\t"),
        ("*Four* _stars_ `quoted' 35% é", "*four* _stars_ `quoted  35% é"),
        ("=== Her film ===", "0"),
        ("", ""),
    ],
)
def test_a_review_is_cleaned(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


# Masking


@pytest.mark.parametrize(
    ("to", "text", "masked"),
    [
        ("female", "so he saw him and his man too", "so she saw her and her woman too"),
        ("male", "so she gave her the book of her friend", "so he gave his the book of his friend"),
        ("female", "he said it was he", "he said it was he"),  # the first and the last word never match
        ("female", "oh he he he he said", "oh she he she he said"),  # neighbours share a space
        ("female", "and he him he went", "and she her she went"),  # but different terms do not
        ("female", "oh he  he went", "oh she  she went"),
        ("female", "the best man won", "the best woman won"),  # never matches "best man"
        ("male", "the bridesmaid won", "the best man won"),
        ("female", "a newsboy ran", "a newspaper carrier ran"),
        ("female", "the other and theman", "the other and theman"),
        ("female", "so He\the was\nhe said", "so He\the was\nhe said"),
        ("remove", "so he saw her man too", "so saw too"),
        ("remove", "oh he he said", "oh he said"),
        ("remove", "the best man won", "the won"),
        ("remove", "a womb he knew", "a knew"),
        # *her* is removed first, which makes two equal terms adjacent
        ("remove", "so she her she said", "so she said"),
        ("remove", "", ""),
    ],
)
def test_terms_are_masked_as_published(masks: Path, to: str, text: str, masked: str) -> None:
    result = Masking(masks, "all", to).rewrite(text)
    assert result.text == masked
    assert apply_changes(text, result.changes) == masked
    assert _replace_in_order(text, _read_rules(masks, "all", to)) == masked


def test_a_masked_term_is_reported_where_it_stood(masks: Path) -> None:
    text = "so the newsboy met him here"
    changes = Masking(masks, "family", "female").rewrite(text).changes
    assert [(text[change.start : change.end], change.after, change.term) for change in changes] == [
        ("newsboy", "newspaper carrier", "newsboy"),
        ("him", "her", "him"),
    ]
    removed = Masking(masks, "family", "remove").rewrite(text).changes
    assert [(change.start, change.before, change.after) for change in removed] == [
        (7, "newsboy ", ""),
        (19, "him ", ""),
    ]


def test_terms_are_counted_between_spaces(masks: Path) -> None:
    masking = Masking(masks, "pronouns", "female")
    assert masking.count("he saw her and him and she") == 2
    assert masking.count("oh he he he") == 1
    assert masking.count("the womb is") == 0
    assert Masking(masks, "all", "female").count("the womb is") == 1


def test_only_the_full_set_has_terms_without_counterpart(masks: Path) -> None:
    assert Masking(masks, "all", "remove").terms - Masking(masks, "family", "remove").terms == set(ONLY_REMOVED)


def test_bad_masking_is_refused(masks: Path, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match="unknown term set 'weat'"):
        Masking(masks, "weat", "male")
    with pytest.raises(UnmaskError, match="unknown direction 'femal'; did you mean 'female'"):
        Masking(masks, "all", "femal")
    with pytest.raises(UnmaskError, match=r"prons_m2f\.json cannot be read"):
        Masking(tmp_path, "pronouns", "male")
    for wrong in ("[1]", '{"he": 1}', "{"):
        (tmp_path / "weat_m2f.json").write_text(wrong)
        with pytest.raises(UnmaskError, match="as it was released"):
            Masking(tmp_path, "family", "male")
    _write(tmp_path / "terms_m2f.json", {"lad": "lass", "boy": "lad"})
    _write(tmp_path / "terms_f2m.json", {})
    with pytest.raises(UnmaskError, match="'boy' becomes 'lad', which is a term itself"):
        Masking(tmp_path, "all", "female")


# The released lists and counts of Jentzsch & Turan (2022)


@pytest.fixture(scope="module")
def reviews(data: Path) -> dict[str, list[str]]:
    return {split: [clean(text) for text in _read_reviews(data, split)] for split in ("train", "test")}


@pytest.mark.parametrize(
    ("terms", "size", "train", "test"),
    [("all", 685, 4178, 4222), ("family", 34, 6488, 6668), ("pronouns", 7, 8322, 8655)],
)
def test_term_free_reviews_are_those_of_the_paper(
    data: Path, reviews: dict[str, list[str]], terms: str, size: int, train: int, test: int
) -> None:
    masking = Masking(data / "imdb", terms, "remove")
    assert len(masking.terms) == size
    free = {split: [text for text in texts if not masking.count(text)] for split, texts in reviews.items()}
    assert {split: len(texts) for split, texts in free.items()} == {"train": train, "test": test}
    assert all(masking.rewrite(text).text == text for text in free["test"])


def test_the_first_reviews_have_the_words_and_terms_that_the_authors_printed(
    data: Path, reviews: dict[str, list[str]]
) -> None:
    counts = [Masking(data / "imdb", terms, "remove").count for terms in ("all", "family", "pronouns")]
    first, second = reviews["train"][:2]
    assert (len(first.split()), [count(first) for count in counts]) == (141, [0, 0, 0])
    assert (len(second.split()), [count(second) for count in counts]) == (119, [2, 1, 0])


@pytest.mark.parametrize("terms", ["pronouns", "family", "all"])
@pytest.mark.parametrize("to", ["male", "female", "remove"])
def test_masking_is_what_replacing_one_term_after_the_other_gives(
    data: Path, reviews: dict[str, list[str]], terms: str, to: str
) -> None:
    masking, rules = Masking(data / "imdb", terms, to), _read_rules(data / "imdb", terms, to)
    changed = 0
    for text in reviews["train"][::10] + reviews["test"][::10]:
        result = masking.rewrite(text)
        assert result.text == _replace_in_order(text, rules)
        assert apply_changes(text, result.changes) == result.text
        changed += result.text != text
    assert changed > 1000


# Substitution


def test_rules_apply_in_their_order(pairs: Path) -> None:
    def analyse(text: str) -> list[TaggedToken]:
        return [TaggedToken(start, end, text[start:end], "", True) for start, end in token_spans(text)]

    rewritten = Substitution(pairs, analyse).rewrite("James King met Mr. London, and he left.")
    # *king* is a word and a name: the word wins
    assert rewritten.text == "Barbara Queen met Mrs. Jack, and she left."
    assert [change.kind for change in rewritten.changes] == ["name", "word", "word", "name", "word"]


def test_a_name_is_exchanged_only_where_it_is_a_person(pairs: Path) -> None:
    def analyse(text: str) -> list[TaggedToken]:
        return [TaggedToken(start, end, text[start:end], "", start == 0) for start, end in token_spans(text)]

    assert Substitution(pairs, analyse).rewrite("James met James.").text == "Barbara met James."


@pytest.mark.parametrize(
    ("word", "tag", "becomes"),
    [
        ("him", "PRP", "her"),
        ("his", "PRP$", "her"),
        ("his", "PRP", "her"),
        ("his", "NNS", "hers"),
        ("her", "PRP$", "his"),
        ("her", "PRP", "him"),
        ("her", "NN", "him"),
        ("hers", "PRP", "his"),
        ("HIM", "PRP", "HER"),
        ("His", "NNS", "Hers"),
        ("hIS", "PRP$", "her"),
        ("KING", "NN", "QUEEN"),
        ("KiNg", "NN", "queen"),
        ("mr.", "NNP", "mrs."),
        ("MRS.", "NNP", "MR."),
        ("mr", "NNP", "mr"),
        ("son-in-law", "NN", "daughter-in-law"),
    ],
)
def test_a_token_becomes(pairs: Path, word: str, tag: str, becomes: str) -> None:
    substitution = Substitution(pairs, lambda text: [TaggedToken(0, len(text), text, tag, False)])
    assert substitution.rewrite(word).text == becomes


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Mr. King's son-in-law", ["Mr.", "King", "'s", "son", "-", "in", "-", "law"]),
        ("(she'd won, hadn't she?)", ["(", "she", "'d", "won", ",", "had", "n't", "she", "?", ")"]),
        ("a 12-man crew", ["a", "12-man", "crew"]),
        ("actor/singer--she's  here.", ["actor", "/", "singer", "--", "she", "'s", "here", "."]),
        ("Punjab.He left,she stayed", ["Punjab", ".", "He", "left", ",", "she", "stayed"]),
        ("Mr.Right the kings' son- etc", ["Mr.", "Right", "the", "kings", "'", "son-", "etc"]),
        ("``Queen'' L*he", ["`", "`", "Queen", "'", "'", "L*he"]),
        ("  \n ", []),
    ],
)
def test_text_is_cut_as_spacy_cut_it(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in token_spans(text)] == tokens


def test_hyphenated_pairs_never_match(pairs: Path) -> None:
    assert Substitution(pairs).rewrite("A son-in-law came.").text == "A son-in-law came."


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("She sold her house to him.", "He sold his house to her."),
        ("They saw her there, and James saw her too.", "They saw him there, and Barbara saw him too."),
        ("She and James King left.", "He and Barbara Queen left."),
        ("James was born in London in June.", "Barbara was born in London in June."),
        ("It began on 3 August, or on June 4.", "It began on 3 August, or on June 4."),
        ("We saw Jack London and then June.", "We saw London Jack and then August."),
        ("He played at St. James.", "She played at St. James."),
        ("No one here.", "No one here."),
        ("", ""),
    ],
)
def test_without_spacy_hanta_tags(pairs: Path, text: str, becomes: str) -> None:
    assert Substitution(pairs).rewrite(text).text == becomes


def test_bad_substitution_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=r"cda_default_pairs\.json cannot be read"):
        Substitution(tmp_path)
    _write(tmp_path / WORDS, [["he", "she", "they"]])
    with pytest.raises(UnmaskError, match="array of pairs"):
        Substitution(tmp_path)
    _write(tmp_path / WORDS, [["lord", "lady"], ["gentleman", "lady"]])
    with pytest.raises(UnmaskError, match="'lady' stands in two pairs"):
        Substitution(tmp_path)


def test_spacy_that_is_missing_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(
        UnmaskError, match=r"^en_core_web_lg needs spacy; install it with: pip install 'unmask\[spacy\]'$"
    ):
        spacy_tokens()


def test_a_spacy_model_can_be_used(pairs: Path, tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "James King"}])
    pipeline.add_pipe("attribute_ruler").add([[{"LOWER": "her"}]], {"TAG": "PRP$"})
    pipeline.to_disk(tmp_path / "small")
    substitution = Substitution(pairs, spacy_tokens(str(tmp_path / "small")))
    assert substitution.rewrite("James King and James's her-o saw Mr. King.").text == (
        "Barbara Queen and James's his-o saw Mrs. Queen."
    )
    with pytest.raises(UnmaskError, match="spaCy cannot load the model 'no_such_model'"):
        spacy_tokens("no_such_model")


# The released lists, and the counts for the rewritten GAP


@pytest.fixture(scope="module")
def gap(data: Path) -> list[str]:
    return [text for part in ("development", "validation", "test") for text in _read_gap(data, part)]


def test_gap_is_exchanged_as_released(data: Path, gap: list[str]) -> None:
    substitution = Substitution(data / "cds")
    assert (len(substitution.words), len(substitution.names), len(gap)) == (2 * 124, 2 * 1000, 4454)
    rewritten = [substitution.rewrite(text) for text in gap]
    assert all(result.text != text for result, text in zip(rewritten, gap, strict=True))

    type_counts = Counter(
        _classify_change(change.kind, change.term) for result in rewritten for change in result.changes
    )
    assert type_counts["word"] == 11_260
    assert type_counts["pronoun"] == 8_105
    # The release has 15,876: persons found by spaCy's en_core_web_lg. Here: the proper nouns of the list (see `cds`).
    assert type_counts["name"] == pytest.approx(15_876, rel=0.05)

    before, after = _count_pronouns(gap), _count_pronouns(result.text for result in rewritten)
    assert (before["male"], before["female"]) == (7_385, 6_452)
    assert (after["male"], after["female"]) == (6_453, 7_384)


def _classify_change(change_type: str, term: str) -> str:
    return "pronoun" if term in PRONOUNS else change_type


def _count_pronouns(texts: Iterator[str] | Sequence[str]) -> dict[str, int]:
    words = Counter(word.lower() for text in texts for word in re.findall(r"\w+", text))
    return {
        "male": sum(words[w] for w in ("he", "his", "him")),
        "female": sum(words[w] for w in ("she", "her", "hers")),
    }


def _replace_in_order(text: str, rules: Mapping[str, str]) -> str:
    """The paper's procedure: one replacement after the other."""
    for before, after in rules.items():
        text = text.replace(before, after)
    return text


def _read_rules(folder: Path, terms: str, to: str) -> dict[str, str]:
    """The replacements of the procedure, with spaces, in its order; removed terms are in alphabetical order."""
    stem = {"pronouns": "prons", "family": "weat", "all": "terms"}[terms]
    male, female = (json.loads((folder / f"{stem}_{direction}.json").read_text()) for direction in ("f2m", "m2f"))
    if to == "remove":
        cover = ["climacteric", "menopause", "uterus", "womb"] if terms == "all" else []
        return {f" {term} ": " " for term in sorted({*male, *female, *cover})}
    return {f" {term} ": f" {after} " for term, after in (male if to == "male" else female).items()}


def _write(path: Path, content: Mapping[str, str] | list[list[str]]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _read_reviews(data: Path, split: str) -> Iterator[str]:
    with gzip.open(data / "imdb" / f"imdb_{split}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]


def _read_gap(data: Path, part: str) -> Iterator[str]:
    with (data / "gap" / f"gap-{part}.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row["Text"]

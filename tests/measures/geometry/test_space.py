"""Words in sentences, and the space of their vectors."""

from __future__ import annotations

import numpy as np
import pytest

from gaussian import gaussian
from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import word_templates
from unmask.measures.geometry.space import (
    make_published_sentences,
    make_space,
    make_word_sentences,
    published_article,
)
from unmask.statistics.erasure import normalise_rows


def test_the_published_article_goes_by_the_letter() -> None:
    articles = {word: published_article(word) for word in ("hour", "university", "honor", "engineer", "nurse")}
    assert articles == {"hour": "a", "university": "an", "honor": "an", "engineer": "an", "nurse": "a"}


def test_a_word_without_letters_makes_no_sentence() -> None:
    with pytest.raises(UnmaskError, match="'_' is not a word that fits into a sentence"):
        make_word_sentences("_")


def test_the_templates_are_six_and_five() -> None:
    assert [frame.number for frame in word_templates()] == ["singular"] * 6 + ["plural"] * 5


def test_a_word_in_sentences() -> None:
    word_sentences = make_word_sentences("heirs")
    assert [word.text for word in word_sentences][3:8] == [
        "Here is an heir.",
        "The heir is here.",
        "The heir is there.",
        "These are heirs.",
        "Those are heirs.",
    ]
    assert [word.word for word in word_sentences] == ["heir"] * 6 + ["heirs"] * 5


def test_a_phrase_in_sentences_has_spaces() -> None:
    assert {word.word for word in make_word_sentences("taxi_driver")} == {"taxi driver", "taxi drivers"}


def test_published_sentences_have_the_published_places() -> None:
    word_sentences = make_published_sentences("hour")
    assert word_sentences[0].text == "This is a hour."
    assert [(word.start, word.end) for word in word_sentences] == [(3, -2)] * 4 + [(2, -4)] * 2 + [(3, -2)] * 3 + [
        (2, -4)
    ] * 2
    assert make_published_sentences("taxi_driver")[6].text == "These are taxi_drivers."


class TestSpace:
    def test_bias_is_a_cosine(self) -> None:
        matrix = gaussian(300, 4) * 7
        words = [f"w{index}" for index in range(300)]
        space = make_space(words, matrix, np.array([2.0, 0, 0, 0]), np.zeros(4), vectors="", direction="")
        np.testing.assert_allclose(space.gender.bias, normalise_rows(matrix)[:, 0], atol=1e-6)

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            ("few", "geometry needs 240 words"),
            ("zero", "1 words have a vector that is zero or not finite"),
            ("same", "the same vector"),
        ],
    )
    def test_what_cannot_be_measured_is_refused(self, spoil: str, message: str) -> None:
        words, matrix = [f"w{index}" for index in range(300)], gaussian(300, 4)
        ends = np.eye(4)[:2]
        if spoil == "few":
            words, matrix = words[:20], matrix[:20]
        elif spoil == "zero":
            matrix[3] = 0
        else:
            ends[1] = ends[0]
        with pytest.raises(UnmaskError, match=message):
            make_space(words, matrix, *ends, vectors="", direction="he − she")

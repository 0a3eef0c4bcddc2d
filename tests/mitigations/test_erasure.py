"""Linear concept erasure: known answers and the guarantees of the theorem."""

from __future__ import annotations

import numpy as np
import pytest

from unmask.statistics.erasure import leace, projection


def plant_concept(rows: int = 400, size: int = 6, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    concept = np.repeat([0.0, 1.0], rows // 2)
    mixed = rng.normal(size=(rows, size)) @ rng.normal(size=(size, size))
    return mixed + np.outer(concept, rng.normal(size=size)) + 3, concept


def test_a_projection_by_hand() -> None:
    erasure = projection([[0.0, 2.0, 0.0]])
    assert erasure([[1.0, 2.0, 3.0]]) == pytest.approx(np.array([[1.0, 0.0, 3.0]]))
    two = projection([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])  # one direction, given twice
    assert two([[1.0, 0.0, 5.0]]) == pytest.approx(np.array([[0.5, -0.5, 5.0]]))
    assert projection([[0.0, 0.0]])([[1.0, 2.0]]) == pytest.approx(np.array([[1.0, 2.0]]))


def test_leace_where_all_directions_are_alike_is_the_projection_on_the_difference() -> None:
    # whitened data: corners of a square, with the concept along the first axis
    rows = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    erasure = leace(rows, [1, 1, 0, 0])
    assert erasure.matrix == pytest.approx(np.diag([0.0, 1.0]))
    assert erasure(rows) == pytest.approx(rows * [0.0, 1.0])


def test_nothing_linear_is_left() -> None:
    rows, concept = plant_concept()
    erased = leace(rows, concept)(rows)
    covariance = (erased - erased.mean(0)).T @ (concept - concept.mean())
    assert np.abs(covariance).max() < 1e-8 * len(rows)
    fitted = np.linalg.lstsq(np.column_stack([erased, np.ones(len(rows))]), concept, rcond=None)[0]
    assert np.column_stack([erased, np.ones(len(rows))]) @ fitted == pytest.approx(0.5, abs=1e-8)


def test_it_moves_the_vectors_less_than_a_projection_that_also_erases() -> None:
    rows, concept = plant_concept()
    difference = rows[concept == 1].mean(0) - rows[concept == 0].mean(0)
    moved = {
        name: float(np.square(erase(rows) - rows).sum())
        for name, erase in {"leace": leace(rows, concept), "projection": projection(difference)}.items()
    }
    assert moved["leace"] < moved["projection"]


def test_done_twice_changes_nothing_more_and_the_mean_stays() -> None:
    rows, concept = plant_concept()
    erasure = leace(rows, concept)
    assert erasure(erasure(rows)) == pytest.approx(erasure(rows))
    assert erasure(rows).mean(0) == pytest.approx(rows.mean(0))


def test_degenerate_input() -> None:
    rows, concept = plant_concept()
    assert leace(rows, np.ones(len(rows)))(rows) == pytest.approx(rows)  # a constant concept
    flat = np.column_stack([rows, np.zeros(len(rows)), rows[:, 0]])  # a constant column and a duplicate column
    erased = leace(flat, concept)(flat)
    assert np.isfinite(erased).all()
    assert np.abs((erased - erased.mean(0)).T @ (concept - 0.5)).max() < 1e-6 * len(rows)

"""Charts: positions of marks, scales, labels, text from users, and no chart without data."""

from __future__ import annotations

import re

import pytest

from unmask.report.charts import (
    Axis,
    BarRow,
    Dot,
    ForestRow,
    Series,
    Strip,
    bars,
    forest,
    histogram,
    lines,
    scatter,
    stacks,
    stretched_ticks,
    strips,
)
from unmask.report.drawing import AxisScale, Drawing, TextColumns, fit_domain

TEXT = re.compile(r"<text [^>]*>([^<]*)</text>")


@pytest.mark.parametrize(
    ("domain", "count", "ticks"),
    [
        ((0, 1), 5, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        ((-0.27, 0.23), 5, [-0.2, -0.1, 0, 0.1, 0.2]),
        ((3, 4.1), 2, [3, 3.5, 4]),
    ],
)
def test_ticks_are_round(domain: tuple[float, float], count: int, ticks: list[float]) -> None:
    assert AxisScale(domain, (0, 1)).choose_ticks(count) == ticks


def test_scales_map_the_ends_and_the_middle() -> None:
    assert [AxisScale((1, 100), (0, 10), "log")(value) for value in (1, 10, 100)] == [0, 5, 10]
    stretched = AxisScale((-1, 1), (0, 10), 0.01)
    assert [stretched(value) for value in (-1, 0, 1)] == [0, 5, 10]
    assert stretched(0.01) > 5.7
    assert fit_domain([1, None, 3]) == pytest.approx((-0.15, 3.15))
    assert fit_domain([]) == (-1, 1)


@pytest.mark.parametrize(("stretch", "limit"), [(0.002, 0.03), (0.3, 0.3), (1e-300, 0.5)])
def test_ticks_of_a_stretched_axis_are_inside_and_symmetric(stretch: float, limit: float) -> None:
    ticks = stretched_ticks(max(stretch, limit / 1000), limit)
    assert sorted(ticks) == sorted(-tick for tick in ticks)
    assert 3 <= len(ticks) <= 9
    assert max(ticks) <= limit


def test_labels_neither_overlap_nor_cover_points() -> None:
    names = ["aa", "bb", "cc", "dd", "ee"]
    points = [(50.0, 50.0), (52.0, 52.0), (120.0, 20.0), (126.0, 20.0), (132.0, 20.0)]
    for most in (9, 1):
        drawing = Drawing(200, 100, (0, 0, 0, 0))
        drawing.add_labels(points, names, range(5), most=most)
        labels_drawn = re.findall(r'x="([\d.]+)".*?anchor="(\w+)".*?>(\w+)<', drawing.render())
        labels = {name: (anchor, float(x)) for x, anchor, name in labels_drawn}
        assert len(labels) == min(most, 4)
    assert labels == {"aa": ("end", 45)}


def test_a_forest_has_a_point_a_line_and_texts_for_each_row() -> None:
    rows = [ForestRow("a", 0.5, (0.0, 1.0), ["0.5"], "tip a"), ForestRow("b", 1, None, ["1"], "tip b", filled=False)]
    drawn = forest(rows, domain=(0, 1), width=100)
    assert re.findall(r'<circle cx="([\d.]+)"[^>]*fill-opacity="(\d)"', drawn) == [("50.0", "1"), ("100.0", "0")]
    assert [text for text in TEXT.findall(drawn) if text in {"a", "b", "0.5", "1"}] == ["1", "a", "0.5", "b", "1"]
    assert re.findall("<title>(.*?)</title>", drawn) == ["tip a", "tip a", "tip b"]


def test_bars_begin_at_zero_in_each_panel() -> None:
    rows = [BarRow("nurse", [(1.0, -1.0), (0.5, None)], "+1")]
    series = {"female": "#f00", "male": "#00f"}
    drawn = bars(rows, series, (-1, 1), TextColumns([40]), panels=("before", "after"), unit="nats", width=100)
    rectangles = re.findall(r'<rect x="([\d.]+)"[^>]* width="([\d.]+)"', drawn)
    assert rectangles == [("50.0", "50.0"), ("0.0", "50.0"), ("186.0", "25.0")]
    assert "<title>nurse, male, before: −1.00 nats</title>" in drawn


def test_stacked_bars_begin_where_the_last_share_ended() -> None:
    drawn = stacks([("a", {"x": 0.25, "y": 0.7, "z": 0.05})], dict.fromkeys("xyz", ("#123456", "#fff")))
    rectangles = [
        (float(x), float(width)) for x, width in re.findall(r'<rect x="([\d.]+)"[^>]* width="([\d.]+)"', drawn)
    ]
    assert rectangles == [(0, 75), (75, 210), (285, 15)]
    inside = re.findall(r'font-weight="bold">([^<]*)<', drawn)
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in inside] == ["25 %", "70 %"]  # none fits into z


def test_a_strip_has_its_value_among_the_others() -> None:
    drawn = strips([Strip("Two clusters", 0.75, [0.5, 0.75, 1.0], 0.75)], (0.5, 1.0), head="gender", as_percent=True)
    assert [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)] == [0, 150, 300]
    ((across, tip),) = re.findall(r'<path d="M([\d.]+) .*?<title>(.*?)</title>', drawn)
    assert (across, tip.replace("\N{NO-BREAK SPACE}", " ")) == ("150.0", "gender: 75.0 %")


def test_text_of_users_is_escaped_and_cut() -> None:
    evil = "<script>" * 20
    drawn = forest([ForestRow(evil, 1, None, [""], evil)]) + scatter([Dot(0, 0, evil)], Axis((0, 1)), Axis((0, 1)))
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn
    assert len(drawn) < 6000


def test_nothing_to_draw_is_no_plot() -> None:
    axis = Axis((0, 1))
    assert forest([]) == strips([], (0, 1), head="") == stacks([], {}) == ""
    assert scatter([], axis, axis) == lines([Series([], "#000")], axis, axis) == ""
    empty = histogram([0.0], limit=1, mean=None, colours=("", ""), sides=("", ""), title="", noun="")
    assert empty == ""

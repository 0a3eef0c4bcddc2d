"""The report of a comparison: every section, the result's own numbers, nothing loaded, nothing injected by a name."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from math import exp
from pathlib import Path
from typing import Any

import pytest

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from unmask import analyse, compare
from unmask.measures.association.details import AssociationChanges, HypothesisChange, ProfessionChange, TableRow
from unmask.report.comparison import RULES, render
from unmask.report.comparison_terminal import comparison_text
from unmask.results.comparison import Change, Comparison, ComparisonResult, Figure, Side, Usefulness
from unmask.results.numbers import number
from unmask.results.record import Interval
from unmask.results.schema import Caveat, ModelInfo

GROUPS = ("male", "female", "balanced")
BEFORE, AFTER, OTHER = "unmask-mini", "mini-cds", "mini-leace"
LONG = "maintenance machinery repairer"


def _between(value: float, half: float) -> Interval:
    return value - half, value + half


def _change(labels: dict[str, str], before: float, after: float, p: float | None, **changes: Any) -> Change:
    given: dict[str, Any] = {"labels": labels, "question": "Did it change?", "n": 1080}
    given |= {"before": before, "before_interval": _between(before, 0.35)}
    given |= {"after": after, "after_interval": _between(after, 0.25)}
    given |= {"change": after - before, "interval": _between(after - before, 0.2)}
    given |= {"statistic": -4.2, "df": 17.3, "p_value": p, "p_adjusted": p, "p_sign_flip": p}
    given |= {"effect_size": -0.61, "effect_size_name": "rank-biserial", "effect_size_interval": (-0.8, -0.3)}
    return Change(**(given | changes))


def _changes(share: float = 0.3, p: float | None = 0.0004, verdict: str = "improved") -> dict[str, Change]:
    """The stereotype, each group, the workforce and the means, as a model that keeps a share of its bias has them."""
    changes = {"stereotype": _change({"contrast": "stereotype"}, 2.163, 2.163 * share, p, verdict=verdict)}
    for kind, before in zip(GROUPS, (-1.512, 0.651, -0.412), strict=True):
        labels = {"contrast": "difference", "group": kind}
        changes[f"female minus male, {kind} professions"] = _change(labels, before, before * share, p, verdict=verdict)
    for kind in GROUPS:
        for at, gender in enumerate(("female", "male")):
            labels = {"contrast": "mean", "group": kind, "gender": gender}
            changes[f"{kind} professions, {gender} persons"] = _change(labels, -0.83 + at, -0.25, 0.31)
    workforce = {"contrast": "workforce", "correlation": "pearson"}
    changes["workforce share, pearson"] = _change(workforce, 0.67, 0.21, 0.012)
    return changes


def _professions(count: int = 20) -> list[ProfessionChange]:
    """Ever smaller changes, up and down in turn."""
    found = []
    for kind in GROUPS:
        for at in range(count):
            change = (1.6 - 0.025 * at) * (-1) ** at
            name = LONG if (kind, at) == ("male", 3) else f"{kind} job {at}"
            given = {"female_before": -0.9, "male_before": 0.6 + change / 3, "female_after": change / 2 - 0.2}
            given |= {"male_after": 0.31, "workforce_share": 30.0, "change": change}
            found.append(ProfessionChange(profession=name, group=kind, **given))
    return found


def _table() -> list[TableRow]:
    given = {"female_before": -0.831, "female_after": 0.222, "female_change": 1.053, "p_value": 1e-40}
    given |= {"male_before": 0.164, "male_after": 0.287, "male_change": 0.123, "w": 16633.0, "z": -20.1, "r": -0.554}
    return [TableRow(group=kind, n=900, **given) for kind in GROUPS]


def _details(professions: list[ProfessionChange]) -> dict[str, Any]:
    hypothesis = HypothesisChange(
        name="H1",
        statement="Female (male) person words are positively associated with female (male) professions.",
        before="supported",
        after="partly supported",
        evidence_before="female persons with female professions: 0.55",
        evidence_after="female persons with female professions: 0.21",
    )
    return AssociationChanges(table=_table(), professions=professions, hypotheses=[hypothesis]).model_dump()


def _comparison(after: str = AFTER, **changes: Any) -> Comparison:
    given: dict[str, Any] = {"name": "association", "language": "en", "corpus": "bec-pro", "protocol": "sound"}
    given |= {"before": BEFORE, "after": after, "verdict": "improved", "items": 5400, "unpaired": 12}
    given["headline"] = (
        "The stereotype shrank: beside typically female professions the odds of a female person word were 8.70 times"
        " what they are beside typically male ones, now 1.91 times (change × 0.22, p < 0.001). The preference follows"
        " women's share of the workforce less closely (r was 0.67, now 0.21)."
    )
    given["cost"] = "The loss on masked words rose by 0.041 nats a piece (95 % interval 0.021 to 0.061)."
    given |= {"changes": _changes(), "details": _details(_professions())}
    given["caveats"] = [Caveat(code="template-sentences", text="The sentences are made from templates.")]
    return Comparison(**(given | changes))


def _published() -> Comparison:
    none: dict[str, Any] = {"interval": None, "before_interval": None, "after_interval": None, "df": None}
    none |= {"statistic": 16633.0, "statistic_name": "V", "p_sign_flip": None, "effect_size_interval": None}
    changes = {
        name: one.model_copy(update=none)
        for name, one in _changes(p=1e-40).items()
        if one.labels["contrast"] == "difference"
    }
    return _comparison(protocol="published", changes=changes, details=_details(_professions(2)))


def _useful(after: str = AFTER) -> list[Usefulness]:
    loss = Figure(before=2.3111, after=2.3522, change=0.0411, interval=(0.0212, 0.0613), p_value=0.0003)
    accuracy = Figure(before=0.5623, after=0.5587, change=-0.0036, interval=(-0.0101, 0.0029), p_value=0.28)
    stated = Figure(before=0.9211, after=0.9178, change=-0.0033, interval=(-0.0131, 0.0065), p_value=0.51)
    fallen = Figure(before=0.8812, after=0.8711, change=-0.0101, interval=(-0.0152, -0.0050), p_value=0.0001)
    odds = Figure(before=2.81, after=2.85, change=0.04, interval=(0.01, 0.07), p_value=0.012)
    given: dict[str, Any] = {"after": after, "data_hash": "f00d" * 16}
    words = Usefulness(
        what="masked words", data="neutral sentences", n=312, figures={"loss": loss, "accuracy": accuracy}, **given
    )
    gender = Usefulness(
        what="stated gender", data="own templates", n=720, figures={"accuracy": stated, "log_odds": odds}, **given
    )
    task = Usefulness(what="sentiment", data="imdb", n=25000, figures={"accuracy": fallen}, **given)
    return [words, gender, task]


def _side(name: str, weights: str, **changes: Any) -> Side:
    lineage = f"Made from {BEFORE} by cds." if "parent_weight_hash" in changes else ""
    model = ModelInfo(
        name=f"/models/{name}", architecture="BertForMaskedLM", parameters=4412345, weight_hash=weights * 16, **changes
    )
    return Side(name=name, model=model, audit=f"audits/{name}", created="2020-01-01T01:01:01+00:00", lineage=lineage)


def _result(*comparisons: Comparison, **changes: Any) -> ComparisonResult:
    given: dict[str, Any] = {"unmask_version": "0.0.7", "created": "2020-02-02T02:02:02+00:00"}
    given |= {"configuration": {"texts": None, "tasks": ["sentiment"]}, "libraries": {"numpy": "9.9.9"}, "seed": 4711}
    given["before"] = _side(BEFORE, "aaa1")
    made = {AFTER: _side(AFTER, "bbb2", mitigation="cds", parent_weight_hash="aaa1" * 16)}
    made[OTHER] = _side(OTHER, "ccc3")
    given["after"] = [made[name] for name in dict.fromkeys(one.after for one in comparisons) if name in made]
    given["usefulness"] = [figure for side in given["after"] for figure in _useful(side.name)]
    given["caveats"] = [Caveat(code="tokenizers", text="The tokenizers differ.")]
    return ComparisonResult(comparisons=list(comparisons), **(given | changes))


def _two() -> ComparisonResult:
    """One that improved, with 60 professions in a group, and one that overshot."""
    given: dict[str, Any] = {"changes": _changes(-0.6, verdict="overshot"), "details": _details([])}
    over = _comparison(OTHER, verdict="overshot", headline="It reversed.", **given)
    return _result(_comparison(details=_details(_professions(60))), over)


@cache
def _page() -> str:
    """One model after."""
    return render(_result(_comparison()))


@cache
def _page_of_two() -> str:
    return render(_two())


def _part(page: str, start: str, end: str) -> str:
    return page[page.index(start) :].split(end, 1)[0]


def test_every_section_is_there() -> None:
    page = seen(_page())
    sections = ("What changed", "Table 4", "By profession", "hypotheses", "still useful", "rely on this", "Method")
    rules = [rule.replace("\u00a0", " ") for rule in RULES.values()]
    for part in (f"{BEFORE} → {AFTER}", *sections, "Provenance", "jackknife", "Holm", "independent", *rules):
        assert part in page, part
    facts = ("✓ Improved", "The stereotype shrank", "Cost. The loss", "H1", "made from templates", "tokenizers differ")
    provenance = (
        "aaa1" * 16,
        "bbb2" * 16,
        "f00d" * 16,
        "audits/mini-cds",
        "4711",
        "9.9.9",
        "0.0.7",
        "2020-02-02T02:02",
    )
    for fact in (*facts, *provenance, "supported → partly supported", "5,400 sentences", "12 by only one"):
        assert fact in page, fact
    assert "Overview" not in page
    assert "None" not in page


@pytest.mark.parametrize("verdict", ["improved", "no reliable change", "overshot", "worse"])
def test_a_verdict_is_a_word_and_a_colour(verdict: str) -> None:
    result = _result(_comparison(verdict=verdict, details=_details([]), changes={}))
    page = render(result)
    banner = _part(page, '<div class="banner', "</div>")
    assert banner.startswith(f'<div class="banner {verdict.split()[0]}">')
    assert verdict.capitalize() in seen(banner)
    assert verdict in comparison_text(result)


def test_the_key_figures_are_those_of_the_result() -> None:
    cards = seen(_part(_page(), '<ul class="cards', "</ul>"))
    before, after = 2.163, 2.163 * 0.3
    factors = [number(exp(value)) for value in (before - 0.35, before + 0.35, after - 0.25, after + 0.25)]
    assert f"{number(exp(before))} × → {number(exp(after))} × 95 %: {factors[0]} to {factors[1]} →" in cards
    assert f"→ {factors[2]} to {factors[3]} Change × {number(exp(after - before))}" in cards
    assert "Workforce, r 0.67 → 0.21" in cards
    assert "Balanced professions, nats −0.41 → −0.12" in cards
    assert "Masked words, loss 2.311 → 2.352 Change +0.041 [0.021, 0.061] , p < 0.001 clearly worse" in cards
    assert "Stated gender, accuracy 92.1 % → 91.8 % Change −0.3 points [−1.3, 0.7] , p = 0.510 no clear change" in cards
    assert "Sentiment, accuracy 88.1 % → 87.1 % Change −1.0 points" in cards


def test_the_table_of_changes_has_every_change() -> None:
    comparison = _comparison()
    table = seen(_part(render(_result(comparison)), '<table class="changes">', "</table>"))
    assert "Stereotype 1,080 2.16 [1.81, 2.51] 0.65 [0.40, 0.90] −1.51 [−1.71, −1.31] < 0.001 improved" in table
    assert "Workforce share, pearson 1,080 0.67 [0.32, 1.02] 0.21 [−0.04, 0.46] −0.46 [−0.66, −0.26] 0.012" in table
    for name in comparison.changes:
        assert name.capitalize() in table


def test_the_papers_table_is_marked_as_such() -> None:
    page = _page()
    table = seen(_part(page, '<table class="paper">', "</table>"))
    assert "Male f −0.83 0.22 +1.05 900 16633 −0.55 < 0.001 m 0.16 0.29 +0.12" in table
    assert "paper’s own test" in seen(page)


def test_usefulness_says_on_what_it_was_measured() -> None:
    table = seen(_part(_page(), '<table class="usefulness">', "</table>"))
    assert "Masked words neutral sentences, n = 312 loss 2.311 2.352 +0.041 [0.021, 0.061] < 0.001" in table
    assert "log odds 2.810 2.850 +0.040 [0.010, 0.070] 0.012 clearly better" in table
    assert "Sentiment imdb, n = 25,000" in table


def test_several_models_begin_with_an_overview() -> None:
    page = seen(_page_of_two())
    table = seen(_part(_page_of_two(), '<table class="overview">', "</table>"))
    assert f"{BEFORE} → {AFTER}, {OTHER}" in page
    assert "improved 8.70 × → 1.91 × × 0.22" in table
    assert "overshot 8.70 × → 0.27 ×" in table
    assert "+0.041 [0.021, 0.061]" in table
    assert page.index("Overview") < page.index("✓ Improved") < page.index("⇄ Overshot")
    assert page.count("The tokenizers differ.") == 1


def test_the_proof_is_the_record_and_the_weights() -> None:
    page = seen(_page_of_two())
    assert f"Made from {BEFORE} by cds. Weights before aaa1aaa1aaa1 , after bbb2bbb2bbb2" in page
    assert "Nothing records that the one was made from the other. Weights before aaa1aaa1aaa1 , after ccc3" in page
    nameless = _side(BEFORE, "").model_copy(update={"model": ModelInfo(name="scores.tsv", architecture="recorded")})
    unknown = _result(_comparison(OTHER, details=_details([]), changes={}), before=nameless)
    assert "weights of both models are not known" in seen(render(unknown))


def test_bars_are_sorted_by_the_size_of_the_change() -> None:
    panel = _part(_part(_page(), "group male, before and after", "</figure>"), "<svg", "</svg>")
    names = re.findall(rf">(male job \d+|{LONG})</text>", panel)
    assert names == [LONG if at == 3 else f"male job {at}" for at in range(20)]
    assert re.findall(r">([+−]1\.\d\d)</text>", panel)[:2] == ["+1.60", "−1.58"]
    assert re.findall(r">(−?1|0)</text>", panel) == ["−1", "0", "1"] * 2  # one axis before, one after
    assert panel.count('fill="#d95f02"') == panel.count('fill="#7570b3"') == 40


def test_bars_of_nothing_but_zeros_are_drawn() -> None:
    still = dict.fromkeys(("female_before", "female_after", "male_before", "male_after", "change"), 0.0)
    flat = [one.model_copy(update=still) for one in _professions(1)[:1]]
    assert ">male job 0</text>" in render(_result(_comparison(details=_details(flat), changes={})))


def test_of_a_long_list_the_largest_changes_are_shown() -> None:
    page = _page_of_two()
    assert "40 of 60: the largest changes" in seen(page)
    assert ">male job 39</text>" in page
    assert ">male job 40</text>" not in page


def test_every_plot_has_a_description() -> None:
    assert_plots_are_described(_page(), 5)


def test_published_shows_what_there_is() -> None:
    page = render(_result(_published()))
    table = seen(_part(page, '<table class="changes">', "</table>"))
    assert "Female minus male, male professions 1,080 −1.51 −0.45 +1.06 < 0.001 improved" in table
    assert "adjusted" not in table
    cards = seen(_part(page, '<ul class="cards', "</ul>"))
    assert "Male professions, nats −1.51 → −0.45 Change +1.06 , p < 0.001" in cards
    assert "95 %" not in cards
    assert "jackknife" not in seen(page)
    assert "finds too much" in seen(_part(page, '<div class="banner', "</div>"))
    assert "95 % interval" not in comparison_text(_result(_published())).split("Table")[0].split("contrast")[1]


def test_what_grammar_drowns_is_not_read_as_a_verdict() -> None:
    agreement = Caveat(code="grammatical-agreement", text="Agreement drowns it.")
    given: dict[str, Any] = {"language": "de", "details": _details([]), "changes": {}}
    drowned = _comparison(verdict="no reliable change", headline="Not bias.", caveats=[agreement], **given)
    result = _result(drowned, _comparison(corpus="agreement-free", headline="This is it.", **given))
    page = seen(render(result))
    assert page.index("This is it.") < page.index("Not bias.")
    assert "? Not interpretable" in page
    assert page.count("Is it still useful?") == 1  # of the model, not of each corpus
    assert "not interpretable" in comparison_text(result)


def test_figures_that_could_not_be_had_are_dashes() -> None:
    gone = dict.fromkeys(("before", "after", "change", "interval", "before_interval", "after_interval", "statistic"))
    gone |= dict.fromkeys(("p_value", "p_adjusted", "p_sign_flip", "df", "effect_size", "effect_size_interval"))
    changes = {name: one.model_copy(update=gone | {"verdict": None}) for name, one in _changes().items()}
    empty = _comparison(changes=changes, details={}, caveats=[], headline="", cost="")
    result = _result(empty, usefulness=[], caveats=[])
    page = render(result)
    assert "<svg" not in page
    assert "None" not in seen(page) + comparison_text(result)
    assert "Stereotype 1,080 – – – – not tested" in seen(page)
    for left_out in ("Key figures", "Table 4", "hypotheses", "still useful", "rely on this"):
        assert left_out not in page


def test_a_comparison_of_nothing_still_says_what_it_was() -> None:
    result = _result(after=[_side(AFTER, "bbb2")])
    assert f"{BEFORE} → {AFTER}" in seen(render(result))
    assert comparison_text(result) == ""


def test_hostile_text_is_escaped_everywhere() -> None:
    page = render(_hostile())
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert unescape(page).count(EVIL) > 40
    assert "&lt;script&gt;" in _part(page, "<svg", "</svg>")


def _hostile() -> ComparisonResult:
    """Every text from outside is an attack."""
    labels = {"contrast": "difference", "group": EVIL}
    evil = _comparison(
        EVIL,
        corpus=EVIL,
        language='"><b>',
        attributes=EVIL,
        before=EVIL,
        headline=EVIL,
        cost=EVIL,
        changes={EVIL: _change(labels, 1, 2, 0.2, question=EVIL, statistic_name=EVIL, effect_size_name=EVIL)},
        details=AssociationChanges(
            table=[_table()[0].model_copy(update={"group": EVIL})],
            professions=[one.model_copy(update={"profession": EVIL, "group": EVIL}) for one in _professions(2)],
            hypotheses=[
                HypothesisChange(
                    name=EVIL, statement=EVIL, before=EVIL, after=EVIL, evidence_before=EVIL, evidence_after=EVIL
                )
            ],
        ).model_dump(),
        caveats=[Caveat(code=EVIL, text=EVIL)],
    )
    side = _side(EVIL, EVIL, mitigation=EVIL).model_copy(update={"lineage": EVIL, "audit": EVIL, "created": EVIL})
    figure = _useful()[0].figures["loss"]
    useful = Usefulness(what=EVIL, after=EVIL, data=EVIL, data_hash=EVIL, n=3, figures={EVIL: figure, "loss": figure})
    more: dict[str, Any] = {"configuration": {EVIL: [EVIL]}, "libraries": {EVIL: EVIL}, "created": f'"{EVIL}'}
    return _result(evil, before=side, after=[side], usefulness=[useful], **more)


def test_the_terminal_says_it_on_one_screen() -> None:
    text = comparison_text(_result(_comparison()))
    assert len(text.splitlines()) <= 26
    assert max(map(len, text.splitlines())) <= 100
    words = " ".join(text.split())
    assert "stereotype 2.16 → 0.65 −1.51 [−1.71, −1.31] < 0.001 improved" in words
    assert "balanced: female − male −0.41 → −0.12 +0.29" in words
    assert "masked words, loss: 2.311 → 2.352 (change +0.041 [0.021, 0.061], p < 0.001)" in words
    assert f"Made from {BEFORE} by cds." in words
    assert "after verdict" not in words


def test_the_terminal_begins_with_an_overview_of_several() -> None:
    words = " ".join(comparison_text(_two()).split())
    assert words.index("mini-cds improved 8.70 × → 1.91 ×") < words.index("The stereotype shrank")
    assert "mini-leace overshot 8.70 × → 0.27 × +0.041" in words


def test_the_terminal_takes_markup_for_text() -> None:
    labels = {"contrast": "difference", "group": "[red]"}
    named = _result(_comparison(changes={"x": _change(labels, 1, 2, 0.2)}, headline="[bold]loud[/bold]"))
    text = comparison_text(named)
    assert "[red]: female − male" in text
    assert "[bold]loud[/bold]" in text


def test_the_papers_own_scores_make_a_page(data: Path) -> None:
    golden = data / "golden/becpro_en_bert_association.tsv"
    sides = [analyse(golden, score_column=column) for column in ("Pre_Assoc", "Post_Assoc")]
    result = compare(*sides, usefulness=False).result
    page = render(result)
    assert_plots_are_described(page, 5)
    assert "Male f −0.83" in seen(_part(page, '<table class="paper">', "</table>"))  # the paper's Table 4
    assert result.comparisons[0].headline in seen(page)


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page_without_network_errors_or_overflow(tmp_path: Path) -> None:
    shown, hostile = _result(_comparison()), _hostile()
    both = shown.model_copy(
        update={
            "comparisons": [*shown.comparisons, *hostile.comparisons],
            "after": [*shown.after, *hostile.after],
            "usefulness": [*shown.usefulness, *hostile.usefulness],
        }
    )
    assert_a_browser_shows(render(both), tmp_path / "report.html")

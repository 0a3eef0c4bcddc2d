"""Made-up results of comparisons, for tests of reports."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from unmask.measures.association.details import AssociationChanges, HypothesisChange, ProfessionChange, TableRow
from unmask.measures.sections import build_comparison_sections, comparison_section
from unmask.report.blocks import Block
from unmask.report.comparison import closing_blocks
from unmask.report.comparison import comparison_page as build_page
from unmask.report.html import render_page
from unmask.report.terminal import capture_text, show_comparison
from unmask.results.comparison import Change, Comparison, ComparisonResult, Side, Usefulness, UsefulnessChange
from unmask.results.schema import Caveat, Estimate, Interval, ModelInfo

SIDES = ("before", "after")
GROUPS = ("male", "female", "balanced")
BEFORE, AFTER, OTHER = "unmask-mini", "mini-cds", "mini-leace"
LONG = "maintenance machinery repairer"


def interval_around(value: float, half: float) -> Interval:
    return value - half, value + half


def sample_change(labels: dict[str, str], before: float, after: float, p: float | None, **changes: Any) -> Change:
    estimate_fields: dict[str, Any] = {
        "n": 1080,
        "value": after - before,
        "interval": interval_around(after - before, 0.2),
    }
    estimate_fields |= {
        "statistic": -4.2,
        "statistic_name": "t",
        "df": 17.3,
        "p_value": p,
        "p_adjusted": p,
        "p_sign_flip": p,
    }
    estimate_fields |= {"effect_size": -0.61, "effect_size_name": "rank-biserial", "effect_size_interval": (-0.8, -0.3)}
    estimate_fields |= {
        name: changes.pop(name) for name in list(changes) if name in Estimate.model_fields and name != "question"
    }
    sides = {
        "before": Estimate(n=1080, value=before, interval=interval_around(before, 0.35)),
        "after": Estimate(n=1080, value=after, interval=interval_around(after, 0.25)),
    }
    fields: dict[str, Any] = {
        "labels": labels,
        "question": "Did it change?",
        **sides,
        "change": Estimate(**estimate_fields),
    }
    return Change(**(fields | changes))


def sample_changes(share: float = 0.3, p: float | None = 0.0004, verdict: str = "improved") -> dict[str, Change]:
    """Changes of the stereotype, groups, workforce and means, for a model that keeps `share` of its bias."""
    changes = {"stereotype": sample_change({"contrast": "stereotype"}, 2.163, 2.163 * share, p, verdict=verdict)}
    for group, before in zip(GROUPS, (-1.512, 0.651, -0.412), strict=True):
        labels = {"contrast": "difference", "group": group}
        changes[f"female minus male, {group} professions"] = sample_change(
            labels, before, before * share, p, verdict=verdict
        )
    for group in GROUPS:
        for index, gender in enumerate(("female", "male")):
            labels = {"contrast": "mean", "group": group, "gender": gender}
            changes[f"{group} professions, {gender} persons"] = sample_change(labels, -0.83 + index, -0.25, 0.31)
    workforce = {"contrast": "workforce", "correlation": "pearson"}
    changes["workforce share, pearson"] = sample_change(workforce, 0.67, 0.21, 0.012)
    return changes


def profession_changes(count: int = 20) -> list[ProfessionChange]:
    """Ever smaller changes, alternating in sign."""
    changes = []
    for group in GROUPS:
        for index in range(count):
            change = (1.6 - 0.025 * index) * (-1) ** index
            name = LONG if (group, index) == ("male", 3) else f"{group} job {index}"
            values = {"female_before": -0.9, "male_before": 0.6 + change / 3, "female_after": change / 2 - 0.2}
            values |= {"male_after": 0.31, "workforce_share": 30.0, "change": change}
            changes.append(ProfessionChange(profession=name, group=group, **values))
    return changes


def table_4_rows() -> list[TableRow]:
    values = {"female_before": -0.831, "female_after": 0.222, "female_change": 1.053, "p_value": 1e-40}
    values |= {"male_before": 0.164, "male_after": 0.287, "male_change": 0.123, "w": 16633.0, "z": -20.1, "r": -0.554}
    return [TableRow(group=group, n=900, **values) for group in GROUPS]


def comparison_details(professions: list[ProfessionChange]) -> dict[str, Any]:
    hypothesis = HypothesisChange(
        name="H1",
        statement="Female (male) person words are positively associated with female (male) professions.",
        before="supported",
        after="partly supported",
        evidence_before="female persons with female professions: 0.55",
        evidence_after="female persons with female professions: 0.21",
    )
    return AssociationChanges(table=table_4_rows(), professions=professions, hypotheses=[hypothesis]).model_dump()


def sample_comparison(after: str = AFTER, **changes: Any) -> Comparison:
    fields: dict[str, Any] = {"name": "association", "language": "en", "corpus": "bec-pro", "protocol": "sound"}
    fields |= {"before": BEFORE, "after": after, "verdict": "improved", "items": 5400, "unpaired": 12}
    fields["headline"] = [
        "The stereotype shrank: beside typically female professions the odds of a female person word were 8.70 times"
        " what they are beside typically male ones, now 1.91 times (change × 0.22, p < 0.001).",
        "The preference follows women's share of the workforce less closely (r was 0.67, now 0.21).",
    ]
    fields["cost"] = "The loss on masked words rose by 0.041 nats a piece (95 % interval 0.021 to 0.061)."
    fields |= {"changes": sample_changes(), "details": comparison_details(profession_changes())}
    fields["caveats"] = [Caveat(code="template-sentences", text="The sentences are made from templates.")]
    return Comparison(**(fields | changes))


def published_comparison() -> Comparison:
    published_fields: dict[str, Any] = {"interval": None, "df": None}
    published_fields |= {"statistic": 16633.0, "statistic_name": "V", "p_sign_flip": None, "effect_size_interval": None}
    changes = {
        name: change.update_change(**published_fields).model_copy(
            update={side: Estimate(n=1080, value=value) for side, value in zip(SIDES, change.values, strict=True)}
        )
        for name, change in sample_changes(p=1e-40).items()
        if change.labels["contrast"] == "difference"
    }
    return sample_comparison(protocol="published", changes=changes, details=comparison_details(profession_changes(2)))


def sample_usefulness(after: str = AFTER) -> list[Usefulness]:
    loss = UsefulnessChange(before=2.3111, after=2.3522, change=0.0411, interval=(0.0212, 0.0613), p_value=0.0003)
    accuracy = UsefulnessChange(before=0.5623, after=0.5587, change=-0.0036, interval=(-0.0101, 0.0029), p_value=0.28)
    stated = UsefulnessChange(before=0.9211, after=0.9178, change=-0.0033, interval=(-0.0131, 0.0065), p_value=0.51)
    fallen = UsefulnessChange(before=0.8812, after=0.8711, change=-0.0101, interval=(-0.0152, -0.0050), p_value=0.0001)
    odds = UsefulnessChange(before=2.81, after=2.85, change=0.04, interval=(0.01, 0.07), p_value=0.012)
    shared_fields: dict[str, Any] = {"after": after, "data_hash": "f00d" * 16}
    words = Usefulness(
        what="masked words",
        data="neutral sentences",
        n=312,
        figures={"loss": loss, "accuracy": accuracy},
        **shared_fields,
    )
    gender = Usefulness(
        what="stated gender",
        data="own templates",
        n=720,
        figures={"accuracy": stated, "log_odds": odds},
        **shared_fields,
    )
    task = Usefulness(what="sentiment", data="imdb", n=25000, figures={"accuracy": fallen}, **shared_fields)
    return [words, gender, task]


def compared_side(name: str, weights: str, **changes: Any) -> Side:
    lineage = f"Made from {BEFORE} by cds." if "parent_weight_hash" in changes else ""
    model = ModelInfo(
        name=f"/models/{name}", architecture="BertForMaskedLM", parameters=4412345, weight_hash=weights * 16, **changes
    )
    return Side(name=name, model=model, audit=f"audits/{name}", created="2020-01-01T01:01:01+00:00", lineage=lineage)


def comparison_result(*comparisons: Comparison, **changes: Any) -> ComparisonResult:
    fields: dict[str, Any] = {"unmask_version": "0.0.7", "created": "2020-02-02T02:02:02+00:00"}
    fields |= {"configuration": {"texts": None, "tasks": ["sentiment"]}, "libraries": {"numpy": "9.9.9"}, "seed": 4711}
    fields["before"] = compared_side(BEFORE, "aaa1")
    sides = {AFTER: compared_side(AFTER, "bbb2", mitigation="cds", parent_weight_hash="aaa1" * 16)}
    sides[OTHER] = compared_side(OTHER, "ccc3")
    fields["after"] = [
        sides[name] for name in dict.fromkeys(comparison.after for comparison in comparisons) if name in sides
    ]
    fields["usefulness"] = [figure for side in fields["after"] for figure in sample_usefulness(side.name)]
    fields["caveats"] = [Caveat(code="tokenizers", text="The tokenizers differ.")]
    return ComparisonResult(comparisons=list(comparisons), **(fields | changes))


def two_models_result() -> ComparisonResult:
    """Two models: one improved, with 60 professions per group, and one overshot."""
    fields: dict[str, Any] = {"changes": sample_changes(-0.6, verdict="overshot"), "details": comparison_details([])}
    overshot = sample_comparison(OTHER, verdict="overshot", headline=["It reversed."], **fields)
    return comparison_result(sample_comparison(details=comparison_details(profession_changes(60))), overshot)


def render_comparison_page(result: ComparisonResult) -> str:
    """The page of a comparison without items."""
    return render_page(build_page(result, build_comparison_sections(result)))


def comparison_text(result: ComparisonResult, width: int = 100) -> str:
    """What a terminal shows."""
    return capture_text(partial(show_comparison, result, build_comparison_sections(result)), width)


def comparison_section_blocks(comparison: Comparison) -> list[Block]:
    return list(comparison_section(comparison).blocks)


def closing_section_blocks(result: ComparisonResult, index: int = 0) -> list[Block]:
    return closing_blocks(result, build_comparison_sections(result), index)


@cache
def comparison_page() -> str:
    """The page of a comparison with one model."""
    return render_comparison_page(comparison_result(sample_comparison()))

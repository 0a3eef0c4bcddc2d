"""Made-up results of audits, for tests of reports."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unmask.measures.association.details import AssociationDetails, Hypothesis, ProfessionValue
from unmask.measures.sections import build_sections, item_tables
from unmask.report import html
from unmask.report.default_blocks import audit_page
from unmask.results import AuditResult, Caveat, Estimate, Measurement, ModelInfo

GROUPS = ("male", "female", "balanced")


STEREOTYPE = {"contrast": "stereotype"}
WORKFORCE = {"contrast": "workforce", "correlation": "pearson"}


def difference_labels(group: str) -> dict[str, str]:
    return {"contrast": "difference", "group": group}


def sample_test(labels: dict[str, str], estimate: float | None, p: float | None = 0.2, **changes: Any) -> Estimate:
    bounds = None if estimate is None else (estimate - 0.37, estimate + 0.41)
    fields: dict[str, Any] = {
        "labels": labels,
        "question": "Is there a difference?",
        "n": 90,
        "value": estimate,
        "interval": bounds,
    }
    fields |= {"statistic": 1.5, "statistic_name": "t", "p_value": p, "p_adjusted": p, "effect_size": 0.44}
    fields["detectable"] = 0.45
    return Estimate(**(fields | changes))


def sample_groups(names: tuple[str, ...], noun: str, **changes: Any) -> dict[str, Estimate]:
    groups = {}
    for index, (name, gender) in enumerate((name, gender) for name in names for gender in ("female", "male")):
        fields: dict[str, Any] = {"n": 45, "value": -1.234 + index, "interval": (-2.345 + index, -0.111 + index)}
        labels = {"group": name, "gender": gender}
        groups[f"{name} {noun}, {gender} persons"] = Estimate(labels=labels, **(fields | changes))
    return groups


def sample_professions(count: int = 4) -> list[ProfessionValue]:
    return [
        ProfessionValue(
            profession=f"{group} job {index}",
            group=group,
            workforce_share=10.0 + 5 * index,
            female=0.5 * index,
            male=-0.25,
            difference=0.5 * index + 0.25,
            difference_interval=(0.5 * index, 0.5 * index + 0.5),
        )
        for group in GROUPS
        for index in range(count)
    ]


def sample_details(professions: list[ProfessionValue]) -> dict[str, Any]:
    hypothesis = Hypothesis(name="H1", statement="It is so.", answer="partly supported", evidence="0.77 of it")
    return AssociationDetails(
        hypotheses=[hypothesis], professions=professions, several_pieces=["godmother"]
    ).model_dump()


def sound_measurement(**changes: Any) -> Measurement:
    tests = {
        "stereotype": sample_test(STEREOTYPE, 1.5, 0.001),
        "workforce share, pearson": sample_test(WORKFORCE, 0.31),
    }
    tests |= {
        f"female minus male, {group} professions": sample_test(difference_labels(group), 0.612 + index)
        for index, group in enumerate(GROUPS)
    }
    fields: dict[str, Any] = {
        "name": "association",
        "language": "en",
        "corpus": "bec-pro",
        "protocol": "sound",
        "headline": ["The model links people to professions."],
        "items": 540,
        "groups": sample_groups(GROUPS, "professions"),
        "tests": tests,
        "details": sample_details(sample_professions()),
        "caveats": [Caveat(code="template-sentences", text="The sentences are made from templates.")],
        "noise_floor": 1.5e-6,
        "distinct_inputs": 97,
        "data_hash": "d47a",
    }
    return Measurement(**(fields | changes))


def published_measurement() -> Measurement:
    tests = {
        f"female minus male, {group} professions": sample_test(
            difference_labels(group),
            0.02,
            1e-40,
            interval=None,
            statistic=16633.0,
            statistic_name="V",
            effect_size=-0.56,
        )
        for group in GROUPS
    }
    groups = sample_groups(GROUPS, "professions", interval=None, sd=1.987)
    return sound_measurement(protocol="published", tests=tests, groups=groups, noise_floor=None)


def emotions_measurement() -> Measurement:
    emotions = ("anger", "joy")
    words = [
        ProfessionValue(
            profession=f"{emotion} word", group=emotion, workforce_share=None, female=1, male=0.5, difference=0.5
        )
        for emotion in emotions
    ]
    tests = {
        f"female minus male, {emotion} emotion words": sample_test(difference_labels(emotion), 0.1)
        for emotion in emotions
    }
    groups = sample_groups(emotions, "emotion words")
    details = AssociationDetails(professions=words, several_pieces=["godmother"]).model_dump()
    return sound_measurement(corpus="emotions", attributes="emotion words", tests=tests, groups=groups, details=details)


def measurement_without_estimates() -> Measurement:
    nothing: dict[str, Any] = {"statistic": None, "effect_size": None, "detectable": None}
    tests = {name: sample_test(test.labels, None, None, **nothing) for name, test in sound_measurement().tests.items()}
    missing = {"female": None, "male": None, "difference": None, "difference_interval": None}
    details = sample_details([profession.model_copy(update=missing) for profession in sample_professions()])
    groups = sample_groups(GROUPS, "professions", value=None, interval=None, n=0)
    return sound_measurement(tests=tests, details=details, groups=groups, headline=[])


def sample_audit(*measurements: Measurement, name: str = "bert-x") -> AuditResult:
    return AuditResult(
        unmask_version="0.0.7",
        created="2020-02-02T02:02:02+00:00",
        model=ModelInfo(
            name=name, architecture="BertForMaskedLM", parameters=1234567, weight_hash="ab12", dtype="float32"
        ),
        configuration={"languages": ["en"], "offline": True, "templates": None},
        libraries={"numpy": "9.9.9"},
        seed=4711,
        measurements=list(measurements),
    )


def render_audit_page(audit: AuditResult, items: dict[str, pd.DataFrame], *, beside: bool = False) -> str:
    """The page of an audit."""
    sections = build_sections(audit.measurements, items)
    return html.render_page(audit_page(audit, sections, item_tables(items), link_files=beside))


def sample_items(**changes: Any) -> dict[str, pd.DataFrame]:
    rows = [
        {
            "language": "en",
            "corpus": "bec-pro",
            "person": person,
            "target": target,
            "gender": gender,
            "profession": f"job {index}",
            "form": f"job {index}",
            "sentence": f"My {target} is a job {index}.",
            "association": sign * (1 + index / 100),
            "log_p_target": -2.5,
            "log_p_prior": -3.625,
        }
        for sign in (1, -1)
        for index in range(20)
        for person, target, gender in ((f"my son {index}", "son", "male"), (f"my aunt {index}", "aunt", "female"))
    ]
    return {"association": pd.DataFrame(rows).assign(**changes)}

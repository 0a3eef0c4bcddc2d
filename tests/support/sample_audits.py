"""Results of audits, made up, for tests of reports."""

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


def difference_labels(kind: str) -> dict[str, str]:
    return {"contrast": "difference", "group": kind}


def sample_test(labels: dict[str, str], estimate: float | None, p: float | None = 0.2, **changes: Any) -> Estimate:
    bounds = None if estimate is None else (estimate - 0.37, estimate + 0.41)
    given: dict[str, Any] = {
        "labels": labels,
        "question": "Is there a difference?",
        "n": 90,
        "value": estimate,
        "interval": bounds,
    }
    given |= {"statistic": 1.5, "statistic_name": "t", "p_value": p, "p_adjusted": p, "effect_size": 0.44}
    return Estimate(**(given | changes))


def sample_groups(kinds: tuple[str, ...], noun: str, **changes: Any) -> dict[str, Estimate]:
    groups = {}
    for at, (kind, gender) in enumerate((kind, gender) for kind in kinds for gender in ("female", "male")):
        given: dict[str, Any] = {"n": 45, "value": -1.234 + at, "interval": (-2.345 + at, -0.111 + at)}
        labels = {"group": kind, "gender": gender}
        groups[f"{kind} {noun}, {gender} persons"] = Estimate(labels=labels, **(given | changes))
    return groups


def sample_professions(count: int = 4) -> list[ProfessionValue]:
    return [
        ProfessionValue(
            profession=f"{group} job {at}",
            group=group,
            workforce_share=10.0 + 5 * at,
            female=0.5 * at,
            male=-0.25,
            difference=0.5 * at + 0.25,
            difference_interval=(0.5 * at, 0.5 * at + 0.5),
        )
        for group in GROUPS
        for at in range(count)
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
        f"female minus male, {kind} professions": sample_test(difference_labels(kind), 0.612 + at)
        for at, kind in enumerate(GROUPS)
    }
    given: dict[str, Any] = {
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
    return Measurement(**(given | changes))


def published_measurement() -> Measurement:
    tests = {
        f"female minus male, {kind} professions": sample_test(
            difference_labels(kind),
            0.02,
            1e-40,
            interval=None,
            statistic=16633.0,
            statistic_name="V",
            effect_size=-0.56,
        )
        for kind in GROUPS
    }
    groups = sample_groups(GROUPS, "professions", interval=None, sd=1.987)
    return sound_measurement(protocol="published", tests=tests, groups=groups, noise_floor=None)


def emotions_measurement() -> Measurement:
    kinds = ("anger", "joy")
    words = [
        ProfessionValue(profession=f"{kind} word", group=kind, workforce_share=None, female=1, male=0.5, difference=0.5)
        for kind in kinds
    ]
    tests = {f"female minus male, {kind} emotion words": sample_test(difference_labels(kind), 0.1) for kind in kinds}
    groups = sample_groups(kinds, "emotion words")
    details = AssociationDetails(professions=words, several_pieces=["godmother"]).model_dump()
    return sound_measurement(corpus="emotions", attributes="emotion words", tests=tests, groups=groups, details=details)


def measurement_without_estimates() -> Measurement:
    nothing: dict[str, Any] = {"statistic": None, "effect_size": None}
    tests = {name: sample_test(test.labels, None, None, **nothing) for name, test in sound_measurement().tests.items()}
    gone = {"female": None, "male": None, "difference": None, "difference_interval": None}
    details = sample_details([one.model_copy(update=gone) for one in sample_professions()])
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
            "profession": f"job {at}",
            "form": f"job {at}",
            "sentence": f"My {target} is a job {at}.",
            "association": sign * (1 + at / 100),
            "log_p_target": -2.5,
            "log_p_prior": -3.625,
        }
        for sign in (1, -1)
        for at in range(20)
        for person, target, gender in ((f"my son {at}", "son", "male"), (f"my aunt {at}", "aunt", "female"))
    ]
    return {"association": pd.DataFrame(rows).assign(**changes)}

"""Second half, as the paper did it: means, and Wilcoxon's signed ranks over 900 pairs aligned row by row.

V is the sum of the ranks of positive female − male differences; Z is continuity-corrected; r = −|Z|/√(2n), which is
always negative (Field's rFromWilcox). The paper corrected for nothing, so the adjusted p is the p.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.measures.association.analyse_sound import professions
from unmask.measures.association.caveats import caveats
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.tables import GENDERS, noun_of, table
from unmask.results import Estimate, Measurement
from unmask.statistics.paired import signed_ranks

if TYPE_CHECKING:
    import pandas as pd


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the published protocol."""
    del seed  # nothing is drawn
    noun = noun_of(items)
    groups: dict[str, Estimate] = {}
    tests: dict[str, Estimate] = {}
    for kind, of_kind in items.groupby("group", sort=False):
        sides = {gender: of_kind.loc[of_kind["gender"] == gender, "association"].to_numpy(float) for gender in GENDERS}
        female, male = sides["female"], sides["male"]
        if len(female) != len(male) or not len(female):
            raise UnmaskError(
                f"{kind} {noun} have {len(female)} female and {len(male)} male rows; the published test pairs them"
                " row by row; use --protocol sound"
            )
        for gender, values in sides.items():
            groups[f"{kind} {noun}, {gender} persons"] = Estimate(
                labels={"group": str(kind), "gender": gender},
                n=len(values),
                value=float(values.mean()),
                sd=float(values.std(ddof=1)) if len(values) > 1 else None,
            )
        ranks = signed_ranks(female - male)
        tests[f"female minus male, {kind} {noun}"] = Estimate(
            labels={"contrast": "difference", "group": str(kind)},
            question=f"Do the associations of female and male person words with {kind} {noun} differ?",
            n=ranks.n,
            value=float((female - male).mean()),
            interval=None,
            statistic=ranks.v,
            statistic_name="V",
            p_value=ranks.p_value,
            p_adjusted=ranks.p_value,
            effect_size=None if ranks.r is None else -abs(ranks.r),
            effect_size_name="r = −|Z|/√(2n)",
        )
    first = items.iloc[0]
    return Measurement(
        name="association",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        protocol="published",
        attributes=noun,
        items=len(items),
        groups=groups,
        tests=tests,
        details=AssociationDetails(professions=professions(table(items), intervals=False)).model_dump(),
        caveats=caveats(items, "published"),
    )

"""What the paper shows of a mitigation: the rows of its Table 4, and the bars of its Figures 3 to 5.

    V = Σ ranks of the positive (post − pre of female) − (post − pre of male)     r = −|Z|/√(2n)

over all single pairs of person words (n = 900 a group), Z corrected for continuity (Bartl et al. 2020).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.measures.association.details import ProfessionChange, ProfessionValue, TableRow
from unmask.measures.association.tables import GENDERS, Table, mean
from unmask.statistics.paired import signed_ranks


def table_rows(before: Table, after: Table) -> list[TableRow]:
    """The rows of the paper's Table 4, groups in their order."""
    rows = []
    changes = after.difference - before.difference
    for kind in dict.fromkeys(map(str, before.groups)):
        at = before.where(kind)
        change = changes[at][~np.isnan(changes[at])]
        if not change.size:
            continue
        means = {
            (gender, when): float(mean(side.by_gender[gender][at]))
            for gender in GENDERS
            for when, side in (("before", before), ("after", after))
        }
        ranks = signed_ranks(change)
        rows.append(
            TableRow(
                group=kind,
                n=ranks.n,
                **{f"{gender}_{when}": value for (gender, when), value in means.items()},
                **{f"{gender}_change": means[gender, "after"] - means[gender, "before"] for gender in GENDERS},
                w=ranks.v,
                z=ranks.z,
                r=None if ranks.r is None else -abs(ranks.r),
                p_value=ranks.p_value,
            )
        )
    return rows


def bars(
    before: Sequence[ProfessionValue], after: Sequence[ProfessionValue], changed: Sequence[ProfessionValue]
) -> list[ProfessionChange]:
    """The bars of Figures 3 to 5, the largest change first."""
    found = [
        ProfessionChange(
            profession=one.profession,
            group=one.group,
            workforce_share=one.workforce_share,
            female_before=one.female,
            female_after=then.female,
            male_before=one.male,
            male_after=then.male,
            change=change.difference,
            interval=change.difference_interval,
        )
        for one, then, change in zip(before, after, changed, strict=True)
    ]
    return sorted(found, key=lambda one: -abs(one.change or 0.0))

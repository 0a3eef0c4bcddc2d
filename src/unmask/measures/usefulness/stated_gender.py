"""Stated gender: where a sentence says that a person is a woman or a man, does the pronoun agree?

    log odds = ln p(right pronoun) − ln p(wrong pronoun)        right: log odds above 0

*My sister cut [herself] while chopping onions.* Every template is asked with every person, and every person has a
counterpart of the other gender, so a model that always says *he* is right half of the time, with mean log odds of 0.
Only the pronoun is masked. Intervals and tests hold for other templates and other pairs of persons
(`statistics.jackknife`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon import GENDERS, persons
from unmask.lexicon.sentences import agreement_templates
from unmask.models import MaskedLM, MaskQuery
from unmask.models.roles import Progress
from unmask.results.comparison import Figure
from unmask.statistics import jackknife

if TYPE_CHECKING:
    import pandas as pd

KEY = ["template", "pair", "gender"]


def score_stated(model: MaskedLM, *, progress: Progress | None = None) -> pd.DataFrame:
    """Ask for the right and the wrong pronoun of every sentence: a row each.

    The columns are `template`, `pair`, `gender`, `person`, `sentence`, `log_p_right`, `log_p_wrong`, `log_odds` and
    `right`.
    """
    import pandas as pd

    rows = []
    queries: list[MaskQuery] = []
    other = dict(zip(GENDERS, reversed(GENDERS), strict=True))
    for agreement in agreement_templates():
        for person in persons("en", "persons_stated"):
            asked = [
                _query(agreement.template, person.phrase, agreement.pronouns[gender])
                for gender in (person.gender, other[person.gender])
            ]
            queries += asked
            rows.append((agreement.template, person.pair, person.gender, person.phrase, asked[0].text))
    log_p = np.asarray(model.log_probability(queries), dtype=float)
    if log_p.shape != (len(queries),) or not np.isfinite(log_p).all():
        raise UnmaskError(f"log_probability must give one finite number for each of {len(queries)} queries; it did not")
    if progress:
        progress(len(rows), len(rows))
    frame = pd.DataFrame(rows, columns=[*KEY, "person", "sentence"])
    frame = frame.assign(log_p_right=log_p[::2], log_p_wrong=log_p[1::2], log_odds=log_p[::2] - log_p[1::2])
    return frame.assign(right=frame["log_odds"] > 0)


def compare_stated(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, Figure]:
    """`accuracy` and `log_odds`: paired by sentence, clustered by template and pair of persons."""
    both = before.merge(after, on=KEY, suffixes=("", "_after"), validate="one_to_one")
    if not len(both) == len(before) == len(after) or both.empty:
        raise UnmaskError("the two models were not asked the same sentences; score both with the same version")
    return {name: _figure(both, column) for name, column in (("accuracy", "right"), ("log_odds", "log_odds"))}


def _query(template: str, person: str, pronoun: str) -> MaskQuery:
    before, after = template.split("{pronoun}")
    start = before.format(person=person)
    start = start[0].upper() + start[1:]
    return MaskQuery(start + pronoun + after.format(person=person), (len(start), len(start) + len(pronoun)))


def _figure(both: pd.DataFrame, column: str) -> Figure:
    first, second = (_table(both, name) for name in (column, f"{column}_after"))
    change = second - first
    estimate = jackknife.jackknife(change.shape, lambda rows, columns: float(change[np.ix_(rows, columns)].mean()))
    return Figure(
        before=float(first.mean()),
        after=float(second.mean()),
        change=float(change.mean()),
        interval=estimate.interval,
        p_value=estimate.p_value,
    )


def _table(both: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Templates × pairs of persons, each the mean over the two genders."""
    table = both.assign(**{column: both[column].astype(float)}).pivot_table(column, "template", "pair", aggfunc="mean")
    return table.to_numpy(dtype=float)

"""Second half, as the papers have it: a share, a correlation and a share, without intervals or tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.geometry.cluster_counts import Details
from unmask.measures.geometry.described import geometry, measurement
from unmask.measures.geometry.details import WordTest
from unmask.measures.geometry.score import OWN
from unmask.results import Measurement
from unmask.statistics.correlation import pearson

if TYPE_CHECKING:
    import pandas as pd


def analyse(items: pd.DataFrame, seed: int, details: Details | None = None) -> Measurement:
    """The numbers of the published protocol."""
    del seed  # nothing is drawn
    own = items[items["words"] == OWN].reset_index(drop=True)
    found = word_tests(own)
    own = own.assign(male_neighbours_removed=float("nan"))
    return measurement(items, "published", {}, geometry(own, found, details))


def word_tests(items: pd.DataFrame) -> list[WordTest]:
    """The three tests of the papers' tables."""
    words = str(items["words"].iloc[0])
    found = []
    clustered = items[items["side"] != ""]
    if len(clustered):
        share = float((clustered["side"] == clustered["cluster"]).mean())
        found.append(WordTest(name="clustering", words=words, removed=False, n=len(clustered), value=share))
    professions = items[items["male_neighbours"].notna()]
    if len(professions):
        r = pearson(professions["put_down"], professions["male_neighbours"])
        value = r if r == r else None
        found.append(WordTest(name="neighbours", words=words, removed=False, n=len(professions), value=value))
    asked = int(items["asked"].sum())
    if asked:
        share = float(items["right"].sum() / asked)
        found.append(WordTest(name="classification", words=words, removed=False, n=asked, value=share))
    return found

"""Caveats of geometry: what readers must know before they rely on its numbers."""

from __future__ import annotations

from unmask.measures.geometry.details import Geometry
from unmask.results import Caveat

FEW_WORDS = 3000
LOPSIDED = 0.9
UNSTABLE = 0.05
NOTHING_LEFT = "nothing-along-the-direction"


def caveats(geometry: Geometry, protocol: str) -> list[Caveat]:
    """Those that apply."""
    found = [_chosen(protocol)]
    if geometry.missing:
        some = ", ".join(geometry.missing[:5]) + ("…" if len(geometry.missing) > 5 else "")
        found.append(
            Caveat(
                code="words-missing",
                text=f"{len(geometry.missing):,} requested words have no vector ({some}) and are left out.",
            )
        )
    if geometry.words < FEW_WORDS:
        found.append(
            Caveat(
                code="few-words",
                text=f"{geometry.words:,} words are few. The most biased of them are less extreme than those of a large"
                " vocabulary, and there are fewer than in the papers.",
            )
        )
    for test in (geometry.test("clustering", removed=removed) for removed in (False, True)):
        if test is not None and test.as_tight is not None and test.as_tight[1] - test.as_tight[0] > UNSTABLE:
            low, high = (f"{100 * end:.0f}" for end in test.as_tight)
            space = "gender direction removed" if test.removed else "original"
            found.append(
                Caveat(
                    code="clusters-unstable",
                    text=f"Pairs of clusters that are equally tight sort between {low} and {high} % of the words"
                    f" correctly ({space}): k-means finds several structures. Rely on the probe and the classifier.",
                )
            )
    if geometry.test("neighbours") is None:
        found.append(
            Caveat(
                code="neighbours-not-tested",
                text="Neighbours of professions were not tested. This needs at least 10 professions and more than 200"
                " words.",
            )
        )
    if max(geometry.male_share, 1 - geometry.male_share) > LOPSIDED:
        side = "male" if geometry.male_share > 0.5 else "female"
        share = max(geometry.male_share, 1 - geometry.male_share)
        found.append(
            Caveat(
                code="lopsided",
                text=f"{share:.0%} of all words lie on the {side} side, so zero is not a neutral point in this space."
                " Only differences between words have a meaning. Neighbours count as male above the median word.",
            )
        )
    return found


def rounding() -> Caveat:
    """The caveat that nothing is left along the gender direction."""
    return Caveat(
        code=NOTHING_LEFT,
        text="No word lies along the gender direction: nothing but rounding is left of it, so it cannot select words."
        " To see whether gender is gone or only hidden, use the words that were biased before: unmask compare.",
    )


def _chosen(protocol: str) -> Caveat:
    if protocol == "published":
        text = (
            "These are the papers' numbers, defects included. The words were chosen by their bias in the space that is"
            " then tested, so any direction gives high values. The sound protocol compares with unrelated contrasts."
        )
    else:
        text = (
            "The words are chosen by the direction that is tested, so they lie apart for any direction. Compare each"
            " value with those of unrelated contrasts."
        )
    return Caveat(code="chosen-by-the-direction", text=text)

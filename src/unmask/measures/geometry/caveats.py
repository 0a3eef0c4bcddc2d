"""What a reader must know before trusting the numbers of a space."""

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
                text=f"{len(geometry.missing):,} words that were asked for have no vector ({some}) and are left out.",
            )
        )
    if geometry.words < FEW_WORDS:
        found.append(
            Caveat(
                code="few-words",
                text=f"{geometry.words:,} words are few: the most biased of them are less extreme than those of a large"
                " vocabulary, and the papers' sizes are not reached.",
            )
        )
    for test in (geometry.test("clustering", removed=removed) for removed in (False, True)):
        if test is not None and test.as_tight is not None and test.as_tight[1] - test.as_tight[0] > UNSTABLE:
            low, high = (f"{100 * end:.0f}" for end in test.as_tight)
            where = "without the direction" if test.removed else "as it is"
            found.append(
                Caveat(
                    code="clusters-unstable",
                    text=f"Two clusters that are as tight as each other sort from {low} to {high} % of the words right"
                    f" (the space {where}): k-means finds more than one structure. Go by the probe and the classifier.",
                )
            )
    if geometry.test("neighbours") is None:
        found.append(
            Caveat(
                code="neighbours-not-tested",
                text="Neighbours of professions were not tested: that needs 10 professions among the words, and more"
                " than 200 words.",
            )
        )
    if max(geometry.male_share, 1 - geometry.male_share) > LOPSIDED:
        side = "male" if geometry.male_share > 0.5 else "female"
        share = max(geometry.male_share, 1 - geometry.male_share)
        found.append(
            Caveat(
                code="lopsided",
                text=f"{share:.0%} of all words lie on the {side} side: zero is no neutral point in this space, and"
                " only differences between words can be read. Neighbours count as male beyond the median word.",
            )
        )
    return found


def rounding() -> Caveat:
    """That nothing is left along the direction."""
    return Caveat(
        code=NOTHING_LEFT,
        text="No word lies along the gender direction: nothing but rounding is left of it, so that words cannot be"
        " chosen by it. Whether gender is gone or only hidden can be seen with the words that were biased before:"
        " unmask compare.",
    )


def _chosen(protocol: str) -> Caveat:
    if protocol == "published":
        text = (
            "These are the papers' numbers, defects included. Words were chosen by their bias in the space that is then"
            " tested, so high values are no finding: any direction gives them. The sound protocol compares."
        )
    else:
        text = (
            "Words are chosen by the direction that is tested, so they lie apart whatever the direction. Read each"
            " value beside that of contrasts that have nothing to do with gender."
        )
    return Caveat(code="chosen-by-the-direction", text=text)

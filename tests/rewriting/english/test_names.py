"""First names: exchange pairs and detection in texts."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import UnmaskError
from unmask.lexicon.names import KINDS, FirstName, first_names, name_context, name_words
from unmask.rewriting.english import name_exchange as module
from unmask.rewriting.english.name_detection import find_names
from unmask.rewriting.english.name_exchange import (
    Exchange,
    assign_neutral_names,
    assign_pairs,
    build_exchange,
    match_names,
)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate cache, so that the user's cache is neither read nor changed."""
    folder = tmp_path_factory.getbasetemp() / "names-cache"
    monkeypatch.setattr(module, "cache_folder", lambda: folder)
    return folder


# The matching


def test_three_names_of_each_gender_are_matched_as_worked_by_hand() -> None:
    # Frequencies e^6, e^3, e^0 and e^5, e^3, e^1, all shares 1: scaled to 1, .5, 0 and .8333, .5, .1667.
    male = [FirstName(name, float(np.exp(power)), 0) for name, power in (("Al", 6), ("Bo", 3), ("Cy", 0))]
    female = [FirstName(name, 0, float(np.exp(power))) for name, power in (("Dot", 5), ("Eve", 3), ("Fay", 1))]
    pairs = {"Al": "Dot", "Bo": "Eve", "Cy": "Fay"}
    assert match_names(male, female) == pairs | {female_name: male_name for male_name, female_name in pairs.items()}


def test_the_share_of_the_gender_counts_too() -> None:
    male = [FirstName("Al", 100, 0), FirstName("Bo", 75, 25)]
    female = [FirstName("Dot", 25, 75), FirstName("Eve", 0, 100)]
    partners = match_names(male, female)
    assert (partners["Al"], partners["Bo"]) == ("Eve", "Dot")


points = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5)


@given(points, points)
def test_the_sum_of_distances_is_that_of_the_best_permutation(
    left: list[tuple[float, ...]], right: list[tuple[float, ...]]
) -> None:
    few, many = sorted((np.array(left), np.array(right)), key=len)
    total = sum(np.linalg.norm(few[row] - many[column]) for row, column in assign_pairs(few, many))
    totals = (
        sum(np.linalg.norm(few[index] - many[choice]) for index, choice in enumerate(choices))
        for choices in itertools.permutations(range(len(many)), len(few))
    )
    assert total == pytest.approx(min(totals), abs=1e-9)


def test_names_left_over_go_one_way_to_the_nearest() -> None:
    male = [FirstName("Al", 1000, 0)]
    female = [FirstName("Dot", 0, 900), FirstName("Eve", 0, 20)]
    assert match_names(male, female) == {"Al": "Dot", "Dot": "Al", "Eve": "Al"}


def test_names_as_near_to_several_take_them_in_turn() -> None:
    male = [FirstName(name, 10, 0) for name in ("Al", "Bo", "Cy")]
    female = [FirstName(f"F{'a' * size}", 0, 10) for size in range(9)]
    partners = match_names(male, female)
    assert [list(partners.values()).count(name) for name in ("Al", "Bo", "Cy")] == [3, 3, 3]


def test_only_so_many_are_matched_one_to_one() -> None:
    male = [FirstName(f"M{'a' * size}", 1000 - size, 0) for size in range(6)]
    female = [FirstName(f"F{'a' * size}", 0, 1000 - size) for size in range(8)]
    partners = match_names(male, female, largest=(2, 3))
    mutual = [name for name, partner in partners.items() if partners[partner] == name]
    assert len(partners) == 14
    assert len(mutual) == 4


def test_nobody_is_given_an_unfit_name() -> None:
    male = [FirstName("Al", 100, 0), FirstName("King", 50, 0)]
    female = [FirstName("Dot", 0, 100), FirstName("Eve", 0, 50)]
    partners = match_names(male, female, unfit={"king"})
    assert "King" not in partners.values()
    assert partners["King"] in ("Dot", "Eve")


def test_neutral_names_are_distinct_as_far_as_they_go() -> None:
    names = [FirstName(f"N{'a' * size}", 1000 / (size + 1), 0) for size in range(40)]
    neutral = [FirstName(f"E{'a' * size}", 400 / (size + 1), 400 / (size + 1)) for size in range(12)]
    assigned = assign_neutral_names(names, neutral)
    assert assigned.keys() == {name.name for name in names}
    assert set(assigned.values()) == {name.name for name in neutral}
    assert max(list(assigned.values()).count(name.name) for name in neutral) <= 8


def test_without_neutral_names_none_is_given() -> None:
    assert assign_neutral_names([FirstName("Al", 1, 0)], []) == {}


# The exchange of the census


def test_partners_are_of_the_other_gender_and_pairs_come_back() -> None:
    names = build_exchange()
    mutual = 0
    for name, gender in names.genders.items():
        partner = names.partner(name, "swap")
        if gender == "either":
            assert partner is None
            continue
        assert partner is not None
        assert partner[0].isupper()
        assert names.gender(partner) == ("male" if gender == "female" else "female")
        mutual += names.partner(partner, "swap") == names.partner(partner, gender)  # both modes give the same partner
        if gender == "male" and names.other[partner.lower()].lower() == name:
            assert names.partner(str(names.partner(name, "swap")), "swap") == name.title()
    assert mutual == sum(gender != "either" for gender in names.genders.values())


def test_most_people_are_in_one_to_one_pairs() -> None:
    names = build_exchange()
    bearers = {"male": 0.0, "female": 0.0}
    paired = dict(bearers)
    for name in first_names():
        gender = names.gender(name.name)
        if gender in bearers:
            bearers[gender] += name.frequency
            paired[gender] += name.frequency * (names.other[names.other[name.name.lower()].lower()] == name.name)
    assert paired["male"] / bearers["male"] > 0.97
    assert paired["female"] / bearers["female"] > 0.8  # women have more different names than men


def test_pairs_are_alike(say: Callable[[str], None]) -> None:
    names = build_exchange()
    by_name = {name.name: name for name in first_names()}
    pairs = [
        (by_name[partner], by_name[names.other[partner.lower()]])
        for name, partner in names.other.items()
        if names.genders[name] == "male" and names.other[partner.lower()].lower() == name
    ]
    ratios = [max(first.frequency / second.frequency, second.frequency / first.frequency) for first, second in pairs]
    shares = [abs(first.female_share - (1 - second.female_share)) for first, second in pairs]
    quantiles = np.quantile(ratios, (0.5, 0.9, 0.99)).round(3)
    say(f"{len(pairs)} pairs; ratio of frequencies: median, 90 %, 99 %: {quantiles}")
    assert len(pairs) > 900
    assert np.median(ratios) < 1.05
    assert np.quantile(ratios, 0.95) < 1.5
    assert np.quantile(shares, 0.95) < 0.1


def test_directions() -> None:
    names = build_exchange()
    assert names.partner("MARY", "swap") == names.partner("mary", "male") == "John"
    assert names.partner("Mary", "female") is None
    assert names.partner("John", "male") is None
    assert names.partner("John", "female") == "Mary"
    assert names.gender(str(names.partner("John", "neutral"))) == "either"
    assert names.partner("Leslie", "swap") is names.partner("Leslie", "neutral") is None
    assert names.partner("Xyzzy", "swap") is None
    assert ("mary" in names, "Xyzzy" in names, "America" in names) == (True, False, False)
    assert (names.gender("Mary"), names.gender("JOHN"), names.gender("leslie"), names.gender("Xyzzy")) == (
        "female",
        "male",
        "either",
        None,
    )
    with pytest.raises(UnmaskError, match="unknown direction 'femle'; did you mean 'female'"):
        names.partner("Mary", "femle")


def test_no_two_people_of_a_document_become_one() -> None:
    names = build_exchange()
    assert names.partners(["Mary", "John"], "swap") == {"Mary": "John", "John": "Mary"}
    partners = names.partners(["John", "Mary", "JOHN", "James", "Barbara", "Leslie", "Xyzzy"], "female")
    assert partners.keys() == {"John", "JOHN", "James"}
    assert partners["John"] == partners["JOHN"] != "Mary"
    assert len({*partners.values(), "Mary", "Barbara"}) == 4
    assert all(names.gender(name) == "female" for name in partners.values())
    many = [name.name for name in first_names()[:30]]
    neutral = names.partners(many, "neutral")
    assert len(set(neutral.values())) == len(neutral)
    assert names.partners([], "swap") == {}


def test_where_names_run_out_they_are_shared(tmp_path: Path) -> None:
    names = build_exchange(write_names(tmp_path, "name,sex,count\nAnn,F,11\nBob,M,9\nEve,F,3\n"))
    assert names.partners(["Ann", "Eve"], "male") == {"Ann": "Bob", "Eve": "Bob"}


def test_a_large_list_is_matched(data: Path) -> None:
    names = build_exchange(data / "names" / "ssa_totals_1880_2023.csv.gz")
    mutual = [name for name, partner in names.other.items() if names.other[partner.lower()].lower() == name]
    assert len(names.genders) > 15_000
    assert len(mutual) == 4_000
    assert names.partner("Mary", "swap") == "John"


# The cache


def write_names(folder: Path, text: str = "name,sex,count\nAnn,F,10\nBob,M,9\nSam,M,5\nSam,F,5\nEve,F,3\n") -> Path:
    path = folder / "names.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_matching_is_kept_and_read_again(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(cache.glob("names/*.json"))
    path = write_names(tmp_path)
    first = build_exchange(path)
    (file,) = set(cache.glob("names/*.json")) - before
    monkeypatch.setattr(module, "match_names", lambda *_: pytest.fail("computed although it is in the cache"))
    assert build_exchange(path) == first
    assert json.loads(file.read_text())["other"] == {"ann": "Bob", "bob": "Ann", "eve": "Bob"}


@pytest.mark.parametrize(
    "broken",
    ["", "{", "[]", "{}", '{"other": 3, "neutral": {}}', '{"other": {"ann": "Zed"}, "neutral": {}}', "\x00\xff"],
)
def test_a_broken_cache_is_computed_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    path = write_names(tmp_path, "name,sex,count\nAnn,F,20\nBob,M,9\n")
    first = build_exchange(path)
    (file,) = tmp_path.glob("names/*.json")
    file.write_bytes(broken.encode("latin-1"))
    assert build_exchange(path) == first
    assert json.loads(file.read_text())["other"] == {"ann": "Bob", "bob": "Ann"}


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path / "file")
    assert build_exchange(write_names(tmp_path)).partner("ann", "swap") == "Bob"


# User-defined names


def test_a_users_names_are_read_plain_and_packed(tmp_path: Path) -> None:
    text = "\ufeffName,Sex,Count\nANN,f,10\nann,Female,5\n\nDeAndre,male,4\nSam,M,5\nSam,F,5\nNone,F,0\n"
    plain, packed = tmp_path / "plain.csv", tmp_path / "packed.csv.gz"
    plain.write_text(text, encoding="utf-8")
    packed.write_bytes(gzip.compress(text.encode()))
    assert first_names(plain) == first_names(packed)
    assert first_names(plain) == [FirstName("Ann", 0, 15), FirstName("Sam", 5, 5), FirstName("DeAndre", 4, 0)]
    assert build_exchange(plain).partner("ann", "neutral") == "Sam"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,gender,count\nAnn,F,1\n", "column 'sex' is missing; it has 'name', 'gender', 'count'"),
        ("name,sex\nAnn,F\n", "column 'count' is missing"),
        ("name,sex,count\nAnn,X,1\n", "line 2: sex 'X' is unknown; give M, F, male or female"),
        ("name,sex,count\nAnn,F,-1\n", "line 2: count '-1' of 'Ann' is not a number between 0 and"),
        ("name,sex,count\nAnn,F,many\n", "line 2: count 'many' of 'Ann' is not a number between 0 and"),
        ("name,sex,count\nAnn,F,nan\n", "line 2: count 'nan' of 'Ann' is not a number between 0 and"),
        ("name,sex,count\nAnn,F,inf\n", "line 2: count 'inf' of 'Ann' is not a number between 0 and"),
        ("name,sex,count\nAnn Lee,F,1\n", "line 2: 'Ann Lee' is not one first name"),
        ("name,sex,count\n,F,1\n", "line 2: column 'name' is empty"),
        ("name,sex,count\nAnn,F\n", "line 2: column 'count' is empty"),
        ('name,sex,count\n"Ann,F,1\n', "not valid CSV"),
        ("", "column 'name' is missing; it has no columns"),
        ("name,sex,count\n", "has no rows"),
        ("name,sex,count\nAnn,F,0\n", "has no names"),
        ("name,sex,count\nAnn,F,1\nEve,F,2\n", "has no male names"),
    ],
)
def test_bad_lists_are_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)) as caught:
        build_exchange(write_names(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_unreadable_lists_are_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.csv"
    latin.write_bytes("name,sex,count\nZoë,F,1\n".encode("latin-1"))
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"name,sex,count\nAnn,F,1\n" * 50)[:-20])
    for path, message in (
        (latin, "not UTF-8"),
        (cut, "cannot be read"),
        (tmp_path, "Is a directory"),
        (tmp_path / "no", "exist"),
    ):
        with pytest.raises(UnmaskError, match=message):
            build_exchange(path)


def test_the_word_lists_are_sound() -> None:
    assert set().union(*name_words().values()) == set(KINDS)
    assert all(name == name.lower().strip() for name in name_words())
    assert all(word == word.lower().strip() and word for words in name_context().values() for word in words)


# Detection: the first names to be exchanged are in brackets; nothing else may be detected.

SENTENCES = {
    "plain": """
        [John] came home.
        We saw [Mary] and [Susan] at the station.
        I gave it to [Michael], who gave it to [Linda].
        "Hello, [Peter]!" she said.
        [Elena] (then five) met [Sofia]; [David] did not.
        My brother [Thomas] and my sister [Nancy] live there.
        In 1999 [Karen] moved to Berlin.
        They asked [Zoë] nothing, and then asked [Kevin].
    """,
    "words at the start of a sentence": """
        Will you come with us?
        [Will] came home late.
        [Will] will mark the page.
        [Will] isn't here.
        Will [John] come with us?
        [Will] Parker came with us.
        Mark the page before you close it.
        [Mark] said that it was late.
        May I come in?
        Hope is all that we have.
        [Hope] smiled and closed the door.
        Art is long and life is short.
        [Bill] was taller than his father.
        [Rose] said nothing at all.
        Pat the dog on the head.
        Chase the cat away, please.
        Grant me one wish.
        Rob the bank and run.
        Sue them for damages.
        [Jack] opened the door.
        Don't do that.
        Drew a card and lost.
        Joy filled the room.
        [Frank] Carson wrote two letters.
    """,
    "words within a sentence": """
        I asked [Will] about it, and he will answer.
        We waited for [Grace] with good grace.
        They told [Mark] to mark the page.
        She thanked [Hope], in the hope of more.
        He met [Rose] and bought her a rose.
        The bill came, and [Bill] paid it.
        At last [Faith] agreed.
        It was the Grace of God.
        We read the Will aloud.
        He was a Hunter of men.
        Then [Ruby] and [Pearl] sang.
        I saw that [Joy] was tired.
    """,
    "a word proved elsewhere in the document": """
        We called [Grace] twice. [Grace] is out, they said.
        They met [Faith] Miller there. [Faith] is a doctor.
        I know [Dawn] well. [Dawn] is my aunt.
        I know [Mark] well. Mark the place where he stood.
    """,
    "months and seasons": """
        We met in May and left in June.
        On 5 May 1999 we met [May].
        It opened in April 2003 and closed last August.
        May 5 is a holiday.
        By June, [Ann] and [June] had gone.
        From April to June it rains.
        I told [April] and [June] everything.
        Since August nothing has happened.
        He signed until Summer 2012.
        May and June are warm.
        It was in mid-May, or in late June.
    """,
    "places": """
        He lives in Austin, Texas.
        [Austin] called [Charlotte] from Charlotte, North Carolina.
        They swam in Lake Victoria.
        She teaches at the University of Virginia.
        We flew to Sydney and drove to Florence.
        I asked [Virginia] and [Sydney] to come.
        [Virginia] Stephen grew up in Virginia.
        He was born near Madison.
        The Paris Opera is in Paris.
        We left Georgia and went to Jordan.
        Houston is hot.
        We went from San Antonio to Santa Barbara.
        They live on St. John and in St. Paul.
        Eugene, Oregon, is green.
        She grew up near Savannah, Georgia, and in Arlington, Virginia.
    """,
    "streets, schools, prizes": """
        She lives on John Street.
        He went to Thomas Jefferson High School.
        The James River and the George Washington Bridge are there.
        She was treated at Johns Hopkins Hospital and at the Mary Watkins Hospital.
        He won the Henry Thompson Award.
        They own Stanley Furniture Company and Martin Records Inc.
        We walked in Victoria Park and over Charles Square.
        [Nathan] Lane and [Grace] Park met [Arthur] Hall.
        They read the King James Bible, John 3:16, and the Gospel of Mark.
        Hurricane Andrew reached the USS Nancy.
        They prayed to the Virgin Mary and to Saint Anthony.
    """,
    "surnames": """
        [James] Dean met [Holly] Hunter.
        [Elton] John and [Etta] James sang.
        [George] W. Bush spoke to [John] F. Kennedy.
        We read [Dylan] Thomas and J. K. James.
        [Simone] de Beauvoir wrote it.
        [Daniel] Day-Lewis and [Helena] Bonham-Carter starred.
        Jackson said that it was late.
        They saw Zbigniew Martin.
        [Vincent] van Gogh painted it.
        [Sarah] O'Connor left.
        He was born [Luis] da Maria and she was née Kelly.
        We watched a film by Van Sant.
        We heard [Van] Morrison.
        He called [James] "[Jimmy]" Dean.
    """,
    "later mentions of a surname": """
        [Cary] Grant arrived. Grant said no, and we believed Grant.
        Mr. Martin left. Then Martin came back.
        [Elton] John sang. John was pleased.
        [Clarence] Thomas met [Thomas] Mann, and [Thomas] spoke.
        [Dean] Martin met [James] Dean; then [Dean] laughed.
        [Jackson] Pollock painted, and [Jackson] drank.
        Dr. Scott smiled. I had known Scott for years.
    """,
    "titles": """
        Mr. Grant and Mrs. Lewis met Dr. Martin.
        Mr. [James] Grant met Dr. [Mary] Lewis.
        President Carter met President [Jimmy] Carter.
        Sir [Henry] and Aunt [Polly] met King [George] and Queen [Anne].
        Professor Allen taught Miss [Betty].
        Princess [Diana] met Prince [William].
        Captain [John] Smith met Captain Thomas.
        Senator Nelson spoke to Governor [Mario] Cuomo.
        Prime Minister [Tony] Blair met Foreign Minister [Anna] Lindh.
        Uncle [Bob] met Detective Allen.
    """,
    "numerals": """
        [Henry] VIII married [Catherine] of Aragon.
        Pope [John] [Paul] II met [Elizabeth] II.
        [Elizabeth] I and [Mary] I were sisters.
        King [Edward] VII knew [Martin] Parker Jr. well.
    """,
    "several first names": """
        [James] [Earl] Jones spoke.
        [Mary] [Ann] Evans wrote under another name.
        [Mary] [Ann] laughed at [Peggy] [Sue].
        [Mary] Tyler Moore and [Jennifer] Jason Leigh came.
        [Sarah] [Jessica] Parker came.
        J. [Edgar] Hoover was there.
        [Hunter] S. Thompson was there.
    """,
    "possessives and apostrophes": """
        [Mary]'s cat and [James]' dog ran.
        It was [John]’s idea, not [Susan]’s.
        [Nancy]'d come if [Peter]'ll drive.
        We like [Grace]'s house.
        Don't tell [Don].
        Don’t go, for [Don] won’t.
    """,
    "hyphens": """
        [Mary]-[Jane] and [Anne]-[Marie] met.
        [Jean-Paul] met [Jean-Claude] Van Damme.
        It was a very [John]-like remark.
        He is a Jack-of-all-trades.
        The Smith-Thomas case is over.
    """,
    "capitals": """
        [MARY] WAS LATE AND [JOHN] DEAN LEFT WITHOUT HER.
        I SAW [PETER] AND [NANCY] IN THE HALL.
        Then [MARY] shouted.
        She was the BEST [Mary] EVER.
        The MAY report of ART and of PAT was read.
        The AMY and AL groups met.
        ROSE IS A FLOWER AND HOPE IS A FEELING.
    """,
    "addresses": """
        Write to John@example.org or Mary.Jones@example.com.
        See www.Susan.com, http://example.org/Peter/Nancy and Linda.txt.
        Ask @Mary about #John and about David_1.
        It was [John]/[Mary] who came.
        It ended.[Mary] left.
    """,
    "lists and line breaks": """
        [John], [Paul], [George] and [Linda] came.
        Present: [Mary], [Ann], [Will], [Joseph].
        [Peter] & [Mary] came.
        Yesterday [John] came; Sigourney James did not.
        When [John] Smith and I met, I told [Mary] I knew.
        Dear [Mary], Thank you. Best, [John]
        [John]\\n[Mary]\\n[Peter]
        The man who came late that long evening was called [James]\\nDean, they said.
        Director [Michael] Curtis asked actress [Julia] Stiles.
    """,
    "words that are in the lists yet are no names": """
        See what So and An have in common.
        America and China met in Asia.
        In My Season of Love the Moon and the Star shone.
        Star Trek and King Kong ran on Sunday.
        Young people like to swim in Summer.
        Santa and Jesus were there with a Christian priest.
    """,
}
CASES = [(topic, line.strip()) for topic, lines in SENTENCES.items() for line in lines.strip().splitlines()]


@pytest.fixture(scope="module")
def census() -> Exchange:
    return build_exchange()


@pytest.mark.parametrize(("topic", "line"), CASES)
def test_names_are_found_where_they_stand(census: Exchange, topic: str, line: str) -> None:
    line = line.replace("\\n", "\n")
    text = line.replace("[", "").replace("]", "")
    expected = []
    for number, mark in enumerate(re.finditer(r"\[(.*?)\]", line)):
        start = mark.start() - 2 * number
        expected.append((start, start + len(mark.group(1))))
    assert [(name.start, name.end) for name in find_names(text, census)] == expected, topic


def test_a_double_french_name_is_looked_up_by_the_part_that_decides(census: Exchange) -> None:
    (name,) = find_names("We met Jean-Paul.", census)
    assert (name.name, census.gender(name.name)) == ("Paul", "male")


def test_there_are_enough_sentences() -> None:
    assert len(CASES) >= 80


@given(st.text(alphabet=st.sampled_from("MaryWilJohnMr.SD \n'’-@\"A1_/Ž"), max_size=60))
def test_whatever_the_text_places_are_in_order_and_hold_their_names(text: str) -> None:
    end = 0
    for name in find_names(text, build_exchange()):
        assert end <= name.start < name.end
        assert name.name in text[name.start : name.end]
        assert name.name in build_exchange()
        end = name.end


def test_names_of_people_are_found_in_gap(data: Path, census: Exchange, say: Callable[[str], None]) -> None:
    titles = name_context()["first_title"] | name_context()["surname_title"] | {"earl", "marquis"}
    name_count = found_count = 0
    for file in sorted((data / "gap").glob("gap-*.tsv")):
        head, *lines = file.read_text(encoding="utf-8").splitlines()
        for line in lines:
            row = dict(zip(head.split("\t"), line.split("\t"), strict=True))
            starts = {name.start for name in find_names(row["Text"], census)}
            for side in "AB":
                first, *rest = row[side].split()
                if rest and first in census and first.lower() not in titles:
                    name_count += 1
                    found_count += int(row[f"{side}-offset"]) in starts
    say(f"GAP: {found_count} of {name_count} first names of full names found ({found_count / name_count:.1%})")
    assert name_count > 2_500
    assert found_count / name_count > 0.98

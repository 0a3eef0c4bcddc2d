"""Choosing between *his* and *him* for *her*, and between *her* and *hers* for *his*."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmask.rewriting.english.possessives import WINDOW, weigh_possessive, weigh_standing_alone

# The tested word is in square brackets.
HER_TO_HIS = """
She opened [her] book.
The doctor lost [her] keys on the way to the hospital.
They made [her] mother happy.
We followed [her] very own instructions.
It was [her] first marathon, and not the last.
There were tears behind [her] eyes.
She was the finest pianist of [her] generation.
It took all of [her] strength to lift the stone.
She could hardly pay [her] rent that winter.
She let [her] hair down and laughed.
The girl went to the market with [her] friends.
I was surprised at [her] sudden departure.
[Her] long black hair reached the floor.
Only one name was on the list, but [her] brother came.
The teacher praised [her] pupils.
She gave [her] money to the poor.
She told [her] stories to anyone who would listen.
We met [her] old friend at the station.
In [her] opinion the law is unjust.
The nurse washed [her] hands before lunch.
He admired [her] courage and patience.
She left [her] two dogs with a neighbour.
The committee rejected [her] proposal.
She spent most of [her] life abroad.
The captain saved [her] crew.
On [her] way home she bought bread.
She won [her] third title in Rome.
The queen and [her] ministers met at noon.
Nobody knew [her] name.
She put on [her] best dress.
I have read both of [her] novels.
According to [her] lawyer, she is innocent.
At [her] age, most people have retired.
The cat licked [her] paws.
She raised [her] left hand.
She has changed [her] mind again.
He is one of [her] most loyal supporters.
During [her] ten years as mayor the town grew.
She quit [her] job in May.
The engineer explained [her] plan to us.
She closed [her] eyes and slept.
Every student must bring [her] or his passport.
The singer cancelled [her] European tour.
He was struck by [her] quick, dry wit.
She finished [her] thesis, [her] second book, that year.
She wrote about [her] so-called friends.
Without [her] glasses she saw nothing.
Even [her] critics admire the film.
She and [her] husband live in Leeds.
It was not [her] fault.
The pilot landed [her] plane safely.
The girl showed me [her] drawings.
She is proud of [her] work.
We all loved [her] singing voice.
She found [her] seat and sat down.
The winner thanked [her] coach.
The letter was in [her] handwriting.
[Her] first was a boy.
She made [her] way home.
She kept [her] promise.
He broke [her] heart.
She hurt [her] back.
[Her] Majesty spoke.
"""

HER_TO_HIM = """
I saw [her].
I saw [her] yesterday at the market.
He gave [her] flowers every Friday.
He gave [her] money for the bus.
My uncle told [her] stories about the war.
We saw [her] leave the building.
I heard [her] singing in the garden.
Please let [her] go.
That made [her] happy.
I went to the cinema with [her] and her friends.
They call [her] Mary.
We wish [her] luck.
I love [her] too.
The reporters asked [her] many questions.
Nobody believed [her] when she said it.
He looked at [her] and smiled.
The news made [her] angry.
I will help [her] with the luggage.
The door closed behind [her].
He handed [her] the letter.
The prize was given to [her] in 1998.
He married [her] in the spring.
Don't leave [her] alone.
We asked [her] to wait outside.
I watched [her] run across the field.
The board named [her] director of the museum.
They elected [her] president.
I told [her] that it was too late.
He taught [her] French.
Somebody pushed [her] off the bench.
It reminded [her] of home.
She took the boy with [her] to the station.
They found [her] asleep in the chair.
He bought [her] a ring.
I have known [her] for ten years.
It was [her] who broke the window.
The dog ran towards [her], barking.
Give [her] my regards!
Is it really [her]?
He never forgave [her] for leaving.
All of us admire [her] because she is fair.
We think of [her] as a friend.
This cost [her] the election.
You should thank [her] instead.
Between you and [her] there is no difference.
He could not stop [her] from going.
There was something about [her] that I liked.
I was older than [her] by a year.
The crowd cheered as he kissed [her] again.
They sent [her] home.
I made [her] laugh.
He offered [her] three thousand pounds.
It took [her] two hours to get there.
The fall nearly killed [her] in March.
The judge gave [her] six months to pay.
Let [her] in, please.
I don't want [her] here.
He dragged [her] down the stairs.
Tell [her] what you saw.
Everyone around [her] was silent.
"Ask [her]," he said.
To [her] it was only a game.
Many of those near [her] were hurt.
The law allows [her] neither rest nor pay.
We thought [her] old enough to travel.
They wished [her] good luck.
Keep [her] safe.
They love [her] back.
It broke [her].
I like [her] more than him.
He drove [her] mad.
He called [her] his wife.
He showed [her] how.
"""

HIS_TO_HERS = """
The book is [his].
She is a friend of [his].
[His] was better than mine.
My car is faster than [his].
The red one is [his], not mine.
I lost my umbrella, so he lent me [his].
The choice was [his] alone.
The land is [his] to keep.
He made it [his].
It was a habit of [his] to whistle.
Her eyes met [his].
She put her hand in [his].
[His] is the house with the green door.
His and mine are alike; [his] and mine are both blue.
My answer was right and [his] was wrong.
Whose coat is this? [His], I think.
I like your garden, but I prefer [his].
The victory was [his].
Is this pen [his]?
Our children play with [his].
She compared her notes with [his].
The fault is not mine but [his].
Her lips touched [his].
All that I have is [his].
[His] are the blue ones.
It is no business of [his].
These shoes must be [his].
The towels say [his] and hers.
There was a look of [his], half a smile, that I feared.
That theory of [his] is wrong.
We bought a set of [his]-and-hers towels.
[HIS] WAS BETTER
The idea was [his] and he was proud of it.
"""

HIS_TO_HER = """
He opened [his] book.
Everyone must bring [his] or her passport.
[His] mother is a judge.
The boy and [his] dog slept.
Most of [his] friends have left.
He sold [his] old car.
[His] first novel was a success.
In [his] opinion it is wrong.
He is proud of [his] work.
The man lost [his] “lucky” coin.
They praised [his] never-ending patience.
He did it [his] way.
I remember [his] being late.
He was one of [his] country's best players.
The actor turned down [his] biggest role.
He spent [his] last years in Wales.
It was [his] own idea.
All of [his] six sisters came.
The king gave up [his] throne.
Each player kept [his] cards hidden.
The author and [his] two editors agreed.
He married [his] cousin.
After [his] death the house was sold.
[His] is-it-true look amused us.
He wore [his] late father's watch.
The painter burned [his] early, unsigned pictures.
The suspect gave [his] name as Brown.
This is [his] and her house.
The style is that of [his] early work.
"""

PRINT = [
    ("HER BOOK WAS BANNED", "HER", True),
    ("I SAW HER YESTERDAY", "HER", False),
    ("HE GAVE HER FLOWERS", "HER", False),
    ("She called her\nmother at once", "her", True),
    ("I told her\nthat I was late", "her", False),
    ("She hugged her “best” friend", "her", True),
    ('She hugged her "best" friend', "her", True),
    ("“I don’t know her,” he said.", "her", False),
    ("He couldn’t find her’s", "her", True),
    ("That one is her's.", "her", True),
    ("It wasn’t her mother’s fault", "her", True),
    ("She lost _her_ keys", "her", True),
    ("She lost *her* keys", "her", True),
    ("It was for *her*.", "her", False),
    ("She sold her  house", "her", True),
    ("her", "her", False),
    ("We waited for her\n\nChapter two", "her", False),
    ("She met her ex-husband", "her", True),
    ("She led her 12-person team", "her", True),
    ("(because of her)", "her", False),
    ("They asked her—twice—to stay", "her", False),
    ("She thanked her émigré aunt", "her", True),
    ("She polished her zorblike", "her", True),
]


def her_is_possessive(text: str, start: int, end: int) -> bool:
    return weigh_possessive(text, start, end) > 0


def his_stands_alone(text: str, start: int, end: int) -> bool:
    return weigh_standing_alone(text, start, end) > 0


def find_marked_words(lines: str) -> list[tuple[str, int, int]]:
    """The words in square brackets: the sentence without brackets, and the span of the word."""
    marked_words = []
    for line in lines.strip().splitlines():
        plain = line.replace("[", "").replace("]", "")
        for number, match in enumerate(re.finditer(r"\[(\w+)\]", line)):
            start = match.start() - 2 * number
            marked_words.append((plain, start, start + len(match.group(1))))
    return marked_words


@pytest.mark.parametrize(("text", "start", "end"), find_marked_words(HER_TO_HIS))
def test_her_before_a_noun(text: str, start: int, end: int) -> None:
    assert her_is_possessive(text, start, end)


@pytest.mark.parametrize(("text", "start", "end"), find_marked_words(HER_TO_HIM))
def test_her_for_a_noun(text: str, start: int, end: int) -> None:
    assert not her_is_possessive(text, start, end)


@pytest.mark.parametrize(("text", "start", "end"), find_marked_words(HIS_TO_HERS))
def test_his_for_a_noun(text: str, start: int, end: int) -> None:
    assert his_stands_alone(text, start, end)


@pytest.mark.parametrize(("text", "start", "end"), find_marked_words(HIS_TO_HER))
def test_his_before_a_noun(text: str, start: int, end: int) -> None:
    assert not his_stands_alone(text, start, end)


@pytest.mark.parametrize(("text", "word", "expected"), PRINT)
def test_case_lines_quotes_and_unknown_words(text: str, word: str, expected: bool) -> None:
    start = text.index(word)
    assert her_is_possessive(text, start, start + len(word)) is expected


@given(st.text(), st.text())
def test_any_text_is_answered_from_near_by(left: str, right: str) -> None:
    """Every text is accepted, and text beyond the window has no effect."""
    gap = " " * WINDOW
    near, start = f"{left[-5:]}{gap}her{gap}{right[:5]}", len(left[-5:]) + WINDOW
    far = f"{left}{near}{right}"
    assert her_is_possessive(near, start, start + 3) == her_is_possessive(far, len(left) + start, len(left) + start + 3)
    text = f"{left} her {right}"
    assert her_is_possessive(text, len(left) + 1, len(left) + 4) in (True, False)
    assert his_stands_alone(text, len(left) + 1, len(left) + 4) in (True, False)


def test_gap_labels_itself(data: Path) -> None:
    """In real text with *he* and *she* exchanged, *him* and *his* give labels for *her*."""
    turned = {"he": "she", "she": "he", "He": "She", "She": "He"}
    with (data / "gap" / "gap-test.tsv").open(encoding="utf-8", newline="") as file:
        texts = [row["Text"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    right = []
    for original in texts:
        text = re.sub(r"\b(?:s?he|S?he|He)\b", lambda match: turned[match.group()], original)
        for match in re.finditer(r"\b(him|his)\b", text, re.I):
            start, end = match.span()
            is_his = match.group().lower() == "his"
            if is_his and his_stands_alone(text, start, end):
                continue
            right.append(her_is_possessive(text, start, end) == is_his)
    assert len(right) > 1500
    assert sum(right) / len(right) > 0.98

"""The offline reviewer tells from the talk afterwards whether an episode was of use."""

import pytest

from episodic.engines import Rating, ServedEpisode
from episodic.offline.reviewer import OfflineReviewer
from tests.episodic.conversations import embed, embed_lines, make_lines

TITLE = "Ana and Bo: Lisbon trip, Hotel Miramar and tram passes"
SUMMARY = (
    "Ana: We stay at Hotel Miramar in Lisbon from 12 May. Bo: I bought tram passes and two"
    " concert tickets for the fado evening. Ana: The hotel serves breakfast until ten."
)
QUERY = "Where do we stay?"


def serve(alias: str, title: str, summary: str, query: str = QUERY) -> ServedEpisode:
    vector = embed([f"{title}\n{summary}"])[0]
    return ServedEpisode(alias=alias, query=query, title=title, summary=summary, vector=vector)


TRIP = serve("E1", TITLE, SUMMARY)
BIKE = serve(
    "E2",
    "Ana and Bo: bicycle chain, brake pads and repair shop",
    "Bo: My bicycle chain broke on Sunday. Ana: The repair shop changed my brake pads.",
)


def review(*said: tuple[str, str]) -> dict[str, Rating]:
    lines = make_lines(said)
    vectors = embed_lines(lines)
    return OfflineReviewer().review(served=[TRIP, BIKE], lines=lines, vectors=vectors).ratings


def test_an_episode_that_nobody_came_back_to_is_rated_again() -> None:
    ratings = review(
        ("user", "Can you convert 40 degrees Fahrenheit to Celsius?"),
        ("assistant", "40 degrees Fahrenheit are about 4.4 degrees Celsius."),
    )
    assert ratings == {"E1": Rating.AGAIN, "E2": Rating.AGAIN}


def test_an_episode_that_was_touched_weakly_is_rated_hard() -> None:
    ratings = review(
        ("user", "Where do we stay?"),
        ("assistant", "I only know that it is in Lisbon, no address."),
    )
    assert ratings["E1"] == Rating.HARD


def test_an_episode_that_answered_is_rated_good() -> None:
    ratings = review(
        ("user", "Where do we stay?"),
        ("assistant", "At the Hotel Miramar."),
    )
    assert ratings["E1"] == Rating.GOOD


def test_an_episode_that_the_talk_was_built_on_is_rated_easy() -> None:
    ratings = review(
        ("user", "Where do we stay, and what have we got for the trip?"),
        (
            "assistant",
            "You stay at Hotel Miramar in Lisbon from 12 May, breakfast until ten. Bo bought"
            " tram passes and two concert tickets for the fado evening.",
        ),
        ("user", "Great, the fado concert and the tram passes were Bo's idea."),
    )
    assert ratings["E1"] == Rating.EASY
    assert ratings["E2"] == Rating.AGAIN


def test_what_the_talk_says_all_the_time_proves_little() -> None:
    again = [("user" if n % 2 else "assistant", "Lisbon is lovely.") for n in range(20)]
    once = review(*again[:1], *[("user", "It rains.")] * 19)
    order = [Rating.AGAIN, Rating.HARD, Rating.GOOD, Rating.EASY]
    assert order.index(review(*again)["E1"]) < order.index(once["E1"])


def test_small_talk_is_no_use() -> None:
    served = serve("E1", "Ana and Bo: a good start", "Ana: I was excited and felt amazing today.")
    lines = make_lines([("user", "How are you?"), ("assistant", "I feel amazing and excited!")])
    vectors = embed_lines(lines)
    ratings = OfflineReviewer().review(served=[served], lines=lines, vectors=vectors).ratings
    assert ratings == {"E1": Rating.AGAIN}


def test_what_the_assistant_says_weighs_more_than_what_the_user_says() -> None:
    words = "You are in Lisbon with Bo from 12 May, but the hotel is not in my notes."
    order = [Rating.AGAIN, Rating.HARD, Rating.GOOD, Rating.EASY]
    by_user, by_assistant = review(("user", words))["E1"], review(("assistant", words))["E1"]
    assert order.index(by_user) < order.index(by_assistant)


def test_nothing_is_rated_before_anything_was_said() -> None:
    vectors = embed(["nothing"])[:0]
    assert OfflineReviewer().review(served=[TRIP], lines=[], vectors=vectors).ratings == {}


def test_words_of_the_query_alone_prove_no_use() -> None:
    asked = serve("E1", TITLE, SUMMARY, query="Lisbon hotel")
    lines = make_lines([("user", "Lisbon hotel"), ("assistant", "I do not know any.")])
    vectors = embed_lines(lines)
    ratings = OfflineReviewer().review(served=[asked], lines=lines, vectors=vectors).ratings
    assert ratings["E1"] == Rating.AGAIN


@pytest.mark.parametrize("count", [1, 2])
def test_every_served_episode_is_rated(count: int) -> None:
    served = [TRIP, BIKE][:count]
    lines = make_lines([("user", "Hello again")])
    vectors = embed_lines(lines)
    ratings = OfflineReviewer().review(served=served, lines=lines, vectors=vectors).ratings
    assert list(ratings) == [episode.alias for episode in served]

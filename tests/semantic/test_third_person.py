"""What a speaker says of themselves becomes a sentence that names them."""

import pytest

from semantic import chinese
from semantic.third_person import add_subject, to_third_person


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm keen on counseling", "Caroline is keen on counseling"),
        ("I've been there", "Caroline has been there"),
        ("I love hiking and enjoy tea", "Caroline loves hiking and enjoys tea"),
        ("I don't like tea", "Caroline doesn't like tea"),
        ("I no longer work there", "Caroline no longer works there"),
        ("I want to paint and enjoy life", "Caroline wants to paint and enjoy life"),
        ("I studied law", "Caroline studied law"),
        ("I study law", "Caroline studies law"),
        ("I was ill", "Caroline was ill"),
        ("I can swim", "Caroline can swim"),
        ("I'd been ill", "Caroline had been ill"),
        ("I'd go again", "Caroline would go again"),
        ("It reminds me of my roots", "It reminds Caroline of their roots"),
        ("My sister sings", "Caroline's sister sings"),
        ("I went home and I slept", "Caroline went home and slept"),
        ("My husband and I met there", "Caroline's husband and Caroline met there"),
        ("We explored the lake", "Caroline and others explored the lake"),
        ("Not only do I sing", "Not only does Caroline sing"),
    ],
)
def test_verbs_and_pronouns_agree_with_the_name(said: str, fact: str) -> None:
    assert to_third_person(said, speaker="Caroline") == fact


def test_the_listener_is_named_where_there_is_one() -> None:
    said = "I think you're right about your garden"
    fact = to_third_person(said, speaker="Caroline", listener="Melanie")
    assert fact == "Caroline thinks Melanie is right about Melanie's garden"


def test_we_names_the_company_where_it_is_known() -> None:
    fact = to_third_person("We swam", speaker="Melanie", company="their kids")
    assert fact == "Melanie and their kids swam"


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("Just got back from Rome", "Bo just got back from Rome"),
        ("Gonna study law", "Bo is going to study law"),
        ("Looking forward to June", "Bo is looking forward to June"),
        ("Love the sea", "Bo loves the sea"),
        ("Been a while", "Been a while"),
    ],
)
def test_a_subject_that_chat_leaves_out_is_added(said: str, fact: str) -> None:
    assert add_subject(said, speaker="Bo") == fact


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("我住在北京", "小明住在北京"),
        ("我的生日是五月三号", "小明的生日是五月三号"),
        ("我喜欢我的工作", "小明喜欢自己的工作"),
        ("住在北京", "小明住在北京"),
        ("我觉得你很好", "小明觉得小红很好"),
    ],
)
def test_a_chinese_speaker_is_named(said: str, fact: str) -> None:
    assert chinese.to_third_person(said, speaker="小明", listener="小红") == fact

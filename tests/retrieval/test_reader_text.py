"""A packed text reads in one order: dangers, instructions, facts, days, further facts."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoryproject.text.tokens import count_tokens
from tests.conftest import Agent
from tests.retrieval.test_packing import ask

pytestmark = pytest.mark.django_db

START = datetime(2026, 5, 4, 9, tzinfo=UTC)
Said = tuple[str, str, str, timedelta]
"""Role, name, words, and when."""


def tell(agent: Agent, *lines: Said, conversation: uuid.UUID | None = None) -> uuid.UUID:
    """Post lines and wait until they are processed."""
    conversation = conversation or uuid.uuid4()
    said = [
        {
            "role": role,
            **({"name": name} if name else {}),
            "content": words,
            "timestamp": (START + at).isoformat(),
        }
        for role, name, words, at in lines
    ]
    body = {"conversation_id": str(conversation), "messages": said}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(conversation)
    return conversation


def user(words: str, **at: float) -> Said:
    return "user", "Nora", words, timedelta(**at)


def reply(words: str, **at: float) -> Said:
    return "assistant", "", words, timedelta(**at)


def read(agent: Agent, conversation: uuid.UUID, query: str, **fields: Any) -> str:
    """Return a packed text, which is within its budget."""
    fields = {"max_tokens": 1000, **fields}
    text: str = ask(agent, conversation, query, **fields)["markdown"]
    assert count_tokens(text) <= fields["max_tokens"]
    return text


def test_each_day_comes_once_in_the_order_of_time(ana: Agent) -> None:
    conversation = tell(
        ana,
        user("I planted tomatoes on the balcony.", days=0),
        user("The plumber fixed the kitchen sink.", days=0, hours=9),
        user("My tomatoes have the first flowers.", days=3),
    )
    tell(ana, user("The tomatoes smell wonderful tonight.", hours=12), conversation=conversation)
    text = read(ana, conversation, "What happened to my tomatoes?")
    assert text == (
        "## Semantic Memory\n"
        '- [relationship, 7 May 2026] Nora: "My tomatoes have the first flowers."\n'
        '- [identity, 4 May 2026] Nora: "I planted tomatoes on the balcony."\n\n'
        "## Episodic Memories\n\n"
        "### 4 May 2026\n"
        '- 18:00 Nora: "The plumber fixed the kitchen sink."\n'
        '- 21:00 Nora: "The tomatoes smell wonderful tonight."\n'
    )


def test_lines_of_one_minute_say_no_time(ana: Agent) -> None:
    conversation = tell(ana, user("I planted tomatoes."), user("The sink leaks."))
    assert "09:00" not in read(ana, conversation, "What leaks?")


def test_a_relative_day_has_its_date_beside_it(ana: Agent) -> None:
    conversation = tell(ana, user("Yesterday I planted  tomatoes, and I will mow on Friday."))
    text = read(ana, conversation, "When did I plant tomatoes?")
    assert "Yesterday (3 May 2026) I planted" in text


def test_a_line_gives_way_to_a_fact_that_quotes_it_with_the_date_of_today(ana: Agent) -> None:
    conversation = tell(ana, user("I ran the marathon in Lisbon today, it was hot."))
    text = read(ana, conversation, "Where did I run?")
    assert text.count("Lisbon") == 1 and "today (4 May 2026), it was hot" in text


def test_equal_lines_come_once(ana: Agent) -> None:
    words = "I keep the spare key of the garden shed under the blue flower pot beside the door."
    conversation = tell(ana, user(words), user("Jo has the other key.", minutes=1))
    tell(ana, user(words, days=2), user("Thanks!", days=2), conversation=conversation)
    text = read(ana, conversation, "Where is the key of the shed?")
    assert text.count("under the blue flower pot") == 1


def test_a_danger_comes_first_and_an_instruction_behind_it(ana: Agent) -> None:
    conversation = tell(
        ana,
        user("Always answer me in bullet points when I ask about travel.", days=0),
        reply("I will.", days=0),
        user("I am allergic to penicillin.", days=1),
        reply("Noted.", days=1),
        user("We want to see Lisbon in the autumn.", days=2),
    )
    text = read(ana, conversation, "Where do we want to travel?")
    facts, _, lines = text.partition("## Episodic Memories")
    places = [facts.index(said) for said in ("penicillin", "bullet points", "Lisbon")]
    assert places == sorted(places) and "Nora" not in lines


COROLLA = "Can't miss me in the car park, I drive a beat-up Corolla."
OCTAVIA = "Picked up the keys this morning: a shiny blue Octavia."


def test_of_the_best_facts_the_newer_stands_first_and_their_lines_give_way(ana: Agent) -> None:
    conversation = tell(ana, user(COROLLA), user("The sink leaks.", minutes=9))
    tell(ana, user(OCTAVIA, days=40), conversation=conversation)
    text = read(ana, conversation, "What car does Nora have?", max_tokens=500)
    facts, _, lines = text.partition("## Episodic Memories")
    assert 0 <= facts.find("blue Octavia") < facts.find("beat-up Corolla")
    assert "4 May 2026] Nora" in facts and "(13 June 2026)" in facts
    assert "Octavia" not in lines and "Corolla" not in lines


def test_a_message_that_says_more_than_its_facts_stays_a_line(ana: Agent) -> None:
    conversation = tell(ana, user("Hmm, let me think. My sister Ada lives in Malmö."))
    text = read(ana, conversation, "Where does Ada live?")
    facts, _, lines = text.partition("## Episodic Memories")
    assert "lives in Malmö" in facts and "let me think. My sister Ada" in lines


def test_what_else_the_message_of_a_best_fact_says_stands_with_it(ana: Agent) -> None:
    said = "I have changed my course. My classes in architecture began this week."
    conversation = tell(ana, user("I study pharmacy in Coimbra."), user("I like tea."))
    tell(ana, user(said, days=40), conversation=conversation)
    text = read(ana, conversation, "Which course of studies did Nora change to?")
    facts, _, _ = text.partition("## Episodic Memories")
    places = [facts.find(words) for words in ("changed my course", "architecture", "Coimbra")]
    assert -1 not in places and places == sorted(places)


def test_a_former_value_is_nowhere_quoted_as_if_it_were_so_today(ana: Agent) -> None:
    conversation = tell(ana, user("My locker code is 4482."), user("It rains.", minutes=9))
    for place, code in enumerate(("5190", "7001")):
        tell(ana, user(f"My locker code is {code}.", days=9 + place), conversation=conversation)
    text = read(ana, conversation, "What is the locker code?")
    assert text.index("7001") < text.index("5190") < text.index("4482")
    lines = [line for line in text.splitlines() if "4482" in line or "5190" in line]
    assert all(", earlier]" in line for line in lines)
    short = read(ana, conversation, "What is the locker code?", max_tokens=30)
    assert "7001" in short and "4482" not in short


LONG_REPLY = (
    "Here is what I would think about before buying anything at all. Shoes wear out quickly. "
    "Look at the sole, the heel and the weight. Try them in the evening. "
) * 12
ADVICE = "For sore knees take the Brooks Ghost. "


@pytest.fixture(scope="module")
def advised(ana: Agent) -> uuid.UUID:
    """A conversation with long replies."""
    lines: list[Said] = []
    for number in range(8):
        lines += [
            user(f"Shoe question {number}: my knees hurt after {number + 5} km.", hours=number),
            reply(LONG_REPLY + (number == 3) * ADVICE, hours=number, minutes=1),
        ]
    return tell(ana, *lines)


def test_replies_leave_the_budget_to_users(ana: Agent, advised: uuid.UUID) -> None:
    text = read(ana, advised, "After how many km do my knees hurt in shoes?", max_tokens=400)
    assert text.count("Nora:") == 8
    replies = [line for line in text.splitlines() if "assistant: " in line]
    assert all(len(line) < 0.2 * 4 * 400 for line in replies)


def test_a_reply_that_is_asked_for_comes_first(ana: Agent, advised: uuid.UUID) -> None:
    asked = read(ana, advised, "Which shoe did you recommend for sore knees?", max_tokens=200)
    assert "Brooks Ghost" in asked

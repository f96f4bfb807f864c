"""What a budget of tokens holds."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from episodic.models import Message
from memoryproject.text.tokens import count_tokens
from tests.conftest import Agent
from tests.semantic.learning import Talk, new
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db

RACE = "Which race does Mira train for?"
DAY = r"\d{1,2} [A-Z][a-z]+ \d{4}"
BUDGETS = [1, 2, 5, 9, 14, 20, 27, 33, 41, 50, 64, 80, 101, 150, 233, 400, 1000, 100_000]
CHINESE = [
    ("小明", "我下个月要搬到上海去住,因为我在那里找到了一份新工作。"),
    ("小红", "恭喜你!你在上海做什么工作?"),
    ("小明", "我会在一家医院做护士,每周工作四天。"),
    ("小红", "我的妹妹也住在上海,她叫小丽。"),
    ("小明", "太好了,我很想认识她。"),
]


def ask(agent: Agent, conversation: uuid.UUID, query: str, **fields: Any) -> dict[str, Any]:
    body = {"conversation_id": str(conversation), "query": query, **fields}
    raw = agent.post("retrieve_memory/raw", body)
    assert raw.status_code == 200, raw.content
    text = agent.post("retrieve_memory", body)
    return {**raw.json(), "markdown": text.content.decode()}


def tell(agent: Agent, lines: list[tuple[str, str]]) -> uuid.UUID:
    conversation = uuid.uuid4()
    body = {"conversation_id": str(conversation), "messages": messages(lines, MORNING)}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(conversation)
    return conversation


@pytest.fixture(scope="module")
def told_two(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    said = messages(MOVING, MORNING) + messages(RUNNING, EVENING)
    body = {"conversation_id": str(conversation), "messages": said}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    return conversation


def test_no_budget_is_ever_exceeded(ana: Agent, told_two: uuid.UUID) -> None:
    for budget in BUDGETS:
        answer = ask(ana, told_two, RACE, max_tokens=budget)
        assert count_tokens(answer["markdown"]) <= budget
        apart = sum(count_tokens(block["text"] + "\n") for block in answer["blocks"])
        assert apart <= budget


@pytest.mark.gate
def test_no_budget_is_exceeded_where_a_character_is_a_token(ana: Agent) -> None:
    conversation = tell(ana, CHINESE)
    for budget in BUDGETS:
        text = ask(ana, conversation, "小明搬到哪里?", max_tokens=budget)["markdown"]
        assert count_tokens(text) <= budget
        assert budget < 80 or "上海" in text


def test_a_large_budget_holds_everything(ana: Agent, told_two: uuid.UUID) -> None:
    answer = ask(ana, told_two, RACE, max_tokens=100_000)
    for _, content in MOVING + RUNNING:
        assert all(said in answer["markdown"] for said in re.split(r"(?<=[.!?]) ", content))
    facts = ask(ana, told_two, RACE)["semantic"]
    assert {fact["id"] for fact in answer["semantic"]} == {fact["id"] for fact in facts}


def test_the_message_that_matches_comes_with_speaker_and_day(
    ana: Agent, told_two: uuid.UUID
) -> None:
    text = ask(ana, told_two, RACE, max_tokens=60)["markdown"]
    assert "### 5 March 2026\n" in text and "2 March" not in text
    assert f'- Mira: "{RUNNING[5][1]}"\n' in text


def test_days_and_their_messages_stand_in_order_of_time(ana: Agent, told_two: uuid.UUID) -> None:
    answer = ask(ana, told_two, RACE, max_tokens=400)
    order = {f'- {name}: "{content}"': i for i, (name, content) in enumerate(MOVING + RUNNING)}
    for block in answer["blocks"]:
        places = [order[line] for line in block["text"].splitlines() if line in order]
        assert places == sorted(places)
    days = re.findall(r"^### (.+)$", answer["markdown"], re.MULTILINE)
    assert days == ["2 March 2026", "5 March 2026"]


def test_blocks_make_up_the_text_and_name_their_messages(ana: Agent, told_two: uuid.UUID) -> None:
    answer = ask(ana, told_two, RACE, max_tokens=300)
    assert "\n".join(block["text"] for block in answer["blocks"]) == answer["markdown"]
    shown = {row["message_id"] for block in answer["blocks"] for row in block["sources"]}
    assert shown and Message.objects.of(ana.tenant).filter(id__in=shown).count() == len(shown)
    assert ask(ana, told_two, RACE)["blocks"] is None


def test_the_same_question_gets_the_same_answer(ana: Agent, told_two: uuid.UUID) -> None:
    texts = {ask(ana, told_two, RACE, max_tokens=200)["markdown"] for _ in range(3)}
    assert len(texts) == 1


def test_an_explicit_limit_of_episodes_is_kept_and_absent_it_is_lifted(
    ana: Agent, told_two: uuid.UUID
) -> None:
    few = ask(ana, told_two, RACE, max_tokens=5000, episodic_limit=1)
    assert len(few["episodic"]) == 1 and MOVING[0][1] not in few["markdown"]
    assert len(ask(ana, told_two, RACE, max_tokens=5000)["episodic"]) == 2


def test_a_category_gets_room_for_its_facts(ana: Agent, told_two: uuid.UUID) -> None:
    answer = ask(ana, told_two, RACE, max_tokens=120, category="goal")
    assert answer["semantic"] and answer["episodic"]
    assert {fact["category"] for fact in answer["semantic"]} == {"goal"}


LONG = "The weather report repeats itself. " * 150 + "The boat leaves at nine from pier 14. "


@pytest.mark.gate
@pytest.mark.parametrize("budget", [80, 200, 1000, 3000])
def test_a_message_longer_than_the_budget_is_cut_to_what_matches(ana: Agent, budget: int) -> None:
    said = [("Mira", LONG * 3), ("Jonas", "Thanks, I will read all of it tonight.")]
    conversation = tell(ana, said)
    text = ask(ana, conversation, "When does the boat leave from the pier?", max_tokens=budget)
    assert "The boat leaves at nine from pier 14." in text["markdown"]
    assert "…" in text["markdown"] and count_tokens(text["markdown"]) <= budget
    assert budget < 200 or "Jonas" in text["markdown"]


def test_every_fact_and_message_says_its_day(ana: Agent, told_two: uuid.UUID) -> None:
    text = ask(ana, told_two, RACE, max_tokens=2000, category="goal")["markdown"]
    facts, _, episodes = text.partition("## Episodic Memories\n\n")
    bullets = facts.splitlines()[1:-1]
    assert bullets
    assert all(re.match(rf"- \[\w+, {DAY}\] ", bullet) for bullet in bullets)
    assert all(re.match(rf"### {DAY}\n- ", day) for day in episodes.split("\n\n"))


def test_a_fact_with_a_date_in_it_says_no_other(ana: Agent) -> None:
    conversation = tell(ana, [("Mira", "I moved to Porto on 3 May 2025."), ("Jonas", "Nice.")])
    query = "When did Mira move?"
    (fact,) = ask(ana, conversation, query)["semantic"]
    text = ask(ana, conversation, query, max_tokens=2000, category=fact["category"])["markdown"]
    facts = text.partition("## Episodic Memories")[0]
    assert re.search(r"^- \[\w+\] Mira: .*3 May 2025", facts, re.MULTILINE)


@pytest.mark.parametrize("limit", [1, 2, 20])
def test_a_danger_is_told_though_the_search_ranks_it_behind_the_limit(
    ana: Agent, limit: int
) -> None:
    talk = Talk(ana)
    job, danger = "Mira works at the harbour.", "Mira is allergic to peanuts."
    talk.learn(new(job), new("Mira's harbour office is red."), new(danger))
    answer = ask(ana, talk.id, "Mira at the harbour", max_tokens=400, semantic_limit=limit)
    assert danger in answer["markdown"] and job in answer["markdown"]

"""Time is a way to find: what was said on the days asked for is found, whatever words it has."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from episodic.models import Conversation
from indexing import services as index
from indexing.models import MemoryKind, UnitKind
from indexing.services import Entry
from retrieval.question_times import read_times
from retrieval.scope import in_one
from retrieval.search.in_conversation import search
from tests.conftest import Agent
from tests.retrieval.searches import make_question

pytestmark = pytest.mark.django_db

FIRST_DAY = datetime(2026, 9, 1, 12, tzinfo=UTC)
DOINGS = ("polished", "lent out", "weighed", "sketched", "dusted", "auctioned")
THINGS = ("trumpet", "canoe", "loom", "globe", "barometer", "sledge", "anvil")
DAYS = 42


def said_on(day: int) -> str:
    """Return what the diary says on a day from 0 on; no two days say the same."""
    return f"I {DOINGS[day % 6]} the {THINGS[day % 7]}."


@pytest.fixture(scope="module")
def diary(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """One sentence a day, 42 days from 1 September 2026 on."""
    messages = [
        {
            "role": "user",
            "content": said_on(day),
            "timestamp": (FIRST_DAY + timedelta(days=day)).isoformat(),
        }
        for day in range(DAYS)
    ]
    body = {"conversation_id": str(conversation), "messages": messages}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    return conversation


def ask(ana: Agent, conversation: uuid.UUID, query: str, **options: object) -> str:
    body = {"conversation_id": str(conversation), "query": query, "max_tokens": 150, **options}
    answer = ana.post("retrieve_memory", body)
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def test_each_day_of_a_diary_is_found_by_its_date(ana: Agent, diary: uuid.UUID) -> None:
    lost = []
    for day in range(0, DAYS, 3):
        on = FIRST_DAY + timedelta(days=day)
        text = ask(ana, diary, f"What happened on {on.day} {on:%B} {on.year}?")
        lost += [on.date()] if said_on(day) not in text else []
    assert lost == []


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What happened yesterday?", 36),
        ("What did I do last Saturday?", 32),
        ("What did I do three days ago?", 34),
        ("Was habe ich am 12. September gemacht?", 11),
        ("¿Qué hice el 20 de septiembre de 2026?", 19),
        ("Qu'est-ce que j'ai fait le 3 octobre ?", 32),
    ],
)
def test_a_day_is_relative_to_the_moment_asked_about(
    ana: Agent, diary: uuid.UUID, query: str, day: int
) -> None:
    thursday = "2026-10-08T20:00:00Z"
    assert said_on(day) in ask(ana, diary, query, as_of=thursday)


def test_of_about_equal_lines_the_first_or_the_last_leads(ana: Agent, diary: uuid.UUID) -> None:
    for day in (4, 11, 18, 25):
        moment = (FIRST_DAY + timedelta(days=day, hours=5)).isoformat()
        ana.say(diary, "We rowed across the lake in a dinghy.", timestamp=moment)
    ana.flush(diary)
    first = ask(ana, diary, "When did we first row in a dinghy?", max_tokens=40)
    last = ask(ana, diary, "When did we last row in a dinghy?", max_tokens=40)
    assert "5 September" in first and "26 September" not in first
    assert "26 September" in last and "5 September" not in last


def test_of_equal_lines_and_facts_the_newer_comes_first(
    ana: Agent, conversation: uuid.UUID
) -> None:
    for day, town in ((1, "Riga"), (2, "Oslo")):
        moment = f"2026-09-0{day}T12:00:00Z"
        ana.say(conversation, f"The office of Lumen is in {town}.", timestamp=moment)
        ana.flush(conversation)
    short = ask(ana, conversation, "lumen office", max_tokens=40)
    assert "Oslo" in short and "Riga" not in short


@pytest.fixture(scope="module")
def crowded(ana: Agent) -> Conversation:
    """700 messages of May that the question is like, and one of June that it is not like."""
    conversation = Conversation.objects.create(tenant=ana.tenant, external_id=uuid.uuid4())
    conversation.tenant = ana.tenant
    memories = index.register(tenant=ana.tenant, kind=MemoryKind.EPISODE, count=2)
    index.add_entries(
        tenant=ana.tenant,
        conversation_id=conversation.id,
        model="test",
        entries=[
            Entry(
                memory=memories[seq // 700],
                kind=UnitKind.MESSAGE,
                lexical="harbour festival" if seq < 700 else "a kettle",
                vector=np.array([1, 0] if seq < 700 else [0, 1], dtype=np.float32),
                language="english",
                valid_at=datetime(2026, 5 if seq < 700 else 6, 14, 9, tzinfo=UTC),
                first_seq=seq,
                last_seq=seq,
            )
            for seq in range(701)
        ],
    )
    return conversation


@pytest.mark.parametrize("with_vector", [True, False])
def test_a_message_of_the_day_is_a_candidate_where_hundreds_are_more_alike(
    crowded: Conversation, with_vector: bool
) -> None:
    def lines_of(query: str) -> set[int]:
        times = read_times(query, at=datetime(2026, 7, 1, tzinfo=UTC))
        vector = np.array([1, 0], dtype=np.float32) if with_vector else None
        question = make_question(
            query,
            vector=vector,
            model="test" if with_vector else "",
            shelves=(MemoryKind.FACT, MemoryKind.EPISODE),
            episode_limit=300,
            now=datetime(2026, 7, 1, tzinfo=UTC),
            line_limit=100,
            times=times,
        )
        return {seq for hit in search(in_one(crowded), question) for seq, _ in hit.lines}

    assert 700 in lines_of("harbour festival on 14 June 2026")
    assert 700 in lines_of("harbour festival in June")
    assert 700 not in lines_of("harbour festival")
    assert 700 not in lines_of("harbour festival on 14 May 2026")

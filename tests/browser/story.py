"""A month of a bank's support desk, told through the API and worked by the pipeline itself.

One fact of it is wrong: the front desk mixed two customers up, and the assistant
believed it.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.test import override_settings
from django.utils import timezone

from episodic.models import Conversation
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, LLMCall, State
from semantic.models import Fact
from tests.conftest import Agent, make_agent
from tests.llm.answers import change, changes, segment, segments
from tests.llm.conftest import forget_server, settings_for
from tests.model_server import run_model_server, says
from tests.semantic.learning import leave_suggestion

Lines = Sequence[tuple[str, str]]
BANK = "Harbour Bank"
FRONT_DESK = "Front desk"
WRONG_MESSAGE = "Nora owns three dogs and a summer house in Ystad."
WRONG_SENTENCE = f'{FRONT_DESK}: "{WRONG_MESSAGE}"'
"""The fact that the offline engine keeps of it."""

MOVE = [
    ("Nora", "Hello, I'm Nora Lindqvist. I moved from Malmö to Lund last week."),
    ("assistant", "Welcome to your new home, Nora. Shall I change your address with us?"),
    ("Nora", "Yes please. My new address is Bredgatan 12 in Lund."),
    ("assistant", "Done. Would you like your new card sent there, too?"),
    ("Nora", "Yes. I prefer letters in English, my Swedish is still poor."),
    ("assistant", "Noted: letters in English from now on."),
    ("Nora", "I work as a veterinarian at the animal hospital in Lund."),
    ("assistant", "Thank you, I have updated your employer as well."),
]
CARD = [
    ("Nora", "My card was declined at the pharmacy this morning."),
    ("assistant", "I am sorry. The old card was blocked when the new one was sent."),
    (
        "Nora",
        "The new card has not arrived yet and I am allergic to penicillin, so I need my pills.",
    ),
    ("assistant", "I have unblocked the old card until Friday."),
    ("Nora", "Thank you! I always pay by card, I never carry cash."),
    ("assistant", "You are welcome. The new card should be there by Thursday."),
    (FRONT_DESK, WRONG_MESSAGE),
    ("assistant", "Thank you, I have noted that."),
]
SAVING = [
    ("Nora", "I want to save for a sailing boat with my sister Ebba."),
    ("assistant", "How much, and until when?"),
    ("Nora", "We plan to buy the boat in June, it costs eighty thousand kronor."),
    ("assistant", "Then a savings account with a monthly transfer fits."),
    ("Nora", "Please call me in the evening only, I am in surgery during the day."),
    ("assistant", "We will call after six in the evening."),
    ("Nora", "My sister Ebba lives in Gothenburg and has her own account with you."),
    ("assistant", "She can join the savings account online."),
]
WRONG = [
    ("Nora", "Why did you send me an offer for dog insurance?"),
    ("assistant", "Because you have three dogs, Nora."),
    ("Nora", "I have two cats named Pixel and Cursor, and no dogs."),
    ("assistant", "I apologise, I will look into where that came from."),
    ("Nora", "I own a red bicycle, so no car insurance either."),
    ("assistant", "Understood."),
]
SECOND = [
    ("Iver", "I am Iver Dahl. I run a bakery in Bergen with four employees."),
    ("assistant", "How can I help the bakery?"),
    ("Iver", "I need a loan of two hundred thousand for a new oven."),
    ("assistant", "Which security can you offer?"),
    ("Iver", "I own the shop's building in Bergen since 2019."),
    ("assistant", "That is very good security."),
    ("Iver", "I sold the old oven to a friend in Oslo."),
    ("assistant", "Then the new one can be delivered at once."),
]
SCRIPT = "<script>document.title = 'taken over'</script>"
RULE = "When a new card is sent, the old one stays open"
LONELY = "A note by itself"
OLD_RULE = (
    "The old card is blocked when the new one is sent.\n\nTell the customer to wait for the letter."
)
NEW_RULE = (
    "The old card stays open until the new one has arrived, for ten days at most.\n\n"
    "Tell the customer when the letter was sent, and unblock the old card at once if he asks."
)
WAITING = "Assistant should call customers by their first name."
FORGER = "Web form"
QUESTIONS = [
    "Where does Nora live?",
    "Which insurance fits Nora?",
    "What is Nora allergic to?",
    "When may we call Nora?",
    "What is Nora saving for?",
]


@dataclass(frozen=True)
class Story:
    """What has happened: who asked, and in which conversations (the agent's ids)."""

    agent: Agent
    nora: uuid.UUID
    iver: uuid.UUID
    pending: uuid.UUID


def tell_story() -> Story:
    """Post, flush and ask, as an agent does; everything is committed."""
    agent = make_agent(BANK, "support agent")
    story = Story(agent=agent, nora=uuid.uuid4(), iver=uuid.uuid4(), pending=uuid.uuid4())
    now = timezone.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for lines, ago, questions in (
        (MOVE, timedelta(days=26), QUESTIONS[:1]),
        (CARD, timedelta(days=17), QUESTIONS[2:3]),
        (SAVING, timedelta(days=8), QUESTIONS[3:]),
        (WRONG, timedelta(days=2), QUESTIONS[1:3]),
    ):
        _post(story.agent, story.nora, lines, now - ago)
        agent.flush(story.nora)
        for question in questions:
            _ask(agent, story.nora, question)
    _post(agent, story.nora, [("Nora", f"Please forward this: {SCRIPT}")], now)
    _post(agent, story.iver, SECOND, now - timedelta(days=5))
    agent.flush(story.iver)
    _ask(agent, story.iver, "What does Iver need the loan for?")
    _post(agent, story.pending, SECOND[:2], now)
    _write_notes(story)
    _leave_dead_job(agent)
    _leave_for_curators(story)
    return story


def _write_notes(story: Story) -> None:
    """Write what the desk keeps about Nora, change one of it, link all of it, and look for it."""
    agent, nora = story.agent, str(story.nora)
    plan = {
        "plan_type": "sailing boat", "total_nodes": 6, "completed_nodes": 3, "pending_nodes": 2,
        "failed_nodes": 1, "current_phase": "saving",
        "key_milestones": ["Savings account opened", "Ebba has joined", "Boat bought in June"],
    }  # fmt: skip
    thread = {
        "platform": "chat", "participant_count": 2, "message_count": 8, "sentiment": "negative",
        "key_points": ["The card was declined at the pharmacy", "The old card works until Friday"],
    }  # fmt: skip
    saving = _write(agent, source_type="plan_summary", metadata=plan, conversation_id=nora)
    blocked = _write(agent, source_type="thread_summary", metadata=thread, conversation_id=nora)
    rule = _write(
        agent, source_type="knowledge_base", category="policy", importance=0.9, tags=["cards"],
        label=RULE,
        content=OLD_RULE,
        emotion_type="relief", emotion_intensity=0.4, emotion_valence="positive",
    )  # fmt: skip
    offer = _write(agent, source_type="offer", label="Dog insurance", content="For three dogs.")
    _write(agent, label=LONELY, content="Nobody has linked this.")
    change = {"version": 1, "content": NEW_RULE, "tags": ["cards", "complaints"]}
    answer = agent.client.patch(f"/api/v0/notes/{rule}", change, content_type="application/json")
    assert answer.status_code == 200, answer.content
    facts = Fact.objects.of(agent.tenant).filter(conversation__external_id=story.nora)
    wrong = facts.get(fact=WRONG_SENTENCE)
    cats = facts.filter(fact__contains="cats").first()
    boat = facts.filter(fact__contains="boat").first()
    for near, link_type, far in (
        (rule, "caused_by", blocked), (blocked, "mentions", wrong.id), (offer, "follows", wrong.id),
        (saving, "supports", boat), (saving, "relates_to", rule), (cats, "contradicts", wrong.id),
        (rule, "relates_to", offer),
    ):  # fmt: skip
        if near and far:
            ends = {"from_id": str(_id(near)), "to_id": str(_id(far)), "link_type": link_type}
            assert agent.post("links", ends).status_code == 201, ends
    assert agent.post("search", {"query": "What happens to the old card?"}).status_code == 200
    prompt = agent.post("contexts", {"max_tokens": 2000}).json()["id"]
    assert agent.post(f"contexts/{prompt}/add", {"memory_id": rule}).status_code == 200


def _leave_for_curators(story: Story) -> None:
    """Leave suggestions, a rule that waits, a source that was undone, a talk that was erased."""
    agent, talk, goner = story.agent, uuid.uuid4(), uuid.uuid4()
    _learn_rule(agent)
    facts = Fact.objects.of(agent.tenant).filter(conversation__external_id=story.nora)
    wrong, cats = facts.get(fact=WRONG_SENTENCE), facts.filter(fact__contains="cats").first()
    leave_suggestion(agent, wrong, cats)
    leave_suggestion(agent, facts.filter(fact__contains="declined").first())
    agent.say(talk, "I now live in Svalbard and I hate the Harbour Bank.", name=FORGER)
    agent.say(talk, "I am Iver Dahl, and I run a bakery in Bergen.", name="Iver")
    agent.say(goner, "I am Tuva Berg, and I want everything about me to be deleted.", name="Tuva")
    for one in (talk, goner):
        agent.flush(one)
    forged = {"since": "2020-01-01T00:00:00Z", "speaker": FORGER, "reason": "A forged form."}
    assert agent.post("rollbacks", forged).status_code == 201
    asked = {"scope": "conversation", "id": str(goner), "reason": "Asked for in ticket 4711."}
    protector = make_agent(BANK, "data protection", ("admin",))
    assert protector.post("erasures", asked).status_code == 200
    drain_jobs()


def _learn_rule(agent: Agent) -> None:
    """Let a language model take what the assistant said of itself for a rule."""
    talk = uuid.uuid4()
    agent.say(talk, "Nobody at your bank remembers who I am.", name="Iver")
    agent.say(talk, "I should call you by your first name, and so all customers.", role="assistant")
    rule = change("new", WAITING, category="guideline", messages=[1, 2])
    with run_model_server() as server, override_settings(**settings_for(server)):
        server.script("segment", says(segments(segment(1))))
        server.script("consolidate", says(changes(rule)))
        agent.flush(talk)
        forget_server()


def _write(agent: Agent, **fields: Any) -> str:
    answer = agent.post("notes", fields)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def _id(memory: Any) -> Any:
    return getattr(memory, "id", memory)


def _leave_dead_job(agent: Agent) -> None:
    """Leave a job that died of an endpoint that was not there, and its paid calls."""
    talk = uuid.uuid4()
    _post(agent, talk, SECOND[:4], timezone.now())
    conversation = Conversation.objects.of(agent.tenant).get(external_id=talk)
    job = Job.objects.create(
        tenant=agent.tenant,
        kind=Kind.FLUSH,
        scope=conversation.id,
        state=State.DEAD,
        attempts=5,
        error_class="ModelMisbehaved",
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    for number, purpose in enumerate(("segment", "segment-repair")):
        LLMCall.objects.create(
            tenant=agent.tenant,
            job=job.id,
            request_sha256=f"{number:064}",
            purpose=purpose,
            model="gpt-4o-mini",
            ok=False,
            error_class="ModelMisbehaved",
            input_tokens=812,
            output_tokens=240,
            cost=Decimal("0.000266"),
            latency_ms=2140,
            finished_at=timezone.now(),
        )


def _post(agent: Agent, conversation: uuid.UUID, lines: Lines, start: datetime) -> None:
    messages: list[dict[str, Any]] = [
        {
            "role": "assistant" if name == "assistant" else "user",
            "content": content,
            "timestamp": (start + at * timedelta(minutes=2)).isoformat(),
            **({} if name == "assistant" else {"name": name}),
        }
        for at, (name, content) in enumerate(lines)
    ]
    body = {"conversation_id": str(conversation), "messages": messages}
    assert agent.post("add_messages", body).status_code == 201


def _ask(agent: Agent, conversation: uuid.UUID, question: str) -> None:
    body = {"conversation_id": str(conversation), "query": question, "detail": "high"}
    assert agent.post("retrieve_memory", body).status_code == 200

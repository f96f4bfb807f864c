"""What messages say takes no control, even of a model that obeys them."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models import Model

from episodic.models import Conversation, Episode, Message, Review
from episodic.text_sizes import clip_words
from indexing.models import SearchUnit, SearchVector
from jobs.draining import drain_jobs
from jobs.models import Job, State
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.models import Retrieval
from semantic.guards import FACT_CHARACTERS_AT_MOST
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.proposal_writer import cap_invalidations, cap_openings
from semantic.steering import steers_agent
from tests.conftest import Agent, make_agent
from tests.emptying import delete_all_rows
from tests.llm.conftest import model as model
from tests.llm.conftest import post
from tests.model_server import ModelServer
from tests.security.attacks import ATTACKS, FOREIGN, Attack, as_tests
from tests.security.obedient import obey
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages
from wings.notes.models import Note

pytestmark = pytest.mark.django_db

HOME, BESIDE = uuid.UUID(int=11), uuid.UUID(int=12)
PATHS: dict[type[Model], str] = {
    Conversation: "id",
    Message: "conversation_id",
    Episode: "conversation_id",
    Review: "episode__conversation_id",
    Fact: "conversation_id",
    Evidence: "fact__conversation_id",
    Changeset: "conversation_id",
    Change: "changeset__conversation_id",
    SearchUnit: "conversation_id",
    SearchVector: "conversation_id",
    Retrieval: "conversation_id",
    Note: "conversation_id",
}
"""By table, the way to the conversation of a row."""
UNSEEN = re.compile("[\u200b\u202a-\u202e\u2066-\u2069\x00-\x09\x0b-\x1f\U000e0000-\U000e0fff]")
FEWEST = 60


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[Agent]:
    """Ana, with a conversation under attack and one beside it; cleo's has the same id."""
    with django_db_blocker.unblock():
        ana, cleo = make_agent("ana's", "ana"), make_agent("cleo's", "cleo")
        for agent in (ana, cleo):
            for talk, said in ((HOME, messages(MOVING, MORNING)), (BESIDE, talk_beside())):
                post(agent, talk, said)
                agent.flush(talk)
            agent.post("notes", {"content": "Mira likes canals.", "conversation_id": str(BESIDE)})
        assert drain_jobs().dead == 0
        yield ana
        delete_all_rows()


def talk_beside() -> list[dict[str, Any]]:
    return messages(RUNNING, EVENING)


def digest_elsewhere(ana: Agent) -> str:
    """Return a hash of every row that is not of the conversation under attack."""
    home = home_of(ana)
    found = hashlib.sha256()
    with walls.across_tenants():
        for table, path in PATHS.items():
            rows = table.across_tenants.exclude(**{path: home.id})  # type: ignore[attr-defined]
            for row in rows.order_by("id").values():
                row.pop("last_used_at", None)
                found.update(repr(sorted(row.items(), key=str)).encode())
        for plain in (Tenant.objects, APIKey.across_tenants):
            ids = plain.order_by("id").values_list("id", "name")
            found.update(repr(list(ids)).encode())
    return found.hexdigest()


def home_of(ana: Agent) -> Conversation:
    return Conversation.objects.of(ana.tenant).get(external_id=HOME)


def foreign_ids() -> list[str]:
    """Return ids of facts, episodes and messages that the attacked run may not reach."""
    with walls.across_tenants():
        facts = Fact.across_tenants.exclude(conversation__external_id=HOME)
        stranger = Fact.across_tenants.filter(tenant__name="cleo's")
        return [FOREIGN, *map(str, [*facts.values_list("id", flat=True)[:3], stranger[0].id])]


def strike(ana: Agent, attack: Attack) -> list[Message]:
    """Ask something, then let the attack be said between harmless messages; return them."""
    ask = {"conversation_id": str(HOME), "query": "Where does Mira work?"}
    assert ana.post("retrieve_memory", ask).status_code == 200
    name = {"name": "Mira"} if attack.role == "user" else {}
    said = [
        {"role": "user", "name": "Mira", "content": "What is the weather like today?"},
        {"role": attack.role, "content": attack.text, **name},
        {"role": "assistant", "content": "It rains in most places."},
        {"role": "user", "name": "Mira", "content": "Thank you, that helps."},
    ]
    post(ana, HOME, said)
    answer = ana.post("flush", {"conversation_id": str(HOME)})
    assert answer.status_code == 202, answer.content
    drained = drain_jobs()
    assert drained.dead == 0
    home = home_of(ana)
    return list(Message.objects.of(ana.tenant).filter(conversation=home).order_by("seq"))[-4:]


def assert_contained(ana: Agent, attack: Attack, *, held_before: set[uuid.UUID]) -> None:
    """Everything that an attack must not do, whichever engine read it."""
    home = home_of(ana)
    mine = {"conversation": home}
    said = list(Message.objects.of(ana.tenant).filter(**mine).order_by("seq"))
    assert [message.seq for message in said] == list(range(1, len(said) + 1))
    window = sum(message.episode_id is None for message in said)
    assert window == home.pending_count
    open_jobs = Job.objects.of(ana.tenant).exclude(state=State.DONE)
    assert not window or open_jobs.exists()

    facts = list(Fact.objects.of(ana.tenant).filter(**mine))
    opened = [fact for fact in facts if fact.id not in held_before]
    closed = [fact for fact in facts if fact.id in held_before and fact.invalid_at]
    assert len(opened) <= cap_openings(4)
    replaced = [fact for fact in closed if fact.superseded_by_id]  # the old one stays on record
    assert len(closed) - len(replaced) <= cap_invalidations(len(held_before))
    assert len(replaced) <= len(opened)
    for fact in opened:
        assert 0 < len(fact.fact) <= FACT_CHARACTERS_AT_MOST
        assert not UNSEEN.search(fact.fact)
        assert len(fact.keywords) <= 20 and all(len(word) <= 100 for word in fact.keywords)
    for episode in Episode.objects.of(ana.tenant).filter(**mine):
        assert len(episode.title) <= 1_000 and clip_words(episode.title, 15) == episode.title
        assert len(episode.summary) <= 4_000 and clip_words(episode.summary, 50) == episode.summary

    within = {(message.episode_id, message.seq) for message in said}
    for evidence in Evidence.objects.of(ana.tenant).filter(fact__in=[one.id for one in facts]):
        assert {(evidence.episode_id, seq) for seq in evidence.message_seqs} <= within
    if attack.role != "user":
        assert_steers_nobody(attack, opened, seq=said[-3].seq)
    reviewed = Review.objects.of(ana.tenant).exclude(episode__conversation=home)
    assert not reviewed.filter(created_at__gte=said[-1].received_at).exists()


def assert_steers_nobody(attack: Attack, opened: list[Fact], *, seq: int) -> None:
    """What others than users say steers nobody, and a tool says nothing about who one is.

    What a model blames on a user, so that nothing tells who said it, waits at most.
    """
    for fact in opened:
        guarded = fact.category == "guideline" or steers_agent(fact.fact)
        if attack.role == "tool":
            guarded = guarded or fact.category == "identity"
        if guarded:
            assert fact.invalidated_because == "waiting", fact.fact
            rows = Evidence.objects.of(fact.tenant).filter(fact=fact)
            named = {one for row in rows for one in row.message_seqs}
            assert attack.role != "tool" or (named and seq not in named), fact.fact


def assert_shown_as_data(model: ModelServer, attack: Attack) -> None:
    """The fence stands where it should, and what was said keeps to its line."""
    assert model.asked
    for asked in model.asked:
        assert "tools" not in asked.body and "functions" not in asked.body
        lines = asked.user.splitlines()
        fence = lines[0]
        assert re.fullmatch(r"=== [0-9a-f]{16} ===", fence)
        assert lines.count(fence) == 2 and fence not in attack.text
        assert 'a fence, a line "=== … ==="' in asked.system and fence not in asked.system
        assert not UNSEEN.search(asked.user)
        assert not any(foreign in asked.user for foreign in set(foreign_ids()) - {FOREIGN})


def check_with_model(attack: Attack, world: Agent, model: ModelServer) -> None:
    obey(model, does=attack.does, foreign=foreign_ids())
    held = set(Fact.objects.of(world.tenant).values_list("id", flat=True))
    before = digest_elsewhere(world)
    strike(world, attack)
    assert digest_elsewhere(world) == before
    assert_contained(world, attack, held_before=held)
    assert_shown_as_data(model, attack)


def check_offline(attack: Attack, world: Agent) -> None:
    held = set(Fact.objects.of(world.tenant).values_list("id", flat=True))
    before = digest_elsewhere(world)
    strike(world, attack)
    assert digest_elsewhere(world) == before
    assert_contained(world, attack, held_before=held)


def test_the_corpus_is_large_and_says_nothing_twice() -> None:
    assert len(ATTACKS) >= FEWEST
    assert len({attack.text for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("attack", as_tests([pytest.mark.gate]))
def test_an_obedient_model_reaches_nothing_by_any_attack(
    attack: Attack, world: Agent, model: ModelServer
) -> None:
    check_with_model(attack, world, model)


@pytest.mark.parametrize("attack", as_tests([pytest.mark.gate]))
def test_the_offline_engine_obeys_no_attack(attack: Attack, world: Agent) -> None:
    check_offline(attack, world)

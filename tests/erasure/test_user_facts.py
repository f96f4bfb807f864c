"""A fact survives the erasure or rollback of one conversation with the evidence of the others."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Message
from indexing.models import SearchUnit, ShelfSize
from jobs.draining import drain_jobs
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence, Fact, Suggestion
from tests.conftest import Agent
from tests.erasure.lives import erase
from tests.semantic.learning import act
from tests.talk import MORNING, messages
from wings.suggestions import suggestions

pytestmark = pytest.mark.django_db

NUMBER = "My phone number is 555 1234."
NEW_NUMBER = "My new phone number is 555 9876."
CAT = "My cat is called Pixel."


def tell(agent: Agent, *said: str, user_id: str = "mira") -> uuid.UUID:
    """Have a conversation with a user about these things; return its id."""
    conversation = uuid.uuid4()
    lines = messages([("Mira", line) for line in said], MORNING)
    body = {"conversation_id": str(conversation), "user_id": user_id, "messages": lines}
    assert agent.post("add_messages", body).status_code == 201
    drained = agent.flush(conversation)
    assert (drained.later, drained.dead) == (0, 0)
    return conversation


def known(agent: Agent) -> dict[str, list[uuid.UUID]]:
    """Return the active facts, each with its home and the conversations that support it."""
    facts = Fact.objects.of(agent.tenant).filter(invalid_at=None).select_related("conversation")
    found = {}
    for fact in facts.order_by("id"):
        rows = Evidence.objects.of(agent.tenant).filter(fact=fact, withdrawn_by=None)
        homes = rows.order_by("id").values_list("episode__conversation__external_id", flat=True)
        assert fact.fact not in found, "it is known twice"
        found[fact.fact] = [fact.conversation.external_id, *homes]
        check_units(fact)
    return found


def check_units(fact: Fact) -> None:
    """Check that a fact is found at home, and by a copy wherever else its evidence is."""
    evidence = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    units = SearchUnit.objects.of(fact.tenant).filter(memory=fact.id)
    others = set(evidence.exclude(conversation=None).values_list("conversation", flat=True))
    homes = sorted(units.values_list("conversation", flat=True))
    assert homes == sorted({fact.conversation_id, *others})
    assert set(units.exclude(user_scope=None).values_list("conversation", flat=True)) == {
        fact.conversation_id
    }


def check_counts(tenant: Tenant) -> None:
    """Check that the sizes of shelves are those of what is there."""
    for size in ShelfSize.objects.of(tenant).filter(shelf="fact", user_scope=None):
        units = SearchUnit.objects.of(tenant).filter(
            conversation=size.conversation_id, shelf="fact", invalid_at=None
        )
        assert size.units == units.count()


def find_sentence(agent: Agent, word: str) -> str:
    return next(fact for fact in known(agent) if word in fact)


def test_a_fact_said_twice_survives_the_erasure_of_either(ana: Agent) -> None:
    first, second = tell(ana, NUMBER, CAT), tell(ana, NUMBER)
    old = find_sentence(ana, "1234")
    assert known(ana)[old] == [first, first, second]
    erase(ana, "conversation", second)
    assert known(ana)[old] == [first, first] and "Pixel" in str(known(ana))
    third = tell(ana, NUMBER)
    erase(ana, "conversation", first)
    drain_jobs()
    assert list(known(ana).values()) == [[third, third]] and old in known(ana)
    check_counts(ana.tenant)


def test_a_fact_survives_the_erasure_of_the_message_that_worded_it(ana: Agent) -> None:
    first, second = tell(ana, NUMBER, CAT), tell(ana, NUMBER)
    row = Message.objects.of(ana.tenant).get(conversation__external_id=first, content=NUMBER)
    erase(ana, "message", row.id)
    drain_jobs()
    old = find_sentence(ana, "1234")
    assert known(ana)[old] == [second, second]
    assert known(ana)[find_sentence(ana, "Pixel")] == [first, first]
    check_counts(ana.tenant)


def test_a_fact_survives_the_rollback_of_what_worded_it(ana: Agent) -> None:
    first, second = tell(ana, NUMBER, CAT), tell(ana, NUMBER)
    body = {"conversation_id": str(first), "since": MORNING.isoformat(), "reason": "A prank."}
    answer = ana.post("rollbacks", body)
    assert answer.status_code in {200, 201, 202}, answer.content
    drain_jobs()
    assert known(ana) == {find_sentence(ana, "1234"): [second, second]}
    check_counts(ana.tenant)


def test_what_only_an_erased_conversation_had_ended_is_true_again(ana: Agent) -> None:
    first, second = tell(ana, NUMBER), tell(ana, NEW_NUMBER)
    old, new = find_sentence(ana, "1234"), find_sentence(ana, "9876")
    (row,) = Suggestion.objects.of(ana.tenant)
    assert (row.old_fact.fact, row.new_fact.fact) == (old, new)
    suggestions.accept_suggestion(act=act(ana), suggestion_id=row.id)
    assert list(known(ana)) == [new]
    erase(ana, "conversation", second)
    drain_jobs()
    assert known(ana) == {old: [first, first]}


def test_another_user_s_erasure_changes_nothing(ana: Agent) -> None:
    first, other = tell(ana, NUMBER), tell(ana, NUMBER, user_id="jonas")
    erase(ana, "conversation", other)
    assert list(known(ana).values()) == [[first, first]]


def test_a_tenant_goes_with_all_that_its_conversations_share(ana: Agent) -> None:
    tell(ana, NUMBER), tell(ana, NUMBER), tell(ana, NEW_NUMBER)
    (row,) = Suggestion.objects.of(ana.tenant)
    suggestions.decide_together(
        act=act(ana), suggestion_ids=[row.id], holding={row.new_fact_id}, merges=True
    )
    tenant: Any = ana.tenant
    answer = ana.post("erasures", {"scope": "tenant", "id": str(tenant.id), "reason": "Over."})
    assert answer.status_code == 202, answer.content
    drain_jobs()
    assert not Fact.objects.of(tenant).exists() and not Evidence.objects.of(tenant).exists()

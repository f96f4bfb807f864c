"""Whose what can be found is: the statistics of users, and what a conversation finds of theirs."""

from __future__ import annotations

import uuid
from collections import Counter

import numpy as np
import pytest

from episodic.models import Conversation
from indexing import queries, services
from indexing.erasing import forget_words
from indexing.models import SearchUnit, SearchVector, ShelfSize, WordCount
from indexing.owners import owners_of, scope_of
from retrieval.scope import in_one
from retrieval.search.in_conversation import search
from tests.conftest import Agent
from tests.indexing.makers import DIM, NOW, fill, make_conversation
from tests.retrieval.searches import make_question

pytestmark = pytest.mark.django_db
Row = tuple[uuid.UUID | None, uuid.UUID | None]


def sizes(agent: Agent) -> dict[Row, int]:
    """Return how many facts are counted to each conversation, user, and to both."""
    rows = ShelfSize.objects.of(agent.tenant).exclude(units=0)
    return {(row.conversation_id, row.user_scope): row.units for row in rows}


def counts(agent: Agent, **where: object) -> Counter[int]:
    words = WordCount.objects.of(agent.tenant).filter(units__gt=0, **where)
    return Counter(dict(words.values_list("slot", "units")))


def test_a_scope_is_of_one_user_of_one_tenant(ana: Agent, cleo: Agent) -> None:
    assert scope_of(ana.tenant.id, "mira") == scope_of(ana.tenant.id, "mira")
    scopes = {scope_of(agent.tenant.id, user) for agent in (ana, cleo) for user in ("mira", "olga")}
    assert len(scopes) == 4
    assert scope_of(ana.tenant.id, "") is None


def test_units_count_to_their_conversation_and_to_their_user(ana: Agent) -> None:
    one, other = make_conversation(ana.tenant), make_conversation(ana.tenant)
    mira, olga = (scope_of(ana.tenant.id, user) for user in ("mira", "olga"))
    first, _ = fill(one, ["tea and milk", "green tea"], user_id="mira")
    fill(one, ["cocoa"], user_id="olga")
    fill(other, ["coffee"], user_id="mira")
    fill(other, ["water"])
    expected = {
        (one.id, None): 3,
        (one.id, mira): 2,
        (one.id, olga): 1,
        (other.id, None): 2,
        (other.id, mira): 1,
        (None, mira): 3,
        (None, olga): 1,
    }
    assert sizes(ana) == expected
    services.mark_memories(tenant=ana.tenant, marks=[(first, NOW, NOW)])
    expected[one.id, None] -= 1
    expected[one.id, mira] -= 1
    expected[None, mira] -= 1
    assert sizes(ana) == expected


def test_what_moves_to_a_user_stays_counted_to_its_conversation(ana: Agent) -> None:
    one = make_conversation(ana.tenant)
    mira = scope_of(ana.tenant.id, "mira")
    fill(one, ["tea and milk", "green tea"])
    assert sizes(ana) == {(one.id, None): 2}
    SearchUnit.objects.of(ana.tenant).update(user_scope=mira)
    assert sizes(ana) == {(one.id, None): 2, (one.id, mira): 2, (None, mira): 2}
    SearchUnit.objects.of(ana.tenant).update(user_scope=None)
    assert sizes(ana) == {(one.id, None): 2}


def test_the_words_of_a_user_of_many_conversations_are_counted(ana: Agent) -> None:
    """Each conversation is small; what they hold together is not."""
    places = [make_conversation(ana.tenant) for _ in range(3)]
    mira = scope_of(ana.tenant.id, "mira")
    for place in places:
        fill(place, [f"common w{number % 50}" for number in range(800)], user_id="mira")
    assert not WordCount.objects.of(ana.tenant).exclude(conversation=None).exists()
    whole = counts(ana, user_scope=mira)
    assert sorted(whole.values()) == [*[48] * 50, 2400]
    fill(places[0], ["common"], user_id="mira")
    assert max(counts(ana, user_scope=mira).values()) == 2401
    SearchVector.objects.of(ana.tenant).delete()
    SearchUnit.objects.of(ana.tenant).delete()
    assert counts(ana) == Counter()
    forget_words(tenant=ana.tenant, conversation_id=places[0].id)
    assert not WordCount.objects.of(ana.tenant).exists()
    assert not ShelfSize.objects.of(ana.tenant).filter(conversation=None).exists()


def ask(place: Conversation) -> list[uuid.UUID]:
    question = make_question(
        words="tea", vector=np.ones(DIM, dtype=np.float32) / DIM**0.5, model="test", now=NOW
    )
    return sorted(hit.memory_id for hit in search(in_one(place), question))


def test_a_conversation_finds_all_that_is_its_own_whosever_it_is(ana: Agent) -> None:
    one, other = make_conversation(ana.tenant), make_conversation(ana.tenant)
    one.tenant = other.tenant = ana.tenant
    mine = [
        *fill(one, ["green tea"], user_id="mira"),
        *fill(one, ["black tea"], user_id="olga", seed=2),
        *fill(one, ["mint tea"], seed=3),
    ]
    theirs = fill(other, ["white tea"], user_id="mira", seed=4)
    assert ask(one) == sorted(mine)
    assert ask(other) == theirs
    near = queries.nearest(
        tenant=ana.tenant,
        conversation=one.id,
        vector=np.ones(DIM, dtype=np.float32) / DIM**0.5,
        model="test",
        at_most=10,
    )
    assert sorted(row.memory_id for row in near) == sorted(mine)
    scopes = [scope_of(ana.tenant.id, user) for user in ("mira", "olga")]
    owners = owners_of(tenant=ana.tenant, conversation_id=one.id)
    assert owners[0] == one.id and set(owners[1:]) == set(scopes)

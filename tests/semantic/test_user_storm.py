"""Many at once write the facts of one user, and nobody waits in a circle."""

from __future__ import annotations

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, connections

from indexing.models import SearchUnit
from jobs.draining import drain_jobs
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.walls import across_tenants
from semantic import curation
from semantic.models import Changeset, Evidence, Fact, Suggestion
from semantic.reverts import revert_changeset
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.semantic.learning import act
from tests.talk import MORNING, messages
from wings.suggestions import suggestions

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

CONVERSATIONS, ROUNDS = 6, 5
PLACES = ("Oslo", "Rome", "Ghent", "Porto")
THINGS = ("a cat", "a boat", "a red bike", "a very old piano", "two bees")


def count_deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


class Storm:
    """What several threads do to the conversations of one user."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.talks = [uuid.uuid4() for _ in range(CONVERSATIONS)]
        self.chance = random.Random(34)
        self.failures: list[BaseException] = []

    def post(self) -> None:
        """Say something that others say, too, and have facts drawn from it at once."""
        agent = make_agent("ana's", f"poster {uuid.uuid4()}")
        for _ in range(ROUNDS):
            for talk in self.talks:
                place, thing = self.chance.choice(PLACES), self.chance.choice(THINGS)
                said = [("Mira", f"I live in {place}."), ("Mira", f"I own {thing}.")]
                body: dict[str, Any] = {"conversation_id": str(talk), "user_id": "mira"}
                body["messages"] = messages(said, MORNING)
                assert agent.post("add_messages", body).status_code == 201
                assert agent.post("flush", {"conversation_id": str(talk)}).status_code == 202

    def work(self) -> None:
        for _ in range(2 * ROUNDS):
            drain_jobs()

    def curate(self) -> None:
        """Retire, restore, decide and revert, whatever is there; somebody else may be quicker."""
        changes = (self._retire, self._restore, self._decide, self._revert)
        for _ in range(4 * ROUNDS):
            with suppress(Problem):
                self.chance.choice(changes)()

    def _choose(self, count: int) -> list[uuid.UUID]:
        facts = Fact.objects.of(self.agent.tenant).order_by("?")
        return list(facts.values_list("id", flat=True)[:count])

    def _retire(self) -> None:
        because = Fact.Because.SUPERSEDED
        curation.invalidate_facts(act=act(self.agent), fact_ids=self._choose(3), because=because)

    def _restore(self) -> None:
        curation.restore_facts(act=act(self.agent), fact_ids=self._choose(1))

    def _decide(self) -> None:
        row = Suggestion.objects.of(self.agent.tenant).order_by("?").first()
        if row is not None:
            suggestions.accept_suggestion(act=act(self.agent), suggestion_id=row.id)

    def _revert(self) -> None:
        row = Changeset.objects.of(self.agent.tenant).order_by("?").first()
        if row is not None:
            revert_changeset(act=act(self.agent), changeset_id=row.id, leave_conflicts=True)

    def erase(self) -> None:
        agent = make_agent("ana's", "eraser")
        for talk in self.talks[:2]:
            body = {"scope": "conversation", "id": str(talk), "reason": "A request."}
            agent.post("erasures", body)

    def run(self) -> None:
        tasks = (self.post, self.work, self.work, self.curate, self.curate, self.erase)
        threads = [threading.Thread(target=self._guard, args=[task]) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(300)
        assert not any(thread.is_alive() for thread in threads)

    def _guard(self, task: Callable[[], None]) -> None:
        try:
            with across_tenants():
                task()
        except BaseException as error:
            self.failures.append(error)
        finally:
            connections.close_all()


def test_writers_of_one_user_s_facts_neither_wait_in_a_circle_nor_write_twice(ana: Agent) -> None:
    before, storm = count_deadlocks(), Storm(ana)
    storm.run()
    assert storm.failures == []
    drained = drain_jobs()
    assert drained.dead == 0
    assert count_deadlocks() == before
    active = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    for fact in active:
        counting = Evidence.objects.of(ana.tenant).filter(fact=fact, withdrawn_by=None)
        others = set(counting.exclude(conversation=None).values_list("conversation", flat=True))
        units = SearchUnit.objects.of(ana.tenant).filter(memory=fact.id)
        homes = Counter(units.values_list("conversation", flat=True))
        assert homes == Counter({fact.conversation_id, *others})

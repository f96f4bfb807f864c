"""Which units lack a vector: of a text spread over several, the first stands for all."""

from __future__ import annotations

import pytest

from indexing import services as index
from indexing.models import SearchUnit, SearchVector
from indexing.queries import conversations_without_vectors, units_without_vector
from tests.conftest import Agent
from tests.indexing.makers import fill, make_conversation

pytestmark = pytest.mark.django_db
LONG = " ".join(f"word{number}" for number in range(700))


def test_a_text_of_several_units_lacks_one_vector(ana: Agent, cleo: Agent) -> None:
    conversation = make_conversation(ana.tenant)
    fill(conversation, [LONG])
    units = list(SearchUnit.objects.of(ana.tenant).order_by("id"))
    assert len(units) > 2
    asked = {"conversation_id": conversation.id, "at_most": 9}
    assert units_without_vector(tenant=ana.tenant, model="test", **asked) == []
    assert units_without_vector(tenant=ana.tenant, model="other", **asked) == units[:1]
    assert units_without_vector(tenant=cleo.tenant, model="other", **asked) == []
    assert conversations_without_vectors(tenant=ana.tenant, model="other") == [conversation.id]


def test_what_is_removed_is_gone_whole_and_alone(ana: Agent, cleo: Agent) -> None:
    conversation = make_conversation(ana.tenant)
    gone, kept = fill(conversation, [LONG, "something else"])
    index.remove_entries(tenant=cleo.tenant, memory_id=gone)
    assert SearchUnit.objects.of(ana.tenant).filter(memory=gone).exists()
    index.remove_entries(tenant=ana.tenant, memory_id=gone)
    for table in (SearchUnit, SearchVector):
        assert {row.memory_id for row in table.objects.of(ana.tenant)} == {kept}

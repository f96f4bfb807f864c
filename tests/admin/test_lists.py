"""Lists can be searched and narrowed, and cost the same however many rows there are."""

from __future__ import annotations

import html
import uuid
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from episodic.models import Conversation, Message
from memoryproject.adminkit.base import CappedPaginator
from memoryproject.adminkit.site import find_lists
from semantic.models import Fact
from tests.admin.pages import READ_ONLY, newest, page
from tests.conftest import Agent
from wings.people.models import Person
from wings.suggestions.suggestions import find_suggestions

pytestmark = pytest.mark.django_db


def find(browser: Client, model: type[Model], **query: Any) -> list[Any]:
    """Return the rows that a list shows."""
    answer = browser.get(page(model, "changelist"), query)
    assert answer.status_code == 200, answer
    return list(answer.context["cl"].result_list)


def test_facts_are_found_by_their_words(auditor: Client, past: Agent) -> None:
    found = find(auditor, Fact, q="rotterdam")
    assert found and all("rotterdam" in fact.search_text.lower() for fact in found)
    assert len(found) < Fact.objects.of(past.tenant).count()
    assert find(auditor, Fact, q="submarine") == []


def test_a_conversation_is_found_by_the_agents_id_and_by_ours(
    auditor: Client, past: Agent, cleo: Agent
) -> None:
    conversation = Conversation.objects.of(past.tenant).get()
    cleo.say(uuid.uuid4(), "Hello?")
    for sought in (conversation.id, conversation.external_id, f" {conversation.external_id} "):
        assert find(auditor, Conversation, q=sought) == [conversation]
    assert find(auditor, Conversation, q=uuid.uuid4()) == []
    facts = find(auditor, Fact, q=conversation.external_id)
    assert {fact.conversation_id for fact in facts} == {conversation.id}


def test_every_list_of_the_menu_says_what_it_holds(auditor: Client, past: Agent) -> None:
    models = {model._meta.label_lower: model for model in admin.site._registry}
    for label, entry in find_lists().items():
        answer = auditor.get(page(models[label], "changelist"))
        assert len(entry.about) > 20, label
        assert entry.about in html.unescape(answer.content.decode()), label


@pytest.mark.gate
def test_every_list_takes_words_ids_and_rubbish_in_its_search(auditor: Client, past: Agent) -> None:
    for model in READ_ONLY:
        for sought in ("mira 019", "' OR 1=1 -- %"):
            find(auditor, model, q=sought)
        assert newest(model) in find(auditor, model, q=str(newest(model).pk))


WRONG = [
    (name, rubbish) for name in ("", "__exact", "__contains") for rubbish in ("%00", "%ED%A0%80")
]
WRONG += [
    ("__regex", "("),
    ("__range", "("),
    ("__search", "x"),
    ("__nothing", "x"),
    ("__year", "9999999"),
]


def assert_looked_up_or_refused(browser: Client, address: str) -> None:
    with transaction.atomic():  # what the database refuses ends the transaction of the test
        answer = browser.get(address)
        transaction.set_rollback(True)
    assert answer.status_code in {200, 400} or answer["Location"].endswith("?e=1"), address


def test_a_filter_that_cannot_be_looked_up_leaves_the_whole_list(
    auditor: Client, past: Agent
) -> None:
    for model, name in ((Fact, "category"), (Message, "content"), (User, "username")):
        for lookup, rubbish in WRONG:
            address = f"{page(model, 'changelist')}?{name}{lookup}={rubbish}"
            assert_looked_up_or_refused(auditor, address)
    answer = auditor.get(page(Fact, "changelist") + "?category__exact=%00")
    assert answer.status_code == 302 and auditor.get(answer["Location"]).status_code == 200


@pytest.mark.gate
def test_no_list_fails_for_rubbish_in_any_filter(auditor: Client, past: Agent) -> None:
    for model in admin.site._registry:
        for field in model._meta.fields:
            for lookup in ("__exact", "__regex"):
                address = f"{page(model, 'changelist')}?{field.attname}{lookup}=%00"
                assert_looked_up_or_refused(auditor, address)


@pytest.mark.gate
def test_every_filter_of_every_list_can_be_chosen(auditor: Client, past: Agent) -> None:
    for model in READ_ONLY:
        shown = auditor.get(page(model, "changelist")).context["cl"]
        for chosen in [list(spec.choices(shown))[-1] for spec in shown.filter_specs]:
            answer = auditor.get(page(model, "changelist") + chosen["query_string"])
            assert answer.status_code == 200, (model, chosen)


def test_facts_are_narrowed_to_those_still_held(auditor: Client, past: Agent) -> None:
    held = find(auditor, Fact, state="active")
    assert {fact.id for fact in held} == {
        fact.id for fact in Fact.objects.of(past.tenant).filter(invalid_at=None)
    }
    assert not set(held) & set(find(auditor, Fact, state="superseded"))


def test_a_fact_says_how_many_suggestions_are_open_about_it(auditor: Client, past: Agent) -> None:
    counts = {fact.id: fact.conflict_count for fact in find(auditor, Fact)}
    (suggestion,) = find_suggestions(past.tenant)
    assert counts[suggestion.old_fact_id] == counts[suggestion.new_fact_id] == 1
    assert sum(counts.values()) == 2


def test_newest_comes_first(auditor: Client, past: Agent) -> None:
    shown = [message.id for message in find(auditor, Message)]
    assert shown == sorted(shown, reverse=True)


class CountsToThree(CappedPaginator):
    at_most = 3


def test_a_list_counts_no_further_than_its_cap(auditor: Client, past: Agent) -> None:
    messages = Message.across_tenants.order_by("id")
    assert messages.count() > 3
    assert CountsToThree(messages, per_page=2).count == 3
    shown = auditor.get(page(Message, "changelist")).context["cl"]
    assert isinstance(shown.paginator, CappedPaginator)


def count_queries(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(address).status_code == 200
    return len(asked)


@pytest.mark.gate
def test_a_list_asks_no_more_of_the_database_for_25_rows_than_for_5(
    auditor: Client, crowd: Agent
) -> None:
    for model in READ_ONLY:
        registered = admin.site.get_model_admin(model)
        usual, counts = registered.list_per_page, {}
        for rows in (5, 25):
            registered.list_per_page = rows
            counts[rows] = count_queries(auditor, page(model, "changelist"))
        registered.list_per_page = usual
        # People: also those whom nobody has added. Facts: also sources, servings and suggestions.
        assert counts[5] == counts[25] <= (16 if model in {Person, Fact} else 12), (model, counts)

"""People find what was said and learnt by its words, in one tenant, masked where it must be."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from episodic import revealing
from episodic.models import Conversation
from semantic import curation
from semantic.models import Fact
from tests.conftest import Agent, make_agent, tell
from tests.console.visitors import visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.notes.graphs import write

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"


def search(browser: Client, **asked: Any) -> str:
    answer = browser.get(reverse("console:search"), asked)
    assert answer.status_code == 200
    return str(answer.content.decode())


def found(page: str, kind: str) -> list[str]:
    """Return the texts of the results of a kind, without marks."""
    group = re.search(rf'aria-labelledby="found-{kind}".*?</section>', page, re.S)
    texts = re.findall(r'class="search-text.*?<a [^>]*>(.*?)</a>', group[0], re.S) if group else []
    return [html.unescape(re.sub(r"</?mark>", "", text)) for text in texts]


@pytest.fixture(scope="module")
def told(shared: None) -> uuid.UUID:
    """Ana's conversation, once for all tests of this file."""
    return tell(make_agent("ana's", "ana"), uuid.uuid4())


@pytest.fixture
def home(ana: Agent, told: uuid.UUID) -> Conversation:
    return Conversation.objects.of(ana.tenant).get(external_id=told)


def test_facts_episodes_and_messages_are_found_by_their_words_whatever_the_ending(
    curator: Client, home: Conversation
) -> None:
    page = search(curator, q="train marathons")
    assert found(page, "message") == ["How is the marathon training going?"]
    page = search(curator, q="mira")
    assert found(page, "fact") and found(page, "episode") and found(page, "message")


def test_the_words_are_marked_and_nothing_else_is_markup(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    ana.say(home.external_id, f"The zeppelin {SCRIPT} flies.")
    ana.flush(home.external_id)
    page = search(curator, q="zeppelins fly")
    assert "<mark>zeppelin</mark>" in page and "<mark>flies</mark>" in page
    assert html.escape(SCRIPT) in page and SCRIPT not in page
    assert SCRIPT not in search(curator, q=SCRIPT)


def test_all_words_must_be_there_and_a_phrase_letter_by_letter(
    curator: Client, home: Conversation
) -> None:
    heavy = "I'd love that! I own about forty boxes of books and a very heavy piano."
    assert found(search(curator, q="piano boxes"), "message") == [heavy]
    assert found(search(curator, q="piano submarine"), "message") == []
    assert found(search(curator, q='"heavy piano"'), "message") == [heavy]
    assert found(search(curator, q='"piano heavy"'), "message") == []


def test_a_message_is_found_by_its_own_words_not_by_its_neighbours(
    curator: Client, home: Conversation
) -> None:
    said = found(search(curator, q="waterproof", kind="message"), "message")
    assert said == ["I bought waterproof running shoes, so the rain does not bother me."]


def test_chinese_is_found_by_a_part_of_a_sentence(
    curator: Client, ana: Agent, conversation: uuid.UUID
) -> None:
    ana.say(conversation, "我下个月要从上海搬到北京去工作。")
    ana.say(conversation, "祝你一切顺利!", role="assistant")
    ana.flush(conversation)
    page = search(curator, q="搬到北京", kind="message")
    assert found(page, "message") == ["我下个月要从上海搬到北京去工作。"]
    assert "<mark>搬到北京</mark>" in page


def test_what_stands_in_no_episode_yet_is_found_too(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    ana.say(home.external_id, "The lighthouse keeper called.")
    page = search(curator, q="lighthouse keeper")
    assert found(page, "message") == ["The lighthouse keeper called."]
    assert "not in an episode yet" in page


def test_a_fact_that_is_no_longer_held_is_found_with_its_state(
    auditor: Client, ana: Agent, home: Conversation
) -> None:
    fact = Fact.objects.of(ana.tenant).filter(fact__contains="piano").order_by("id")[0]
    act = curation.Act(tenant=ana.tenant, actor="bo", reason="A joke.")
    curation.invalidate_facts(act=act, fact_ids=[fact.id], because=Fact.Because.WRONG)
    page = search(auditor, q="piano", kind="fact")
    assert fact.fact in found(page, "fact") and ">wrong<" in page
    assert fact.fact not in found(search(auditor, q="piano", state="held"), "fact")
    assert found(search(auditor, q="piano", state="closed"), "fact") == [fact.fact]


def test_an_auditor_finds_messages_only_once_they_are_shown(
    auditor: Client, home: Conversation
) -> None:
    page = search(auditor, q="waterproof", kind="message")
    assert found(page, "message") == []
    person = auditor.get(reverse("console:search")).context["user"]
    revealing.reveal(person=person, conversation=home, reason="A complaint.")
    assert "running shoes" in search(auditor, q="waterproof", kind="message")


def test_waiting_messages_are_not_found_either(
    auditor: Client, ana: Agent, home: Conversation
) -> None:
    ana.say(home.external_id, "The lighthouse keeper called.")
    page = search(auditor, q="lighthouse")
    assert found(page, "message") == [] and "keeper" not in page


def test_another_tenant_is_searched_only_when_it_is_chosen(
    curator: Client, ana: Agent, cleo: Agent, home: Conversation
) -> None:
    cleo.say(home.external_id, "My piano is made of glass.")
    cleo.flush(home.external_id)
    assert "glass" not in search(curator, q="piano", tenant="ana's")
    page = search(curator, q="piano", tenant="cleo's", kind="message")
    assert found(page, "message") == ["My piano is made of glass."]


def test_the_search_is_narrowed_by_conversation_and_time(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    other = uuid.uuid4()
    ana.say(other, "Another piano, in another town.", timestamp="2026-06-01T10:00:00Z")
    ana.flush(other)
    both = {"q": "piano", "kind": "message"}
    assert len(found(search(curator, **both), "message")) == 3
    assert len(found(search(curator, **both, conversation=other), "message")) == 1
    assert len(found(search(curator, **both, conversation=home.id), "message")) == 2
    assert len(found(search(curator, **both, since="2026-06-01"), "message")) == 1
    assert len(found(search(curator, **both, until="2026-03-02"), "message")) == 2
    assert found(search(curator, **both, until="2026-03-01"), "message") == []


def test_an_id_opens_its_row_and_an_unknown_one_is_searched(
    curator: Client, home: Conversation
) -> None:
    page = reverse("admin:episodic_conversation_change", args=[home.id])
    for named in (home.id, home.external_id):
        answer = curator.get(reverse("console:search"), {"q": f" {named} "})
        assert (answer.status_code, answer["Location"]) == (302, page)
    search(curator, q=uuid.UUID(int=7))


@pytest.mark.gate
def test_one_kind_is_shown_in_pages(curator: Client, ana: Agent, conversation: uuid.UUID) -> None:
    for number in range(23):
        ana.say(conversation, f"Apple number {number} fell from the tree.")
    ana.flush(conversation)
    first = search(curator, q="apple", kind="message")
    second = search(curator, q="apple", kind="message", page=2)
    assert (len(found(first, "message")), len(found(second, "message"))) == (20, 3)
    assert not set(found(first, "message")) & set(found(second, "message"))
    assert 'rel="next"' in first and 'rel="next"' not in second


@pytest.mark.parametrize(
    "asked",
    [
        {"q": "x\x00y"}, {"q": '"'}, {"q": "'; DROP TABLE x; --"}, {"q": "&|!():*<->"},
        {"q": "piano", "conversation": "no id"}, {"q": "piano", "conversation": uuid.UUID(int=7)},
        {"q": "piano", "since": "yesterday"}, {"q": "piano", "page": "-1"},
        {"q": "piano", "until": "9999-12-31"}, {"q": "piano", "kind": "note"},
        {"q": "piano", "page": "900"}, {"q": "a " * 700}, {"q": "💥 �"}, {"tenant": "nobody"},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_is_typed_the_page_says_what_is_wrong(
    curator: Client, home: Conversation, asked: dict[str, Any]
) -> None:
    search(curator, **asked)


def test_a_search_costs_the_same_however_much_it_finds(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    def count(**asked: Any) -> int:
        with CaptureQueriesContext(connection) as made:
            search(curator, **asked)
        return len(made)

    count(q="mira")
    few, many = count(q="waterproof"), count(q="mira")
    assert many <= few + 2 and many <= 40


def test_somebody_without_a_role_is_refused(home: Conversation) -> None:
    for role in ("", "operator"):
        answer = visit_as(role).get(reverse("console:search"), {"q": "piano"})
        assert answer.status_code == 403


def test_notes_are_found_by_label_and_text_each_once_with_type_and_page(
    curator: Client, ana: Agent, home: Conversation
) -> None:
    paragraphs = "\n\n".join(
        [f"The kraken sleeps, {number}. {'Deep. ' * 150}" for number in range(4)]
    )
    long = write(ana, paragraphs, label=f"Sea {SCRIPT}", source_type="knowledge_base")
    own = write(ana, "A kraken, too.", conversation_id=str(home.external_id))
    page = search(curator, q="kraken")
    assert sorted(found(page, "note")) == sorted([f"Sea {SCRIPT}", "A kraken, too."])
    assert (
        "knowledge base" in page and "of the whole tenant" in page and "<mark>kraken</mark>" in page
    )
    assert SCRIPT not in page
    for note in (long, own):
        assert reverse("admin:notes_note_change", args=[note]) in page
    assert found(search(curator, q="kraken", kind="note"), "note") == found(page, "note")
    assert found(search(curator, q="kraken", conversation=home.external_id), "note") == [
        "A kraken, too."
    ]


def test_a_deleted_note_and_a_strangers_are_not_found(
    curator: Client, ana: Agent, cleo: Agent
) -> None:
    gone = write(ana, "The kraken is gone.")
    write(cleo, "The kraken of a stranger.")
    assert found(search(curator, q="kraken", tenant=ana.tenant.name), "note")
    ana.client.delete(f"/api/v0/notes/{gone}")
    assert not found(search(curator, q="kraken", tenant=ana.tenant.name), "note")


def test_who_may_not_see_notes_finds_everything_else(ana: Agent, home: Conversation) -> None:
    write(ana, "Mira has a kraken.")
    browser = visit_as("curator")
    assert found(search(browser, q="mira"), "note")
    Group.objects.get(name="curator").permissions.remove(
        Permission.objects.get(codename="view_note")
    )
    page = search(browser, q="mira")
    assert found(page, "fact") and not found(page, "note")
    assert not found(search(browser, q="mira", kind="note"), "note")

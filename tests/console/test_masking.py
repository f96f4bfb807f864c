"""What was said shows to those who may read it, and to nobody else on any page."""

from __future__ import annotations

import html
import re
import uuid
from collections import Counter, deque
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from episodic.models import Conversation, Episode, Message, Reveal
from episodic.revealing import Reader
from indexing.models import SearchUnit
from jobs.models import Job, LLMCall
from memoryproject.tenancy.models import Tenant
from retrieval.models import ContextSection, Retrieval
from semantic.models import Evidence, Fact
from tests.admin.conftest import leave_rows_everywhere
from tests.admin.pages import page
from tests.conftest import Agent, make_agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.emptying import delete_all_rows
from tests.talk import whole_talk

pytestmark = pytest.mark.django_db

CANARY = "oh well, and so on and so forth, is it not"
"""Said in a message; too empty to get into a title, a summary or a fact, which all may read."""
FRAME = {"login", "logout", "password_change", "jsi18n", "auth"}
OF_A_KIND_AT_MOST = 2
"""Pages that differ in ids, filters, orders and page numbers only."""
AN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TAG = re.compile(r"<[^>]*>")
LINK = re.compile(r"""(?:href|action|src|data-[\w-]+)=["']([^"']+)""")


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[Agent]:
    """Return ana, in whose conversation the canary was said; gone after this file."""
    with django_db_blocker.unblock():
        ana = make_agent("ana's", "ana")
        leave_rows_everywhere(ana)
        say_the_canary(ana)
        yield ana
        delete_all_rows()


def say_the_canary(ana: Agent) -> None:
    """Say it in an episode and in the window, in metadata, and in a model's answer."""
    talk = uuid.uuid4()
    canary = {"role": "assistant", "name": "Jonas", "metadata": {"tag": CANARY}}
    for number, message in enumerate(whole_talk()):
        ana.say(talk, **message)
        if number in {5, 13}:
            ana.say(talk, f"Hm, {CANARY}?", **canary, timestamp=message["timestamp"])
    ana.flush(talk)
    ana.say(talk, f"Yes, {CANARY}?", **canary)
    question = {"conversation_id": str(talk), "query": "Which race does Mira train for?"}
    assert ana.post("retrieve_memory", question).status_code == 200
    put_the_canary_into_a_context(ana)
    LLMCall.objects.create(
        tenant=ana.tenant, request_sha256="1" * 64, purpose="segment", model="a-model", ok=True,
        response={"title": CANARY}, job=Job.objects.of(ana.tenant).order_by("-id")[0].id,
    )  # fmt: skip


def put_the_canary_into_a_context(ana: Agent) -> None:
    context = ana.post("contexts", {"max_tokens": 5000, "system_prompt": CANARY}).json()["id"]
    said = Message.objects.of(ana.tenant).filter(content__contains=CANARY, episode__isnull=False)
    for message in said:
        body = {"memory_id": str(message.episode_id)}
        assert ana.post(f"contexts/{context}/add", body).status_code == 200


def canary_talk(tenant: Tenant) -> Conversation:
    return Message.objects.of(tenant).filter(content__contains=CANARY)[0].conversation


@pytest.mark.gate
def test_the_canary_is_where_it_could_slip_out_and_not_where_it_may_be_read(past: Agent) -> None:
    """Else the tests below would pass for nothing, or fail for no reason."""
    said = Message.objects.of(past.tenant).filter(content__contains=CANARY)
    assert said.filter(episode=None).exists() and said.exclude(episode=None).exists()
    assert SearchUnit.objects.of(past.tenant).filter(lexical_text__contains=CANARY).exists()
    copied = ContextSection.objects.of(past.tenant).filter(content__contains=CANARY)
    assert {section.kind for section in copied} == {"system", "retrieved"}
    for model, fields in (
        (Episode, ("title", "summary")),
        (Fact, ("fact",)),
        (Retrieval, ("query",)),
    ):
        for row in model.objects.of(past.tenant).values_list(*fields):
            assert CANARY not in " ".join(row)


def crawl(browser: Client, *starts: str) -> dict[str, str]:
    """Return what the pages say that links lead to, by address: some of each kind."""
    seen: dict[str, str] = {}
    kinds: Counter[str] = Counter()
    waiting, known = deque(starts), set(starts)
    while waiting:
        address = waiting.popleft()
        seen[address] = text = read(browser, address)
        for link in LINK.findall(text):
            target = urlsplit(urljoin(address, html.unescape(link)))._replace(fragment="")
            path = target.path
            if target.netloc or not path.startswith("/admin/") or path.split("/")[2] in FRAME:
                continue
            kind = AN_ID.sub("<id>", path)
            if target.geturl() not in known and kinds[kind] < OF_A_KIND_AT_MOST:
                known.add(target.geturl())
                kinds[kind] += 1
                waiting.append(target.geturl())
    return seen


def read(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code in {200, 302, 400, 403, 404, 405}, address
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(body.decode())


def leaks(pages: dict[str, str]) -> list[str]:
    """Return the addresses of the pages that tell what was said."""
    return [
        address
        for address, text in pages.items()
        if CANARY in text or CANARY in html.unescape(TAG.sub("", text))
    ]


def starting_points(tenant: Tenant) -> list[str]:
    """Return the front page, every list, and the pages of what holds or lies beside the canary."""
    lists = [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for app in (
            "ai",
            "tenancy",
            "jobs",
            "indexing",
            "episodic",
            "semantic",
            "notes",
            "retrieval",
        )
        for model in apps.get_app_config(app).get_models()
        if admin.site.is_registered(model)
    ]
    said = Message.objects.of(tenant).filter(content__contains=CANARY)
    rows: list[Any] = [
        *said,
        *Episode.objects.of(tenant),
        *Conversation.objects.of(tenant),
        *Fact.objects.of(tenant),
        *Retrieval.objects.of(tenant),
        *LLMCall.objects.of(tenant),
        *Job.objects.of(tenant),
        *SearchUnit.objects.of(tenant).filter(lexical_text__contains=CANARY),
        *ContextSection.objects.of(tenant).filter(content__contains=CANARY),
    ]
    cases = [reverse("console:case", args=[row.id]) for row in Retrieval.objects.of(tenant)]
    asked = {"q": "forth", "query": "race", "phrase": "race"}
    searches = [
        f"{reverse(f'console:{name}')}?{'&'.join(f'{key}={words}' for key, words in asked.items())}"
        for name in ("search", "case_file", "playground", "export")
    ]
    return [
        "/admin/",
        *lists,
        *[page(type(row), "change", row.pk) for row in rows],
        *cases,
        *[f"{address}?format=json" for address in cases],
        *searches,
    ]


def export_everything(browser: Client) -> dict[str, str]:
    """Return the files that a person can take out."""
    address = reverse("console:export_download")
    found = {}
    for table in ("facts", "episodes", "messages", "notes"):
        for form in ("csv", "jsonl"):
            answer = browser.post(address, {"table": table, "format": form})
            streamed = answer.streaming and b"".join(answer.streaming_content)
            found[f"{table}.{form}"] = (streamed or answer.content).decode()
    return found


@pytest.mark.gate
@pytest.mark.parametrize("role", ["auditor", pytest.param("operator", marks=pytest.mark.bench), ""])
def test_no_page_tells_what_was_said_to_who_may_not_read_it(past: Agent, role: str) -> None:
    browser = visit_as(role)
    pages = crawl(browser, *starting_points(past.tenant))
    assert leaks(pages) == []
    assert leaks(export_everything(browser)) == []


@pytest.mark.gate
def test_who_may_read_is_told_by_the_very_pages_that_are_crawled(past: Agent) -> None:
    """So the test above would find it."""
    browser = visit_as("curator")
    told = leaks({place: read(browser, place) for place in starting_points(past.tenant)})
    (message, *_) = Message.objects.of(past.tenant).filter(content__contains=CANARY)
    talk = canary_talk(past.tenant)
    (call,) = LLMCall.objects.of(past.tenant).filter(request_sha256="1" * 64)
    assert message.episode is not None
    for row in (message, message.episode, talk, call):
        assert page(type(row), "change", row.pk) in told
    assert page(Message, "changelist") in told
    assert any(address.startswith(reverse("console:search")) for address in told)
    assert leaks(export_everything(browser))


def ask_to_see(browser: Client, talk: Conversation, reason: str = "A complaint.") -> None:
    address = reverse("console:reveal", args=[talk.id])
    back = page(Conversation, "change", talk.id)
    answer = browser.post(address, {"reason": reason, "next": back})
    assert (answer.status_code, answer["Location"]) == (302, back)


def pages_of(talk: Conversation) -> list[str]:
    """Return the pages that show an auditor what was said in a conversation, once revealed."""
    message = Message.objects.of(talk.tenant).filter(content__contains=CANARY).order_by("seq")[0]
    return [
        page(Conversation, "change", talk.id),
        page(Message, "change", message.id),
        page(Message, "changelist") + f"?conversation__exact={talk.id}",
        page(Episode, "change", message.episode_id),
    ]


def test_an_auditor_reads_a_conversation_once_it_is_revealed_for_an_hour_and_on_record(
    past: Agent,
) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    for address in pages_of(talk):
        text = read(browser, address)
        assert "••••••" in text and CANARY not in text, address
    ask_to_see(browser, talk, "Complaint 17: <b>asap</b>")
    for address in pages_of(talk):
        assert leaks({address: read(browser, address)}), address
    (row,) = Reveal.objects.of(past.tenant).filter(person="auditor")
    assert (row.reason, row.conversation_id) == ("Complaint 17: <b>asap</b>", talk.id)
    assert abs(row.until - row.created_at - timedelta(hours=1)) < timedelta(minutes=1)
    shown = read(browser, page(Reveal, "changelist"))
    assert "Complaint 17: &lt;b&gt;asap&lt;/b&gt;" in shown


def test_a_reveal_shows_one_conversation_to_one_person(past: Agent) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    other = Conversation.objects.of(past.tenant).exclude(id=talk.id)[0]
    ask_to_see(browser, other)
    assert leaks({address: read(browser, address) for address in pages_of(talk)}) == []
    ask_to_see(browser, talk)
    colleague = User.objects.create_user("colleague", is_staff=True)
    colleague.groups.add(Group.objects.get(name="auditor"))
    another = Client(SERVER_NAME="localhost")
    another.force_login(colleague)
    assert leaks({address: read(another, address) for address in pages_of(talk)}) == []


def test_after_its_hour_a_conversation_is_masked_again(past: Agent) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    now = timezone.now()
    Reveal.objects.create(
        tenant=past.tenant, conversation=talk, person="auditor", reason="A complaint.",
        created_at=now - timedelta(hours=1, seconds=1), until=now - timedelta(seconds=1),
    )  # fmt: skip
    assert leaks({address: read(browser, address) for address in pages_of(talk)}) == []


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_without_a_good_reason_nothing_is_revealed(past: Agent, reason: str) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    browser.post(reverse("console:reveal", args=[talk.id]), {"reason": reason})
    assert not Reveal.objects.of(past.tenant).filter(person="auditor").exists()
    assert leaks({address: read(browser, address) for address in pages_of(talk)}) == []


def test_a_reveal_can_be_neither_changed_nor_deleted(past: Agent) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    ask_to_see(browser, talk)
    mine = Reveal.objects.of(past.tenant).filter(person="auditor")
    row = mine.get()
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.update(reason="Nothing.")
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        mine.delete()
    for who in (browser, visit_as(SUPERUSER)):
        for kind in ("change", "delete"):
            assert who.post(page(Reveal, kind, row.pk), {"post": "yes"}).status_code == 403
    assert mine.get().reason == row.reason


def test_a_reveal_leads_back_to_pages_of_this_server_only(past: Agent) -> None:
    talk, browser = canary_talk(past.tenant), visit_as("auditor")
    address = reverse("console:reveal", args=[talk.id])
    for back in ("https://evil.example/", "//evil.example", "javascript:alert(1)", ""):
        answer = browser.post(address, {"reason": "A complaint.", "next": back})
        assert answer["Location"] == "/admin/", back


def test_no_address_looks_into_texts(past: Agent) -> None:
    browser = visit_as("auditor")
    for model, lookup in (
        (Message, "content__contains"),
        (Message, "metadata__tag"),
        (Episode, "summary__regex"),
        (Episode, "title__startswith"),
        (Conversation, "previous_summary__icontains"),
        (Fact, "fact__iregex"),
        (Fact, "keywords__contains"),
    ):
        asked = browser.get(page(model, "changelist"), {lookup: "oh"})
        assert asked.status_code in {302, 400}, lookup


def test_a_search_confirms_nothing_that_is_masked(past: Agent) -> None:
    """Nor parts of words, nor whole ones; once a conversation is unmasked, all of it."""
    talk = canary_talk(past.tenant)
    said = Message.objects.of(past.tenant).filter(conversation=talk, content__contains=CANARY)
    episodes = Episode.objects.of(past.tenant).filter(conversation=talk)
    ids = [str(one) for rows in (said, episodes) for one in rows.values_list("id", flat=True)]
    title = episodes[0].title.split()
    places = {
        "admin:episodic_message_changelist": ("forth", "fort", '"forth, is"'),
        "admin:episodic_episode_changelist": (title[-1], *title),
        "console:search": ("forth", "fort", *title),
    }

    def find(browser: Client) -> int:
        """Return how many searches bring a message or an episode of the conversation."""
        answers = [
            browser.get(reverse(name), {"q": typed}).content.decode()
            for name, words in places.items()
            for typed in words
        ]
        return sum(any(one in answer for one in ids) for answer in answers)

    auditor = visit_as("auditor")
    assert find(auditor) == 0
    found_by_a_curator = find(visit_as("curator"))
    assert found_by_a_curator > 4
    ask_to_see(auditor, talk)
    assert find(auditor) == found_by_a_curator


def test_what_the_offline_engine_made_of_messages_is_masked_everywhere(
    past: Agent, settings: Settings
) -> None:
    """A canary in a title, a summary, and a conversation's summary; a model's are shown."""
    talk = canary_talk(past.tenant)
    episodes = Episode.objects.of(past.tenant).filter(conversation=talk)
    episodes.update(title=f"Hm, {CANARY}", summary=f"Hm, {CANARY}")
    Conversation.objects.of(past.tenant).filter(id=talk.id).update(previous_summary=CANARY)
    places = [page(model, "changelist") for model in (Episode, Conversation)]
    places += [page(Episode, "change", episode.pk) for episode in episodes]
    places += [page(Conversation, "change", talk.pk), "/admin/search/?extended=1"]
    evidence = Evidence.objects.of(past.tenant).filter(episode__in=episodes)
    places += [page(Fact, "change", row.fact_id) for row in evidence]
    auditor, curator = visit_as("auditor"), visit_as("curator")
    assert leaks({place: read(auditor, place) for place in places}) == []
    assert len(leaks({place: read(curator, place) for place in places})) > 3
    episodes.update(engine="llm")
    assert leaks({"list": read(auditor, page(Episode, "changelist"))})
    settings.MASK_SUMMARIES = True
    assert leaks({place: read(auditor, place) for place in places}) == []
    ask_to_see(auditor, talk)
    assert leaks({"list": read(auditor, page(Episode, "changelist"))})


def test_a_row_that_is_masked_for_somebody_is_never_stored(past: Agent) -> None:
    episode = Episode.objects.of(past.tenant).order_by("id")[0]
    nobody = Reader(AnonymousUser())
    (seen,) = nobody.rows(Episode.objects.of(past.tenant).filter(id=episode.id))
    assert seen.title != episode.title and seen.is_masked
    with pytest.raises(TypeError):
        seen.save()
    evidence = Evidence.objects.of(past.tenant).filter(episode=episode)
    assert {row.episode.title for row in nobody.rows(evidence)} == {seen.title}
    assert Episode.objects.of(past.tenant).get(id=episode.id).title == episode.title

"""A conversation's page: what was said, in which episodes, what came of it, and at what time."""

from __future__ import annotations

import html
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from jobs.models import Job, State
from semantic.curation import Act, invalidate_facts
from semantic.models import Evidence, Fact
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, whole_talk
from wings.console.conversations.timeline import read_cells, surprise_level
from wings.console.transcript import CUT_AT, render_span

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"
LONG = 450
"""Messages: more than two pages."""


def address(conversation: Conversation) -> str:
    return reverse("admin:episodic_conversation_change", args=[conversation.id])


def visit(browser: Client, conversation: Conversation, **query: Any) -> Any:
    answer = browser.get(address(conversation), query)
    assert answer.status_code == 200
    return answer


def read(browser: Client, conversation: Conversation, **query: Any) -> str:
    return html.unescape(visit(browser, conversation, **query).content.decode())


@pytest.fixture(scope="module")
def talk(ana: Agent, told: uuid.UUID) -> Conversation:
    return Conversation.objects.of(ana.tenant).get(external_id=told)


@pytest.fixture(scope="module")
def long_talk(ana: Agent) -> Conversation:
    """A conversation of five pages, an hour from one message to the next; all in its window."""
    conversation = uuid.uuid4()
    said = [
        {
            "role": "user",
            "content": f"Line {number}.",
            "timestamp": (MORNING + number * timedelta(minutes=30)).isoformat(),
        }
        for number in range(1, LONG + 1)
    ]
    for start in range(0, LONG, 225):
        body = {"conversation_id": str(conversation), "messages": said[start : start + 225]}
        assert ana.post("add_messages", body).status_code == 201
    return Conversation.objects.of(ana.tenant).get(external_id=conversation)


def test_a_message_shows_what_was_said_before_its_columns_to_who_may_read_it(
    curator: Client, auditor: Client, talk: Conversation
) -> None:
    message = Message.objects.of(talk.tenant).order_by("seq")[0]
    page = reverse("admin:episodic_message_change", args=[message.id])
    text = html.unescape(curator.get(page).content.decode())
    assert text.index(message.content) < text.index("All columns")
    assert f"{address(talk)}?seq={message.seq}" in text
    masked = html.unescape(auditor.get(page).content.decode())
    assert message.content not in masked and f"({len(message.content)} characters)" in masked


def test_each_message_stands_in_its_episode_in_order(curator: Client, talk: Conversation) -> None:
    text = read(curator, talk)
    places = []
    for episode in Episode.objects.of(talk.tenant).order_by("first_seq"):
        places.append(text.index(f'id="e{episode.first_seq}"'))
        assert episode.title in text
        for message in Message.objects.of(talk.tenant).filter(episode=episode).order_by("seq"):
            places.append(text.index(message.content, places[-1]))
    assert len(places) >= 18 and places == sorted(places)


def test_a_silence_is_drawn_where_it_was(curator: Client, talk: Conversation) -> None:
    assert "3 days 8 hours of silence" in read(curator, talk)


def test_facts_stand_beside_their_episode_and_lead_to_their_messages(
    curator: Client, talk: Conversation
) -> None:
    text = read(curator, talk)
    evidence = list(Evidence.objects.of(talk.tenant).select_related("fact"))
    assert evidence
    for row in evidence:
        assert row.fact.fact in text
        assert reverse("admin:semantic_fact_change", args=[row.fact_id]) in text
        for seq in row.message_seqs:
            assert f'href="#m{seq}"' in text and f'id="m{seq}"' in text


def test_facts_beyond_the_cap_are_not_shown_and_that_is_said(
    curator: Client, talk: Conversation, settings: Settings
) -> None:
    assert "facts of this page are shown" not in read(curator, talk)
    settings.TIMELINE_FACTS_AT_MOST = 2
    answer = visit(curator, talk)
    assert sum(len(block.facts) for block in answer.context["blocks"]) == 2
    assert "Only 2 facts of this page" in answer.content.decode()


@pytest.mark.parametrize(
    ("surprise", "level"), [(0.69, "usual"), (0.7, "key"), (0.84, "key"), (0.85, "flashbulb")]
)
def test_an_episode_is_marked_by_its_surprise(surprise: float, level: str) -> None:
    assert surprise_level(surprise) == level


def test_key_moments_are_marked_on_the_page_and_on_the_strip(
    curator: Client, talk: Conversation
) -> None:
    surprises = list(
        Episode.objects.of(talk.tenant).order_by("first_seq").values_list("surprise", flat=True)
    )
    answer = visit(curator, talk)
    shown = [block.level for block in answer.context["blocks"]]
    assert shown == [surprise_level(surprise) for surprise in surprises]
    assert "key" in shown and "key moment" in answer.content.decode()
    cells = answer.context["strip"]
    assert [cell.surprise for cell in cells] == surprises
    assert re.findall(r'href="#(e\d+)" class="cell', answer.content.decode()) == ["e1", "e9"]


def test_what_is_in_no_episode_yet_is_shown_as_the_window(
    ana: Agent, curator: Client, talk: Conversation
) -> None:
    ana.say(talk.external_id, "Are you still there?")
    answer = visit(curator, talk)
    assert [block.kind for block in answer.context["blocks"]] == ["episode", "episode", "window"]
    text = answer.content.decode()
    assert "Not yet processed" in text and "at 20 messages" in text


def test_an_empty_conversation_says_what_to_do(ana: Agent, curator: Client) -> None:
    body = {"conversation_id": str(uuid.uuid4())}
    ana.post("flush", body)
    empty = Conversation.objects.create(tenant=ana.tenant, external_id=uuid.uuid4())
    assert "add_message" in read(curator, empty)


# ---- at another time


def test_at_another_time_only_what_had_been_said_and_was_true_is_shown(
    curator: Client, talk: Conversation
) -> None:
    answer = visit(curator, talk, as_of="2026-03-02T09:02", known="now")
    text = html.unescape(answer.content.decode())
    shown = [message.seq for block in answer.context["blocks"] for message in block.messages]
    assert shown == [1, 2, 3, 4, 5]
    assert "As of 2026-03-02 09:02:00 UTC." in text and "#5 of 16" in text
    assert MOVING[4][1] in text and MOVING[5][1] not in text
    facts = {entry.fact for block in answer.context["blocks"] for entry in block.facts}
    assert facts == set(
        Fact.objects.of(talk.tenant).filter(valid_at__lte=datetime(2026, 3, 2, 9, 2, tzinfo=UTC))
    )


def test_the_slider_and_the_field_mean_the_same_time(curator: Client, talk: Conversation) -> None:
    in_ms = int(EVENING.timestamp() * 1000)
    for written in (str(in_ms), "2026-03-05T18:00:00", "2026-03-05T19:00+01:00"):
        answer = visit(curator, talk, as_of=written)
        assert answer.context["as_of"] == EVENING
        assert answer.context["page"].paginator.count == 9
    assert answer.context["slider"]["value"] == in_ms


def test_facts_are_shown_as_true_until_they_were_over_and_never_if_they_were_wrong(
    curator: Client, talk: Conversation
) -> None:
    over, wrong = Fact.objects.of(talk.tenant).filter(invalid_at=None).order_by("id")[:2]
    for fact, because in ((over, Fact.Because.SUPERSEDED), (wrong, Fact.Because.WRONG)):
        act = Act(tenant=talk.tenant, actor="bo", reason="I know better.")
        invalidate_facts(act=act, fact_ids=[fact.id], because=because)
    over.refresh_from_db()
    before, after = (over.valid_until + way * timedelta(minutes=1) for way in (-1, 1))

    def facts_at(**query: Any) -> set[Fact]:
        blocks = visit(curator, talk, **query).context["blocks"]
        return {entry.fact for block in blocks for entry in block.facts}

    assert {over, wrong} <= facts_at()
    assert over in facts_at(as_of=before.isoformat(), known="now")
    assert over not in facts_at(as_of=after.isoformat(), known="now")
    assert wrong not in facts_at(as_of=before.isoformat(), known="now")
    assert "true until" in read(curator, talk, as_of=before.isoformat(), known="now")


def test_before_the_first_message_nothing_had_been_said(
    curator: Client, talk: Conversation
) -> None:
    text = read(curator, talk, as_of="1999-12-31")
    assert "Nothing had been said by then." in text and MOVING[0][1] not in text


@pytest.mark.parametrize("written", ["tuesday", "2026-13-01", "9" * 40, "0001-01-01T00:00+23:00"])
def test_what_is_no_time_is_said_and_the_page_shown(
    curator: Client, talk: Conversation, written: str
) -> None:
    text = read(curator, talk, as_of=written, day=written)
    assert text.count("This is no time.") == 2
    assert MOVING[0][1] in text and "As of" not in text


# ---- long conversations


def seqs(answer: Any) -> tuple[int, int]:
    said = [message.seq for block in answer.context["blocks"] for message in block.messages]
    assert said == list(range(said[0], said[-1] + 1))
    return said[0], said[-1]


def find_turns(answer: Any) -> list[str]:
    """Return the addresses of the other pages, as they stand above the messages and below them."""
    return re.findall(
        r'<a class="console-button quiet" href="(\?[^"]*seq=[^"]*)">', answer.content.decode()
    )


def test_neighbouring_episodes_share_a_part_of_the_strip_where_there_are_many(
    ana: Agent, talk: Conversation, settings: Settings
) -> None:
    for line in whole_talk()[:4]:
        ana.post("add_message", {"conversation_id": str(talk.external_id), "message": line})
    ana.flush(talk.external_id)
    talk.refresh_from_db()
    one_by_one = read_cells(talk, Reader(User(is_superuser=True)))
    assert [cell.episodes for cell in one_by_one] == [1, 1, 1]
    settings.TIMELINE_CELLS_AT_MOST = 2
    merged = read_cells(talk, Reader(User(is_superuser=True)))
    assert [(cell.first_seq, cell.last_seq, cell.episodes) for cell in merged] == [
        (1, 16, 2), (17, 20, 1),
    ]  # fmt: skip
    first, second, _ = one_by_one
    assert merged[0].surprise == pytest.approx((first.surprise + second.surprise) / 2)
    last = Episode.objects.of(ana.tenant).get(first_seq=17)
    assert [cell.name for cell in merged] == ["2 episodes, 1 key moment", last.title]


@pytest.mark.gate
def test_a_full_page_asks_no_more_of_the_database_than_a_short_one(
    curator: Client, talk: Conversation, ana: Agent
) -> None:
    visit(curator, talk)  # the first page of a process asks for content types
    counts = {}
    for name in ("short", "long"):
        with CaptureQueriesContext(connection) as asked:
            visit(curator, talk)
        counts[name] = len(asked)
        for line in 5 * whole_talk():
            ana.post("add_message", {"conversation_id": str(talk.external_id), "message": line})
        ana.flush(talk.external_id)
    assert Message.objects.of(ana.tenant).count() > 150
    assert counts["short"] == counts["long"] <= 28, counts


# ---- what stands still


def test_a_dead_job_is_shown_to_who_may_see_jobs(
    ana: Agent, curator: Client, talk: Conversation
) -> None:
    job = Job.objects.of(ana.tenant).filter(scope=talk.id).order_by("id")[0]
    Job.objects.of(ana.tenant).filter(id=job.id).update(state=State.DEAD, error_class="Boom")
    text = read(curator, talk)
    assert reverse("admin:jobs_job_change", args=[job.id]) in text and "Boom" in text


# ---- who sees what


def quotes(conversation: Conversation) -> str:
    """Return what auditors see though it may be said in the same words: facts."""
    rows = {"tenant": conversation.tenant, "conversation": conversation}
    facts = Fact.across_tenants.filter(**rows).values_list("fact", flat=True)
    return " ".join(facts)


def test_an_auditor_sees_masks_until_the_conversation_is_revealed(
    auditor: Client, talk: Conversation
) -> None:
    messages = list(Message.objects.of(talk.tenant).filter(conversation=talk))
    masked = read(auditor, talk)
    hidden = [message.content for message in messages if message.content not in quotes(talk)]
    assert len(hidden) >= 6 and not any(content in masked for content in hidden)
    for message in messages:
        assert f"•••••• ({len(message.content)} characters)" in masked
    for episode in Episode.objects.of(talk.tenant):
        assert episode.title not in masked
    reveal = reverse("console:reveal", args=[talk.id])
    assert f'action="{reveal}"' in masked
    auditor.post(reveal, {"reason": "A complaint.", "next": address(talk)})
    shown = read(auditor, talk)
    assert all(message.content in shown for message in messages)
    assert f'action="{reveal}"' not in shown


def test_who_may_not_read_does_not_even_load_what_was_said(
    auditor: Client, talk: Conversation
) -> None:
    with CaptureQueriesContext(connection) as asked:
        visit(auditor, talk)
    columns = [query["sql"].split("FROM")[0] for query in asked]
    reading = [sql for sql in columns if '"content"' in sql]
    assert reading and all('LENGTH("episodic_message"."content")' in sql for sql in reading)
    assert not any("LEFT(" in sql for sql in reading)


@pytest.mark.parametrize("role", ["operator", "nobody"])
def test_others_do_not_see_the_page(
    role: str, talk: Conversation, request: pytest.FixtureRequest
) -> None:
    browser = request.getfixturevalue(role)
    assert browser.get(address(talk)).status_code == 403


def test_who_may_see_conversations_alone_sees_neither_messages_nor_episodes_nor_facts(
    talk: Conversation,
) -> None:
    person = User.objects.create_user("dee", is_staff=True)
    person.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(person)
    text = read(browser, talk)
    assert "You may not see messages and episodes" in text
    told = [
        *Message.objects.of(talk.tenant).values_list("content", flat=True),
        *Episode.objects.of(talk.tenant).values_list("title", flat=True),
        *Fact.objects.of(talk.tenant).values_list("fact", flat=True),
    ]
    hidden = [words for words in told if words not in talk.previous_summary]
    assert len(hidden) > 12 and not any(words in text for words in hidden)


def test_what_was_said_is_escaped(ana: Agent, curator: Client, talk: Conversation) -> None:
    ana.say(talk.external_id, f"Look: {SCRIPT}", name=f"Mira {SCRIPT}")
    ana.flush(talk.external_id)
    text = visit(curator, talk).content.decode()
    assert SCRIPT not in text
    assert text.count(html.escape(SCRIPT)) >= 2


def test_a_very_long_message_is_cut_and_leads_to_the_whole(
    ana: Agent, curator: Client, talk: Conversation
) -> None:
    ana.say(talk.external_id, "a" * CUT_AT + "The end.")
    text = read(curator, talk)
    assert "all 2,008 characters" in text and "The end." not in text
    masked_at_its_full_length = "a" * CUT_AT
    assert masked_at_its_full_length in text


def test_another_tenants_talk_of_the_same_id_is_not_mixed_in(
    cleo: Agent, curator: Client, talk: Conversation
) -> None:
    cleo.say(talk.external_id, "I live in a lighthouse.")
    assert "lighthouse" not in read(curator, talk)


# ---- words


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=3), "under a minute"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=3, minutes=20), "3 hours 20 minutes"),
        (timedelta(days=1, hours=1, minutes=59), "1 day 1 hour"),
        (timedelta(days=2000), "2,000 days"),
    ],
)
def test_a_span_is_said_in_two_units_at_most(span: timedelta, words: str) -> None:
    assert render_span(span) == words


def test_a_long_conversation_is_shown_in_pages_the_last_one_first(
    curator: Client, long_talk: Conversation
) -> None:
    assert seqs(visit(curator, long_talk)) == (401, 450)
    assert seqs(visit(curator, long_talk, seq=1)) == (1, 100)
    middle = visit(curator, long_talk, seq=333)
    assert seqs(middle) == (301, 400)
    assert find_turns(middle)[:4] == ["?seq=1", "?seq=201", "?seq=401", "?seq=401"]


def test_a_day_leads_to_its_first_message(curator: Client, long_talk: Conversation) -> None:
    first = Message.objects.of(long_talk.tenant).filter(occurred_at__date="2026-03-07")
    page = visit(curator, long_talk, day="2026-03-07")
    assert seqs(page) == (201, 300)
    assert first.order_by("seq")[0].seq == 222
    assert seqs(visit(curator, long_talk, day="2030-01-01")) == (401, 450)


def test_at_another_time_a_long_conversation_ends_there(
    curator: Client, long_talk: Conversation
) -> None:
    at = MORNING + 210 * timedelta(minutes=30)
    assert seqs(visit(curator, long_talk, as_of=at.isoformat())) == (201, 210)
    assert seqs(visit(curator, long_talk, as_of=at.isoformat(), seq=400)) == (201, 210)
    early = visit(curator, long_talk, as_of=at.isoformat(), seq=3)
    assert seqs(early) == (1, 100)
    assert find_turns(early) and all("as_of=" in href for href in find_turns(early))


@pytest.mark.parametrize("written", ["0", "451", "-1", "three", "9" * 30, "²"])
def test_a_number_that_no_message_has_is_said(
    curator: Client, long_talk: Conversation, written: str
) -> None:
    answer = visit(curator, long_talk, seq=written)
    assert "Write the number of a message, 1 to 450." in answer.content.decode()
    assert seqs(answer) == (401, 450)

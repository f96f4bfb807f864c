"""An episode's page: its transcript, how it fades, what rests on it and what it was served for."""

from __future__ import annotations

import html
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from episodic.models import Episode, Message, Review
from semantic.models import Evidence
from tests.conftest import Agent
from wings.console.charts import Chart, Series
from wings.console.conversations.episode_page import (
    STEPS,
    Stretch,
    describe_memory,
    draw_forgetting,
    list_stretches,
    render_days,
)

pytestmark = pytest.mark.django_db
SCRIPT = "<script>alert(1)</script>"
QUESTION = "Where is Mira moving?"
BORN = datetime(2026, 3, 1, tzinfo=UTC)


def read(browser: Client, episode: Episode) -> str:
    answer = browser.get(reverse("admin:episodic_episode_change", args=[episode.id]))
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


@pytest.fixture(scope="module")
def episodes(ana: Agent, told: uuid.UUID) -> list[Episode]:
    return list(Episode.objects.of(ana.tenant).order_by("first_seq"))


@pytest.fixture(scope="module")
def reviewed(ana: Agent, told: uuid.UUID) -> Review:
    """A review by the pipeline: served for a question, then judged by what was said next."""
    body = {"conversation_id": str(told), "query": QUESTION}
    assert ana.post("retrieve_memory", body).status_code == 200
    ana.say(told, "Mira is moving from Ghent to Rotterdam, with forty boxes of books.", name="Mira")
    ana.flush(told)
    return Review.objects.of(ana.tenant).select_related("episode").order_by("id")[0]


def test_an_episode_shows_its_words_its_messages_and_its_facts(
    curator: Client, episodes: list[Episode]
) -> None:
    first = episodes[0]
    text = read(curator, first)
    assert first.title in text and first.summary in text and "#1–8" in text
    for message in Message.objects.of(first.tenant).filter(episode=first):
        assert message.content in text
    evidence = list(Evidence.objects.of(first.tenant).filter(episode=first).select_related("fact"))
    assert evidence
    for row in evidence:
        assert row.fact.fact in text
        assert all(f'href="#m{seq}"' in text for seq in row.message_seqs)


def test_nothing_is_shown_twice(curator: Client, episodes: list[Episode]) -> None:
    text = read(curator, episodes[0])
    said = Message.objects.of(episodes[0].tenant).filter(episode=episodes[0]).order_by("seq")[1]
    assert text.count(said.content) == 1


def test_neighbours_lead_to_each_other(curator: Client, episodes: list[Episode]) -> None:
    first, second = episodes
    assert f'{second.id}/change/" rel="next"' in read(curator, first)
    assert 'rel="prev"' not in read(curator, first)
    assert f'{first.id}/change/" rel="prev"' in read(curator, second)
    home = reverse("admin:episodic_conversation_change", args=[first.conversation_id])
    assert f"{home}?seq=9#e9" in read(curator, second)


def test_the_answers_that_served_it_are_listed_newest_first_up_to_a_cap(
    ana: Agent, curator: Client, told: uuid.UUID, settings: Settings
) -> None:
    episode = Episode.objects.of(ana.tenant).order_by("first_seq")[0]
    assert "No answer has served it yet." in read(curator, episode)
    for query in (QUESTION, "Who has a heavy piano?"):
        body = {"conversation_id": str(told), "query": query}
        assert ana.post("retrieve_memory", body).status_code == 200
    text = read(curator, episode)
    assert text.index("Who has a heavy piano?") < text.index(QUESTION)
    settings.EPISODE_ANSWERS_AT_MOST = 1
    cut = read(curator, episode)
    assert "Who has a heavy piano?" in cut and QUESTION not in cut and "The newest 1." in cut


# ---- how it fades


def test_what_fades_is_told_in_words(curator: Client, episodes: list[Episode]) -> None:
    episode = episodes[0]
    then = episode.last_reviewed_at + timedelta(days=episode.stability)
    assert describe_memory(episode, now=episode.last_reviewed_at)["percent"] == 100
    assert describe_memory(episode, now=then)["percent"] == 90
    text = read(curator, episode)
    assert render_days(episode.stability) in text and "100 %" in text and "never" in text


@pytest.mark.parametrize(
    ("days", "words"), [(0.5, "12 hours"), (3.21, "3.2 days"), (1461, "4.0 years")]
)
def test_a_stability_is_told_in_the_unit_that_fits(days: float, words: str) -> None:
    assert render_days(days) == words


def test_a_review_stands_on_the_curve_and_in_the_list(curator: Client, reviewed: Review) -> None:
    answer = curator.get(reverse("admin:episodic_episode_change", args=[reviewed.episode_id]))
    chart: Chart = answer.context["forgetting"]
    points = [one for one in chart.series if one.name == f"rated {reviewed.rating}"]
    assert [sum(value is not None for value in one.values) for one in points] == [1]
    text = answer.content.decode()
    assert reverse("admin:episodic_review_change", args=[reviewed.id]) in text
    assert reverse("admin:retrieval_retrieval_change", args=[reviewed.retrieval_id]) in text
    assert f"{reviewed.stability_before:.1f} → {reviewed.stability_after:.1f}" in text


def make_life(*reviews: tuple[float, str, float]) -> tuple[Episode, list[Review]]:
    """Return an episode of stability 3 and its reviews: after how many days, how, and what then."""
    before, rows = 3.0, []
    for days, rating, after in reviews:
        at = BORN + timedelta(days=days)
        rows.append(
            Review(
                rating=rating,
                created_at=at,
                stability_before=before,
                stability_after=after,
                difficulty_before=5,
                difficulty_after=5,
            )
        )
        before = after
    last = rows[-1].created_at if rows else BORN
    episode = Episode(created_at=BORN, last_reviewed_at=last, stability=before, difficulty=5)
    return episode, rows


def named(chart: Chart, name: str) -> Series:
    return next(one for one in chart.series if one.name == name)


def test_the_curve_falls_to_each_review_and_begins_anew_after_it() -> None:
    episode, reviews = make_life((3, "good", 8.0), (11, "again", 1.0))
    now = BORN + timedelta(days=12)
    chart = draw_forgetting(episode, reviews, now=now)
    assert named(chart, "rated good").values.count(0.9) == 1, "3 days at a stability of 3"
    assert named(chart, "rated again").values.count(0.9) == 1, "8 days at a stability of 8"
    until_now = named(chart, "until now").values
    ahead = named(chart, "if it is not used").values
    present = sum(value is not None for value in until_now) - 1
    assert until_now[present] == ahead[present] == pytest.approx(0.9, abs=0.03)
    assert all(value is None for value in until_now[present + 1 :])
    assert all(value is not None for value in ahead[present:])
    good = named(chart, "rated good").values.index(0.9)
    after = [value for value in until_now[good + 1 : good + 3] if value is not None]
    assert min(after) > 0.97, "a review begins the curve anew"
    assert len(chart.labels) == STEPS + 1 and chart.labels[0] == "1 Mar 2026"


def test_a_life_with_more_reviews_than_are_read_begins_with_the_first_that_is(
    settings: Settings,
) -> None:
    episode, reviews = make_life((3, "good", 8.0), (11, "again", 1.0))
    assert list_stretches(episode, reviews)[0] == Stretch(BORN, 3.0)
    settings.EPISODE_REVIEWS_AT_MOST = 2
    assert list_stretches(episode, reviews)[0] == Stretch(BORN + timedelta(days=3), 8.0)
    chart = draw_forgetting(episode, reviews, now=BORN + timedelta(days=12))
    assert {one.name for one in chart.series} >= {"rated again"}
    assert "rated good" not in {one.name for one in chart.series}


def test_without_reviews_it_only_fades() -> None:
    episode, _ = make_life()
    values = named(draw_forgetting(episode, [], now=BORN), "if it is not used").values
    assert values[0] == 1.0
    falling = [value for value in values if value is not None]
    assert falling == sorted(falling, reverse=True) and falling[-1] < 0.75


# ---- who sees what


def test_an_auditor_sees_masks_until_the_conversation_is_revealed(
    auditor: Client, episodes: list[Episode]
) -> None:
    episode = episodes[1]
    said = list(Message.objects.of(episode.tenant).filter(episode=episode))
    masked = read(auditor, episode)
    quoted = " ".join(
        row.fact.fact for row in Evidence.objects.of(episode.tenant).select_related("fact")
    )
    hidden = [message.content for message in said if message.content not in quoted]
    assert len(hidden) >= 4 and not any(content in masked for content in hidden)
    assert episode.title not in masked and episode.summary not in masked
    auditor.post(
        reverse("console:reveal", args=[episode.conversation_id]), {"reason": "A complaint."}
    )
    shown = read(auditor, episode)
    assert all(message.content in shown for message in said)


@pytest.mark.parametrize("role", ["operator", "nobody"])
def test_others_do_not_see_the_page(
    role: str, episodes: list[Episode], request: pytest.FixtureRequest
) -> None:
    browser: Client = request.getfixturevalue(role)
    address = reverse("admin:episodic_episode_change", args=[episodes[0].id])
    assert browser.get(address).status_code == 403


def test_what_was_said_is_escaped(ana: Agent, curator: Client, told: uuid.UUID) -> None:
    ana.say(told, f"Look: {SCRIPT}", name=f"Mira {SCRIPT}")
    ana.post("retrieve_memory", {"conversation_id": str(told), "query": f"Mira {SCRIPT}?"})
    ana.flush(told)
    for episode in Episode.objects.of(ana.tenant):
        answer: Any = curator.get(reverse("admin:episodic_episode_change", args=[episode.id]))
        assert SCRIPT not in answer.content.decode()
    assert html.escape(SCRIPT) in answer.content.decode()


def test_a_busy_episode_asks_no_more_of_the_database_than_a_quiet_one(
    ana: Agent, curator: Client, told: uuid.UUID, episodes: list[Episode]
) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            read(curator, episodes[0])
        counts.append(len(asked))
        for _ in range(4):
            body = {"conversation_id": str(told), "query": QUESTION}
            assert ana.post("retrieve_memory", body).status_code == 200
        ana.say(told, "Mira is moving from Ghent to Rotterdam soon.", name="Mira")
        ana.flush(told)
    assert counts[0] == counts[1] <= 26, counts

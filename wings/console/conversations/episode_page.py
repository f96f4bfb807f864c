"""The page of an episode: messages, facts, answers, and a curve of its retrievability."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest

from episodic import fsrs_memory, queries
from episodic.engines import Rating
from episodic.models import Episode, Message, Review
from episodic.revealing import Reader
from wings.console.charts import Chart, Series
from wings.console.conversations.timeline import MESSAGES_A_PAGE, Block, SupportedFact, facts_from
from wings.console.labels import list_servings
from wings.console.transcript import read_transcript, render_span

STEPS = 120
"""Number of points of the curve."""
AHEAD = timedelta(days=30)
RATING_COLOURS = {"again": "red", "hard": "orange", "good": "green", "easy": "blue"}


def get_story(request: HttpRequest, episode: Episode) -> Mapping[str, Any]:
    sees, now = request.user.has_perm, queries.database_now()
    eyes = Reader(request.user)
    reader = eyes if sees("episodic.view_message") else None
    served_at_most = settings.EPISODE_ANSWERS_AT_MOST
    reviews = newest_reviews(episode) if sees("episodic.view_review") else []
    earlier, later = find_neighbours(episode, eyes)
    episode.conversation.tenant = episode.tenant  # loaded already
    drawn = facts_from(episode.conversation, [episode.id] if sees("semantic.view_fact") else [])
    return {
        "reader": reader,
        "conversation": episode.conversation,
        "transcript": _transcript(episode, drawn.get(episode.id, []), reader=reader),
        "lasted": render_span(episode.end_at - episode.start_at),
        "memory": describe_memory(episode, now=now),
        "forgetting": draw_forgetting(episode, reviews, now=now),
        "reviews": reviews[::-1],
        "served": list_servings(episode, served_at_most)
        if sees("retrieval.view_retrieval")
        else [],
        "served_at_most": served_at_most,
        "earlier": earlier,
        "later": later,
    }


def _transcript(episode: Episode, facts: list[SupportedFact], *, reader: Reader | None) -> Block:
    """Return an episode's messages with its facts; no messages without the permission."""
    if reader is None:
        return Block([], episode=episode, facts=facts)
    messages = Message.objects.of(episode.tenant).filter(episode=episode)
    within = messages.filter(seq__lt=episode.first_seq + MESSAGES_A_PAGE)
    shown = read_transcript(within, conversation_id=episode.conversation_id, reader=reader)
    return Block(shown, episode=episode, facts=facts)


def newest_reviews(episode: Episode) -> list[Review]:
    """Return the last ratings of an episode, oldest first."""
    reviews = Review.objects.of(episode.tenant).filter(episode=episode)
    return list(reviews.order_by("-created_at", "-id")[: settings.EPISODE_REVIEWS_AT_MOST])[::-1]


def find_neighbours(episode: Episode, reader: Reader) -> tuple[Episode | None, Episode | None]:
    rows = Episode.objects.of(episode.tenant).filter(conversation=episode.conversation_id)
    others = reader.rows(rows)
    earlier = others.filter(first_seq__lt=episode.first_seq).order_by("-first_seq")
    later = others.filter(first_seq__gt=episode.first_seq).order_by("first_seq")
    return earlier.first(), later.first()


class Stretch(NamedTuple):
    """The time from one review of an episode to the next, with one stability."""

    since: datetime
    stability_days: float

    def retrievability_at(self, moment: datetime) -> float:
        elapsed = moment - self.since
        return fsrs_memory.retrievability(elapsed=elapsed, stability_days=self.stability_days)


def describe_memory(episode: Episode, *, now: datetime) -> dict[str, Any]:
    last = Stretch(episode.last_reviewed_at, episode.stability)
    reviewed = episode.last_reviewed_at > episode.created_at
    return {
        "percent": round(100 * last.retrievability_at(now)),
        "stability": render_days(episode.stability),
        "last_reviewed_at": episode.last_reviewed_at if reviewed else None,
    }


def render_days(days: float) -> str:
    """Return a stability as text: `3.2 days`, `7 hours 12 minutes`, `2.1 years`."""
    if days < 1:
        return render_span(timedelta(days=days))
    return f"{days:.1f} days" if days < 730 else f"{days / 365.25:,.1f} years"


def list_stretches(episode: Episode, reviews: Sequence[Review]) -> list[Stretch]:
    """Return an episode's life between reviews; `reviews` are the newest, oldest first.

    If there are older ones, it begins with the first of `reviews`.
    """
    if not reviews:
        return [Stretch(episode.last_reviewed_at, episode.stability)]
    since = [Stretch(review.created_at, review.stability_after) for review in reviews]
    if len(reviews) >= settings.EPISODE_REVIEWS_AT_MOST:
        return since
    return [Stretch(episode.created_at, reviews[0].stability_before), *since]


def draw_forgetting(episode: Episode, reviews: Sequence[Review], *, now: datetime) -> Chart:
    """Return retrievability from creation to 30 days from now, with reviews as colored points.

    A review is drawn at the retrievability before it; after it the curve starts again at 1.
    """
    stretches = list_stretches(episode, reviews)
    start = stretches[0].since
    step = (now + AHEAD - start) / STEPS
    moments = [start + at * step for at in range(STEPS + 1)]
    present = min(max((now - start) // step, 0), STEPS)
    chances = [_chance_at(moment, stretches) for moment in moments]
    marks: dict[Rating, list[float | None]] = {}
    ends = reviews[len(reviews) - len(stretches) + 1 :]
    for (before, after), review in zip(pairwise(stretches), ends, strict=True):
        place = min((after.since - start) // step, STEPS)
        chance = round(before.retrievability_at(after.since), 3)
        marks.setdefault(Rating(review.rating), [None] * len(moments))[place] = chance
        chances[place] = chance
    return Chart(
        key="forgetting",
        title="How likely it is still remembered, until 30 days from now",
        kind="line",
        labels=[f"{moment.day} {moment:%b %Y}" for moment in moments],
        series=[
            Series("until now", [*chances[: present + 1], *[None] * (STEPS - present)], fill=True),
            Series("if it is not used", [*[None] * present, *chances[present:]], colour="grey"),
            *(
                Series(f"rated {rating.value}", marks[rating], RATING_COLOURS[rating], True)
                for rating in Rating
                if rating in marks
            ),
        ],
        y_max=1.0,
        height_px=220,
    )


def _chance_at(moment: datetime, stretches: Sequence[Stretch]) -> float:
    begun = [stretch for stretch in stretches if stretch.since <= moment] or stretches[:1]
    return round(begun[-1].retrievability_at(moment), 3)

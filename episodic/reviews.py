"""Moves the FSRS states of episodes on that were rated."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from episodic import fsrs_memory, queries
from episodic.engines import Rating
from episodic.models import Review
from memoryproject.tenancy.models import Tenant


@dataclass(frozen=True, slots=True)
class EpisodeReview:
    """A rating to apply: `retrieved_at` is when the episode was served."""

    episode_id: uuid.UUID
    retrieval_id: uuid.UUID
    rating: Rating
    retrieved_at: datetime


def apply_reviews(
    *,
    tenant: Tenant,
    job_id: uuid.UUID,
    reviews: Sequence[EpisodeReview],
    engine: str,
    degraded: bool,
    now: datetime,
) -> list[Review]:
    """Update the FSRS states of rated episodes, inside the caller's transaction.

    An episode reviewed after it was served is skipped: its state is already newer than this rating.
    """
    by_id = {review.episode_id: review for review in reviews}
    rows: list[Review] = []
    episodes = queries.episodes_with_state(tenant=tenant, episode_ids=by_id)
    for episode in episodes.select_for_update():
        review = by_id[episode.id]
        if episode.last_reviewed_at > review.retrieved_at:
            continue
        before = fsrs_memory.MemoryState(episode.stability, episode.difficulty)
        after = fsrs_memory.reviewed_state(
            state=before,
            last_reviewed_at=episode.last_reviewed_at,
            rating=review.rating,
            at=max(now, episode.last_reviewed_at + timedelta(microseconds=1)),
        )
        rows.append(
            Review(
                tenant=tenant,
                job_id=job_id,
                episode=episode,
                retrieval_id=review.retrieval_id,
                rating=review.rating,
                engine=engine,
                degraded=degraded,
                stability_before=before.stability,
                stability_after=after.stability,
                difficulty_before=before.difficulty,
                difficulty_after=after.difficulty,
            )
        )
        episode.stability, episode.difficulty = after.stability, after.difficulty
        episode.last_reviewed_at = now
        episode.save(update_fields=["stability", "difficulty", "last_reviewed_at"])
    return Review.objects.bulk_create(rows)

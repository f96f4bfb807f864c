"""Reviews served episodes: rates each by what was said after the answer."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from episodic import queries as episodic_queries
from episodic import services as episodic
from episodic.engines import Reviewer, ServedEpisode
from episodic.headlines import headline_vectors
from episodic.models import Episode
from episodic.services import EpisodeReview
from jobs.claims import Claim, commit
from memoryproject.ai import embeddings
from memoryproject.process.crash_points import Point, pass_point
from retrieval import receipts
from retrieval.models import Retrieval

LINES_AFTER = 30
"""How much of the conversation after an answer is read for traces of it."""


@dataclass(frozen=True, slots=True)
class Case:
    """An episode to judge, in the last answer that served it."""

    retrieval: Retrieval
    episode: Episode
    served: ServedEpisode


def review_retrievals(*, claim: Claim, reviewer: Reviewer) -> None:
    """Rate every episode that the job's answers served, by what was said afterwards.

    Raises:
        LeaseLost: nothing was written.
        ModelUnavailable: an embedding or language model is away.
    """
    conversation = episodic_queries.get_conversation(
        tenant=claim.tenant, conversation_id=uuid.UUID(claim.input["conversation"])
    )
    cases = _load_cases(claim)
    pass_point(Point.SERVED_READ)
    ratings: list[EpisodeReview] = []
    engine, degraded, ignored = "", False, 0
    for retrieval, group in _by_retrieval(cases):
        after = episodic_queries.messages_between(
            conversation,
            first_seq=retrieval.through_seq + 1,
            last_seq=retrieval.through_seq + LINES_AFTER,
        )
        lines = episodic_queries.to_lines(after)
        if not lines:
            continue
        vectors = embeddings.embed_passages([line.text for line in lines])
        judgement = reviewer.review(
            served=[case.served for case in group], lines=lines, vectors=vectors
        )
        engine, degraded = judgement.engine, degraded or judgement.degraded
        ignored += judgement.ignored
        ratings += [
            EpisodeReview(
                episode_id=case.episode.id,
                retrieval_id=retrieval.id,
                rating=judgement.ratings[case.served.alias],
                retrieved_at=retrieval.created_at,
            )
            for case in group
            if case.served.alias in judgement.ratings
        ]
    pass_point(Point.SERVED_JUDGED)
    with commit(claim, result={"rated": len(ratings), "ignored": ignored}):
        episodic.apply_reviews(
            tenant=claim.tenant,
            job_id=claim.job_id,
            reviews=ratings,
            engine=engine,
            degraded=degraded,
            now=episodic_queries.database_now(),
        )
        pass_point(Point.REVIEWS_APPLIED)


def _load_cases(claim: Claim) -> list[Case]:
    """Return one case an episode: its last answer counts, which saw the latest state."""
    retrievals = receipts.retrievals_under_review(tenant=claim.tenant, job_id=claim.job_id)
    by_id = {retrieval.id: retrieval for retrieval in retrievals}
    pairs = receipts.served_episode_ids(tenant=claim.tenant, retrievals=retrievals)
    last = {episode_id: retrieval_id for retrieval_id, episode_id in pairs}
    episodes = {
        episode.id: episode
        for episode in episodic_queries.episodes_with_state(tenant=claim.tenant, episode_ids=last)
    }
    vectors = headline_vectors(tenant=claim.tenant, episodes=list(episodes.values()))
    return [
        Case(
            retrieval=by_id[last[episode_id]],
            episode=episode,
            served=ServedEpisode(
                alias=f"E{number}",
                query=by_id[last[episode_id]].query,
                title=episode.title,
                summary=episode.summary,
                vector=vectors[episode_id],
            ),
        )
        for number, (episode_id, episode) in enumerate(sorted(episodes.items()), start=1)
    ]


def _by_retrieval(cases: Sequence[Case]) -> list[tuple[Retrieval, list[Case]]]:
    groups: dict[uuid.UUID, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.retrieval.id, []).append(case)
    return [(group[0].retrieval, group) for group in groups.values()]

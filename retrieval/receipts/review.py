"""Reviews served episodes: rates each by what was said after the answer."""

import uuid
from collections import defaultdict

from episodic import queries as episodic_queries
from episodic.engines import Reviewer, ServedEpisode
from episodic.episode_index import headline_vectors
from episodic.reviews import EpisodeReview, apply_reviews
from indexing.model_change import choose_embedder
from jobs.claims import Claim, commit
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder
from memoryproject.process.crash_points import Point, pass_point
from retrieval import receipts
from retrieval.models import Retrieval

LINES_AFTER = 30
"""Number of lines after an answer that are read for signs of its use."""


def review_retrievals(*, claim: Claim, reviewer: Reviewer) -> None:
    """Rate every episode that the job's answers served, by the messages after the answer.

    Raises:
        LeaseLost: nothing was written.
        ModelUnavailable: an embedding or language model is away.
    """
    conversation = episodic_queries.get_conversation(
        tenant=claim.tenant, conversation_id=uuid.UUID(claim.input["conversation"])
    )
    embedder = choose_embedder(tenant=claim.tenant, conversation_id=conversation.id)
    answers = _load_answers(claim, embedder)
    pass_point(Point.SERVED_READ)
    ratings: list[EpisodeReview] = []
    engine, degraded, ignored = "", False, 0
    for retrieval, episodes in answers.items():
        after = episodic_queries.messages_between(
            conversation,
            first_seq=retrieval.through_seq + 1,
            last_seq=retrieval.through_seq + LINES_AFTER,
        )
        lines = episodic_queries.to_lines(after)
        if not lines:
            continue
        vectors = embeddings.embed_passages([line.text for line in lines], embedder=embedder)
        judgement = reviewer.review(served=list(episodes.values()), lines=lines, vectors=vectors)
        engine, degraded = judgement.engine, degraded or judgement.degraded
        ignored += judgement.ignored
        ratings += [
            EpisodeReview(
                episode_id=episode_id,
                retrieval_id=retrieval.id,
                rating=judgement.ratings[served.alias],
                retrieved_at=retrieval.created_at,
            )
            for episode_id, served in episodes.items()
            if served.alias in judgement.ratings
        ]
    pass_point(Point.SERVED_JUDGED)
    with commit(claim, result={"rated": len(ratings), "ignored": ignored}):
        apply_reviews(
            tenant=claim.tenant,
            job_id=claim.id,
            reviews=ratings,
            engine=engine,
            degraded=degraded,
            now=episodic_queries.database_now(),
        )
        pass_point(Point.REVIEWS_APPLIED)


def _load_answers(
    claim: Claim, embedder: Embedder
) -> dict[Retrieval, dict[uuid.UUID, ServedEpisode]]:
    """Return, by answer, the episodes to rate: each in the last answer that served it.

    That answer saw the latest state.
    """
    last = receipts.last_answers_under_review(tenant=claim.tenant, job_id=claim.id)
    episodes = list(episodic_queries.episodes_with_state(tenant=claim.tenant, episode_ids=last))
    vectors = headline_vectors(tenant=claim.tenant, episodes=episodes, embedder=embedder)
    answers: dict[Retrieval, dict[uuid.UUID, ServedEpisode]] = defaultdict(dict)
    for number, episode in enumerate(episodes, start=1):
        retrieval = last[episode.id]
        answers[retrieval][episode.id] = ServedEpisode(
            alias=f"E{number}",
            query=retrieval.query,
            title=episode.title,
            summary=episode.summary,
            vector=vectors[episode.id],
        )
    return answers

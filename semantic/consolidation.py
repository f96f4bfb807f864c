"""The flow that distils episodes into facts: predict, calibrate, write.

Predict: load the new episodes, without what they quote from our own answers, and the active facts
that are similar. Calibrate: show both to an engine, facts under aliases, and get proposals. Write:
under the conversation's lock and in one transaction, apply each proposal that does not just repeat
an answer, and mark the episodes.
"""

import logging
import uuid
from collections.abc import Sequence
from itertools import accumulate

from episodic import queries as episodic_queries
from episodic import services as episodic
from episodic.models import Conversation, Episode
from episodic.services import CONSOLIDATION_THRESHOLD
from indexing.model_change import choose_embedder
from jobs.claims import Claim, SnapshotMoved, TooMuchPoison, batch_size, commit
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Vectors
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.wings import list_wings
from semantic import engines, queries
from semantic.guards import FACT_CHARACTERS_AT_MOST
from semantic.models import Changeset, Fact
from semantic.proposal_writer import Writer
from semantic.services import start_changeset
from semantic.snapshots import FindAnswers, Snapshot, read_snapshot
from semantic.user_facts import lock_home

logger = logging.getLogger("memory.semantic")

EPISODES_A_RUN = 10
SET_ASIDE_AT_MOST = 3
"""Episodes set aside in a row; if the next fails, too, it is not their fault."""
ACTOR = "worker"


def consolidate_batch(
    *,
    claim: Claim,
    consolidator: engines.Consolidator,
    find_answers: FindAnswers,
    force: bool,
    finish: bool = True,
) -> int:
    """Draw facts from up to `EPISODES_A_RUN` fresh episodes; return how many there were.

    Without `force` nothing happens below the threshold. Statements that only repeat an answer found
    by `find_answers` are not learned. After failed attempts a run takes fewer episodes; a single
    episode that still fails is set aside.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        TooMuchPoison: episode after episode fails.
        ModelUnavailable, ModelMisbehaved: an embedding or language model is away.
    """
    conversation = episodic_queries.get_conversation(claim.tenant, claim.scope)
    size = batch_size(EPISODES_A_RUN, attempts=claim.attempts)
    episodes = episodic_queries.fresh_episodes(conversation=conversation, at_most=size or 1)
    if not episodes and not finish:
        return 0
    due = len(episodes) >= CONSOLIDATION_THRESHOLD or force or size < EPISODES_A_RUN
    if not episodes or not due:
        with commit(claim, finish=finish):
            episodic.request_consolidation(conversation)
        return 0
    if not size:
        return _set_aside(episodes[0], claim=claim, conversation=conversation, finish=finish)
    all_fresh = len(episodes)
    episodes = episodes[: _count_answered_in_time(episodes, lines_at_most=claim.lines_at_most)]
    known_at_most = consolidator.known_at_most
    embedder = choose_embedder(tenant=claim.tenant, conversation_id=claim.scope)
    snapshot = read_snapshot(
        conversation, episodes, find_answers, embedder, known_at_most=known_at_most
    )
    pass_point(Point.EPISODES_READ)
    answer = consolidator.consolidate(episodes=snapshot.texts, known=snapshot.known)
    pass_point(Point.FACTS_PROPOSED)
    texts = [_embedding_text(item) for item in answer.proposals]
    vectors = embeddings.embed_passages(texts, embedder=embedder)
    pass_point(Point.FACTS_EMBEDDED)
    result = {"episodes": len(episodes), "proposals": len(answer.proposals)}
    searching = size < EPISODES_A_RUN
    with commit(claim, finish=finish, result=result, searching=searching):
        _write(snapshot, answer, vectors, job_id=claim.id)
        episodic.request_consolidation(conversation, force=len(episodes) < all_fresh)
    return len(episodes)


def _count_answered_in_time(episodes: Sequence[Episode], *, lines_at_most: int | None) -> int:
    """Return how many of the episodes have few enough messages for one question; one at least."""
    lines = accumulate(episode.last_seq - episode.first_seq + 1 for episode in episodes)
    fitting = sum(lines_at_most is None or count <= lines_at_most for count in lines)
    return max(1, fitting)


def _set_aside(episode: Episode, *, claim: Claim, conversation: Conversation, finish: bool) -> int:
    """Set aside an episode that every run fails on, for people to look at."""
    if episodic_queries.earlier_all_failed(episode, count=SET_ASIDE_AT_MOST):
        raise TooMuchPoison(str(claim.id))
    with commit(claim, finish=finish, result={"set_aside": 1}):
        episodic_queries.lock_conversation(claim.tenant, conversation.id)
        episodic.mark_consolidation_failed(claim.tenant, conversation.id, id=episode.id)
        pass_point(Point.EPISODE_SET_ASIDE)
        episodic.request_consolidation(conversation)
    logger.error("episode %s set aside by job %s", episode.id, claim.id)
    return 1


def _embedding_text(proposal: engines.Proposal) -> str:
    fact = proposal.fact[:FACT_CHARACTERS_AT_MOST]
    return engines.fact_embedding_text(proposal.category, fact, proposal.keywords)


def _write(
    snapshot: Snapshot, answer: engines.Consolidation, vectors: Vectors, *, job_id: uuid.UUID
) -> None:
    seen = snapshot.conversation
    conversation = lock_home(seen.tenant, seen.id)
    now = episodic_queries.database_now()
    count = episodic.mark_consolidated(conversation.tenant, snapshot.episodes, now=now)
    pass_point(Point.EPISODES_MARKED)
    versions = {fact.id: fact.version for fact in snapshot.facts_by_alias.values()}
    active_facts = queries.active_facts(tenant=conversation.tenant, fact_ids=versions)
    locked = active_facts.select_for_update().values_list("id", "version")
    has_moved = versions != dict(locked)
    has_moved = has_moved or conversation.user_id != seen.user_id
    if conversation.version != seen.version or count != len(snapshot.episodes) or has_moved:
        raise SnapshotMoved(str(conversation.id))
    ledger = start_changeset(
        conversation,
        now=now,
        job_id=job_id,
        kind=Changeset.Kind.CONSOLIDATION,
        actor=ACTOR,
        engine=answer.engine,
        model=answer.model,
        prompt_version=answer.prompt_version,
        degraded=answer.degraded,
        unknown_aliases=_count_unknown(answer.proposals, snapshot.facts_by_alias),
    )
    ledger.embedding_model = snapshot.embedding_model
    Writer(snapshot, answer, vectors, ledger).apply_all()
    for wing in list_wings():
        wing.on_drawn(ledger.changeset, snapshot.episodes)
    ledger.close()


def _count_unknown(proposals: Sequence[engines.Proposal], known_facts: dict[str, Fact]) -> int:
    known = {*known_facts, *(f"P{place}" for place in range(len(proposals)))}
    changes = (item for item in proposals if item.action is not engines.Action.NEW)
    return sum(item.alias not in known for item in changes)

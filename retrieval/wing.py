"""What the core declares of itself: its jobs and chores, and that answers wait for their review."""

from functools import partial

from episodic import flows as episodes
from episodic import moving
from episodic.choice import make_reviewer
from episodic.services import mark_consolidation_failed, retry_failed_consolidation
from indexing import model_change
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from retrieval import receipts, vectors
from retrieval.receipts.echoes import find_answers
from retrieval.receipts.review import review_retrievals
from semantic import flows as facts
from semantic import parting

make_facts = partial(
    Flow,
    gives_up_by_halves=True,
    on_death=mark_consolidation_failed,
    on_retry=retry_failed_consolidation,
)


def review(claim: Claim) -> None:
    """Rate the episodes that earlier answers served."""
    review_retrievals(claim=claim, reviewer=make_reviewer(find_asker(claim)))


SHOWS_CONTENT = (
    "episodic.conversation", "episodic.episode", "episodic.message", "episodic.review",
    "semantic.fact", "semantic.evidence", "semantic.changeset", "retrieval.retrieval",
    "retrieval.retrievalhit", "jobs.llmcall", "indexing.searchunit",
)  # fmt: skip

WING = Wing(
    flows={
        Kind.SEGMENT: Flow(run=episodes.segment, gives_up_by_halves=True, waits_for=(Kind.FLUSH,)),
        Kind.CONSOLIDATE: make_facts(
            run=partial(facts.consolidate, find_answers=find_answers), waits_for=(Kind.FLUSH,)
        ),
        Kind.FLUSH: make_facts(
            run=partial(facts.flush, find_answers=find_answers),
            waits_for=(Kind.SEGMENT, Kind.CONSOLIDATE),
        ),
        Kind.MOVE: Flow(
            run=partial(moving.move_conversation, leave=parting.leave_user), asks_model=False
        ),
        Kind.REVIEW: Flow(run=review),
        Kind.EMBED: Flow(run=vectors.make_vectors),
    },
    chores=(
        episodes.queue_due_windows,
        episodes.close_silent_conversations,
        moving.queue_moves,
        facts.queue_leftovers,
        model_change.notice_changes,
    ),
    shows_content=SHOWS_CONTENT,
    on_episodes=receipts.take_pending_reviews,
)

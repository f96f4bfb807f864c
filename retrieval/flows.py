"""The jobs that review answers, make vectors and write the mirror; it hands receipts to others."""

import time
import uuid

from django.conf import settings

import episodic.flows
import semantic.flows
from episodic.choice import make_reviewer
from events.outbox import register_receipts
from indexing.model_change import answering
from jobs import claims
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.enqueue import wake
from jobs.flows import Flow, register_chore
from jobs.flows import register as register_flow
from jobs.models import Kind
from retrieval import memory_tests, mirror, receipts, vectors
from retrieval.reading import contexts
from retrieval.receipts import echoes
from retrieval.receipts.review import review_retrievals


def register() -> None:
    """Say how the jobs run, also those of the apps below that need to know of receipts."""
    episodic.flows.register(take_reviews=receipts.take_pending_reviews)
    semantic.flows.register(
        take_reviews=receipts.take_pending_reviews, find_answers=echoes.find_answers
    )
    register_receipts(receipts.find_receipts)
    register_flow(Kind.REVIEW, Flow(run=review))
    register_flow(Kind.EMBED, Flow(run=embed))
    register_flow(Kind.TEST, Flow(run=memory_tests.run_claimed, asks_model=False))
    register_flow(Kind.MIRROR, Flow(run=mirror.mirror_changed, asks_model=False))
    register_chore(contexts.delete_expired)


def review(claim: Claim) -> None:
    """Rate the episodes that earlier answers served."""
    scope = uuid.UUID(claim.input["conversation"])
    with answering(tenant=claim.tenant, conversation_id=scope):
        review_retrievals(claim=claim, reviewer=make_reviewer(find_asker(claim)))


def embed(claim: Claim) -> None:
    """Make the vectors that a conversation lacks, or all that the tenant does, for a while."""
    if not vectors.make_vectors(claim, until=time.monotonic() + settings.FLUSH_AT_MOST_S):
        claims.hand_back(claim)
        wake(claim.job_id)

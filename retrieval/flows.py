"""The jobs that review answers, make vectors and write the mirror; it hands receipts to others."""

import episodic.flows
import semantic.flows
from episodic.choice import make_reviewer
from indexing import model_change
from jobs.calls import find_asker
from jobs.claims import Claim
from jobs.flows import Flow, chores, register_flow
from jobs.models import Kind
from retrieval import receipts, vectors
from retrieval.receipts import echoes
from retrieval.receipts.review import review_retrievals
from wings.events.outbox import receipt_finders
from wings.forgetting import forgetting
from wings.memory_tests import memory_tests
from wings.navigation import contexts, mirror


def register() -> None:
    """Say how the jobs run, also those of the apps below that need to know of receipts."""
    episodic.flows.register(take_reviews=receipts.take_pending_reviews)
    semantic.flows.register(
        take_reviews=receipts.take_pending_reviews, find_answers=echoes.find_answers
    )
    receipt_finders.append(receipts.find_receipts)
    register_flow(Kind.REVIEW, Flow(run=review))
    register_flow(Kind.EMBED, Flow(run=vectors.make_vectors))
    register_flow(Kind.FORGET, Flow(run=forgetting.forget_asked, asks_model=False))
    register_flow(Kind.TEST, Flow(run=memory_tests.run_claimed, asks_model=False))
    register_flow(Kind.MIRROR, Flow(run=mirror.mirror_changed, asks_model=False))
    chores.append(contexts.delete_expired)
    chores.append(model_change.notice_changes)


def review(claim: Claim) -> None:
    """Rate the episodes that earlier answers served."""
    review_retrievals(claim=claim, reviewer=make_reviewer(find_asker(claim)))

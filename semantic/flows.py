"""The jobs that draw facts from episodes, and the chore for leftovers."""

from datetime import timedelta

from episodic import queries, segmentation
from episodic import services as episodic
from episodic.choice import make_segmenter
from episodic.models import Conversation
from jobs import claims
from jobs.calls import Asker, find_asker
from jobs.claims import Claim
from semantic import consolidation
from semantic.choice import find_instructions, make_consolidator
from semantic.engines import Consolidator
from semantic.snapshots import FindAnswers

LEFTOVERS_WAIT = timedelta(hours=2)
"""Time that episodes below the consolidation threshold wait for more of them."""


def consolidate(claim: Claim, *, find_answers: FindAnswers) -> None:
    """Draw facts from the conversation's fresh episodes once."""
    consolidation.consolidate_batch(
        claim=claim,
        consolidator=_make_consolidator(claim, find_asker(claim)),
        find_answers=find_answers,
        force=bool(claim.input.get("force")),
    )


def _make_consolidator(claim: Claim, ask: Asker | None) -> Consolidator:
    """Return the consolidator for a conversation, under its agent's instructions."""
    agent_id = queries.get_conversation(claim.tenant, claim.scope).agent_id
    return make_consolidator(ask, find_instructions(claim.tenant, agent_id))


def flush(claim: Claim, *, find_answers: FindAnswers) -> None:
    """Close the whole window, then draw facts from every fresh episode.

    Each run commits its part once, so a later run continues after it. After a while the job is
    given back to continue in another run, so that no worker is occupied forever.
    """
    ask = find_asker(claim)
    segmenter, consolidator = make_segmenter(ask), _make_consolidator(claim, ask)
    while not claims.hand_back_if_late(claim):
        moved = segmentation.segment_window(
            claim=claim,
            segmenter=segmenter,
            everything=True,
            finish=False,
        ) or consolidation.consolidate_batch(
            claim=claim,
            consolidator=consolidator,
            find_answers=find_answers,
            force=True,
            finish=False,
        )
        if not moved:
            with claims.commit(claim):
                return


def queue_leftovers(*, at_most: int) -> None:
    """Queue the consolidation of episodes that have waited long enough, or whose job was lost."""
    before = queries.database_now() - LEFTOVERS_WAIT
    ids = queries.conversations_with_stale_episodes(created_before=before, at_most=at_most)
    stale = Conversation.across_tenants.select_related("tenant").filter(id__in=ids)
    for conversation in stale.order_by("id"):
        episodic.request_consolidation(conversation, force=True)

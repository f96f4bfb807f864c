"""Previews, runs and lifts the rollback of a source since some time.

The source's messages are quarantined, the runs that learned from them are reverted, and facts are
extracted again from the other messages. Later runs are reverted, too, if they built on a fact
changed by one of these. Changes by people stay.

Each conversation is one transaction, so that nobody waits for all of them. A few are done at once;
if there are more, a worker continues.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from episodic import queries as episodic_queries
from episodic import withholding as episodic
from episodic.models import Conversation, Episode, Withholding
from jobs import claims
from jobs.claims import Claim
from jobs.enqueue import enqueue
from jobs.models import Kind
from jobs.tasks import run_claimed
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Conflict, NotFound, get_row
from memoryproject.process import forks
from memoryproject.tenancy.models import Tenant
from semantic import queries, reverts
from semantic.curation import Act, check_reason
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.user_facts import lock_home

NONE = Q(id__in=())
CONVERSATIONS_AT_ONCE = 10
"""Number of conversations done while the caller waits, and previewed."""
LISTED_AT_ONCE = 200
FIGURES = "conversations messages episodes returned runs closed reopened redrawn left".split()
Counts = Counter[str]
"""The effects of a rollback, in numbers.

`messages` are quarantined; `episodes` were taken apart, and their other `returned` messages went
back to the window; `runs` were reverted, which closed `closed` facts and restored `reopened` ones;
from `redrawn` episodes facts are extracted again; `left` facts stay, since people have changed
them.
"""
NOTHING_SAID = "This source has said nothing since then that is not quarantined."


def preview(source: Withholding) -> tuple[Counts, dict[str, int], list[Fact]]:
    """Return what the rollback of an unsaved row would do.

    That is the counts in its first conversations, how many conversations and messages were not
    checked, and which active facts would be retired, up to 200. It rolls each conversation back and
    undoes it, so the counts are exact; other writers of the conversation wait meanwhile.

    Raises:
        Problem: no reason, or only a time is given.
        NotFound: the source has no messages since then that are not quarantined.
    """
    _check(source)
    messages = episodic.messages_from(source)
    first = episodic.conversations_with(messages, at_most=CONVERSATIONS_AT_ONCE)
    counts: Counts = Counter()
    taken: list[Fact] = []
    for conversation_id in first:
        with transaction.atomic():
            conversation = lock_home(source.tenant, conversation_id)
            before = {fact.id: fact for fact in queries.active_in(conversation)}
            source.save(force_insert=True)
            counts.update(undo_in(conversation, withholding=source))
            after = set(queries.active_in(conversation).values_list("id", flat=True))
            taken += [fact for fact_id, fact in before.items() if fact_id not in after]
            transaction.set_rollback(True)
    if not counts["messages"]:
        raise NotFound(NOTHING_SAID)
    return counts, episodic.count(messages.exclude(conversation__in=first)), taken[:LISTED_AT_ONCE]


def roll_back(withholding: Withholding) -> None:
    """Save the row, and roll back its source until now; raises as `preview`.

    Without `done_at` a worker continues. Receipts, reviews and messages posted after this call are
    not affected.
    """
    with transaction.atomic():
        work = start(withholding)
        if not work.left:
            raise NotFound(NOTHING_SAID)
    work.do()


@dataclass(frozen=True, slots=True)
class Work:
    """A recorded rollback, the first conversations to do, and its job if the caller does it."""

    withholding: Withholding
    left: Sequence[uuid.UUID]
    claim: Claim | None

    def do(self) -> None:
        """Do a small rollback at once; the transaction that started it has ended."""
        if self.claim is not None:
            run_claimed(self.claim)
            self.withholding.refresh_from_db()


def start(withholding: Withholding) -> Work:
    """Save the row with a job for the rollback, inside the caller's transaction."""
    _check(withholding)
    withholding.save(force_insert=True)
    return _plan(withholding)


def _plan(withholding: Withholding) -> Work:
    """Enqueue the job of a rollback; a small one is claimed here.

    Otherwise a worker could take it first, and the caller would answer before it is done.
    """
    left = episodic.conversations_left(withholding, at_most=CONVERSATIONS_AT_ONCE + 1)
    job = enqueue(tenant=withholding.tenant, kind=Kind.ROLLBACK, scope=withholding.id)
    is_small = len(left) <= CONVERSATIONS_AT_ONCE
    return Work(withholding, left, claims.claim(job.id, holder=forks.cluster) if is_small else None)


def _check(source: Withholding) -> None:
    """Raise Problem unless an unsaved row names a source and a reason; set its time to now."""
    episodic.check_source(source)
    source.reason = check_reason(source.reason)
    source.created_at = read_database_clock()


def lift(*, act: Act, withholding_id: uuid.UUID) -> Withholding:
    """Lift a quarantine: its messages are processed like new ones.

    Raises:
        NotFound: the tenant has no such rollback.
        Conflict: it is lifted already.
        Problem: no reason.
    """
    check_reason(act.reason)
    with transaction.atomic():
        rows = Withholding.objects.of(act.tenant).select_for_update()
        withholding = get_row(rows, "withholding", id=withholding_id)
        if withholding.lifted_at is not None:
            raise Conflict("It is lifted already.")
        withholding.lifted_at = episodic_queries.database_now()
        withholding.lifted_by = act.actor
        withholding.done_at = None
        withholding.save(update_fields=["lifted_at", "lifted_by", "done_at"])
        work = _plan(withholding)
    work.do()
    return withholding


def run_rollback(claim: Claim) -> None:
    """Continue a quarantine, or its lifting, for up to a minute; then give the job back.

    Raises:
        LeaseLost: another worker does it; finished parts stay finished.
    """
    rows = Withholding.objects.of(claim.tenant).filter(id=claim.scope)
    while left := _find_left(rows):
        for conversation_id in left:
            with claims.commit(claim, finish=False):
                _take(claim.tenant, rows, conversation_id)
            if claims.hand_back_if_late(claim):
                return
    with claims.commit(claim):
        withholding = rows.select_for_update().first()
        # Somebody may just have lifted it: their job does that.
        if withholding is not None and not episodic.conversations_left(withholding, at_most=1):
            withholding.done_at = episodic_queries.database_now()
            withholding.save(update_fields=["done_at"])


def _find_left(rows: QuerySet[Withholding]) -> list[uuid.UUID]:
    withholding = rows.first()
    return episodic.conversations_left(withholding, at_most=LISTED_AT_ONCE) if withholding else []


def _take(tenant: Tenant, rows: QuerySet[Withholding], conversation_id: uuid.UUID) -> None:
    """Do one conversation: quarantine or lift, whichever is wanted by now."""
    conversation = lock_home(tenant, conversation_id)
    withholding = rows.select_for_update().first()
    if withholding is None:
        return
    if withholding.lifted_at is not None:
        episodic.lift(conversation, withholding=withholding)
        return
    counts = undo_in(conversation, withholding=withholding)
    counts.update(withholding.made)
    withholding.made = counts
    withholding.save(update_fields=["made"])


def undo_in(conversation: Conversation, *, withholding: Withholding) -> Counts:
    """Roll back a quarantined source in one locked conversation; return the counts."""
    message_ids, episodes = episodic.find_messages(conversation, withholding)
    if not message_ids:
        return Counter()
    act = Act(withholding.tenant, withholding.actor, withholding.reason)
    runs = find_tainted(conversation, episodes)
    counts = Counter(dict.fromkeys(FIGURES, 0))
    for run in sorted(runs, key=lambda run: run.id, reverse=True):
        counts.update(revert_run(run, act))
    episode_ids = [episode.id for episode in episodes]
    other_ids = episodes_of(conversation, runs, but=episode_ids)
    returned = episodic.withhold(conversation, message_ids, episode_ids, withholding=withholding)
    redrawn = episodic.draw_anew(tenant=act.tenant, episode_ids=other_ids)
    episodic.settle(conversation)
    counts.update(conversations=1, messages=len(message_ids), episodes=len(episodes))
    counts.update(returned=returned, redrawn=redrawn)
    return counts


def find_tainted(
    conversation: Conversation, episodes: Sequence[Episode], *, also: Q = NONE
) -> list[Changeset]:
    """Return the active runs that read one of the episodes, and those that built on them.

    `also` is a condition for further runs to start from. A run and the episodes it read have the
    same time. An episode read again has the time of its last run; for earlier runs evidence is
    used.
    """
    times = {episode.consolidated_at for episode in episodes if episode.consolidated_at}
    runs = Changeset.objects.within(conversation).filter(kind=Changeset.Kind.CONSOLIDATION)
    evidence = Evidence.objects.of(conversation.tenant).filter(episode__in=list(episodes))
    has_read = Q(started_at__in=times) | Q(id__in=evidence.values("changeset"))
    queue = list(runs.filter(has_read | also).order_by("id"))
    tainted: dict[uuid.UUID, Changeset] = {}
    while queue:
        run = queue.pop()
        if run.id in tainted:
            continue
        plan = reverts.plan_revert(tenant=conversation.tenant, changeset_id=run.id)
        if plan.reverted_by is not None:
            continue
        tainted[run.id] = run
        later_ids = [changeset_id for step in plan.conflicts for changeset_id in step.later_ids]
        queue += runs.filter(id__in=later_ids).order_by("id")
        # A run that confirmed a fact in the source's words must word it again by itself.
        confirming = Evidence.objects.of(conversation.tenant).filter(
            fact__changeset=run, withdrawn_by=None
        )
        queue += runs.filter(id__in=confirming.values("changeset")).order_by("id")
    return list(tainted.values())


def revert_run(run: Changeset, act: Act) -> Counts:
    plan = reverts.plan_revert(tenant=act.tenant, changeset_id=run.id)
    if plan.erased and not plan.steps:
        return Counter()  # there is nothing of it left to undo
    revert = reverts.revert_changeset(act=act, changeset_id=run.id, leave_conflicts=True)
    steps = Change.objects.of(act.tenant).filter(changeset=revert)
    actions = list(steps.values_list("action", flat=True))
    return Counter(
        runs=1,
        closed=actions.count(Change.Action.INVALIDATE),
        reopened=actions.count(Change.Action.RESTORE),
        left=actions.count(Change.Action.SKIP),
    )


def episodes_of(
    conversation: Conversation, runs: Sequence[Changeset], *, but: Sequence[uuid.UUID]
) -> list[uuid.UUID]:
    """Return the episodes that these runs read, `but` some."""
    evidence = Evidence.objects.of(conversation.tenant).filter(changeset__in=list(runs))
    was_read = Q(consolidated_at__in=[run.started_at for run in runs])
    rows = Episode.objects.of(conversation.tenant).filter(
        was_read | Q(id__in=evidence.values("episode")), conversation=conversation
    )
    return list(rows.exclude(id__in=but).order_by("first_seq").values_list("id", flat=True))

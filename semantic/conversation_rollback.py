"""Rolls back what one conversation has of a source, inside one transaction under its lock.

What the source said is quarantined, the runs that learnt from it are reverted, and what is
left of what they had read is learnt anew. A later run is reverted too where it built on
a fact that one of these had changed. What people have done since stays as it is.
"""

import uuid
from collections import Counter
from collections.abc import Sequence

from django.db.models import Q

from episodic import withholding as episodic
from episodic.models import Conversation, Episode, Withholding
from episodic.recounting import draw_anew
from semantic import reverts
from semantic.curation import Act
from semantic.models import Change, Changeset, Evidence

FIGURES = "conversations messages episodes returned runs closed reopened redrawn left".split()
Counts = Counter[str]
"""What rolling back a source changes, in figures.

`messages` are quarantined; `episodes` were taken apart, and `returned` messages of others in
them went back to the window; `runs` were reverted, which closed `closed` facts and restored
`reopened` ones; `redrawn` episodes are learnt from anew; `left` facts stay as they are, since
people have changed them since.
"""


def undo_in(conversation: Conversation, *, withholding: Withholding) -> Counts:
    """Roll back what a locked conversation has of the quarantined source; return the counts."""
    message_ids, episodes = episodic.find_messages(conversation, withholding)
    if not message_ids:
        return Counter()
    act = Act(withholding.tenant, withholding.actor, withholding.reason)
    runs = _find_tainted(conversation, episodes)
    counts = Counter(dict.fromkeys(FIGURES, 0))
    for run in sorted(runs, key=lambda run: run.id, reverse=True):
        counts.update(_revert(run, act))
    episode_ids = [episode.id for episode in episodes]
    other_ids = _episodes_of(conversation, runs, but=episode_ids)
    returned = episodic.withhold(conversation, message_ids, episode_ids, withholding=withholding)
    redrawn = draw_anew(tenant=act.tenant, episode_ids=other_ids)
    episodic.settle(conversation)
    counts.update(
        conversations=1,
        messages=len(message_ids),
        episodes=len(episodes),
        returned=returned,
        redrawn=redrawn,
    )
    return counts


def _find_tainted(conversation: Conversation, episodes: Sequence[Episode]) -> list[Changeset]:
    """Return the runs in effect that read one of the episodes, and those that built on them.

    A run and the episodes that it has read bear the same time. One that was drawn anew bears
    that of its last run; what earlier ones drew from it is told by evidence.
    """
    times = {episode.consolidated_at for episode in episodes if episode.consolidated_at}
    runs = Changeset.objects.within(conversation).filter(kind=Changeset.Kind.CONSOLIDATION)
    evidence = Evidence.objects.of(conversation.tenant).filter(episode__in=list(episodes))
    has_read = Q(started_at__in=times) | Q(id__in=evidence.values("changeset"))
    queue = list(runs.filter(has_read).order_by("id"))
    tainted: dict[uuid.UUID, Changeset] = {}
    while queue:
        run = queue.pop()
        if run.id in tainted:
            continue
        plan = reverts.plan_revert(tenant=conversation.tenant, changeset_id=run.id)
        if plan.reverted_by is not None:
            continue
        tainted[run.id] = run
        queue += [
            later
            for step in plan.conflicts
            for later in step.later
            if later.kind == Changeset.Kind.CONSOLIDATION
        ]
        # Who confirmed a fact in the words and with the date of the source is to word it himself.
        confirming = Evidence.objects.of(conversation.tenant).filter(
            fact__changeset=run, withdrawn_by=None
        )
        queue += runs.filter(id__in=confirming.values("changeset")).order_by("id")
    return list(tainted.values())


def _revert(run: Changeset, act: Act) -> Counts:
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


def _episodes_of(
    conversation: Conversation, runs: Sequence[Changeset], *, but: Sequence[uuid.UUID]
) -> list[uuid.UUID]:
    """Return the episodes that these runs have read, `but` some."""
    evidence = Evidence.objects.of(conversation.tenant).filter(changeset__in=list(runs))
    was_read = Q(consolidated_at__in=[run.started_at for run in runs])
    rows = Episode.objects.of(conversation.tenant).filter(
        was_read | Q(id__in=evidence.values("episode")), conversation=conversation
    )
    return list(rows.exclude(id__in=but).order_by("first_seq").values_list("id", flat=True))

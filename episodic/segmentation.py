"""The flow that turns a window of messages into episodes.

Read the window, embed its lines, ask a segmenter, then lock, look again and write
everything in one transaction. Until that commit nothing has changed; after it, the
messages are in episodes, the episodes are findable, and what follows is queued.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from episodic import episode_index, fsrs_memory, queries, services, window
from episodic.engines import Segment, Segmentation, Segmenter
from episodic.episode_index import PlannedEpisode, embed_lines, headline
from episodic.models import Conversation, Episode, Message
from indexing import services as index
from indexing.detection import detect_language
from indexing.model_change import choose_embedder
from indexing.models import Memory, MemoryKind
from jobs.claims import Claim, SnapshotMoved, TooMuchPoison, batch_size, commit
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.wings import list_wings

logger = logging.getLogger("memory.episodic")

SET_ASIDE_AT_MOST = 3
"""Messages in a row that are set aside; if the next fails, too, the job fails instead."""


def segment_window(
    *,
    claim: Claim,
    segmenter: Segmenter,
    everything: bool = False,
    finish: bool = True,
) -> bool:
    """Run one segmentation of the claim's conversation; return whether there was work to do.

    It takes one window at most. With `everything` the window is due whatever its size, and its last
    segment is closed too, unless more messages follow. After failed attempts a run takes fewer
    messages and closes them all; a single message that still fails is set aside.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        TooMuchPoison: message after message fails.
        ModelUnavailable, ModelMisbehaved: an embedding or language model is away.
    """
    conversation = queries.get_conversation(claim.tenant, claim.scope)
    grown = conversation.window_doubled or everything
    limit = window.size_limit(doubled=grown)
    size = batch_size(limit, attempts=claim.attempts)
    due = everything or size < limit or queries.is_window_due(conversation)
    messages = list(queries.window_messages(conversation)[: size or 1]) if due else []
    if not messages and not finish:
        return False
    if messages and not size:
        _set_aside(messages[0], claim=claim, conversation=conversation, finish=finish)
        return True
    pass_point(Point.WINDOW_READ)
    run = _leading_run(conversation, messages)
    alone = size < limit or len(run) < len(messages)
    planned = plan_episodes(
        conversation=conversation,
        messages=run,
        embedder=choose_embedder(tenant=claim.tenant, conversation_id=claim.scope),
        segmenter=segmenter,
        doubled=grown or alone,
        everything=alone or (everything and conversation.pending_count <= limit),
        waited=claim.waited,
    )
    language = detect_language([message.content for message in run])
    pass_point(Point.WINDOW_PLANNED)
    with commit(claim, finish=finish, result={"episodes": len(planned)}, searching=size < limit):
        locked = queries.lock_conversation(claim.tenant, claim.scope)
        pass_point(Point.WINDOW_LOCKED)
        _check_snapshot(locked, read=conversation, messages=run)
        if run:
            locked.window_doubled = not planned
        _write(planned, locked, language=language)
        if run:
            for wing in list_wings():
                wing.on_episodes(locked, [plan.episode for plan in planned])
            pass_point(Point.EPISODES_ANNOUNCED)
    return bool(run)


def _leading_run(conversation: Conversation, messages: Sequence[Message]) -> list[Message]:
    """Return the messages before the first gap filled by an episode: episodes must not overlap.

    Only messages that returned to the window have later ones in episodes: those set aside, and
    those whose episode was erased. Erased messages leave an empty gap, which an episode may span.
    """
    for place in range(1, len(messages)):
        after, before = messages[place - 1].seq, messages[place].seq
        between = queries.messages_between(conversation, first_seq=after + 1, last_seq=before - 1)
        if before - after > 1 and between.exists():
            return list(messages[:place])
    return list(messages)


def _set_aside(message: Message, *, claim: Claim, conversation: Conversation, finish: bool) -> None:
    """Take a message on which every run fails out of the window, for people to look at."""
    before = queries.messages_between(
        conversation, first_seq=message.seq - SET_ASIDE_AT_MOST, last_seq=message.seq - 1
    )
    if before.filter(quarantined_by__isnull=False).count() == SET_ASIDE_AT_MOST:
        raise TooMuchPoison(str(claim.id))
    with commit(claim, finish=finish, result={"set_aside": 1}):
        locked = queries.lock_conversation(claim.tenant, conversation.id)
        services.quarantine_message(locked, message, job_id=claim.id)
        pass_point(Point.MESSAGE_SET_ASIDE)
        services.request_segmentation_if_due(locked)
    logger.error("message %s set aside by job %s", message.id, claim.id)


def plan_episodes(
    *,
    conversation: Conversation,
    messages: Sequence[Message],
    embedder: Embedder,
    segmenter: Segmenter,
    doubled: bool,
    everything: bool,
    waited: timedelta,
) -> list[PlannedEpisode]:
    """Plan the episodes without writing anything; none if the window should grow.

    `doubled`: a single segment is closed instead of growing; `everything`: the last of several is
    closed too; `waited`: how long the job has been due.
    """
    if not messages:
        return []
    lines = queries.to_lines(messages)
    texts = [line.text for line in lines]
    vectors, is_storable = embed_lines(texts, embedder, waited=waited)
    states = embeddings.keep_states(texts, embedder=embedder)
    pass_point(Point.WINDOW_EMBEDDED)
    segmentation = segmenter.segment(
        lines=lines, vectors=vectors, previous_summary=conversation.previous_summary
    )
    pass_point(Point.WINDOW_DIVIDED)
    closed = window.count_closed(len(segmentation.segments), doubled=doubled, everything=everything)
    segments = segmentation.segments[:closed]
    worded = [headline(segment) for segment in segments]
    headlines, as_well = embed_lines(worded, embedder, waited=waited)
    planned = []
    for segment, vector in zip(segments, headlines, strict=True):
        run = slice(segment.first, segment.last + 1)
        episode = _draft(segment, messages[run], segmentation)
        stored = [vector, *vectors[run]] if is_storable and as_well else ()
        plan = PlannedEpisode(episode, messages[run], stored, embedder.name, states[run])
        planned.append(plan)
    return planned


def _draft(segment: Segment, messages: Sequence[Message], made_by: Segmentation) -> Episode:
    """Return an episode without the values that it gets when it is inserted."""
    times = [message.occurred_at for message in messages]
    return Episode(
        first_seq=messages[0].seq,
        last_seq=messages[-1].seq,
        title=segment.title,
        summary=segment.summary,
        surprise=segment.surprise,
        start_at=min(times),
        end_at=max(times),
        engine=made_by.engine,
        degraded=made_by.degraded,
    )


def _write(planned: Sequence[PlannedEpisode], locked: Conversation, *, language: str) -> None:
    """Write the episodes, store the locked conversation, and queue what follows."""
    if planned:
        if not queries.episodes_of(locked).count():
            locked.language = language
        _insert_episodes(planned, locked)
        episode_index.index_episodes(planned, locked)
        pass_point(Point.EPISODES_INDEXED)
        episodes = [plan.episode for plan in planned]
        is_flashbulb = any(row.surprise >= services.FLASHBULB_SURPRISE for row in episodes)
        services.request_consolidation(locked, force=is_flashbulb)
        locked.previous_summary = episodes[-1].summary
        locked.pending_count -= sum(len(plan.messages) for plan in planned)
    locked.save(update_fields=["language", "previous_summary", "window_doubled", "pending_count"])
    services.request_segmentation_if_due(locked)


def _check_snapshot(
    locked: Conversation, *, read: Conversation, messages: Sequence[Message]
) -> None:
    """Raise SnapshotMoved unless the messages read still open the window, in order."""
    now_there = queries.window_messages(locked)[: len(messages)]
    same = [row.id for row in now_there] == [row.id for row in messages]
    if locked.version != read.version or not same:
        raise SnapshotMoved(str(locked.id))


def _insert_episodes(planned: Sequence[PlannedEpisode], conversation: Conversation) -> None:
    tenant, now = conversation.tenant, queries.database_now()
    memories = index.register(tenant=tenant, kind=MemoryKind.EPISODE, count=len(planned))
    for plan, memory in zip(planned, memories, strict=True):
        _begin(plan.episode, conversation, memory, now)
    Episode.objects.bulk_create([plan.episode for plan in planned])
    pass_point(Point.EPISODE_INSERTED)
    for plan in planned:
        ids = [message.id for message in plan.messages]
        in_window = Message.objects.of(tenant).filter(queries.IN_WINDOW, id__in=ids)
        if in_window.update(episode=plan.episode) != len(ids):
            raise SnapshotMoved(str(conversation.id))
        pass_point(Point.EPISODE_FILLED)


def _begin(episode: Episode, conversation: Conversation, memory: Memory, now: datetime) -> None:
    """Give a planned episode its id, its home and the state that it begins with."""
    state = fsrs_memory.initial_state(surprise=episode.surprise, at=now)
    episode.id, episode.tenant, episode.conversation = memory.id, conversation.tenant, conversation
    episode.stability, episode.difficulty = state.stability, state.difficulty
    episode.created_at = episode.last_reviewed_at = now

"""The flow that turns a window of messages into episodes.

Read the window, embed its lines, ask a segmenter, then lock, look again and write
everything in one transaction. Until that commit nothing has changed; after it, the
messages are in episodes, the episodes are findable, and what follows is queued.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from episodic import fsrs_memory, queries, services, window
from episodic.engines import Line, Segment, Segmenter, Vectors
from episodic.headlines import headline
from episodic.models import Conversation, Episode, Message
from episodic.vectors import embed_lines
from indexing import services as index
from indexing.detection import detect_language
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry
from jobs.claims import Claim, SnapshotMoved, TooMuchPoison, batch_size, commit
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings
from memoryproject.process.crash_points import Point, pass_point

logger = logging.getLogger("memory.episodic")

FLASHBULB_SURPRISE = 0.85
CONSOLIDATION_THRESHOLD = 3
NEIGHBOURS = 2
"""Lines on each side that stand in a message's lexical text; its vector has it alone."""

SET_ASIDE_AT_MOST = 3
"""Messages in a row: when the next one fails too, it is not the messages' fault."""

TakeReviews = Callable[[Conversation], None]
"""Hands pending reviews to a job, inside the commit; given by who knows of receipts."""


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """An episode to write: its wording, its messages, and the vectors of headline and lines.

    Without vectors (the model is away) it is found by its words alone, for the time being.
    """

    segment: Segment
    messages: tuple[Message, ...]
    lines: tuple[Line, ...]
    headline_vector: Vectors | None
    line_vectors: Vectors | None
    engine: str
    degraded: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run will write; `seen` is how many messages of the window it looked at."""

    episodes: tuple[PlannedEpisode, ...]
    doubled: bool
    seen: int
    language: str
    embed_later: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did: episodes made, messages left in the window.

    `moved` says whether there was anything to do.
    """

    episodes: int
    left: int
    moved: bool


def segment_window(
    *,
    claim: Claim,
    segmenter: Segmenter,
    take_reviews: TakeReviews,
    everything: bool = False,
    finish: bool = True,
) -> Outcome:
    """Run one segmentation of the claim's conversation, of one window at most.

    With `everything` the window is due whatever its size, and its last segment is
    closed too, unless more messages wait behind it. After failed attempts a run looks at
    fewer messages and closes them all; a message that is alone and still fails is set
    aside.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        TooMuchPoison: message after message fails.
        ModelUnavailable, ModelMisbehaved: an embedding or language model is away.
    """
    conversation = queries.get_conversation(tenant=claim.tenant, conversation_id=claim.scope)
    grown = conversation.window_doubled or everything
    limit = window.size_limit(doubled=grown)
    size = batch_size(limit, attempts=claim.attempts)
    due = everything or size < limit or queries.is_window_due(conversation)
    messages = queries.window_messages(conversation=conversation, at_most=size or 1) if due else []
    if not messages and not finish:
        return Outcome(episodes=0, left=0, moved=False)
    if messages and not size:
        return _set_aside(messages[0], claim=claim, conversation=conversation, finish=finish)
    pass_point(Point.WINDOW_READ)
    run = _leading_run(conversation, messages)
    alone = size < limit or len(run) < len(messages)
    plan = plan_episodes(
        conversation=conversation,
        messages=run,
        segmenter=segmenter,
        doubled=grown or alone,
        everything=alone or (everything and conversation.pending_count <= limit),
        waited=claim.waited,
    )
    pass_point(Point.WINDOW_PLANNED)
    result = {"episodes": len(plan.episodes)}
    with commit(claim, finish=finish, result=result, searching=size < limit):
        left = _write(plan, conversation=conversation, messages=run, take_reviews=take_reviews)
    return Outcome(episodes=len(plan.episodes), left=left, moved=bool(run))


def _leading_run(conversation: Conversation, messages: Sequence[Message]) -> list[Message]:
    """Return the messages up to the first that others stand before: no episode spans another.

    Only messages that came back to the window have others behind them in episodes: one
    that was set aside, and those whose episode an erasure dissolved. What was erased leaves
    a gap with nothing in it, which an episode may span.
    """
    for place in range(1, len(messages)):
        after, before = messages[place - 1].seq, messages[place].seq
        if before - after > 1 and queries.has_messages_between(
            conversation=conversation, after=after, before=before
        ):
            return list(messages[:place])
    return list(messages)


def _set_aside(
    message: Message, *, claim: Claim, conversation: Conversation, finish: bool
) -> Outcome:
    """Take a message out of the window that no run gets past, for people to look at."""
    before = queries.messages_between(
        conversation=conversation,
        first_seq=message.seq - SET_ASIDE_AT_MOST,
        last_seq=message.seq - 1,
    )
    if len(before) == SET_ASIDE_AT_MOST and all(other.quarantined_by_id for other in before):
        raise TooMuchPoison(str(claim.job_id))
    with commit(claim, finish=finish, result={"set_aside": 1}):
        locked = queries.lock_conversation(tenant=claim.tenant, conversation_id=conversation.id)
        services.quarantine_message(locked, message, job_id=claim.job_id)
        pass_point(Point.MESSAGE_SET_ASIDE)
        services.request_segmentation_if_due(locked)
    logger.error("message %s set aside by job %s", message.id, claim.job_id)
    return Outcome(episodes=0, left=locked.pending_count, moved=True)


def plan_episodes(
    *,
    conversation: Conversation,
    messages: Sequence[Message],
    segmenter: Segmenter,
    doubled: bool,
    everything: bool,
    waited: timedelta,
) -> Plan:
    """Decide on episodes without writing anything.

    `doubled` says that a single segment is closed rather than left to grow, `everything`
    that the last of several is closed too; `waited` is for how long the job has been due.
    """
    if not messages:
        return Plan(episodes=(), doubled=False, seen=0, language="")
    lines = queries.to_lines(messages)
    embedded = embed_lines([line.text for line in lines], waited=waited)
    pass_point(Point.WINDOW_EMBEDDED)
    segmentation = segmenter.segment(
        lines=lines, vectors=embedded.vectors, previous_summary=conversation.previous_summary
    )
    pass_point(Point.WINDOW_DIVIDED)
    closing = window.decide_closing(
        found=len(segmentation.segments), doubled=doubled, everything=everything
    )
    segments = segmentation.segments[: closing.segments]
    headlines = embed_lines([headline_of(segment) for segment in segments], waited=waited)
    storable = embedded.storable and headlines.storable
    planned = [
        PlannedEpisode(
            segment=segment,
            messages=tuple(messages[segment.first : segment.last + 1]),
            lines=tuple(lines[segment.first : segment.last + 1]),
            headline_vector=vector if storable else None,
            line_vectors=embedded.vectors[segment.first : segment.last + 1] if storable else None,
            engine=segmentation.engine,
            degraded=segmentation.degraded,
        )
        for segment, vector in zip(segments, headlines.vectors, strict=True)
    ]
    return Plan(
        episodes=tuple(planned),
        doubled=closing.doubled,
        seen=len(messages),
        language=detect_language([line.content for line in lines]),
        embed_later=bool(planned) and not storable,
    )


def headline_of(segment: Segment) -> str:
    """Return what an episode itself is found by, beside its messages."""
    return headline(title=segment.title, summary=segment.summary)


def _write(
    plan: Plan,
    *,
    conversation: Conversation,
    messages: Sequence[Message],
    take_reviews: TakeReviews,
) -> int:
    """Write the plan; return how many messages the window still holds."""
    locked = queries.lock_conversation(tenant=conversation.tenant, conversation_id=conversation.id)
    pass_point(Point.WINDOW_LOCKED)
    _check_snapshot(locked, read=conversation, messages=messages)
    if plan.episodes and not queries.count_episodes(locked):
        locked.language = plan.language
    if plan.seen:
        take_reviews(locked)
        pass_point(Point.REVIEWS_TAKEN)
    episodes = _insert_episodes(plan, locked)
    if episodes:
        _fill_index(plan, locked, episodes)
        pass_point(Point.EPISODES_INDEXED)
        _request_consolidation(locked, episodes)
        locked.previous_summary = episodes[-1].summary
    if plan.seen:
        locked.window_doubled = plan.doubled
    locked.pending_count -= sum(len(planned.messages) for planned in plan.episodes)
    locked.save(update_fields=["language", "previous_summary", "window_doubled", "pending_count"])
    services.request_segmentation_if_due(locked)
    return locked.pending_count


def _check_snapshot(
    locked: Conversation, *, read: Conversation, messages: Sequence[Message]
) -> None:
    """Raise SnapshotMoved unless the messages read still open the window, in order."""
    now_there = queries.window_messages(conversation=locked, at_most=len(messages))
    same = [row.id for row in now_there] == [row.id for row in messages]
    if locked.version != read.version or not same:
        raise SnapshotMoved(str(locked.id))


def _insert_episodes(plan: Plan, conversation: Conversation) -> list[Episode]:
    tenant, now = conversation.tenant, queries.database_now()
    memories = index.register(tenant=tenant, kind=MemoryKind.EPISODE, count=len(plan.episodes))
    episodes = [
        _make_episode(planned, conversation, memory, now)
        for planned, memory in zip(plan.episodes, memories, strict=True)
    ]
    Episode.objects.bulk_create(episodes)
    pass_point(Point.EPISODE_INSERTED)
    for planned, episode in zip(plan.episodes, episodes, strict=True):
        drained = (
            Message.objects.of(tenant)
            .filter(queries.IN_WINDOW, id__in=[message.id for message in planned.messages])
            .update(episode=episode)
        )
        if drained != len(planned.messages):
            raise SnapshotMoved(str(conversation.id))
        pass_point(Point.EPISODE_FILLED)
    return episodes


def _make_episode(
    planned: PlannedEpisode, conversation: Conversation, memory: Memory, now: datetime
) -> Episode:
    times = [line.at for line in planned.lines]
    state = fsrs_memory.initial_state(surprise=planned.segment.surprise, at=now)
    return Episode(
        id=memory.id,
        tenant=conversation.tenant,
        conversation=conversation,
        first_seq=planned.lines[0].seq,
        last_seq=planned.lines[-1].seq,
        title=planned.segment.title,
        summary=planned.segment.summary,
        stability=state.stability,
        difficulty=state.difficulty,
        surprise=planned.segment.surprise,
        start_at=min(times),
        end_at=max(times),
        created_at=now,
        last_reviewed_at=now,
        engine=planned.engine,
        degraded=planned.degraded,
    )


def _fill_index(plan: Plan, conversation: Conversation, episodes: Sequence[Episode]) -> None:
    entries: list[Entry] = []
    for planned, episode in zip(plan.episodes, episodes, strict=True):
        memory = Memory(id=episode.id, tenant=conversation.tenant, kind=MemoryKind.EPISODE)
        entries += _entries_of(planned, memory, valid_at=episode.start_at)
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        language=conversation.language,
        model=embeddings.get_embedder().name,
        entries=entries,
    )
    if plan.embed_later:
        enqueue(tenant=conversation.tenant, kind=Kind.EMBED, scope=conversation.id)


def _entries_of(planned: PlannedEpisode, memory: Memory, *, valid_at: datetime) -> list[Entry]:
    """Return the units of one episode: its headline, and each message with its neighbours."""
    lines = planned.lines
    vectors = [None] * len(lines) if planned.line_vectors is None else planned.line_vectors
    headline = Entry(
        memory=memory,
        kind=UnitKind.EPISODE,
        lexical=headline_of(planned.segment),
        vector=planned.headline_vector,
        valid_at=valid_at,
        first_seq=lines[0].seq,
        last_seq=lines[-1].seq,
    )
    return [headline] + [
        Entry(
            memory=memory,
            kind=UnitKind.MESSAGE,
            lexical=line.text,
            vector=vector,
            valid_at=line.at,
            first_seq=line.seq,
            last_seq=line.seq,
            neighbours=_texts_around(lines, place),
        )
        for place, (line, vector) in enumerate(zip(lines, vectors, strict=True))
    ]


def _texts_around(lines: Sequence[Line], place: int) -> list[str]:
    """Return the texts of the neighbours on both sides, the nearest first."""
    places = [place + step * side for step in range(1, NEIGHBOURS + 1) for side in (-1, 1)]
    return [lines[near].text for near in places if 0 <= near < len(lines)]


def _request_consolidation(conversation: Conversation, episodes: Sequence[Episode]) -> None:
    flashbulb = any(episode.surprise >= FLASHBULB_SURPRISE for episode in episodes)
    fresh = len(queries.fresh_episodes(conversation=conversation))
    if flashbulb or fresh >= CONSOLIDATION_THRESHOLD:
        enqueue(
            tenant=conversation.tenant,
            kind=Kind.CONSOLIDATE,
            scope=conversation.id,
            input={"force": True} if flashbulb else {},
        )

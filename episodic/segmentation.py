"""The flow that turns a window of messages into episodes.

Read the window, embed its lines, ask a segmenter, then lock, look again and write
everything in one transaction. Until that commit nothing has changed; after it, the
messages are in episodes, the episodes are findable, and what follows is queued.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from episodic import fsrs_memory, queries, services, window
from episodic.engines import Line, Segment, Segmentation, Segmenter, Vectors
from episodic.headlines import headline
from episodic.models import Conversation, Episode, Message
from indexing import services as index
from indexing.detection import detect_language
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry
from jobs.claims import Claim, SnapshotMoved, commit
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings

FLASHBULB_SURPRISE = 0.85
CONSOLIDATION_THRESHOLD = 3
NEIGHBOURS = 2
"""Lines on each side that stand in a message's lexical text; its vector has it alone."""

TakeReviews = Callable[[Conversation], None]
"""Hands pending reviews to a job, inside the commit; given by who knows of receipts."""


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """An episode to write: its wording, its messages, and the vectors of its lines."""

    segment: Segment
    messages: tuple[Message, ...]
    lines: tuple[Line, ...]
    line_vectors: Vectors
    engine: str
    degraded: bool

    @property
    def headline(self) -> str:
        """What the episode itself is found by, beside its messages."""
        return headline(title=self.segment.title, summary=self.segment.summary)


@dataclass(frozen=True, slots=True)
class Plan:
    """What one run will write.

    `headline_vectors` has one row an episode; `seen` is how many messages of the
    window the run looked at.
    """

    episodes: tuple[PlannedEpisode, ...]
    headline_vectors: Vectors
    doubled: bool
    seen: int
    language: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did: episodes made, and messages left in the window."""

    episodes: int
    left: int


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
    closed too, unless more messages wait behind it.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        ModelUnavailable: an embedding or language model is away.
    """
    conversation = queries.get_conversation(tenant=claim.tenant, conversation_id=claim.scope)
    limit = window.size_limit(doubled=conversation.window_doubled or everything)
    due = everything or is_due_now(conversation)
    messages = queries.window_messages(conversation=conversation, at_most=limit) if due else []
    plan = plan_episodes(
        conversation=conversation,
        messages=messages,
        segmenter=segmenter,
        doubled=conversation.window_doubled or everything,
        everything=everything and conversation.pending_count <= limit,
    )
    with commit(claim, finish=finish, result={"episodes": len(plan.episodes)}):
        left = _write(plan, conversation=conversation, messages=messages, take_reviews=take_reviews)
    return Outcome(episodes=len(plan.episodes), left=left)


def is_due_now(conversation: Conversation) -> bool:
    """Return whether the window calls for a run, by size or by the database's clock."""
    limit = window.size_limit(doubled=conversation.window_doubled)
    return conversation.pending_count >= limit or queries.window_is_old(conversation)


def plan_episodes(
    *,
    conversation: Conversation,
    messages: Sequence[Message],
    segmenter: Segmenter,
    doubled: bool,
    everything: bool,
) -> Plan:
    """Decide on episodes without writing anything.

    `doubled` says that a single segment is closed rather than left to grow, `everything`
    that the last of several is closed too.
    """
    if not messages:
        none = embeddings.embed_passages([])
        return Plan(episodes=(), headline_vectors=none, doubled=False, seen=0, language="")
    lines = queries.to_lines(messages)
    vectors = embeddings.embed_passages([line.text for line in lines])
    found = segmenter.segment(
        lines=lines, vectors=vectors, previous_summary=conversation.previous_summary
    )
    closing = window.decide_closing(
        found=len(found.segments), doubled=doubled, everything=everything
    )
    planned = [
        _plan_one(segment, found, messages, lines, vectors)
        for segment in found.segments[: closing.segments]
    ]
    return Plan(
        episodes=tuple(planned),
        headline_vectors=embeddings.embed_passages([plan.headline for plan in planned]),
        doubled=closing.doubled,
        seen=len(messages),
        language=detect_language([line.content for line in lines]),
    )


def _plan_one(
    segment: Segment,
    found: Segmentation,
    messages: Sequence[Message],
    lines: Sequence[Line],
    vectors: Vectors,
) -> PlannedEpisode:
    span = slice(segment.first, segment.last + 1)
    return PlannedEpisode(
        segment=segment,
        messages=tuple(messages[span]),
        lines=tuple(lines[span]),
        line_vectors=vectors[span],
        engine=found.engine,
        degraded=found.degraded,
    )


def _write(
    plan: Plan,
    *,
    conversation: Conversation,
    messages: Sequence[Message],
    take_reviews: TakeReviews,
) -> int:
    """Write the plan; return how many messages the window still holds."""
    locked = queries.lock_conversation(tenant=conversation.tenant, conversation_id=conversation.id)
    _check_snapshot(locked, read=conversation, messages=messages)
    if plan.episodes and not queries.count_episodes(locked):
        locked.language = plan.language
    if plan.seen:
        take_reviews(locked)
    episodes = _insert_episodes(plan, locked)
    if episodes:
        _fill_index(plan, locked, episodes)
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
    for planned, episode in zip(plan.episodes, episodes, strict=True):
        drained = (
            Message.objects.of(tenant)
            .filter(queries.IN_WINDOW, id__in=[message.id for message in planned.messages])
            .update(episode=episode)
        )
        if drained != len(planned.messages):
            raise SnapshotMoved(str(conversation.id))
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
    rows = zip(plan.episodes, plan.headline_vectors, episodes, strict=True)
    for planned, vector, episode in rows:
        memory = Memory(id=episode.id, tenant=conversation.tenant, kind=MemoryKind.EPISODE)
        entries += _entries_of(planned, vector, memory, valid_at=episode.start_at)
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        language=conversation.language,
        model=embeddings.get_embedder().name,
        entries=entries,
    )


def _entries_of(
    planned: PlannedEpisode, vector: Vectors, memory: Memory, *, valid_at: datetime
) -> list[Entry]:
    """Return the units of one episode: its headline, and each message with its neighbours."""
    lines = planned.lines
    headline = Entry(
        memory=memory,
        kind=UnitKind.EPISODE,
        lexical=planned.headline,
        vector=vector,
        valid_at=valid_at,
        first_seq=lines[0].seq,
        last_seq=lines[-1].seq,
    )
    return [headline] + [
        Entry(
            memory=memory,
            kind=UnitKind.MESSAGE,
            lexical=line.text,
            vector=line_vector,
            valid_at=line.at,
            first_seq=line.seq,
            last_seq=line.seq,
            neighbours=_texts_around(lines, place),
        )
        for place, (line, line_vector) in enumerate(zip(lines, planned.line_vectors, strict=True))
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

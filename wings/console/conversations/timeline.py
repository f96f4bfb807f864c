"""A conversation's timeline: blocks of messages with facts, and the strip of episodes."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Avg, Count, F, Max, Min, Q

from episodic.models import Conversation, Episode, Message
from episodic.queries import IN_WINDOW
from episodic.revealing import Reader
from memoryproject.adminkit.filters import held_at
from memoryproject.tenancy.models import Tenant
from semantic import beliefs
from semantic.beliefs import IsOneOf
from semantic.models import Evidence, Fact
from semantic.states import State
from wings.console.transcript import ShownMessage, read_transcript

Ids = Iterable[uuid.UUID]
Moment = datetime | None
KEY_MOMENT, FLASHBULB = 0.7, 0.85
MESSAGES_A_PAGE = 100
TRUE_ONCE = ["", Fact.Because.SUPERSEDED]
"""Reason of closing for facts that had been true; other reasons mean they never were."""


class SupportedFact(NamedTuple):
    """A fact that an episode supports, and the messages that are its evidence."""

    fact: Fact
    seqs: tuple[int, ...]
    """Seqs of these messages; empty: the episode as a whole."""
    state: State
    """State at the moment shown on the page."""


@dataclass(slots=True)
class Block:
    """Messages of a page that belong together: of one episode, unprocessed, or quarantined."""

    messages: list[ShownMessage]
    episode: Episode | None = None
    facts: list[SupportedFact] = field(default_factory=list)
    is_again: bool = False
    """Whether an earlier block of the page shows the same episode and its facts."""

    @property
    def kind(self) -> str:
        """`episode`, `window`, `withheld` or `aside`."""
        if self.episode is not None:
            return "episode"
        if self.messages[0].withheld_by_id is not None:
            return "withheld"
        return "window" if self.messages[0].quarantined_by_id is None else "aside"

    @property
    def level(self) -> str:
        """Surprise of its episode: `flashbulb`, `key` or `usual`."""
        return surprise_level(self.episode.surprise) if self.episode else "usual"

    @property
    def lines(self) -> list[tuple[ShownMessage, list[SupportedFact]]]:
        """Each message with the facts that it supports."""
        return [
            (message, [fact for fact in self.facts if message.seq in fact.seqs])
            for message in self.messages
        ]


def read_blocks(
    conversation: Conversation,
    *,
    first_seq: int,
    reader: Reader,
    as_of: Moment,
    known_at: Moment,
    with_facts: bool,
) -> list[Block]:
    """Return the page that begins with `first_seq`, in five queries at most.

    With `as_of` only messages up to then, and facts true then; with `known_at`, facts that the
    server believed then.
    """
    messages = Message.objects.within(conversation).filter(
        seq__range=(first_seq - 1, first_seq + MESSAGES_A_PAGE - 1)
    )
    if as_of is not None:
        messages = messages.filter(occurred_at__lte=as_of)
    shown = read_transcript(messages, conversation_id=conversation.id, reader=reader)
    if shown and shown[0].seq < first_seq:  # read only for the silence after it
        shown = shown[1:]
    blocks = [Block(list(run)) for _, run in groupby(shown, key=_block_key)]
    ids = {message.episode_id for message in shown if message.episode_id is not None}
    episodes = reader.rows(Episode.objects.of(conversation.tenant)).in_bulk(ids)
    facts = facts_from(conversation, ids if with_facts else (), as_of=as_of, known_at=known_at)
    for block in blocks:
        block.episode = episodes.get(block.messages[0].episode_id)
        if block.episode is not None:
            block.is_again = block.episode.id not in ids
            block.facts = [] if block.is_again else facts.get(block.episode.id, [])
            ids.discard(block.episode.id)
    return blocks


def _block_key(message: ShownMessage) -> tuple[uuid.UUID | None, bool, uuid.UUID | None]:
    return message.episode_id, message.quarantined_by_id is not None, message.withheld_by_id


def facts_from(
    conversation: Conversation, episode_ids: Ids, *, as_of: Moment = None, known_at: Moment = None
) -> dict[uuid.UUID, list[SupportedFact]]:
    """Return the facts that a conversation's episodes support, by episode, active ones first.

    With `as_of`, facts true then; with `known_at` instead, facts believed then, by the evidence
    that was valid then.
    """
    tenant, believed = conversation.tenant, None
    rows = Evidence.objects.of(tenant).filter(episode__in=list(episode_ids))
    if known_at is not None:
        believed = beliefs.facts_believed_at(
            tenant=tenant, known_at=known_at, homes=[conversation.id]
        )
        counted = Q(withdrawn_by=None) | Q(withdrawn_by__started_at__gt=known_at)
        rows = rows.filter(counted, IsOneOf("fact_id", believed), created_at__lte=known_at)
    else:
        rows = rows.filter(withdrawn_by=None)
        if as_of is not None:
            then = held_at(as_of, since="fact__valid_at", until="fact__valid_until")
            rows = rows.filter(then, fact__invalidated_because__in=TRUE_ONCE)
    found = rows.select_related("fact").order_by("id")[: settings.TIMELINE_FACTS_AT_MOST]
    pairs = {(row.episode_id, row.fact): tuple(sorted(row.message_seqs)) for row in found}
    for pair in _corrections_in(tenant, episode_ids, as_of, believed):
        pairs.setdefault(pair, ())
    facts = {fact for _, fact in pairs}
    shown = beliefs.read_states(tenant, facts, known_at)
    supported: dict[uuid.UUID, list[SupportedFact]] = defaultdict(list)
    for (episode_id, fact), seqs in pairs.items():
        supported[episode_id].append(SupportedFact(fact, seqs, shown[fact.id]))
    for entries in supported.values():
        entries.sort(key=lambda entry: (not entry.state.is_active, entry.seqs, entry.fact.id))
    return dict(supported)


def _corrections_in(
    tenant: Tenant, episode_ids: Ids, as_of: Moment, believed: Sequence[uuid.UUID] | None
) -> Iterator[tuple[uuid.UUID, Fact]]:
    """Yield by episode the facts with which people replaced wrong ones from it.

    No message states them, so there is no evidence of them. Only those `believed` at the moment of
    the page; if that is None, those true at `as_of`.
    """
    wrong = Evidence.objects.of(tenant).filter(
        episode__in=list(episode_ids),
        fact__invalidated_because=Fact.Because.WRONG,
        fact__superseded_by__isnull=False,
    )
    heir = "fact__superseded_by"
    if believed is not None:
        wrong = wrong.filter(IsOneOf(heir, believed))
    elif as_of is not None:
        spans = held_at(as_of, since=f"{heir}__valid_at", until=f"{heir}__valid_until")
        wrong = wrong.filter(spans, **{f"{heir}__invalidated_because__in": TRUE_ONCE})
    rows = wrong.select_related("fact__superseded_by").order_by("id")
    for row in rows[: settings.TIMELINE_FACTS_AT_MOST]:
        if row.fact.superseded_by is not None:
            yield row.episode_id, row.fact.superseded_by


def first_seq_from(conversation: Conversation, moment: datetime) -> int | None:
    """Return the seq of the first message at or after a time, or None.

    Messages are in order of time except for late ones, so the episodes' times are used.
    """
    episodes = Episode.objects.within(conversation).filter(end_at__gte=moment)
    episode = episodes.order_by("first_seq").first()
    messages = Message.objects.within(conversation).filter(occurred_at__gte=moment)
    within = _range_of(episode) if episode else IN_WINDOW
    return messages.filter(within).order_by("seq").values_list("seq", flat=True).first()


def last_seq_until(conversation: Conversation, moment: datetime) -> int | None:
    """Return the seq of the last message up to a time, or None."""
    episodes = Episode.objects.within(conversation).filter(start_at__lte=moment)
    episode = episodes.order_by("-first_seq").first()
    messages = Message.objects.within(conversation).filter(occurred_at__lte=moment)
    places = [IN_WINDOW, Q(quarantined_by__isnull=False), Q(withheld_by__isnull=False)]
    if episode is not None:
        places.append(_range_of(episode))
    seqs = [messages.filter(place).aggregate(last=Max("seq"))["last"] for place in places]
    return max(filter(None, seqs), default=None)


def _range_of(episode: Episode) -> Q:
    return Q(seq__range=(episode.first_seq, episode.last_seq))


class Cell(NamedTuple):
    """An episode in the strip, or several neighboring ones of a long conversation."""

    first_seq: int
    last_seq: int
    episodes: int
    surprise: float
    """Average surprise."""
    name: str
    level: str
    """`flashbulb`, `key` or `usual`; `usual` for several episodes."""
    tone: int
    """Strength of its color, 0 to 4: by surprise, or by the share of key moments."""

    @property
    def weight(self) -> int:
        """Number of the cell's messages: its width."""
        return self.last_seq - self.first_seq + 1


def _to_cell(conversation: Conversation, row: tuple[Any, ...], reader: Reader) -> Cell:
    _, first, last, count, surprise, title, engine, moments = row
    if count == 1:
        name = reader.mask(title, conversation.id, engine)
        tone = min(int(surprise * 5), 4)
        return Cell(first, last, count, surprise, name, surprise_level(surprise), tone)
    name = f"{count} episodes, {moments or 'no'} key moment{'s' * (moments != 1)}"
    return Cell(first, last, count, surprise, name, "usual", min(int(moments / count * 25), 4))


def surprise_level(surprise: float) -> str:
    if surprise >= FLASHBULB:
        return "flashbulb"
    return "key" if surprise >= KEY_MOMENT else "usual"


def read_cells(conversation: Conversation, reader: Reader) -> list[Cell]:
    """Return the episodes of a conversation in order; close ones share a cell."""
    place = (
        (F("first_seq") - 1) * settings.TIMELINE_CELLS_AT_MOST / max(conversation.next_seq - 1, 1)
    )
    bins = (
        Episode.objects.within(conversation)
        .annotate(place=place)
        .values_list("place")
        .annotate(
            Min("first_seq"),
            Max("last_seq"),
            Count("id"),
            Avg("surprise"),
            Min("title"),
            Min("engine"),
            key_moments=Count("id", filter=Q(surprise__gte=KEY_MOMENT)),
        )
        .order_by("place")
    )
    return [_to_cell(conversation, row, reader) for row in bins]

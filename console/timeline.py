"""One page of a conversation: its messages in their episodes, and the facts beside them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from django.db.models import Q

from console.overview import surprise_level
from console.transcript import Said, read_transcript, write_seqs
from episodic.models import Conversation, Episode, Message
from episodic.queries import IN_WINDOW
from episodic.revealing import Reader
from memoryproject.admin_filters import held_at
from memoryproject.tenancy.models import Tenant
from semantic.models import Evidence, Fact

MESSAGES_A_PAGE = 200
FACTS_AT_MOST = 400
TRUE_ONCE = ["", Fact.Because.SUPERSEDED]
"""Why a fact is closed that was true; for all other reasons it never was."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fact that an episode supports, and the messages that say it."""

    fact: Fact
    seqs: tuple[int, ...]
    """Empty: the episode as a whole."""

    @property
    def state(self) -> str:
        """Whether it is held now, or why not."""
        return self.fact.invalidated_because or "active"

    @property
    def seqs_in_words(self) -> str:
        """The messages as readers write them."""
        return write_seqs(self.seqs)


@dataclass(slots=True)
class Block:
    """Messages of a page that belong together: an episode's, the window's, or set aside."""

    said: list[Said]
    episode: Episode | None = None
    learnt: list[Learnt] = field(default_factory=list)
    is_again: bool = False
    """Whether what stands above it began the same episode; its facts stand there."""

    @property
    def kind(self) -> str:
        """`episode`, `window`, `withheld` or `aside`."""
        if self.episode is not None:
            return "episode"
        if self.said[0].withheld_by is not None:
            return "withheld"
        return "window" if self.said[0].set_aside_by is None else "aside"

    @property
    def level(self) -> str:
        """How surprising its episode is: `flashbulb`, `key` or `usual`."""
        return surprise_level(self.episode.surprise) if self.episode else "usual"

    @property
    def begins_earlier(self) -> bool:
        """Whether the page shows only its end."""
        return self.episode is not None and self.episode.first_seq < self.said[0].seq

    @property
    def goes_on(self) -> bool:
        """Whether the page does not show its end."""
        if self.episode is None or not self.said:
            return False
        return self.episode.last_seq > self.said[-1].seq

    @property
    def facts_by_seq(self) -> dict[int, list[Learnt]]:
        """The facts that each message says."""
        found: dict[int, list[Learnt]] = defaultdict(list)
        for learnt in self.learnt:
            for seq in learnt.seqs:
                found[seq].append(learnt)
        return dict(found)

    @property
    def lines(self) -> list[tuple[Said, list[Learnt]]]:
        """Each message with the facts that it says."""
        facts = self.facts_by_seq
        return [(one, facts.get(one.seq, [])) for one in self.said]


def read_blocks(
    conversation: Conversation,
    *,
    first_seq: int,
    reader: Reader,
    as_of: datetime | None,
    with_facts: bool,
) -> list[Block]:
    """Return the page that begins with `first_seq`, in three queries at most.

    With `as_of` only what had been said by then, and the facts that were true then.
    """
    messages = Message.objects.of(conversation.tenant).filter(
        conversation=conversation, seq__range=(first_seq - 1, first_seq + MESSAGES_A_PAGE - 1)
    )
    if as_of is not None:
        messages = messages.filter(occurred_at__lte=as_of)
    said = read_transcript(messages, conversation_id=conversation.id, reader=reader)
    if said and said[0].seq < first_seq:  # read only for the silence after it
        said = said[1:]
    blocks = [Block(list(run)) for _, run in groupby(said, key=_belongs_to)]
    ids = {one.episode_id for one in said if one.episode_id is not None}
    episodes = Episode.objects.of(conversation.tenant).in_bulk(ids)
    wanted = ids if with_facts else ()
    learnt = learnt_from(tenant=conversation.tenant, episode_ids=wanted, as_of=as_of)
    shown: set[uuid.UUID | None] = set()
    for block in blocks:
        episode_id = block.said[0].episode_id
        if episode_id is None or episode_id not in episodes:
            continue
        block.episode = episodes[episode_id]
        block.is_again = episode_id in shown
        if not block.is_again:
            block.learnt = learnt.get(episode_id, [])
        shown.add(episode_id)
    return blocks


def _belongs_to(said: Said) -> tuple[uuid.UUID | None, bool, uuid.UUID | None]:
    return said.episode_id, said.set_aside_by is not None, said.withheld_by


def learnt_from(
    *, tenant: Tenant, episode_ids: Iterable[uuid.UUID], as_of: datetime | None = None
) -> dict[uuid.UUID, list[Learnt]]:
    """Return the facts that episodes support, by episode; those held now come first."""
    rows = Evidence.objects.of(tenant).filter(episode__in=list(episode_ids), withdrawn_by=None)
    if as_of is not None:
        then = held_at(as_of, since="fact__valid_at", until="fact__valid_until")
        rows = rows.filter(then, fact__invalidated_because__in=TRUE_ONCE)
    found: dict[uuid.UUID, list[Learnt]] = defaultdict(list)
    for row in rows.select_related("fact").order_by("id")[:FACTS_AT_MOST]:
        found[row.episode_id].append(Learnt(row.fact, tuple(sorted(row.message_seqs))))
    for facts in found.values():
        facts.sort(key=lambda one: (one.fact.invalid_at is not None, one.seqs, one.fact.id))
    return dict(found)


def first_seq_said_from(conversation: Conversation, moment: datetime) -> int | None:
    """Return the first message said at that time or later; None: nothing was.

    Times follow the order of messages but for what was posted late, so the episodes'
    own times lead there.
    """
    tenant = conversation.tenant
    episodes = Episode.objects.of(tenant).filter(conversation=conversation, end_at__gte=moment)
    episode = episodes.order_by("first_seq").first()
    messages = Message.objects.of(tenant).filter(conversation=conversation, occurred_at__gte=moment)
    within = _range_of(episode) if episode else IN_WINDOW
    return messages.filter(within).order_by("seq").values_list("seq", flat=True).first()


def last_seq_said_by(conversation: Conversation, moment: datetime) -> int | None:
    """Return the last message said by that time; None: nothing was."""
    tenant = conversation.tenant
    episodes = Episode.objects.of(tenant).filter(conversation=conversation, start_at__lte=moment)
    episode = episodes.order_by("-first_seq").first()
    messages = Message.objects.of(tenant).filter(conversation=conversation, occurred_at__lte=moment)
    places: Sequence[Q] = [
        IN_WINDOW, Q(quarantined_by__isnull=False), Q(withheld_by__isnull=False),
    ]  # fmt: skip
    if episode is not None:
        places = [*places, _range_of(episode)]
    seqs = [
        messages.filter(place).order_by("-seq").values_list("seq", flat=True).first()
        for place in places
    ]
    return max((seq for seq in seqs if seq is not None), default=None)


def _range_of(episode: Episode) -> Q:
    return Q(seq__range=(episode.first_seq, episode.last_seq))

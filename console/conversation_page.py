"""The page of a conversation: what was said, in which episodes, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from console.overview import draw_surprise, read_cells
from console.timeline import (
    FACTS_AT_MOST,
    MESSAGES_A_PAGE,
    Block,
    first_seq_said_from,
    last_seq_said_by,
    read_blocks,
)
from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from episodic.window import OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY, SMALLEST, size_limit
from jobs.models import Job, State
from memoryproject.admin_filters import EPOCH, read_moment
from memoryproject.errors import Problem
from semantic.models import Fact

COUNT_AT_MOST = 10_000
LISTED_AT_MOST = 10
SLIDER_STEPS = 1_000


@dataclass(slots=True)
class Asked:
    """What the address asks for; what cannot be read is left out, and said in `faults`."""

    as_of: datetime | None = None
    seq: int | None = None
    day: datetime | None = None
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the conversation, on this page or another."""

    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Slider:
    """The range of times that can be chosen, in milliseconds since 1970."""

    first: int
    last: int
    step: int
    value: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a conversation is processed, and what stands still."""

    facts: str
    window: str
    """When the window will become episodes; empty: there is none."""
    jobs: Sequence[Job]
    set_aside_messages: Sequence[Message]
    set_aside_episodes: Sequence[Episode]

    @property
    def dead_jobs(self) -> list[Job]:
        """The jobs that nobody will run again by himself."""
        return [job for job in self.jobs if job.state == State.DEAD]


@dataclass(frozen=True, slots=True)
class Page:
    """Which messages are shown, of how many, and what else there is."""

    first_seq: int
    last_seq: int
    messages: int
    """All that the conversation has."""
    until_seq: int
    """The last one that can be shown: all, or what had been said by then."""

    @property
    def has_others(self) -> bool:
        """Whether there is more than one page."""
        return self.messages > MESSAGES_A_PAGE


def tell(request: HttpRequest, conversation: Conversation) -> Mapping[str, Any]:
    """Return what stands above a conversation's columns."""
    person, reader = request.user, Reader(request.user)
    asked = read_question(request.GET, conversation)
    page = choose_page(conversation, asked)
    reads = person.has_perms(["episodic.view_message", "episodic.view_episode"])
    blocks: list[Block] = []
    if reads:
        blocks = read_blocks(
            conversation,
            first_seq=page.first_seq,
            reader=reader,
            as_of=asked.as_of,
            with_facts=person.has_perm("semantic.view_fact"),
        )
    cells = read_cells(conversation) if reads else []
    links = [_link_to(page, asked, cell.first_seq, f"#e{cell.first_seq}") for cell in cells]
    return {
        "reader": reader if reads else None,
        "conversation": conversation,
        "asked": asked,
        "page": page,
        "blocks": blocks,
        "facts_at_most": FACTS_AT_MOST,
        "facts_are_cut": sum(len(block.learnt) for block in blocks) >= FACTS_AT_MOST,
        "may_read_timeline": reads,
        "episodes": sum(cell.episodes for cell in cells),
        "strip": list(zip(cells, links, strict=True)),
        "surprise": draw_surprise(cells, links),
        "slider": _slider(conversation, asked) if reads else None,
        "turns": _turns(page, asked),
        "standing": read_standing(request, conversation),
        "facts_then": _facts_then(conversation, asked.as_of),
    }


def read_question(given: QueryDict, conversation: Conversation) -> Asked:
    """Return what an address asks for: `as_of`, and `seq` or `day` to go to."""
    asked = Asked()
    asked.as_of, asked.day = (_read_moment(given, name, asked) for name in ("as_of", "day"))
    seq = str(given.get("seq", "")).strip()
    last = conversation.next_seq - 1
    if seq.isdecimal() and len(seq) < 19 and 1 <= int(seq) <= max(last, 1):
        asked.seq = int(seq)
    elif seq:
        asked.faults["seq"] = f"Write the number of a message, 1 to {last:,}."
    return asked


def _read_moment(given: QueryDict, name: str, asked: Asked) -> datetime | None:
    written = str(given.get(name, ""))
    try:
        return read_moment(written) if written.strip() else None
    except Problem as problem:
        asked.faults[name] = problem.message
        return None


def choose_page(conversation: Conversation, asked: Asked) -> Page:
    """Return the page that is asked for; else the last one, of all or of what had been said."""
    messages = conversation.next_seq - 1
    until = messages
    if asked.as_of is not None:
        until = last_seq_said_by(conversation, asked.as_of) or 0
    wanted = asked.seq
    if wanted is None and asked.day is not None:
        wanted = first_seq_said_from(conversation, asked.day)
    wanted = min(wanted or until, until)
    first = max(wanted - 1, 0) // MESSAGES_A_PAGE * MESSAGES_A_PAGE + 1
    last = min(first + MESSAGES_A_PAGE - 1, until)
    return Page(first_seq=first, last_seq=last, messages=messages, until_seq=until)


def read_standing(request: HttpRequest, conversation: Conversation) -> Standing:
    """Return what a person may know of how far a conversation is processed."""
    held = Fact.objects.of(conversation.tenant).filter(conversation=conversation, invalid_at=None)
    of_it = {"conversation": conversation}
    aside = Message.objects.of(conversation.tenant).filter(**of_it, quarantined_by__isnull=False)
    failed = Episode.objects.of(conversation.tenant).filter(
        **of_it, consolidation_failed_at__isnull=False
    )
    open_or_dead = Job.objects.of(conversation.tenant).filter(
        scope=conversation.id, state__in=[State.READY, State.RUNNING, State.DEAD]
    )
    sees = request.user.has_perm
    return Standing(
        facts=_count_up_to(held) if sees("semantic.view_fact") else "",
        window=_say_window(conversation),
        jobs=list(open_or_dead.order_by("-created_at", "-id")[:LISTED_AT_MOST])
        if sees("jobs.view_job")
        else [],
        set_aside_messages=list(aside.defer("content", "metadata").order_by("seq")[:LISTED_AT_MOST])
        if sees("episodic.view_message")
        else [],
        set_aside_episodes=list(failed.order_by("first_seq")[:LISTED_AT_MOST])
        if sees("episodic.view_episode")
        else [],
    )


def _count_up_to(rows: Any) -> str:
    count = rows[: COUNT_AT_MOST + 1].count()
    return f"{COUNT_AT_MOST:,}+" if count > COUNT_AT_MOST else f"{count:,}"


def _say_window(conversation: Conversation) -> str:
    if not conversation.pending_count:
        return ""
    limit = size_limit(doubled=conversation.window_doubled)
    waits, silence = (
        int(span.total_seconds() // 3600) for span in (OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY)
    )
    return (
        f"They become episodes at {limit} messages, after {waits} hours if there are at least "
        f"{SMALLEST}, after {silence} hours of silence, or at once by the call flush."
    )


def _turns(page: Page, asked: Asked) -> list[Link]:
    """Return the links to other pages that there are."""
    last_first = (page.until_seq - 1) // MESSAGES_A_PAGE * MESSAGES_A_PAGE + 1
    places: list[tuple[str, int]] = []
    if page.first_seq > 1:
        places += [("« First", 1), ("‹ Earlier", page.first_seq - MESSAGES_A_PAGE)]
    if page.first_seq < last_first:
        places += [("Later ›", page.first_seq + MESSAGES_A_PAGE), ("Last »", last_first)]
    return [Link(title, _address(asked, seq)) for title, seq in places]


def _link_to(page: Page, asked: Asked, seq: int, anchor: str) -> str:
    """Return where a message is shown: further down here, or on its own page."""
    here = page.first_seq <= seq <= page.last_seq
    return anchor if here else f"{_address(asked, seq)}{anchor}"


def _address(asked: Asked, seq: int) -> str:
    query: dict[str, Any] = {"seq": seq}
    if asked.as_of is not None:
        query["as_of"] = asked.as_of.isoformat()
    return f"?{urlencode(query)}"


def _slider(conversation: Conversation, asked: Asked) -> Slider | None:
    """Return the range from the first message to the last; None: there is no range."""
    ends = Message.objects.of(conversation.tenant).filter(
        conversation=conversation, seq__in=[1, conversation.next_seq - 1]
    )
    times = sorted(_in_ms(at) for at in ends.values_list("occurred_at", flat=True))
    if len(times) < 2 or times[0] == times[-1]:
        return None
    # Rounded up, so that the right end includes the last message.
    first, last = times[0], times[-1] + 1_000
    now = _in_ms(asked.as_of) if asked.as_of else last
    return Slider(
        first=first,
        last=last,
        step=max((last - first) // SLIDER_STEPS, 1),
        value=min(max(now, first), last),
    )


def _in_ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def _facts_then(conversation: Conversation, as_of: datetime | None) -> Link:
    """Return the list of the conversation's facts, as they were true then."""
    query = {"conversation__exact": str(conversation.id)}
    title = "All facts of the conversation"
    if as_of is not None:
        query["true_at"] = as_of.isoformat()
        title = "All facts true then"
    return Link(title, f"{reverse('admin:semantic_fact_changelist')}?{urlencode(query)}")

"""The page of a conversation: its timeline, its progress, the slider of time; and unmasking it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from console.conversations.overview import read_cells
from console.conversations.timeline import (
    FACTS_AT_MOST,
    MESSAGES_A_PAGE,
    Block,
    first_seq_from,
    last_seq_until,
    read_blocks,
)
from console.pages import find_way_back, page_for
from episodic import revealing
from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from episodic.window import OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY, SMALLEST, size_limit
from jobs.models import Job, State
from memoryproject.adminkit.filters import EPOCH, read_moment
from memoryproject.edge.errors import Problem
from semantic.models import Fact

COUNT_AT_MOST = 10_000
LISTED_AT_MOST = 10
SLIDER_STEPS = 1_000


@dataclass(slots=True)
class PageParams:
    """What the address asks for; what cannot be read is left out, and explained in `faults`."""

    as_of: datetime | None = None
    seq: int | None = None
    day: datetime | None = None
    faults: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Range:
    """Which messages are shown, of how many."""

    first_seq: int
    last_seq: int
    messages: int
    """All of the conversation."""
    until_seq: int
    """The last one that can be shown: at the time asked for, if any."""

    @property
    def has_others(self) -> bool:
        """Whether there is more than one page."""
        return self.messages > MESSAGES_A_PAGE


def get_story(request: HttpRequest, conversation: Conversation) -> Mapping[str, Any]:
    """Return what stands above a conversation's columns."""
    person, reader = request.user, Reader(request.user)
    params = read_params(request.GET, conversation)
    page = choose_page(conversation, params)
    reads = person.has_perms(["episodic.view_message", "episodic.view_episode"])
    blocks: list[Block] = []
    if reads:
        blocks = read_blocks(
            conversation,
            first_seq=page.first_seq,
            reader=reader,
            as_of=params.as_of,
            with_facts=person.has_perm("semantic.view_fact"),
        )
    cells = read_cells(conversation) if reads else []
    links = [_link_to(page, params, cell.first_seq, f"#e{cell.first_seq}") for cell in cells]
    return {
        "reader": reader if reads else None,
        "conversation": conversation,
        "params": params,
        "page": page,
        "blocks": blocks,
        "facts_at_most": FACTS_AT_MOST,
        "facts_are_cut": sum(len(block.facts) for block in blocks) >= FACTS_AT_MOST,
        "may_read_timeline": reads,
        "episodes": sum(cell.episodes for cell in cells),
        "strip": list(zip(cells, links, strict=True)),
        "slider": _slider(conversation, params) if reads else None,
        "turns": _turns(page, params),
        "progress": read_progress(request, conversation),
        "facts_then": _facts_then(conversation, params.as_of),
    }


def read_params(query: QueryDict, conversation: Conversation) -> PageParams:
    """Return what an address asks for: `as_of`, and `seq` or `day` to go to."""
    params = PageParams()
    params.as_of, params.day = (_read_moment(query, name, params) for name in ("as_of", "day"))
    seq = str(query.get("seq", "")).strip()
    last = conversation.next_seq - 1
    if seq.isdecimal() and len(seq) < 19 and 1 <= int(seq) <= max(last, 1):
        params.seq = int(seq)
    elif seq:
        params.faults["seq"] = f"Write the number of a message, 1 to {last:,}."
    return params


def _read_moment(query: QueryDict, name: str, params: PageParams) -> datetime | None:
    written = str(query.get(name, ""))
    try:
        return read_moment(written) if written.strip() else None
    except Problem as problem:
        params.faults[name] = problem.message
        return None


def choose_page(conversation: Conversation, params: PageParams) -> Range:
    """Return the page that is asked for; else the last one, of all or of what had been said."""
    messages = conversation.next_seq - 1
    until = messages
    if params.as_of is not None:
        until = last_seq_until(conversation, params.as_of) or 0
    seq = params.seq
    if seq is None and params.day is not None:
        seq = first_seq_from(conversation, params.day)
    seq = min(seq or until, until)
    first = max(seq - 1, 0) // MESSAGES_A_PAGE * MESSAGES_A_PAGE + 1
    last = min(first + MESSAGES_A_PAGE - 1, until)
    return Range(first_seq=first, last_seq=last, messages=messages, until_seq=until)


def read_progress(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    """Return how far a conversation is processed and what is stuck, as far as a person may know."""
    sees, tenant = request.user.has_perm, conversation.tenant
    progress: dict[str, Any] = {"window": _describe_window(conversation)}
    if sees("semantic.view_fact"):
        facts = Fact.objects.of(tenant).filter(conversation=conversation, invalid_at=None)
        progress["facts"] = _count_up_to(facts)
    if sees("jobs.view_job"):
        states = [State.READY, State.RUNNING, State.DEAD]
        jobs = Job.objects.of(tenant).filter(scope=conversation.id, state__in=states)
        progress["jobs"] = list(jobs.order_by("-created_at", "-id")[:LISTED_AT_MOST])
        progress["dead_jobs"] = [job for job in progress["jobs"] if job.state == State.DEAD]
    if sees("episodic.view_message"):
        messages = Message.objects.of(tenant).filter(conversation=conversation)
        quarantined = messages.filter(quarantined_by__isnull=False).defer("content", "metadata")
        progress["quarantined_messages"] = list(quarantined.order_by("seq")[:LISTED_AT_MOST])
    if sees("episodic.view_episode"):
        episodes = Episode.objects.of(tenant).filter(conversation=conversation)
        failed = episodes.filter(consolidation_failed_at__isnull=False)
        progress["failed_episodes"] = list(failed.order_by("first_seq")[:LISTED_AT_MOST])
    return progress


def _count_up_to(rows: Any) -> str:
    count = rows[: COUNT_AT_MOST + 1].count()
    return f"{COUNT_AT_MOST:,}+" if count > COUNT_AT_MOST else f"{count:,}"


def _describe_window(conversation: Conversation) -> str:
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


def _turns(page: Range, params: PageParams) -> list[tuple[str, str]]:
    """Return title and address of the other pages."""
    last_first = (page.until_seq - 1) // MESSAGES_A_PAGE * MESSAGES_A_PAGE + 1
    places: list[tuple[str, int]] = []
    if page.first_seq > 1:
        places += [("« First", 1), ("‹ Earlier", page.first_seq - MESSAGES_A_PAGE)]
    if page.first_seq < last_first:
        places += [("Later ›", page.first_seq + MESSAGES_A_PAGE), ("Last »", last_first)]
    return [(title, _address(params, seq)) for title, seq in places]


def _link_to(page: Range, params: PageParams, seq: int, anchor: str) -> str:
    """Return where a message is shown: on this page or on another."""
    here = page.first_seq <= seq <= page.last_seq
    return anchor if here else f"{_address(params, seq)}{anchor}"


def _address(params: PageParams, seq: int) -> str:
    query: dict[str, Any] = {"seq": seq}
    if params.as_of is not None:
        query["as_of"] = params.as_of.isoformat()
    return f"?{urlencode(query)}"


def _slider(conversation: Conversation, params: PageParams) -> dict[str, int] | None:
    """Return the range of times to choose from, in ms since 1970; None: there is no range."""
    ends = Message.objects.of(conversation.tenant).filter(
        conversation=conversation, seq__in=[1, conversation.next_seq - 1]
    )
    times = sorted(_in_ms(at) for at in ends.values_list("occurred_at", flat=True))
    if len(times) < 2 or times[0] == times[-1]:
        return None
    # Rounded up, so that the right end includes the last message.
    first, last = times[0], times[-1] + 1_000
    now = _in_ms(params.as_of) if params.as_of else last
    step = max((last - first) // SLIDER_STEPS, 1)
    return {"first": first, "last": last, "step": step, "value": min(max(now, first), last)}


def _in_ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def _facts_then(conversation: Conversation, as_of: datetime | None) -> tuple[str, str]:
    """Return title and address of the list of the conversation's facts, as true then."""
    query = {"conversation__exact": str(conversation.id)}
    title = "All facts of the conversation"
    if as_of is not None:
        query["true_at"] = as_of.isoformat()
        title = "All facts true then"
    return (title, f"{reverse('admin:semantic_fact_changelist')}?{urlencode(query)}")


@page_for(revealing.REVEAL)
@require_POST
def reveal_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Show a conversation to the person for an hour, on record, and go back to the page."""
    conversation = get_object_or_404(Conversation.across_tenants, id=conversation_id)
    try:
        revealing.reveal(
            person=request.user,
            conversation=conversation,
            reason=request.POST.get("reason", ""),
        )
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Shown to you for an hour; this is on record.")
    return redirect(find_way_back(request, otherwise="admin:index"))

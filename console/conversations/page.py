"""The page of a conversation: its timeline, its progress, the slider of time; and unmasking it."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode

from console.conversations import timeline
from console.conversations.timeline import MESSAGES_A_PAGE
from console.counting import count_capped, render_sum
from console.forms import MomentField
from console.labels import name_conversations
from console.pages import action_for, find_way_back
from episodic import revealing
from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from episodic.window import OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY, SMALLEST, size_limit
from jobs.models import Job, State
from memoryproject.adminkit import values
from memoryproject.adminkit.filters import EPOCH
from memoryproject.edge.errors import Problem
from semantic.models import Fact

LISTED_AT_MOST = 10
SLIDER_STEPS = 1_000
NOW = "now"
"""Of a past moment what is known about it today; else what was believed then."""


class PlaceForm(forms.Form):
    """What the address asks for: a time to look back from, and a message or day to go to."""

    as_of = MomentField(required=False)
    known = forms.ChoiceField(required=False, choices=[("then", "then"), (NOW, NOW)])
    day = MomentField(required=False)

    def __init__(self, *args: Any, last_seq: int) -> None:
        super().__init__(*args)
        fault = f"Write the number of a message, 1 to {last_seq:,}."
        self.fields["seq"] = forms.IntegerField(
            required=False,
            min_value=1,
            max_value=max(last_seq, 1),
            error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), fault),
        )


def get_story(request: HttpRequest, conversation: Conversation) -> Mapping[str, Any]:
    person, reader = request.user, Reader(request.user)
    form = PlaceForm(request.GET, last_seq=conversation.next_seq - 1)
    faults = {name: texts[0] for name, texts in form.errors.items()}
    page, as_of = choose_page(conversation, form.cleaned_data), form.cleaned_data.get("as_of")
    known = form.cleaned_data.get("known", "")
    believed_then = as_of is not None and known != NOW
    reads = person.has_perms(["episodic.view_message", "episodic.view_episode"])
    blocks, cells = [], timeline.read_cells(conversation) if reads else []
    if reads:
        blocks = timeline.read_blocks(
            conversation,
            first_seq=page.start_index(),
            reader=reader,
            as_of=as_of,
            known_at=as_of if believed_then else None,
            with_facts=person.has_perm("semantic.view_fact"),
        )
    return {
        "name": name_conversations([conversation.id], reader)[conversation.id],
        "reader": reader if reads else None,
        "conversation": conversation,
        "message_count": conversation.next_seq - 1,
        "as_of": as_of,
        "believed_then": believed_then,
        "other_knowledge": _address(as_of, page.start_index(), NOW if believed_then else "then"),
        "faults": faults,
        "page": page,
        "blocks": blocks,
        "facts_at_most": settings.TIMELINE_FACTS_AT_MOST,
        "facts_are_cut": sum(len(block.facts) for block in blocks)
        >= settings.TIMELINE_FACTS_AT_MOST,
        "may_read_timeline": reads,
        "episodes": sum(cell.episodes for cell in cells),
        "strip": [(cell, _link_to(page, as_of, cell.first_seq, known)) for cell in cells],
        "slider": _slider(conversation, as_of) if reads else None,
        "turns": _turns(page, as_of, known),
        "progress": read_progress(request, conversation),
        "facts_then": _facts_then(conversation, as_of, believed_then=believed_then),
    }


def choose_page(conversation: Conversation, params: Mapping[str, Any]) -> Page[int]:
    """Return the seqs of the page that is asked for, else of the last one, until `as_of`."""
    until, seq = conversation.next_seq - 1, params.get("seq")
    if params.get("as_of"):
        until = timeline.last_seq_until(conversation, params["as_of"]) or 0
    if seq is None and params.get("day"):
        seq = timeline.first_seq_from(conversation, params["day"])
    pages = Paginator(range(1, until + 1), MESSAGES_A_PAGE)
    return pages.get_page(-(-(seq or until) // MESSAGES_A_PAGE))


def read_progress(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    """Return how far a conversation is processed and what is stuck, as far as a person may know."""
    sees, tenant = request.user.has_perm, conversation.tenant
    progress: dict[str, Any] = {"window": _describe_window(conversation)}
    if sees("semantic.view_fact"):
        facts = Fact.objects.of(tenant).filter(conversation=conversation, invalid_at=None)
        progress["facts"] = render_sum([count_capped(facts)])
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


def _turns(page: Page[int], as_of: datetime | None, known: str) -> list[tuple[str, str]]:
    """Return title and address of the other pages."""
    last = page.paginator.num_pages
    numbers = {"« First": 1, "‹ Earlier": page.number - 1} if page.has_previous() else {}
    numbers |= {"Later ›": page.number + 1, "Last »": last} if page.has_next() else {}
    return [
        (title, _address(as_of, (number - 1) * MESSAGES_A_PAGE + 1, known))
        for title, number in numbers.items()
    ]


def _link_to(page: Page[int], as_of: datetime | None, seq: int, known: str) -> str:
    """Return where the episode that begins with a message is shown: on this page or another."""
    return f"{'' if seq in page.object_list else _address(as_of, seq, known)}#e{seq}"


def _address(as_of: datetime | None, seq: int, known: str) -> str:
    query = {"seq": str(max(seq, 1))}
    if as_of is not None:
        query |= {"as_of": as_of.isoformat()} | ({"known": NOW} if known == NOW else {})
    return f"?{urlencode(query)}"


def _slider(conversation: Conversation, as_of: datetime | None) -> dict[str, int] | None:
    """Return the range of times to choose from, in ms since 1970; None: there is no range."""
    ends = Message.objects.within(conversation).filter(seq__in=[1, conversation.next_seq - 1])
    times = sorted(_in_ms(at) for at in ends.values_list("occurred_at", flat=True))
    if len(times) < 2 or times[0] == times[-1]:
        return None
    # Rounded up, so that the right end includes the last message.
    first, last = times[0], times[-1] + 1_000
    now = _in_ms(as_of) if as_of else last
    step = max((last - first) // SLIDER_STEPS, 1)
    return {"first": first, "last": last, "step": step, "value": min(max(now, first), last)}


def _in_ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def _facts_then(
    conversation: Conversation, as_of: datetime | None, *, believed_then: bool
) -> tuple[str, str]:
    """Return title and address of the list of the conversation's facts, as of then."""
    address = values.list_address(Fact, conversation=conversation.id)
    if as_of is None:
        return "All facts of the conversation", address
    word = "believed" if believed_then else "true"
    query = urlencode({f"{word}_at": as_of.isoformat()})
    return f"All facts {word} then", f"{address}&{query}"


@action_for(revealing.REVEAL)
def reveal_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Show a conversation to the person for an hour, on record, and go back to the page."""
    conversation = get_object_or_404(Conversation.across_tenants, id=conversation_id)
    reason = request.POST.get("reason", "")
    try:
        revealing.reveal(person=request.user, conversation=conversation, reason=reason)
    except Problem as problem:
        messages.error(request, problem.message)
    else:
        messages.success(request, "Shown to you for an hour; this is on record.")
    return redirect(find_way_back(request, otherwise="admin:index"))

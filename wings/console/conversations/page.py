"""The page of a conversation: timeline, progress, time slider, and unmasking."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.core.validators import MaxValueValidator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from episodic import revealing
from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from episodic.window import OLDEST_WAITS_AT_MOST, SILENCE_CLOSES_ANY, SMALLEST, size_limit
from jobs.models import Job, State
from memoryproject.adminkit.filters import EPOCH
from semantic.models import Fact
from wings.console.conversations import timeline
from wings.console.conversations.timeline import MESSAGES_A_PAGE
from wings.console.counting import count_capped, render_sum
from wings.console.forms import MomentField
from wings.console.labels import name_conversations
from wings.console.pages import action_for, find_way_back, get_row, show_problems

LISTED_AT_MOST = 10
SLIDER_STEPS = 1_000
NOW = "now"
"""Value that shows what is known today about a past moment; otherwise what was believed then."""


class PlaceForm(forms.Form):
    """The address's parameters: a past moment to show, and a message or day to go to."""

    as_of = MomentField(required=False)
    known = forms.ChoiceField(required=False, choices=[("then", "then"), (NOW, NOW)])
    day = MomentField(required=False)
    seq = forms.IntegerField(required=False, min_value=1)

    def __init__(self, *args: Any, last_seq: int) -> None:
        super().__init__(*args)
        self.fields["seq"].validators.append(MaxValueValidator(max(last_seq, 1)))


def get_story(request: HttpRequest, conversation: Conversation) -> Mapping[str, Any]:
    person, reader = request.user, Reader(request.user)
    form = PlaceForm(request.GET, last_seq=conversation.next_seq - 1)
    faults = form.errors
    page, as_of = choose_page(conversation, form.cleaned_data), form.cleaned_data.get("as_of")
    believed_then = as_of is not None and form.cleaned_data.get("known") != NOW
    place = QueryDict(mutable=True)
    if as_of is not None:
        place.update({"as_of": as_of.isoformat()} | ({} if believed_then else {"known": NOW}))
    reads = person.has_perms(["episodic.view_message", "episodic.view_episode"])
    blocks, cells = [], timeline.read_cells(conversation, reader) if reads else []
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
        "place": place,
        "faults": faults,
        "page": page,
        "blocks": blocks,
        "facts_at_most": settings.TIMELINE_FACTS_AT_MOST,
        "facts_are_cut": sum(len(block.facts) for block in blocks)
        >= settings.TIMELINE_FACTS_AT_MOST,
        "episodes": sum(cell.episodes for cell in cells),
        "strip": cells,
        "slider": _slider(conversation, as_of) if reads else None,
        "turns": _turns(page),
        "progress": read_progress(request, conversation),
    }


def choose_page(conversation: Conversation, params: Mapping[str, Any]) -> Page[int]:
    """Return the seqs of the requested page, or else of the last one, until `as_of`."""
    until, seq = conversation.next_seq - 1, params.get("seq")
    if params.get("as_of"):
        until = timeline.last_seq_until(conversation, params["as_of"]) or 0
    if seq is None and params.get("day"):
        seq = timeline.first_seq_from(conversation, params["day"])
    pages = Paginator(range(1, until + 1), MESSAGES_A_PAGE)
    return pages.get_page(-(-(seq or until) // MESSAGES_A_PAGE))


def read_progress(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    """Return how far a conversation is processed and what is stuck, as permitted."""
    sees, tenant, reader = request.user.has_perm, conversation.tenant, Reader(request.user)
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
        episodes = reader.rows(Episode.objects.of(tenant).filter(conversation=conversation))
        failed = episodes.filter(consolidation_failed_at__isnull=False)
        progress["failed_episodes"] = list(failed.order_by("first_seq")[:LISTED_AT_MOST])
    return progress


def _describe_window(conversation: Conversation) -> str:
    if not conversation.pending_count:
        return ""
    limit, hour = size_limit(doubled=conversation.window_doubled), timedelta(hours=1)
    return (
        f"They become episodes at {limit} messages, after {OLDEST_WAITS_AT_MOST // hour} hours if "
        f"there are at least {SMALLEST}, after {SILENCE_CLOSES_ANY // hour} hours of silence, or "
        "at once by the call flush."
    )


def _turns(page: Page[int]) -> list[tuple[str, int]]:
    """Return the titles and first messages of the neighboring pages."""
    last = page.paginator.num_pages
    numbers = {"« First": 1, "‹ Earlier": page.number - 1} if page.has_previous() else {}
    numbers |= {"Later ›": page.number + 1, "Last »": last} if page.has_next() else {}
    return [(title, (number - 1) * MESSAGES_A_PAGE + 1) for title, number in numbers.items()]


def _slider(conversation: Conversation, as_of: datetime | None) -> dict[str, int] | None:
    """Return the selectable times, in ms since 1970, or None."""
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


@action_for(revealing.REVEAL)
def reveal_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Unmask a conversation for an hour, on record, and return to its page."""
    conversation = get_row(Conversation, conversation_id)
    reason = request.POST.get("reason", "")
    with show_problems(request):
        revealing.reveal(person=request.user, conversation=conversation, reason=reason)
        messages.success(request, "Shown to you for an hour; this is on record.")
    return redirect(find_way_back(request, otherwise="admin:index"))

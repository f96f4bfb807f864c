"""Links: their page, and creating and deleting them, on record."""

import re
import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from episodic.revealing import Reader
from indexing.kinds import LINK_WORDS, LinkType
from indexing.models import Memory
from wings.console.forms import TextForm, submit
from wings.console.labels import MemoryLabel, name_memories
from wings.console.pages import Answer, admin_page, find_way_back, get_row, record
from wings.notes import link_services
from wings.notes.models import Link

CURATE = "notes.curate_note"
SEES_LINK = ("notes.view_link", CURATE)
AN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
ADDRESS_AT_MOST = 500
LIST = "admin:notes_link_changelist"


class LinkForm(TextForm):
    from_id = forms.UUIDField(widget=forms.HiddenInput)
    link_type = forms.ChoiceField(choices=[(kind.value, LINK_WORDS[kind]) for kind in LinkType])
    to_id = forms.CharField(max_length=ADDRESS_AT_MOST)

    def clean_to_id(self) -> uuid.UUID:
        """Return the last id in the text: addresses of pages end with it."""
        ids = AN_ID.findall(self.cleaned_data["to_id"])
        if not ids:
            raise forms.ValidationError("There is no id in this. Copy the address of its page.")
        return uuid.UUID(ids[-1])


def get_link_story(request: HttpRequest, link: Link) -> dict[str, Any]:
    start, goal = name_ends(link, Reader(request.user))
    return {"start": start, "goal": goal, "says": LINK_WORDS[link.link_type]}


@admin_page("console/notes/link_create.html", "Create a link", *SEES_LINK, posts=True)
def create_link(request: HttpRequest) -> Answer:
    form = LinkForm(request.POST)

    @transaction.atomic
    def create() -> HttpResponse:
        params = form.cleaned_data
        memory = get_row(Memory, params["from_id"])
        link, is_new = link_services.add_link(
            tenant=memory.tenant,
            actor=request.user.get_username(),
            made_by=Link.MadeBy.PERSON,
            from_id=params["from_id"],
            to_id=params["to_id"],
            link_type=LinkType(params["link_type"]),
        )
        if is_new:
            _record_link(request, link, "created")
        messages.success(request, "Created." if is_new else "This link was there already.")
        return redirect(find_way_back(request, otherwise=reverse(LIST)))

    return submit(form, create) or {"status": 400, "link_form": form}


@admin_page("console/notes/link_delete.html", "Delete a link", *SEES_LINK)
def delete_link(request: HttpRequest, link_id: uuid.UUID) -> Answer:
    link = get_row(Link, link_id, "from_memory", "to_memory")
    start, goal = name_ends(link, Reader(request.user))
    way_back = reverse(LIST) if start is None else start.page
    if request.method == "POST":
        with transaction.atomic():
            _record_link(request, link, "deleted")
            link_services.delete_link(tenant=link.tenant, link_id=link.id)
        messages.success(request, "Deleted. It can be created again.")
        return redirect(find_way_back(request, otherwise=way_back))
    return {"link": link, "start": start, "goal": goal, "way_back": way_back}


def _record_link(request: HttpRequest, link: Link, verb: str) -> None:
    """Record on both memories what was done to a link between them."""
    start, goal = link.from_memory, link.to_memory
    record(request, start, f"{verb} a link: {link.link_type} {goal.kind} {goal.id}")
    record(request, goal, f"{verb} a link: {start.kind} {start.id} {link.link_type} this")


def name_ends(link: Link, reader: Reader) -> tuple[MemoryLabel | None, MemoryLabel | None]:
    """Return both ends of a link with their labels; None: a note that was deleted."""
    ends = (link.from_memory_id, link.to_memory_id)
    named = name_memories(tenant=link.tenant, memory_ids=ends, reader=reader)
    return named.get(ends[0]), named.get(ends[1])

"""The button by which an auditor has a conversation's messages shown."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from console.pages import find_way_back, page_for
from episodic import revealing
from episodic.models import Conversation
from memoryproject.errors import Problem


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

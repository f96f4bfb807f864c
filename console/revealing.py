"""The button by which an auditor has a conversation's messages shown."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from console.pages import page_for
from episodic import revealing
from episodic.models import Conversation
from memoryproject.errors import Problem


@page_for(revealing.REVEAL)
@require_POST
def reveal_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Show a conversation to the person for an hour, on record, and go back to the page."""
    conversation = Conversation.across_tenants.filter(id=conversation_id).first()
    if conversation is None:
        raise Http404
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
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return redirect(back if safe else "admin:index")

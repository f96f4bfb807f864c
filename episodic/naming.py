"""Names conversations for people, by agent, speakers, first words and last message."""

import uuid
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce, Left, NullIf
from django.utils.text import Truncator

from episodic.models import Conversation, Message, Role

SPEAKERS_WITHIN = 20
"""Number of first messages of a conversation whose speakers appear in its name."""
SPEAKING_WITHIN = 500
"""Newest conversations whose speakers are listed."""
NOBODY = "nobody yet"
"""Name of a conversation without messages."""
WORDS_AT_MOST = 60
"""Number of characters shown of the first message."""


def with_names(conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Return conversations with `speakers`, `first_words` and `last_at`, read from their ends."""
    messages = Message.across_tenants.filter(
        tenant=OuterRef("tenant"), conversation=OuterRef("pk")
    ).order_by("seq")
    spoke = Coalesce(NullIf(F("name"), Value("")), F("role"), output_field=TextField())
    early = messages.filter(seq__lte=SPEAKERS_WITHIN).order_by().annotate(speaker=spoke)
    first = messages.annotate(words=Left("content", WORDS_AT_MOST + 1)).values("words")
    return conversations.annotate(
        speakers=ArraySubquery(early.values("speaker").distinct()),
        first_words=Subquery(first[:1]),
        last_at=Subquery(messages.reverse().values("occurred_at")[:1]),
    )


def render_name(conversation: Any, *, may_read: bool) -> str:
    """Return a conversation's agent, speakers and, for people who may read it, its first words."""
    speakers = ", ".join(sorted(conversation.speakers)) or NOBODY
    if conversation.agent_id:
        speakers = f"{conversation.agent_id} · {speakers}"
    if not may_read or not conversation.first_words:
        return speakers
    words = Truncator(" ".join(conversation.first_words.split())).chars(WORDS_AT_MOST)
    return f"{speakers}: “{words}”"


def list_speakers(tenant_id: uuid.UUID | None) -> list[tuple[uuid.UUID, str]]:
    """Return the tenant and name of who speaks as `user` early in the newest conversations.

    With None, it reads all visible tenants. Uses index: episodic_message_seq.
    """
    newest = Conversation.across_tenants.all()
    if tenant_id is not None:
        newest = newest.filter(tenant=tenant_id)
    ids = newest.order_by("-id").values("id")[:SPEAKING_WITHIN]
    said = Message.across_tenants.filter(
        conversation__in=ids, tenant=F("conversation__tenant"), seq__lte=SPEAKERS_WITHIN
    )
    names = said.filter(role=Role.USER).exclude(name="").order_by("name", "tenant_id")
    return list(names.values_list("tenant_id", "name").distinct())

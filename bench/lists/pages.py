"""The addresses of the admin's pages that are no lists, about rows that cost the most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from episodic.models import Conversation, Episode, Message
from memoryproject.tenancy.models import APIKey, Tenant
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Changeset, Fact
from wings.erasure.models import Erasure

EVERYTHING = "everything"
ROLES = ("curator", "auditor", "operator", EVERYTHING)


@dataclass(frozen=True, slots=True)
class Page:
    """One address, what it is about, and in which role it is opened."""

    name: str
    address: str
    role: str = EVERYTHING


def list_own_pages(words: dict[str, str]) -> Iterator[Page]:
    """Yield each home, the pages of rows, and what the console shows beside them."""
    tenant = Tenant.objects.order_by("created_at")[0]
    of_tenant, of_all = urlencode({"tenant": tenant.name}), "tenant="
    for role in ROLES:
        yield Page(f"home, {role}", f"{reverse('admin:index')}?{of_tenant}", role)
        yield Page(f"home of all tenants, {role}", f"{reverse('admin:index')}?{of_all}", role)
    for name in ("review_queue", "compare", "roll_back", "export", "notifications", "tour"):
        yield Page(name, f"{reverse('console:' + name)}?{of_tenant}")
    queue = reverse("console:review_queue")
    yield Page("review_queue, a curator's own", f"{queue}?mine=1&{of_tenant}", "curator")
    yield Page("review_queue, masked", f"{queue}?{of_tenant}", "auditor")
    for since in ("2000-01-01", "2026-01-01"):
        compared = f"{reverse('console:compare')}?since={since}&{of_tenant}"
        yield Page(f"compare with {since}", compared)
    yield Page("palette, what was opened", f"{reverse('console:search')}?extended=1&s=")
    yield from _list_rows()
    home = Conversation.objects.of(tenant).order_by("-next_seq", "id")[0]
    asked = urlencode({"conversation_id": home.external_id, "query": words["a frequent word"]})
    yield Page("playground", f"{reverse('console:playground')}?{asked}&{of_tenant}")


def _list_rows() -> Iterator[Page]:
    conversations = Conversation.across_tenants.order_by("-next_seq", "id")
    largest, common = conversations[0], conversations[conversations.count() // 2]
    newest = RetrievalHit.across_tenants.order_by("-id").values("memory_id", "retrieval_id")[:1_000]
    (served, _), *_ = Counter(hit["memory_id"] for hit in newest).most_common(1)
    asked = next(hit["retrieval_id"] for hit in newest if hit["memory_id"] == served)
    rows: tuple[tuple[str, type[Any], Any], ...] = (
        ("the largest conversation", Conversation, largest.id),
        ("a conversation", Conversation, common.id),
        ("an episode", Episode, Episode.across_tenants.filter(conversation=largest)[0].id),
        ("a message", Message, Message.across_tenants.filter(conversation=largest)[0].id),
        ("a fact", Fact, served),
        ("a changeset", Changeset, Fact.across_tenants.get(id=served).changeset_id),
        ("a retrieval", Retrieval, asked),
        ("a key", APIKey, APIKey.across_tenants.order_by("id")[0].id),
        ("a tenant", Tenant, Tenant.objects.order_by("created_at")[0].id),
    )
    for name, model, row_id in rows:
        stem = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield Page(name, reverse(f"{stem}_change", args=[row_id]))
    yield Page(
        "the largest conversation, masked",
        reverse("admin:episodic_conversation_change", args=[largest.id]),
        "auditor",
    )
    yield Page("a case", reverse("console:case", args=[asked]))
    yield Page("a case, masked", reverse("console:case", args=[asked]), "auditor")
    yield Page("ask again", reverse("console:ask_again", args=[served]))
    yield Page("a fact's graph", reverse("console:graph", args=[served]))
    erasure = Erasure.across_tenants.order_by("id")[0].id
    yield Page("a certificate", reverse("console:certificate", args=[erasure]))

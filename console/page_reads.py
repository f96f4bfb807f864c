"""Writes down who looked at content in the admin, and forgets it after a year."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac

from console.models import PageRead
from indexing.models import Memory
from memoryproject.adminkit.base import read_id
from memoryproject.tenancy.models import Tenant
from people.models import Person
from retrieval.models import Retrieval
from semantic.models import Fact

KEPT = timedelta(days=365)
TABLES = {
    "episodic.conversation", "episodic.episode", "episodic.message", "semantic.fact",
    "semantic.changeset", "semantic.suggestion", "notes.note", "notes.noteversion", "people.person",
    "retrieval.retrieval", "retrieval.context", "retrieval.contextsection", "retrieval.memorytest",
    "jobs.llmcall", "indexing.searchunit",
}  # fmt: skip
"""Whose lists and pages show content."""
PAGES = {
    "console:search", "console:case_file", "console:case", "console:playground", "console:graph",
    "console:compare", "console:review_queue", "console:ask_again", "console:export_download",
    "console:person_export", "console:roll_back", "console:import_run",
}  # fmt: skip
OWNERS: dict[str, Any] = {
    "fact_id": Fact, "retrieval_id": Retrieval, "memory_id": Memory, "person_id": Person,
}  # fmt: skip
"""By the slot of an address the table of what a page of the console is about."""
WORDS = ("q", "s", "phrase", "query")


class ReadLogMiddleware:
    """Puts each page that showed content on record: nothing is shown that cannot be.

    Stands behind `WallsMiddleware`, which finds out whom and which tenant a request is about.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        match = request.resolver_match
        if hasattr(request, "tenants") and match is not None and response.status_code == 200:
            model = _find_table(match.view_name)
            if model is not None or match.view_name in PAGES:
                _record(request, match.view_name, match.kwargs, model)
        return response


def _find_table(name: str) -> Any:
    """Return the table whose list, page or history an address is, if it shows content."""
    stem, _, kind = name.removeprefix("admin:").rpartition("_")
    label = stem.replace("_", ".", 1)
    if label in TABLES and kind in {"change", "changelist", "history"}:
        return apps.get_model(label)
    return None


def _record(request: HttpRequest, page: str, slots: dict[str, Any], model: Any) -> None:
    """Write one row; where all tenants are looked at, a list gets one in each of them."""
    slot, value = next(iter(slots.items()), ("", ""))
    subject = value if isinstance(value, uuid.UUID) else read_id(value)
    words = " ".join(request.GET[name] for name in WORDS if request.GET.get(name))
    digest = _hash(page, words) if words else ""
    PageRead.objects.bulk_create(
        PageRead(
            tenant=tenant,
            person=request.user.get_username(),
            page=page,
            subject=subject,
            words_sha256=digest,
        )
        for tenant in _find_tenants(request, model or OWNERS.get(slot), subject)
    )


def _hash(page: str, words: str) -> str:
    return salted_hmac(page, words, secret=settings.KEY_PEPPER, algorithm="sha256").hexdigest()


def _find_tenants(request: HttpRequest, model: Any, subject: uuid.UUID | None) -> list[Tenant]:
    choice: Any = request.tenants  # type: ignore[attr-defined]
    if choice.current is not None:
        return [choice.current]
    if model is None or subject is None:
        return list(choice.offered)
    rows = model.across_tenants.filter(pk=subject).select_related("tenant")
    return [row.tenant for row in rows]


def delete_old(*, at_most: int) -> None:
    """Delete some rows that were kept long enough. Uses index: console_pageread_by_time."""
    old = PageRead.across_tenants.filter(created_at__lt=Now() - KEPT).order_by("created_at", "id")
    ids = list(old.values_list("id", flat=True)[:at_most])
    PageRead.across_tenants.filter(id__in=ids).delete()

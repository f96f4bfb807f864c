"""A middleware that sets who is viewing a page, and records who viewed content."""

import uuid
from datetime import timedelta
from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import salted_hmac
from django.utils.deprecation import MiddlewareMixin

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.site import find_lists
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings
from retrieval.models import Retrieval
from semantic.models import Changeset, Fact
from wings.console.models import ImportRun, PageRead
from wings.notes.models import Link, Note
from wings.people.models import Person

KEPT = timedelta(days=365)
HOME = "admin:index"
OWNERS: dict[str, Any] = {
    "fact_id": Fact, "retrieval_id": Retrieval, "person_id": Person,
    "changeset_id": Changeset, "note_id": Note, "link_id": Link, "run_id": ImportRun,
}  # fmt: skip
"""Table that a page of the console is about, by the name of its address pattern."""
SHOWN = {200, 400}
"""Status codes of pages with content; a rejected form is shown again with its content."""
WORDS = ("q", "s", "phrase", "query")


class ReadLogMiddleware(MiddlewareMixin):
    """Sets `request.reader`, with what the person may read, and records each page with content.

    If a page cannot be recorded, it is not shown. Comes after `WallsMiddleware`, which sets person
    and tenant of the request.
    """

    def process_request(self, request: HttpRequest) -> None:
        request.reader = Reader(request.user)  # type: ignore[attr-defined]

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        match = request.resolver_match
        is_shown = hasattr(request, "tenants") and response.status_code in SHOWN
        if is_shown and match is not None and shows_content(match.view_name):
            _record(request, match.view_name, match.kwargs)
        return response


@cache
def list_content() -> frozenset[str]:
    """Return the pages and tables of all wings that have content."""
    return frozenset(name for wing in list_wings() for name in wing.shows_content)


def shows_content(page: str) -> bool:
    """Return whether a page shows text that somebody wrote, or that was made from it."""
    label, kind = _split(page)
    is_of_table = kind in {"change", "changelist", "history"}
    return page in list_content() or (is_of_table and label in list_content())


def _split(page: str) -> tuple[str, str]:
    """Return the table of a page by the page's name, and what the page does."""
    stem, _, kind = page.removeprefix("admin:").rpartition("_")
    return stem.replace("_", ".", 1), kind


def render_page(page: str) -> str:
    label, kind = _split(page)
    kinds = {"change": "one of", "changelist": "list of", "history": "history of one of"}
    entry = find_lists().get(label)
    if entry and kind in kinds:
        return f"{kinds[kind]} {entry.title.lower()}"
    return "home" if page == HOME else page.partition(":")[2].replace("_", " ")


def _record(request: HttpRequest, page: str, slots: dict[str, Any]) -> None:
    """Store one record; with all tenants selected, a list gets one in each of them."""
    slot, value = next(iter(slots.items()), ("", ""))
    subject = value if isinstance(value, uuid.UUID) else read_id(value)
    words = " ".join(request.GET[name] for name in WORDS if request.GET.get(name))
    digest = salted_hmac(page, words, secret=settings.KEY_PEPPER, algorithm="sha256").hexdigest()
    owner = apps.get_model(_split(page)[0]) if slot == "object_id" else OWNERS.get(slot)
    PageRead.objects.bulk_create(
        PageRead(
            tenant=tenant,
            person=request.user.get_username(),
            page=page,
            subject=subject,
            words_sha256=digest if words else "",
        )
        for tenant in _find_tenants(request, page, owner, subject)
    )


def _find_tenants(
    request: HttpRequest, page: str, owner: Any, subject: uuid.UUID | None
) -> list[Tenant]:
    choice: Any = request.tenants  # type: ignore[attr-defined]
    if choice.current is not None:
        return [choice.current]
    if page == HOME:  # of all tenants it has numbers alone
        return []
    if owner is None or subject is None:
        return list(choice.offered)
    rows = owner.across_tenants.filter(pk=subject).select_related("tenant")
    return [row.tenant for row in rows]


def delete_old(*, at_most: int) -> None:
    """Delete some records beyond their retention. Uses index: console_pageread_by_time."""
    old = PageRead.across_tenants.filter(created_at__lt=Now() - KEPT).order_by("created_at", "id")
    ids = list(old.values_list("id", flat=True)[:at_most])
    PageRead.across_tenants.filter(id__in=ids).delete()

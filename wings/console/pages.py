"""Shared code of views: permissions, rendering, selection of a tenant, rows, actions on record."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from typing import Any, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from episodic.models import Conversation
from episodic.naming import render_name, with_names
from episodic.revealing import Reader
from indexing.models import Memory
from memoryproject.adminkit.values import page_address
from memoryproject.ai.errors import ModelUnavailable
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.membership import TenantChoice
from memoryproject.tenancy.models import Tenant, TenantModel
from retrieval.models import MemoryTest
from wings.notes.models import Note

ENTRIES_AT_MOST = 50
CONVERSATIONS_OFFERED = 100
FAULTS = ("fault", "problem", "errors")
"""Names under which pages show errors."""
SEES_CASE = (
    "retrieval.view_retrieval", "semantic.view_fact", "episodic.view_episode",
    "episodic.view_message",
)  # fmt: skip
"""Permissions needed to see what an answer was made of."""
Row = TypeVar("Row", bound=TenantModel)
FORM = "console/form.html"
"""Template of a page that is one form: `form`, and `back`, the address that leaves it."""
Answer = HttpResponseBase | dict[str, Any]
"""What a view of `admin_page` returns: a response, or what its template shows."""
View = Callable[..., Any]
Page = Callable[..., HttpResponseBase]


def record(request: HttpRequest, row: models.Model, what: str, *, is_new: bool = False) -> None:
    """Record that the person changed a row, in the transaction of the change; a note as a memory.

    If the name of a row quotes what somebody said or wrote, the entry only has the id, so that no
    text remains that an erasure would miss.
    """
    kind = Memory if isinstance(row, Note) else type(row)
    is_quoting = isinstance(row, Memory | Note | MemoryTest)
    LogEntry.objects.create(
        user_id=str(request.user.pk),
        content_type=ContentType.objects.get_for_model(kind),
        object_id=str(row.pk),
        object_repr=f"{kind._meta.verbose_name} {row.pk}" if is_quoting else str(row)[:200],
        action_flag=ADDITION if is_new else CHANGE,
        change_message=what,
    )


def list_records(model: type[models.Model], key: Any) -> list[LogEntry]:
    """Return the records of changes of a row, newest first; for notes also as a `Memory`."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(model), object_id=str(key)
    )
    newest = entries.select_related("user").order_by("-action_time", "-id")
    return list(newest[:ENTRIES_AT_MOST])


def page_for(*permissions: str) -> Callable[[View], Page]:
    """Make a view a page for staff with all these permissions.

    Other logged-in people get 403, with the roles that open it; the others are sent to the login.
    """

    def decorate(view: View) -> Page:
        @wraps(view)
        def check(request: HttpRequest, *args: Any, **slots: Any) -> HttpResponseBase:
            if not request.user.has_perms(permissions):
                raise PermissionDenied(name_roles(permissions))
            shown: HttpResponseBase = view(request, *args, **slots)
            return shown

        return admin.site.admin_view(check)

    return decorate


def name_roles(permissions: Iterable[str]) -> str:
    """Return a sentence with the roles that have all these permissions."""
    roles = Group.objects.order_by("name")
    for permission in permissions:
        app, _, codename = permission.partition(".")
        roles = roles.filter(
            permissions__content_type__app_label=app, permissions__codename=codename
        )
    names = [*roles.values_list("name", flat=True), "superuser"]
    return f"Roles that open it: {', '.join(names)}."


def action_for(*permissions: str) -> Callable[[View], Page]:
    """Make a view a POST-only page for staff with these permissions."""
    return lambda view: page_for(*permissions)(require_POST(view))


def admin_page(
    template: str, title: str, *permissions: str, of_one_tenant: bool = False, posts: bool = False
) -> Callable[[View], Page]:
    """Make a view a page whose template gets what it returns, unless that is a response.

    A view of one tenant gets the selected one; if several are selected, the person is asked for one
    first. `posts`: the page only accepts POST.
    """

    def decorate(view: View) -> Page:
        @wraps(view)
        def show(request: HttpRequest, *args: Any, **slots: Any) -> HttpResponseBase:
            if of_one_tenant:
                tenant = choose_tenant(request)
                if tenant is None:
                    return ask_for_tenant(request)
                args = (tenant, *args)
            answer = view(request, *args, **slots)
            if isinstance(answer, HttpResponseBase):
                return answer
            return show_page(request, template, **{"title": title, **answer})

        return (action_for if posts else page_for)(*permissions)(show)

    return decorate


def show_page(
    request: HttpRequest, template: str, *, title: str, status: int | None = None, **shown: Any
) -> HttpResponse:
    """Render a template based on `console/page.html` in the admin's frame.

    `conversations` are those to choose from; they are read only if the template asks for them.

    The default status is 400 if a submitted form has errors or a fault is shown, else 200.
    """
    form = shown.get("form") if request.method == "POST" else None
    is_wrong = any(map(shown.get, FAULTS)) or (form is not None and form.errors)
    status = status or (400 if is_wrong else 200)
    offered = {"conversations": partial(list_conversations, request)}
    context = {**admin.site.each_context(request), **offered, "title": title, **shown}
    return render(request, template, context, status=status)


def list_conversations(
    request: HttpRequest, *, chosen: uuid.UUID | None = None
) -> list[tuple[str, str]]:
    """Return the latest conversations of the selected tenant to choose from, and their beginnings.

    A choice is a line of speakers, last day and the agent's id, which `ConversationField` reads.
    The `chosen` one, by the agent's id, is the last of them if it is older.
    """
    tenant, reader = choose_tenant(request), Reader(request.user)
    if tenant is None or not request.user.has_perm("episodic.view_conversation"):
        return []
    named = with_names(Conversation.objects.of(tenant))
    rows: list[Any] = list(named.order_by("-id")[:CONVERSATIONS_OFFERED])
    if chosen is not None and chosen not in {row.external_id for row in rows}:
        rows += named.filter(external_id=chosen)
    return [
        (
            f"{render_name(row, may_read=False)} · {row.last_at or row.created_at:%Y-%m-%d} · "
            f"{row.external_id}",
            row.first_words or "" if reader.may_read(row.id) else "",
        )
        for row in rows
    ]


def get_row(model: type[Row], row_id: uuid.UUID, *related: str, **lookup: Any) -> Row:
    """Return a row of any tenant with its related rows, or raise Http404.

    `lookup` is a further condition.
    """
    rows: QuerySet[Row] = model.across_tenants.select_related("tenant", *related)
    return get_object_or_404(rows, id=row_id, **lookup)


@contextmanager
def show_problems(request: HttpRequest) -> Iterator[None]:
    """Show the person why the block's action was refused, instead of raising the error."""
    try:
        yield
    except (ModelUnavailable, Problem) as problem:
        messages.error(request, str(problem))


def act_on(
    request: HttpRequest, row: Model, act: Callable[[], Any], *, done: str = "{}", logged: str = ""
) -> HttpResponse:
    """Change a row, and go to its page with the result.

    `done` is the message to the person, and `logged` the text of the record in the same
    transaction; `{}` in both is replaced by the result. Without `logged` the action makes its own
    record, if any.
    """
    with show_problems(request):
        with transaction.atomic() if logged else nullcontext():
            result = act()
            if logged:
                record(request, row, logged.format(result))
        messages.success(request, done.format(result))
    return redirect_to(row)


def redirect_to(row: Model, *, query: str = "", anchor: str = "") -> HttpResponseRedirect:
    return redirect(f"{page_address(row)}{query}{anchor}")


def read_choice(request: HttpRequest) -> TenantChoice:
    """Return the tenants that the person may see, and the selected one."""
    choice: TenantChoice = request.tenants  # type: ignore[attr-defined]
    return choice


def choose_tenant(request: HttpRequest) -> Tenant | None:
    """Return the selected tenant; None: all of them, or there is none."""
    return read_choice(request).current


def ask_for_tenant(request: HttpRequest) -> HttpResponse:
    """Show the tenants to choose from, for a page about one tenant."""
    status = 400 if request.method == "POST" else 200
    template, title = "console/choose_tenant.html", "Choose a tenant"
    return show_page(request, template, title=title, status=status)


def find_way_back(request: HttpRequest, *, otherwise: str) -> str:
    """Return this server's page named in a form's `next`, or else the other one."""
    back: str = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return back if safe else otherwise

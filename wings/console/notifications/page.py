"""The list of a person's notifications, the number at the bell, and the choice of mails."""

from collections import defaultdict
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.shortcuts import redirect

from memoryproject.adminkit.base import read_id
from wings.console.forms import TextForm
from wings.console.pages import Answer, admin_page
from wings.events.models import MailChoice, Notification
from wings.events.notices import find_address, render_words
from wings.events.types import find_notices

SHOWN_AT_MOST = 100


class ChoiceForm(TextForm):
    when = forms.ChoiceField(choices=MailChoice.When, widget=forms.RadioSelect)


def offer_bell(request: HttpRequest) -> dict[str, Any]:
    """Return the number of new notifications, up to a limit, for every page's header.

    Uses index: events_notification_unread.
    """

    def count() -> int:
        return find_notifications(request).filter(read_at=None)[:SHOWN_AT_MOST].count()

    return {"count_unread": count}


def find_notifications(request: HttpRequest) -> QuerySet[Notification]:
    """Return a person's notifications of the selected tenant that the role there may see."""
    user: Any = request.user
    types = [type for type, notice in find_notices().items() if user.has_perm(notice.permission)]
    return Notification.across_tenants.filter(person=user, type__in=types)


@admin_page("console/notifications/list.html", "Notifications")
def show_notifications(request: HttpRequest) -> Answer:
    """Show the latest notifications by day and kind; submitting marks those shown as read."""
    rows = find_notifications(request)
    newest = read_id(request.POST.get("newest", ""))
    if request.method == "POST":
        if newest is not None:
            rows.filter(id__lte=newest, read_at=None).update(read_at=Now())
        return redirect("console:notifications")
    latest: list[Any] = list(rows.select_related("tenant").order_by("-id")[:SHOWN_AT_MOST])
    for row in latest:
        row.address = find_address(row.type, row.subject, row.tenant)
    groups: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in latest:
        groups[row.created_at.date(), row.tenant, row.type].append(row)
    return {
        "entries": latest,
        "groups": [
            (render_words(type, sum(row.count for row in rows)), day, tenant, rows)
            for (day, tenant, type), rows in groups.items()
        ],
        "has_unread": any(row.read_at is None for row in latest),
    }


@admin_page("console/notifications/choice.html", "Notifications by mail")
def choose_mail(request: HttpRequest) -> Answer:
    user: Any = request.user
    choice = MailChoice.objects.filter(person=user).first() or MailChoice(person=user)
    posted = request.POST if request.method == "POST" else None
    form = ChoiceForm(posted, initial={"when": choice.when})
    if form.is_valid():
        MailChoice.objects.update_or_create(person=user, defaults=form.cleaned_data)
        messages.success(request, "Your choice is stored.")
        return redirect("console:notification_choice")
    mail = {"has_mail": bool(settings.EMAIL_HOST), "refused_at": choice.refused_at}
    return {"form": form, **mail}

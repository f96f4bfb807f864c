"""Who did what to a row that people may change: Django's own log, shown on the row's page."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.http import HttpRequest

ENTRIES_AT_MOST = 50


def record(request: HttpRequest, row: models.Model, what: str, *, is_new: bool = False) -> None:
    """Write down that the person did something to a row, in the transaction of the deed."""
    registered: Any = admin.site.get_model_admin(type(row))
    (registered.log_addition if is_new else registered.log_change)(request, row, what)


def records_of(row: models.Model) -> list[LogEntry]:
    """Return what people did to a row, the newest first."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(row), object_id=str(row.pk)
    )
    newest = entries.select_related("user").order_by("-action_time", "-id")
    return list(newest[:ENTRIES_AT_MOST])

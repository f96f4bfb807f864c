"""Records and lists what people did to a row or a memory, in Django's own log."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django.http import HttpRequest

from indexing.models import Memory
from notes.models import Note

ENTRIES_AT_MOST = 50


def record(request: HttpRequest, row: models.Model, what: str, *, is_new: bool = False) -> None:
    """Write down that the person did something to a row, in the transaction of that."""
    registered: Any = admin.site.get_model_admin(type(row))
    (registered.log_addition if is_new else registered.log_change)(request, row, what)


def record_memory(request: HttpRequest, memory: Memory | Note, what: str) -> None:
    """Write down that the person did something to a memory, in the transaction of that.

    The entry names the memory by its id: of what it says nothing stays behind that an erasure
    would not find.
    """
    LogEntry.objects.create(
        user_id=str(request.user.pk),
        content_type=ContentType.objects.get_for_model(Memory),
        object_id=str(memory.pk),
        object_repr=f"memory {memory.pk}",
        action_flag=CHANGE,
        change_message=what,
    )


def list_records(model: type[models.Model], key: Any) -> list[LogEntry]:
    """Return what people did to a row, the newest first; of a note too as of a `Memory`."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(model), object_id=str(key)
    )
    newest = entries.select_related("user").order_by("-action_time", "-id")
    return list(newest[:ENTRIES_AT_MOST])

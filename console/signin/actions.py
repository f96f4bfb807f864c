"""Taking second factors away from people who have lost them, on record."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from console.action_log import record


@admin.action(description="Remove second factors", permissions=["change"])
def remove_second_factors(_: Any, request: HttpRequest, queryset: QuerySet[User]) -> None:
    """Let the marked people sign in by their passwords alone."""
    with transaction.atomic():
        for person in queryset:
            Authenticator.objects.filter(user=person).delete()
            record(request, person, "removed the second factor")
    messages.success(request, "They sign in by their passwords alone now.")

"""Tenants, their keys, and the people who may look."""

from __future__ import annotations

from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from unfold.forms import (  # type: ignore[import-untyped]
    AdminPasswordChangeForm,
    UserChangeForm,
    UserCreationForm,
)

from memoryproject.adminkit.base import ListAdmin, ReadOnlyAdmin
from memoryproject.adminkit.filters import words_filter
from memoryproject.adminkit.values import coloured_word
from memoryproject.tenancy.models import APIKey, Tenant


@admin.register(Tenant)
class TenantAdmin(ReadOnlyAdmin):
    list_display = ("name", "settings", "created_at")
    search_fields = ("name",)


def key_states() -> dict[str, Q]:
    """Return what tells keys of each state apart."""
    expired = Q(expires_at__lte=timezone.now())
    return {
        "active": Q(revoked_at=None) & (Q(expires_at=None) | ~expired),
        "expired": Q(revoked_at=None) & expired,
        "revoked": Q(revoked_at__isnull=False),
    }


@admin.register(APIKey)
class APIKeyAdmin(ReadOnlyAdmin):
    list_before_template = "console/keys/bar.html"
    hidden = ("hash", "previous_hash")
    list_display = (
        "name", "prefix", "state", "scopes", "tenant", "last_used_at", "expires_at", "revoked_at",
    )  # fmt: skip
    list_filter = (words_filter("state", key_states), "tenant")
    search_fields = ("name", "^prefix")

    @coloured_word("state")
    def state(self, key: APIKey) -> str:
        return key.state_at(timezone.now())


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class PersonAdmin(UserAdmin, ListAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody is deleted, who would take what is on record with them: `active` ends a login."""
        return False


@admin.register(Group)
class PeopleAdmin(GroupAdmin, ListAdmin):
    pass


@admin.register(AccessAttempt)
class FailedLoginAdmin(ReadOnlyAdmin):
    """Wrong passwords of late; when their time is over the next one clears them away."""

    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "state")
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address", "=id")
    search_help_text = "A name or an address"
    hidden = ("get_data", "post_data")

    @coloured_word("state")
    def state(self, attempt: AccessAttempt) -> str:
        """Return `locked` or `free`; browsers count together, and so may lock one another."""
        ended = attempt.attempt_time + settings.AXES_COOLOFF_TIME <= timezone.now()
        locks = attempt.failures_since_start >= settings.AXES_FAILURE_LIMIT
        return "locked" if locks and not ended else "free"


@admin.register(AccessLog)
class LoginAdmin(ReadOnlyAdmin):
    list_display = ("attempt_time", "username", "ip_address", "logout_time", "user_agent")
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address", "=id")
    search_help_text = "A name or an address"
    hidden = ("session_hash",)

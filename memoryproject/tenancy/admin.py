"""Admin of tenants, their keys, and people."""

from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.admin import TabularInline  # type: ignore[import-untyped]
from unfold.forms import (  # type: ignore[import-untyped]
    AdminPasswordChangeForm,
    UserChangeForm,
    UserCreationForm,
)

from memoryproject.adminkit.base import ListAdmin, ReadOnlyAdmin
from memoryproject.adminkit.values import coloured_word, column
from memoryproject.tenancy import walls
from memoryproject.tenancy.key_usage import find_p95
from memoryproject.tenancy.models import KeyUsage, Membership, Tenant


@admin.register(Tenant)
class TenantAdmin(ReadOnlyAdmin):
    list_display = ("name", "settings", "created_at")
    search_fields = ("name",)


@admin.register(KeyUsage)
class KeyUsageAdmin(ReadOnlyAdmin):
    list_display = "day key calls errors refused faults p95 bytes_in bytes_out tenant".split()
    list_filter = ("day", "tenant")
    id_search = ("id", "key")
    search_help_text = "A whole id, also of a key"
    ordering = ("-day", "-id")
    p95 = column("p95 (ms)", lambda usage: find_p95(usage.latencies) or "-")


admin.site.unregister(User)
admin.site.unregister(Group)


class MembershipInline(TabularInline):  # type: ignore[misc]
    model = Membership
    verbose_name_plural = "Roles in single tenants (a group is a role in all tenants)"
    extra = 0
    tab = True


@admin.register(User)
class PersonAdmin(UserAdmin, ListAdmin):  # type: ignore[type-arg]
    inlines = (MembershipInline,)
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Return False: deleting people would delete records; `active` ends a login."""
        return False

    def changeform_view(self, *args: Any, **options: Any) -> HttpResponse:
        """Show and change a person's memberships of all tenants, whichever is selected."""
        with walls.across_tenants():
            response: HttpResponse = super().changeform_view(*args, **options)
            return response.render() if isinstance(response, TemplateResponse) else response


@admin.register(Group)
class PeopleAdmin(GroupAdmin, ListAdmin):
    pass


@admin.register(AccessAttempt)
class FailedLoginAdmin(ReadOnlyAdmin):
    """Recent failed logins; once their time is over, the next one deletes them."""

    list_display = ("attempt_time", "username", "ip_address", "failures_since_start", "state")
    list_filter = ("attempt_time",)
    search_fields = ("username", "ip_address", "=id")
    search_help_text = "A name or an address"
    hidden = ("get_data", "post_data")

    @coloured_word("state")
    def state(self, attempt: AccessAttempt) -> str:
        """Return `locked` or `free`; failures of all browsers count together."""
        ended = attempt.attempt_time + settings.AXES_COOLOFF_TIME <= timezone.now()
        locks = attempt.failures_since_start >= settings.AXES_FAILURE_LIMIT
        return "locked" if locks and not ended else "free"

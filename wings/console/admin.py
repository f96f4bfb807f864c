"""Registers the console's tables and the lists that need no code."""

from django.contrib import admin

from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.adminkit.lists import register_lists
from memoryproject.adminkit.values import column
from wings.console import page_reads
from wings.console.jobs import admin as jobs  # noqa: F401
from wings.console.keys import admin as keys  # noqa: F401
from wings.console.models import PageRead

# Their tables hold secrets, with nothing to do there: people have a page of their own.
SIGN_IN = {"account", "socialaccount", "mfa", "usersessions"}
admin.site.unregister([row for row in admin.site._registry if row._meta.app_label in SIGN_IN])
admin.site.index_template = "console/home/home.html"


@admin.register(PageRead)
class PageReadAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "person", "shown", "subject", "tenant")
    list_filter = ("created_at", "tenant")
    search_fields = ("person", "page")
    id_search = ("id", "subject")
    shown = column("page", lambda read: page_reads.render_page(read.page), "page")


register_lists()

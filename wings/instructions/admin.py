"""Admin of the versions of instructions."""

from django.contrib import admin

from memoryproject.adminkit.base import ReadOnlyAdmin
from wings.instructions.models import InstructionVersion


@admin.register(InstructionVersion)
class InstructionVersionAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "agent_id", "keep", "never", "actor", "undone_at", "tenant")
    list_filter = ("tenant",)
    search_fields = ("actor", "agent_id")
    list_before_template = "console/instructions/bar.html"

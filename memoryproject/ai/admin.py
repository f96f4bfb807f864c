"""What is known of the models that we call over a network."""

from django.contrib import admin

from memoryproject.adminkit.base import ReadOnlyAdmin
from memoryproject.ai.models import Breaker


@admin.register(Breaker)
class BreakerAdmin(ReadOnlyAdmin):
    list_display = ("model", "provider", "failures", "opened_at", "open_until")
    search_fields = ("model", "provider", "id")
    id_search = ()

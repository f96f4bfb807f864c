"""Tells the admin's pages about tables what stands above their columns."""

from __future__ import annotations

from django.contrib import admin

from console.models import SavedFilter
from memoryproject.admin_base import ReadOnlyAdmin

from console import conversation_page, episode_page
from episodic.admin import ConversationAdmin, EpisodeAdmin
from memoryproject.admin_base import Story

admin.site.index_template = "console/home.html"
ConversationAdmin.story = Story("console/conversation.html", conversation_page.tell)
EpisodeAdmin.story = Story("console/episode.html", episode_page.tell)


@admin.register(SavedFilter)
class SavedFilterAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "shared", "path", "created_at")
    list_filter = ("shared",)
    search_fields = ("name", "owner", "path")

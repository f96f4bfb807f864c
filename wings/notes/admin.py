"""Admin lists of notes, their versions and links."""

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from episodic.admin import ConversationAdmin
from indexing.admin import MemoryAdmin
from indexing.models import Memory, UnitKind
from indexing.word_search import WordSearchAdmin
from memoryproject.adminkit import values
from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter, words_filter
from wings.notes.models import Link, Note, NoteVersion

ConversationAdmin.listings += (Listing("Notes", Note, "conversation"),)
MemoryAdmin.listings += (
    Listing("Links from it", Link, "from_memory"),
    Listing("Links to it", Link, "to_memory"),
)


def note_states() -> dict[str, Q]:
    return {"active": Q(deleted_at=None), "deleted": Q(deleted_at__isnull=False)}


@admin.register(Note)
class NoteAdmin(WordSearchAdmin):
    found_as = UnitKind.NOTE
    hidden = ("body_sha256",)
    list_display = (
        "label", "source_type", "state", "importance", "category", "user_id", "version",
        "occurred_at", "conversation", "tenant",
    )  # fmt: skip
    list_filter = (
        words_filter("state", note_states), "source_type", recent_filter("made"), "tenant",
    )  # fmt: skip
    search_fields = ("label", "description", "content")
    id_search = ("id", "conversation", "conversation__external_id")
    listings = (Listing("Earlier versions", NoteVersion, "note"),)

    @values.coloured_word("state")
    def state(self, note: Note) -> str:
        return "deleted" if note.deleted_at else "active"


def _link_to(memory: Memory) -> str:
    return values.link_to_memory(memory.kind, memory.id, str(memory))


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    list_display = "link_type starts_at leads_to made_by actor created_at tenant".split()
    list_filter = ("link_type", "made_by", recent_filter("made"), "tenant")
    search_fields = ("actor",)
    id_search = ("id", "from_memory", "to_memory")
    more_lines = ("starts_at", "leads_to")
    starts_at = values.column("from", lambda link: _link_to(link.from_memory))
    leads_to = values.column("to", lambda link: _link_to(link.to_memory))

    def get_list_select_related(self, request: HttpRequest) -> tuple[str, ...]:
        return (*super().get_list_select_related(request), "from_memory", "to_memory")

"""What agents write on purpose, and links."""

from django.urls import path

from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.notes import api, memories, queries

MENU = {
    "Search": (
        Entry("Notes", "sticky_note_2", "notes.note", "What agents and people wrote down on "
            "purpose; what was learnt from messages are facts."),
        Entry("Links", "link", "notes.link", "How memories hang together: this one mentions, "
            "contradicts, follows that one."),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("notes", api.Notes.as_view()),
        path("notes/batch", api.NoteBatch.as_view()),
        path("notes/<id:note_id>", api.OneNote.as_view()),
        path("notes/<id:note_id>/restore", api.RestoredNote.as_view()),
        path("notes/<id:note_id>/versions", api.NoteVersions.as_view()),
        path("links", api.Links.as_view()),
        path("links/<id:link_id>", api.OneLink.as_view()),
    ),
    load_memories=memories.load_notes,
    list_passages=queries.list_passages,
    menu=MENU,
    shows_content=("notes.note", "notes.noteversion", "notes.link"),
)

"""What agents write on purpose, and links."""

from django.urls import path

from memoryproject.wings import Wing
from wings.notes import api, memories, queries

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
    shows_content=("notes.note", "notes.noteversion", "notes.link"),
)

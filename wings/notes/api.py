"""Lists, stores, shows, changes and deletes notes and links, and lists versions of notes."""

import uuid
from functools import partial
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from episodic.api import describe_storing, read_idempotency, respond_stored
from memoryproject.edge.errors import Problem
from memoryproject.edge.pages import describe_page, load_rows
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from wings.notes import forms, link_services, queries, renderings, services
from wings.notes.models import Link, Note, NoteState

INDEXED = {"Memory-Indexed": "words"}
"""Header that tells how far the stored notes can be found."""


class StoringView(KeyedView):
    """Stores notes for the caller."""

    scope = Scope.INGEST

    def make_request(self, body: dict[str, Any]) -> services.Request:
        """Return the caller, conversation and idempotency key of stored notes."""
        return {
            "tenant": self.tenant(),
            "actor": self.actor(),
            "made_by": self.key(),
            "conversation_id": body.pop("conversation_id", None),
            "idempotency": read_idempotency(self.request),
        }


class Notes(StoringView):
    """Lists notes, newest first, and stores new ones."""

    for_users = True
    scope = Scope.READ
    writing_scope = Scope.INGEST
    memory_operations = {"POST": "create_memory"}

    @describe_page("list_notes", forms.NoteQuery, renderings.ListedNote, "NotePage")
    def get(self, request: Request) -> Response:
        """List notes.

        Lists notes, newest first, without their long texts. All filters must hold.
        200: A page of notes.
        """
        query = self.read_query(forms.NoteQuery)
        rows = queries.active_notes(tenant=self.tenant()).select_related("conversation")
        if "user_id" in query:
            rows = rows.filter(Note.of_users([query.pop("user_id")]))
        if "tag" in query:
            rows = rows.filter(tags__contains=[query.pop("tag")])
        render = partial(renderings.render_note, form=renderings.ListedNote)
        return self.take_page(rows, query, lambda page: list(map(render, page)))

    @describe_storing("add_note", forms.NoteInput, renderings.NoteOutput, headers="indexed")
    def post(self, request: Request) -> Response:
        """Write a note.

        Stores a note on purpose. A summary needs its metadata; its label, description and content
        follow from them where none is given. Other notes need a content, an excerpt, a description
        or a label. Keywords find it at once, its meaning a moment later, when a job has made its
        vectors.
        201: The note is stored.
        409: The Idempotency-Key was used with another body.
        410: The note posted under this Idempotency-Key was erased, and is not stored again.
        """
        body = self.read(forms.NoteInput)
        note, first = services.add_note(**self.make_request(body), fields=body)
        shown = renderings.render_note(note, first)
        return respond_stored(shown, replayed=first is not None, headers=INDEXED)


class NoteBatch(StoringView):
    @describe_storing("add_notes", forms.NotesInput, renderings.NotesOutput, headers="indexed")
    def post(self, request: Request) -> Response:
        """Write up to 500 notes.

        Stores up to 500 notes of one conversation, or of none, in order, all or nothing. Each is
        checked and found as if it were posted alone.
        201: All notes are stored.
        400: Something is wrong with a note, which `fields` names as in `notes.3.content`. None was
            stored.
        409: The Idempotency-Key was used with another body.
        410: A note posted under this Idempotency-Key was erased, and none is stored again.
        """
        body = self.read(forms.NotesInput)
        posted = services.add_notes(**self.make_request(body), notes=body["notes"])
        shown = {"notes": renderings.StoredNote(posted.notes, many=True).data}
        return respond_stored(shown, replayed=posted.replayed, headers=INDEXED)


class OneNote(KeyedView):
    """A note by its id."""

    for_users = True
    scope = Scope.READ
    writing_scope = Scope.INGEST
    memory_operations = {"PATCH": "update_memory", "DELETE": "delete_memory"}

    @describe("get_note", answers=renderings.NoteOutput)
    def get(self, request: Request, note_id: uuid.UUID) -> Response:
        """Show a note.

        200: The current version of the note.
        """
        note = services.get_note(tenant=self.tenant(), note_id=note_id)
        return Response(renderings.render_note(note))

    @describe("change_note", forms.NotePatch, {200: renderings.NoteOutput, 409: Error})
    def patch(self, request: Request, note_id: uuid.UUID) -> Response:
        """Change a note.

        Writes a new version: fields that are not named stay as they are, null takes one back as if
        it had never been given, tags and metadata are replaced whole. Texts that followed from the
        metadata follow from the new ones. The version before is kept.
        200: The new version of the note.
        409: `version` is not the current one: read the note again.
        """
        note = services.get_note(tenant=self.tenant(), note_id=note_id)
        body = self.read(forms.NotePatch, context={"source_type": note.source_type})
        changed = services.change_note(
            tenant=self.tenant(),
            actor=self.actor(),
            note_id=note_id,
            version=body.pop("version"),
            fields=body,
        )
        return Response(renderings.render_note(changed))

    @describe("delete_note", None, {204: None})
    def delete(self, request: Request, note_id: uuid.UUID) -> Response:
        """Delete a note.

        Takes the note away: it is neither found nor shown any more, nor is any link of it.
        204: The note is deleted; the answer has no body.
        """
        services.delete_note(tenant=self.tenant(), actor=self.actor(), note_id=note_id)
        return Response(status=204)


class RestoredNote(KeyedView):
    for_users = True
    scope = Scope.INGEST

    @describe("restore_note", None, {200: renderings.NoteOutput, 409: Error})
    def post(self, request: Request, note_id: uuid.UUID) -> Response:
        """Restore a deleted note.

        The note is found, shown and linked as before it was deleted.
        200: The restored note, in its last version.
        409: The note is not deleted.
        """
        note = services.restore_note(tenant=self.tenant(), note_id=note_id)
        return Response(renderings.render_note(note))


class NoteVersions(KeyedView):
    for_users = True
    scope = Scope.READ

    @describe_page(
        "list_note_versions", forms.VersionQuery, renderings.NoteVersionOutput, "NoteVersionPage"
    )
    def get(self, request: Request, note_id: uuid.UUID) -> Response:
        """List the versions of a note.

        200: A page of versions, newest first, the current one included: who wrote each, and when.
        """
        note = services.get_note(tenant=self.tenant(), note_id=note_id)
        query = self.read_query(forms.VersionQuery)
        limit, below = query["limit"], query.get("after", note.version + 1)
        states: list[NoteState] = [note] if below > note.version else []
        earlier = queries.earlier_versions(note, below=min(below, note.version))
        versions, more = load_rows(earlier, limit - len(states), place="version")
        states += versions
        items = [renderings.render_state(state, renderings.NoteVersionOutput) for state in states]
        return Response({"items": items, "next": str(states[-1].version) if more else None})


class Links(KeyedView):
    scope = Scope.INGEST

    @describe("add_link", forms.LinkInput, {201: renderings.LinkOutput, 404: Error})
    def post(self, request: Request) -> Response:
        """Link two memories.

        Creates a typed link from one memory to another, whatever kind each is of.
        201: The link is stored.
        400: A field is wrong, both are the same, or this link is there: `fields` has its id.
        404: Your tenant has no memory of one of the two ids.
        """
        link, is_new = link_services.add_link(
            tenant=self.tenant(),
            actor=self.actor(),
            made_by=Link.MadeBy.AGENT,
            **self.read(forms.LinkInput),
        )
        if not is_new:
            message = f"There is this link already: {link.id}."
            raise Problem("The request has errors.", fields={"to_id": [message]})
        return Response(renderings.LinkOutput(link).data, status=201)


class OneLink(KeyedView):
    scope = Scope.INGEST

    @describe("delete_link", None, {204: None})
    def delete(self, request: Request, link_id: uuid.UUID) -> Response:
        """Delete a link.

        Deletes a link. What the server links itself stays.
        204: The link is deleted; the answer has no body.
        """
        link_services.delete_link(tenant=self.tenant(), link_id=link_id)
        return Response(status=204)

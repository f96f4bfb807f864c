"""Lists, stores, shows, changes and deletes notes, and lists their versions."""

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from episodic.api import IDEMPOTENCY_HEADER, read_idempotency
from memoryproject.edge.pages import describe_page, load_rows
from memoryproject.edge.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from notes import queries, services
from notes.forms import (
    NoteFilter,
    NoteInput,
    NotePatch,
    NoteQuery,
    NotesInput,
    VersionQuery,
)
from notes.models import NoteState
from notes.renderings import (
    ListedNote,
    NoteOutput,
    NotesOutput,
    NoteVersionOutput,
    StoredNote,
    render_note,
    render_state,
)


class Notes(KeyedView):
    """Lists notes, newest first, and takes new ones."""

    for_users = True
    scope = Scope.READ
    writing_scope = Scope.INGEST
    memory_operations = {"POST": "create_memory"}

    @describe_page("list_notes", NoteQuery, ListedNote, "NotePage")
    def get(self, request: Request) -> Response:
        query = self.read(NoteQuery, request.query_params.dict())
        rows = queries.active_notes(tenant=self.tenant()).select_related("conversation")
        return self.take_page(
            rows,
            query=query,
            render=lambda page: [render_note(note, form=ListedNote) for note in page],
            filters=NoteFilter,
        )

    @extend_schema(
        operation_id="add_note",
        parameters=[IDEMPOTENCY_HEADER],
        request=NoteInput,
        responses={201: NoteOutput, 200: NoteOutput, 409: Error, 410: Error},
    )
    def post(self, request: Request) -> Response:
        body = self.read(NoteInput)
        note, first = services.add_note(
            tenant=self.tenant(),
            actor=self.actor(),
            made_by=self.key(),
            conversation_id=body.pop("conversation_id", None),
            fields=body,
            idempotency=read_idempotency(request),
        )
        return _respond(render_note(note, first), replayed=first is not None)


class NoteBatch(KeyedView):
    """Stores a batch of notes, all or nothing."""

    scope = Scope.INGEST

    @extend_schema(
        operation_id="add_notes",
        parameters=[IDEMPOTENCY_HEADER],
        request=NotesInput,
        responses={201: NotesOutput, 200: NotesOutput, 409: Error, 410: Error},
    )
    def post(self, request: Request) -> Response:
        body = self.read(NotesInput)
        posted = services.add_notes(
            tenant=self.tenant(),
            actor=self.actor(),
            made_by=self.key(),
            conversation_id=body.get("conversation_id"),
            notes=body["notes"],
            idempotency=read_idempotency(request),
        )
        shown = {"notes": StoredNote(posted.notes, many=True).data}
        return _respond(shown, replayed=posted.replayed)


def _respond(shown: dict[str, Any], *, replayed: bool) -> Response:
    """Return the answer to what stored notes, or had stored them before."""
    answer = Response(shown, status=200 if replayed else 201, headers={"Memory-Indexed": "words"})
    if replayed:
        answer["Idempotent-Replayed"] = "true"
    return answer


class OneNote(KeyedView):
    """A note by its id."""

    for_users = True
    scope = Scope.READ
    writing_scope = Scope.INGEST
    memory_operations = {"PATCH": "update_memory", "DELETE": "delete_memory"}

    @extend_schema(operation_id="get_note", responses=NoteOutput)
    def get(self, request: Request, note_id: uuid.UUID) -> Response:
        return Response(render_note(services.get_note(tenant=self.tenant(), note_id=note_id)))

    @extend_schema(
        operation_id="change_note", request=NotePatch, responses={200: NoteOutput, 409: Error}
    )
    def patch(self, request: Request, note_id: uuid.UUID) -> Response:
        note = services.get_note(tenant=self.tenant(), note_id=note_id)
        body = self.read(NotePatch, context={"source_type": note.source_type})
        changed = services.change_note(
            tenant=self.tenant(),
            actor=self.actor(),
            note_id=note_id,
            version=body.pop("version"),
            fields=body,
        )
        return Response(render_note(changed))

    @extend_schema(operation_id="delete_note", request=None, responses={204: None})
    def delete(self, request: Request, note_id: uuid.UUID) -> Response:
        services.delete_note(tenant=self.tenant(), actor=self.actor(), note_id=note_id)
        return Response(status=204)


class NoteVersions(KeyedView):
    """What a note said, version by version."""

    for_users = True
    scope = Scope.READ

    @describe_page("list_note_versions", VersionQuery, NoteVersionOutput, "NoteVersionPage")
    def get(self, request: Request, note_id: uuid.UUID) -> Response:
        note = services.get_note(tenant=self.tenant(), note_id=note_id)
        query = self.read(VersionQuery, request.query_params.dict())
        limit, below = query["limit"], query.get("after", note.version + 1)
        states: list[NoteState] = [note] if below > note.version else []
        earlier = queries.earlier_versions(note, below=min(below, note.version))
        versions, more = load_rows(earlier, limit - len(states), place="version")
        states += versions
        items = [render_state(state, NoteVersionOutput) for state in states]
        return Response({"items": items, "next": str(states[-1].version) if more else None})

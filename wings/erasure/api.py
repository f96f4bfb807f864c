"""Erasing over HTTP, for keys with the scope `admin`."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import (
    CANONICAL_UUID,
    Column,
    ContentField,
    FlagField,
    Output,
    Strict,
    WordField,
)
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from semantic.curation import REASON_AT_MOST
from wings.erasure import persons, services
from wings.erasure.models import Erasure, State
from wings.erasure.models import Scope as Extent

PREVIEW = "preview"


class EraseInput(Strict):
    """The body of `erasures`."""

    scope = WordField("What to erase, with everything made from it.", choices=Extent.choices)
    id = ContentField(
        "Of a message, note or person its id, of a conversation the agent's own, of a user the "
        "`user_id` of its notes, of an import its changeset, of a retention policy its id, of the "
        "tenant its id or name.",
        max_length=services.USER_ID_AT_MOST,
    )
    reason = ContentField(
        "Why; kept for good, so do not quote. It may not name a person or a user who is erased.",
        max_length=REASON_AT_MOST,
    )
    dry_run = FlagField("Only say how much it would be.", default=False)
    shared = serializers.DictField(
        child=WordField(choices=persons.Choice.choices),
        default=dict,
        help_text="Of a person: by the id of a conversation that others share what goes of it: "
        "`words`, what they said; `replies`, what the assistant said to them, too (the default); "
        "`all`, the whole conversation with what others said.",
    )

    def validate_shared(self, value: dict[str, str]) -> dict[uuid.UUID, str]:
        if not all(map(CANONICAL_UUID.fullmatch, value)):
            raise serializers.ValidationError("Each key must be the UUID of a conversation.")
        return {uuid.UUID(name): choice for name, choice in value.items()}


class ErasedConversation(Output):
    """A conversation in which a person is to be erased, and what will be erased."""

    table = persons.Plan
    conversation_id = Column(
        "The agent's id of the conversation.", "presence.conversation.external_id"
    )
    user_id = Column(
        "Whose the conversation is; null: nobody was named.", "presence.conversation.user_id"
    )
    is_theirs = Column(
        "It is of one of their user ids, or nobody else speaks there: it goes whole.",
        "presence.is_theirs",
    )
    erases = serializers.ChoiceField(
        choices=persons.Choice.choices,
        help_text="What goes of it: `all` of it, what they said and the `replies` to them, or "
        "only their `words`.",
    )
    theirs = Column("Messages under their names.", "presence.theirs")
    replies = Column(
        "Messages of the assistant and of tools to them; 0 where the conversation is theirs.",
        "presence.replies",
    )
    others = Column("All further messages.", "presence.others")
    speakers = Column(
        "Who else speaks there as `user`, by name; empty: somebody without a name.",
        "presence.speakers",
    )


class ErasureProof(serializers.Serializer[Any]):
    """Result of the search for a person's names and user ids after the erasure."""

    state = serializers.ChoiceField(
        choices=["clean", "found", "incomplete"],
        help_text="`clean`: nothing was found; `found`: see `hits`; `incomplete`: nothing was "
        "found, but see `skipped`.",
    )
    at = serializers.DateTimeField(help_text="When it was searched.")
    names = serializers.IntegerField(
        help_text="How many names were looked for, in every spelling; they are not kept."
    )
    user_ids = serializers.IntegerField(
        help_text="How many user ids were looked for; they are not kept."
    )
    tables = serializers.IntegerField(help_text="How many tables were searched.")
    columns = serializers.IntegerField(help_text="How many of their columns.")
    rows = serializers.IntegerField(help_text="How many of their rows.")
    pages = serializers.IntegerField(help_text="How many pages of the mirror.")
    hits = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Rows that name the person still, by table: others said it, or somebody else "
        "has the name.",
    )
    row_ids = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="The ids of the first twenty of these rows, by table.",
    )
    records = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Rows on record with the name as that of a key or a login, by table.",
    )
    skipped = serializers.ListField(
        child=serializers.CharField(), help_text="What could not be searched in time, or was away."
    )


class ErasureOutput(Output):
    """What was erased, or would be, without its text."""

    table = Erasure
    id = Column("null: a dry run.", allow_null=True)
    scope = Column("What was erased, with all that was made of it.")
    target_id = Column(
        "The server's id of it; null: the notes of a user.", "target", allow_null=True
    )
    state = serializers.ChoiceField(
        choices=[(PREVIEW, "a dry run"), *State.choices],
        help_text="`running`: a worker goes on; `done`; `preview`: a dry run.",
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many rows were deleted, by kind."
    )
    actor = Column("Who wanted it: a key or a person; null: a dry run.", allow_null=True)
    reason = Column("Why, as it was given; null: a dry run.", allow_null=True)
    job_id = Column("The job that does it; null: a dry run.")
    created_at = Column("When it was asked for; null: a dry run.", allow_null=True)
    finished_at = Column("When all was erased; null: not yet, or a dry run.")
    conversations = ErasedConversation(
        many=True,
        allow_null=True,
        help_text="Of a dry run of a person what goes of each of their conversations, the first "
        "200; else null.",
    )
    proof = ErasureProof(
        allow_null=True,
        help_text="What a search for the names and user ids of a person, or for a user, found at "
        "the end; null: there was none.",
    )


class Erasures(KeyedView):
    """Erases, and lists erasures."""

    scope = Scope.ADMIN
    memory_operations = {"POST": "delete_memory"}

    @describe_page("list_erasures", PlaceQuery, ErasureOutput, "ErasurePage")
    def get(self, request: Request) -> Response:
        """List erasures.

        200: What was erased, newest first: who wanted it, why, and how much it was.
        """
        return self.list_page(Erasure.objects.of(self.tenant()), ErasureOutput)

    @describe("erase", EraseInput, {200: ErasureOutput, 202: ErasureOutput, 404: Error, 409: Error})
    def post(self, request: Request) -> Response:
        """Erase for good.

        Erases a message, a conversation, a note, all notes of a user, what `manage.py import_from`
        brought in, what a retention policy no longer keeps, or the tenant, with all that was made
        of it, for good: there is no way back. An erased tenant has no keys any more, and so nobody
        who could ask. `dry_run` answers with the counts alone, and of a person with the
        conversations in which they speak. Of a person their own conversations go whole, what was
        said to them included: those of their user ids, and those in which nobody else speaks. Of
        one that others share go what they said and what the assistant said to them, or what
        `shared` says. When all is erased, the server searches all of the tenant for the names and
        user ids of the person, or for the user: `proof`. The reason stays on record, and may not
        name them.
        200: It is erased; or, with `dry_run`, this is how much it would be.
        202: It is on record, and a worker does it: ask `erasures/{id}` until its state is done.
        409: Something of it is on hold, and nothing was erased.
        """
        params = self.read(EraseInput)
        scope = Extent(params["scope"])
        erasure = services.draft_erasure(
            tenant=self.tenant(), scope=scope, name=params["id"], choices=params["shared"]
        )
        if params["dry_run"]:
            shown = {
                "scope": scope,
                "target": erasure.target,
                "conversations": persons.list_plans(erasure),
                "counts": services.preview(erasure),
            }
            absent = dict.fromkeys(ErasureOutput().fields)
            return Response(ErasureOutput({**absent, **shown, "state": PREVIEW}).data)
        services.do(erasure, actor=self.actor(), reason=params["reason"])
        done = erasure.state == State.DONE
        return Response(ErasureOutput(erasure).data, status=200 if done else 202)


class OneErasure(KeyedView):
    scope = Scope.ADMIN

    @describe("get_erasure", answers=ErasureOutput)
    def get(self, request: Request, erasure_id: uuid.UUID) -> Response:
        """Show an erasure.

        200: The erasure as it is now.
        """
        erasure = get_row(Erasure.objects.of(self.tenant()), "erasure", id=erasure_id)
        return Response(ErasureOutput(erasure).data)

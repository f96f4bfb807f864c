"""The calls `people`: who is who, and all data of a person."""

import uuid
from collections.abc import Callable, Iterable
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from episodic.read_api import ListedConversation, ListedEpisode, MessageOutput
from memoryproject.edge.fields import (
    Column,
    ContentField,
    IdField,
    NameField,
    Output,
    Strict,
    WordField,
)
from memoryproject.edge.pages import PlaceQuery, describe_page, take_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope, Tenant
from memoryproject.tenancy.views import KeyedView, ReadView
from retrieval.api.receipts import render_receipts
from semantic.curation import REASON_AT_MOST
from semantic.renderings import render_facts
from wings.notes.renderings import render_note
from wings.people import queries, services
from wings.people.models import Alias, Person

NAMES_AT_MOST = 50


Render = Callable[[Tenant, list[Any]], Iterable[Any]]
RENDERED: dict[str, tuple[tuple[str, ...], Render]] = {
    "conversations": ((), lambda tenant, page: ListedConversation(page, many=True).data),
    "messages": (("conversation",), lambda tenant, page: MessageOutput(page, many=True).data),
    "episodes": (("conversation",), lambda tenant, page: ListedEpisode(page, many=True).data),
    "facts": (("conversation",), render_facts),
    "notes": (("conversation",), lambda tenant, page: map(render_note, page)),
    "answers": (("conversation", "asked_by"), render_receipts),
}
"""By kind: the relations to load with a person's rows, and the function that renders them."""
KINDS = list(RENDERED)


class Names(serializers.ListField):
    def __init__(self, **options: Any) -> None:
        child = NameField(required=True)
        super().__init__(child=child, required=False, max_length=NAMES_AT_MOST, **options)


class PersonInput(Strict):
    """The body of `POST people`."""

    name = NameField("What people call them.", required=True)
    user_ids = Names(help_text="Their `user_id`s, of conversations and notes.")
    speakers = Names(help_text="Names under which they speak: the `name` of messages.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("user_ids") and not attrs.get("speakers"):
            raise serializers.ValidationError({"user_ids": ["Name an id, or a speaker."]})
        return attrs


class UnmergeInput(Strict):
    """The body of `people/{id}/unmerge`."""

    reason = ContentField("Why; kept with the merge.", max_length=REASON_AT_MOST)


class MergeInput(UnmergeInput):
    """The body of `people/{id}/merge`."""

    into_id = IdField("The person they turned out to be.")


class PersonQuery(PlaceQuery):
    user_id = NameField("Only who has this `user_id`.")
    speaker = NameField("Only who speaks under this name.")


class ExportQuery(PlaceQuery):
    kind = WordField("What of theirs.", choices=KINDS, default="messages")


class PersonOutput(Output):
    """A person."""

    table = Person
    id = Column("The id of the person.")
    name = Column("What people call them.")
    created_at = Column("When the person was added.")


class DetailedPerson(PersonOutput):
    """A person with all names and ids, merged people's included, and amounts of data."""

    user_ids = serializers.ListField(
        child=serializers.CharField(),
        help_text="The user ids under which conversations and notes are theirs.",
    )
    speakers = serializers.ListField(
        child=serializers.CharField(), help_text="The names under which they speak."
    )
    merged_ids = serializers.ListField(
        child=serializers.UUIDField(), help_text="Who was merged into them."
    )
    merged_into = serializers.UUIDField(
        allow_null=True, help_text="Who they are; null: nobody else."
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="How much is theirs, by kind."
    )


def render_person(person: Person) -> dict[str, Any]:
    identity = queries.find_identity(person)
    merge = queries.find_merge(person)
    belongings = queries.list_belongings(person.tenant, identity)
    return {
        **PersonOutput(person).data,
        "user_ids": list(identity.user_ids),
        "speakers": list(identity.speakers),
        "merged_ids": [str(person_id) for person_id in identity.person_ids[1:]],
        "merged_into": str(merge.into_id) if merge else None,
        "counts": {kind: rows.count() for kind, rows in belongings.items()},
    }


class People(KeyedView):
    """Lists people, newest first, and adds a person."""

    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe_page("list_people", PersonQuery, PersonOutput, "PersonPage")
    def get(self, request: Request) -> Response:
        """List people.

        200: A page of the people whom somebody has added, newest first.
        """
        query = self.read_query(PersonQuery)
        rows = Person.objects.of(self.tenant())
        for kind, name in ((Alias.Kind.USER, "user_id"), (Alias.Kind.SPEAKER, "speaker")):
            if name in query:
                aliases = Alias.objects.of(self.tenant()).filter(kind=kind, value=query.pop(name))
                rows = rows.filter(id__in=aliases.values("person"))
        return self.list_page(rows, PersonOutput, query)

    @describe("add_person", PersonInput, {201: DetailedPerson, 409: Error})
    def post(self, request: Request) -> Response:
        """Add a person, by user ids and names of speakers.

        Says that some `user_id`s and names of speakers are one person. Theirs are then the
        conversations of these users with all in them, notes about them, and what was said under
        these names anywhere.
        201: The person, and how much is theirs.
        409: One of the names or ids is another person's: merge the two.
        """
        params = {"user_ids": [], "speakers": [], **self.read(PersonInput)}
        person = services.add_person(tenant=self.tenant(), **params)
        person.refresh_from_db()
        return Response(render_person(person), status=201)


class OnePerson(ReadView):
    @describe("get_person", answers=DetailedPerson)
    def get(self, request: Request, person_id: uuid.UUID) -> Response:
        """Show a person with their names, and how much is theirs.

        200: The person, with those who were merged into them.
        """
        person = services.get_person(tenant=self.tenant(), person_id=person_id)
        return Response(render_person(person))


class MergePerson(KeyedView):
    scope = Scope.CURATE

    @describe("merge_person", MergeInput, {200: DetailedPerson, 404: Error, 409: Error})
    def post(self, request: Request, person_id: uuid.UUID) -> Response:
        """Merge a person into another.

        Says that two people are one: all that was the first one's is the other's, too, until
        `people/{id}/unmerge` undoes it.
        200: The other person, who has all names and ids now.
        409: They are one already, or one of them was merged into somebody else.
        """
        params = self.read(MergeInput)
        into = services.merge(
            tenant=self.tenant(), person_id=person_id, actor=self.actor(), **params
        )
        return Response(render_person(into))


class UnmergePerson(KeyedView):
    scope = Scope.CURATE

    @describe("unmerge_person", UnmergeInput, {200: DetailedPerson, 404: Error, 409: Error})
    def post(self, request: Request, person_id: uuid.UUID) -> Response:
        """Undo the merge of a person into another.

        Undoes that a person was merged into another. Who did both, when and why stays.
        200: The person, who has their own names and ids again.
        409: The person was merged into nobody.
        """
        person = services.undo_merge(
            tenant=self.tenant(),
            person_id=person_id,
            actor=self.actor(),
            now=timezone.now(),
            **self.read(UnmergeInput),
        )
        return Response(render_person(person))


class ExportPage(serializers.Serializer[Any]):
    """A page of a person's data."""

    items = serializers.ListField(
        child=serializers.DictField(), help_text="As the list of that kind has them."
    )
    next = serializers.CharField(allow_null=True, help_text="Pass as `after`.")


class ExportPerson(KeyedView):
    scope = Scope.ADMIN

    @describe(
        "export_person", None, ExportPage, parameters=[ExportQuery], headers="read_from read_age"
    )
    def get(self, request: Request, person_id: uuid.UUID) -> Response:
        """Export everything of a person.

        All that the tenant has of a person, to be handed to them: call it for each kind, until
        `next` is null. Answers are receipts: asked in their conversations, or having served what is
        theirs. Facts that are pending review and deleted notes are left out.
        200: A page of what is theirs, of one kind.
        """
        query = self.read_query(ExportQuery)
        person = services.get_person(tenant=self.tenant(), person_id=person_id)
        kind = query.pop("kind")
        return Response(self.read_rows(lambda: take_kind(person, kind, query=query)))


def take_kind(person: Person, kind: str, *, query: dict[str, Any]) -> dict[str, Any]:
    """Return a page of a person's data, of one of `KINDS`."""
    tenant, (related, render) = person.tenant, RENDERED[kind]
    rows = queries.list_belongings(tenant, queries.find_identity(person))[kind]
    rows = rows.select_related(*related) if related else rows
    return take_page(rows, query=query, render=lambda page: list(render(tenant, page)))

"""Admin of people, their names and ids, and merges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from episodic.models import Conversation
from episodic.naming import render_name, with_names
from episodic.revealing import Reader
from memoryproject.adminkit.base import Listing, ReadOnlyAdmin, Story
from memoryproject.adminkit.values import link
from people import queries
from people.models import Alias, Merge, Person
from retrieval.models import Retrieval

SHOWN_AT_MOST = 5
"""Of each kind, the newest."""


def get_person_story(request: HttpRequest, person: Person) -> Mapping[str, Any]:
    """Return under which names and ids somebody is known, and how much is theirs."""
    identity = queries.find_identity(person)
    belongings = queries.list_belongings(person.tenant, identity)
    reader = Reader(request.user)
    others = Person.objects.of(person.tenant).filter(id__in=identity.person_ids[1:])
    return {
        "identity": identity,
        "merged_into": queries.find_merge(person),
        "others": list(others.order_by("id")),
        "belongings": [
            (kind, rows.count(), _link_newest(rows, reader)) for kind, rows in belongings.items()
        ],
    }


def _link_newest(rows: QuerySet[Any], reader: Reader) -> list[str]:
    if rows.model is Conversation:
        newest = with_names(rows).order_by("-id")[:SHOWN_AT_MOST]
        return [link(row, render_name(row, may_read=reader.may_read(row.id))) for row in newest]
    newest = rows.order_by("-id")[:SHOWN_AT_MOST]
    return [link(row, row.query if isinstance(row, Retrieval) else None) for row in newest]


@admin.register(Person)
class PersonAdmin(ReadOnlyAdmin):
    list_display = ("name", "created_at", "tenant")
    list_filter = ("tenant",)
    search_fields = ("name",)
    listings = (
        Listing("Names and ids", Alias, "person"),
        Listing("Merged into others", Merge, "person"),
        Listing("Others merged into them", Merge, "into"),
    )
    story = Story("people/person.html", get_person_story)


@admin.register(Alias)
class AliasAdmin(ReadOnlyAdmin):
    list_display = ("value", "kind", "person", "tenant")
    list_filter = ("kind", "tenant")
    search_fields = ("value",)


@admin.register(Merge)
class MergeAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "person", "into", "actor", "reason", "undone_at", "tenant")
    list_filter = ("undone_at", "tenant")
    search_fields = ("actor", "reason")

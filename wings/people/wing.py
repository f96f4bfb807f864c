"""Who is who."""

from django.urls import path

from memoryproject.adminkit.site import Entry
from memoryproject.wings import Wing
from wings.people import api

MENU = {
    "People": (
        Entry("People", "groups", "people.person", "Who is who: the names and ids under which "
            "agents know somebody, and all that is theirs.",
            make=Entry("Add a person", page="console:person_new",
                permission="semantic.curate_fact")),
    ),
}  # fmt: skip

WING = Wing(
    routes=(
        path("people", api.People.as_view()),
        path("people/<id:person_id>", api.OnePerson.as_view()),
        path("people/<id:person_id>/merge", api.MergePerson.as_view()),
        path("people/<id:person_id>/unmerge", api.UnmergePerson.as_view()),
        path("people/<id:person_id>/export", api.ExportPerson.as_view()),
    ),
    menu=MENU,
    shows_content=("people.person", "people.alias", "people.merge"),
)

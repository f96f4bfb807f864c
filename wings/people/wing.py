"""Who is who."""

from django.urls import path

from memoryproject.wings import Wing
from wings.people import api

WING = Wing(
    routes=(
        path("people", api.People.as_view()),
        path("people/<id:person_id>", api.OnePerson.as_view()),
        path("people/<id:person_id>/merge", api.MergePerson.as_view()),
        path("people/<id:person_id>/unmerge", api.UnmergePerson.as_view()),
        path("people/<id:person_id>/export", api.ExportPerson.as_view()),
    ),
    shows_content=("people.person", "people.alias", "people.merge"),
)

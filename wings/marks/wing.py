"""Corrections shown beside what still says the old."""

from django.urls import path

from memoryproject.wings import Wing
from wings.marks import api

WING = Wing(
    routes=(path("facts/<id:fact_id>/marks", api.Marks.as_view()),),
)

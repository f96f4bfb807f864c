"""Corrections shown beside what still says the old."""

from django.urls import path

from memoryproject.wings import Wing
from wings.marks import api
from wings.marks.correction_marks import find_corrections
from wings.marks.mark_finding import mark_later_places, mark_places

WING = Wing(
    routes=(path("facts/<id:fact_id>/marks", api.Marks.as_view()),),
    on_retired=mark_places,
    on_drawn=mark_later_places,
    mark_rows=find_corrections,
    shows_content=("semantic.correctionmark",),
)

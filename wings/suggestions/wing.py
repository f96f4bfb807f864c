"""Changes to facts that are pending review, and the rules that decide on them."""

from django.urls import path

from memoryproject.wings import Wing
from wings.suggestions import api, automatic

WING = Wing(
    routes=(
        path("suggestions", api.Suggestions.as_view()),
        path("suggestions/<id:suggestion_id>/accept", api.AcceptSuggestion.as_view()),
        path("suggestions/<id:suggestion_id>/decline", api.DeclineSuggestion.as_view()),
    ),
    events=(automatic.RULE_STOPPED,),
    chores=(automatic.decide_alone,),
    shows_content=("semantic.suggestion", "semantic.triage"),
)
